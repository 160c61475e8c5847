package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Problems;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlException;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Statements of SQL. Rows are sent as they are found, at the client's pace, in the {@link RowForm}
 * that it takes; behind them comes {@code summary} or {@code error}. <em>Thread-safe.</em>
 */
final class SqlRoute {
    /** Statements are short; their parameters may be long. */
    private static final long BODY_BYTES_MAX = 4 << 20;

    private static final int PIECE_BYTES = 32 << 10;
    private static final long TIMEOUT_MILLIS_MAX = 3_600_000;

    private final ServedStores stores;
    private final FilesRoot files;
    private final Clock clock;

    SqlRoute(ServedStores stores, FilesRoot files, Clock clock) {
        this.stores = stores;
        this.files = files;
        this.clock = clock;
    }

    List<Route> routes() {
        // the statement says whether it needs more than to read
        return List.of(Route.of("POST", "/v1/stores/{store}/sql", Right.READ, this::run)
                .withBodyBytesMax(BODY_BYTES_MAX));
    }

    /** What a request asks. */
    private record Question(
            String statement,
            JsonNode parameters,
            long limit,
            long timeoutMillis,
            boolean explain) {
        static Question of(JsonNode body) {
            Bodies.checkKeys(
                    body, List.of("statement", "parameters", "limit", "timeoutMs", "explain"));
            return new Question(
                    Bodies.text(body, "statement"),
                    body.path("parameters"),
                    Bodies.number(body, "limit", Long.MAX_VALUE, 0, Long.MAX_VALUE),
                    Bodies.number(body, "timeoutMs", TIMEOUT_MILLIS_MAX, 1, TIMEOUT_MILLIS_MAX),
                    body.path("explain").asBoolean());
        }
    }

    private void run(Exchange exchange) throws IOException {
        Store store = stores.store(exchange.name("store"));
        Question asked = Question.of(Bodies.json(exchange));
        long startNanos = clock.monotonicNanos();
        Deadline deadline = new Deadline(clock, startNanos, asked.timeoutMillis());
        exchange.onGone(deadline::cancel);
        RunOptions options = RunOptions.defaults()
                .withSpill(store.environment().disk(), StoreFiles.SPILL)
                .withTasks(store.environment().tasks())
                .withStop(deadline::isOver);
        String text = asked.explain() ? "explain " + asked.statement() : asked.statement();
        List<ReadView> views = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(views, ReadView::close);
                Snapshot snapshot = store.openSnapshot()) {
            for (Dataset dataset : store.datasets()) {
                views.add(snapshot.view(dataset));
            }
            Catalog catalog = new ConfinedCatalog(StoreCatalog.of(store, false), files);
            SqlStatement planned = Sql.changes(text)
                    ? Sql.on(catalog).statement(text, deadline::isOver)
                    : Sql.at(views).changing(catalog).statement(text, deadline::isOver);
            @Nullable Object[] values = SqlValues.of(planned.parameters(), asked.parameters());
            if (planned.explains()) {
                exchange.answer(200, planned.explanation(options, values).toMap());
            } else if (planned.givesRows()) {
                rows(exchange, asked, planned, options, values, startNanos);
            } else {
                exchange.require(
                        planned.defines() ? Right.MANAGE : Right.WRITE,
                        "store",
                        exchange.name("store"));
                change(exchange, planned, options, values, startNanos);
            }
        } catch (SqlException wrong) {
            // with its lines: one of blanks and a caret shows the place in the line above
            throw Problem.of(
                    400, String.valueOf(wrong.getMessage()).replace(System.lineSeparator(), "\n"));
        } catch (CancellationException ended) {
            throw Problem.of(
                            504,
                            "the statement took longer than %d ms".formatted(asked.timeoutMillis()))
                    .advise("give it more: timeoutMs");
        }
    }

    private void change(
            Exchange exchange,
            SqlStatement planned,
            RunOptions options,
            @Nullable Object[] values,
            long startNanos) {
        try {
            long changed = planned.execute(options, values);
            exchange.answer(
                    200,
                    Map.of(
                            "summary",
                            Json.line()
                                    .put("changed", changed)
                                    .put("millis", millisSince(startNanos))
                                    .toMap()));
        } catch (CancellationException ended) {
            throw Problem.of(
                    504,
                    "the statement took too long; %d records were changed before it ended"
                            .formatted(planned.changedCount()));
        }
    }

    /**
     * What fails before the first row is an answer of its own; later it comes behind the rows, or
     * where that has no place the answer is cut.
     */
    private void rows(
            Exchange exchange,
            Question asked,
            SqlStatement planned,
            RunOptions options,
            @Nullable Object[] values,
            long startNanos)
            throws IOException {
        RowForm form = RowForm.of(exchange.header("Accept"));
        List<Map<String, @Nullable Object>> columns = planned.columns().stream()
                .map(column -> Json.line()
                        .put("name", column.name())
                        .put("type", column.type())
                        .toMap())
                .toList();
        try (QueryResult result = planned.run(options, values)) {
            ByteSink lines = new ByteSink(PIECE_BYTES, Integer.MAX_VALUE - 8);
            boolean more = result.next();
            OutputStream out = exchange.stream(200, form.type());
            form.begin(result, lines);
            long count = 0;
            Json.Line last;
            try {
                while (more && count < asked.limit()) {
                    form.row(result, count, lines);
                    count++;
                    if (lines.length() >= PIECE_BYTES) {
                        write(lines, out);
                    }
                    more = result.next();
                }
                last = Json.line()
                        .put(
                                "summary",
                                Json.line()
                                        .put("rows", count)
                                        .put("limited", more)
                                        .put("millis", millisSince(startNanos))
                                        .put("columns", columns)
                                        .toMap());
            } catch (CancellationException e) {
                last = error(
                        504,
                        "the statement took longer than %d ms".formatted(asked.timeoutMillis()));
            } catch (StorageException e) {
                Problem problem = Problems.of(e);
                last = error(problem.code(), problem.detail());
            } catch (RuntimeException e) {
                last = error(500, Failures.oneLine(String.valueOf(e.getMessage())));
            }
            if (form == RowForm.CSV && last.toMap().containsKey("error")) {
                throw new IOException("the answer is cut: CSV has no place for an error");
            }
            form.end(last.toMap(), lines);
            write(lines, out);
            out.close();
        }
    }

    private static Json.Line error(int code, String detail) {
        return Json.line()
                .put(
                        "error",
                        Json.line().put("status", code).put("detail", detail).toMap());
    }

    private static void write(ByteSink lines, OutputStream out) throws IOException {
        if (lines.length() > 0) {
            out.write(lines.asSlice(new Slice()).toByteArray());
            out.flush();
            lines.clear();
        }
    }

    private double millisSince(long startNanos) {
        return Math.round((clock.monotonicNanos() - startNanos) / 1e3) / 1e3;
    }

    /** When a statement is to end: its time is over, or its client has gone. */
    private static final class Deadline {
        private final Clock clock;
        private final long startNanos;
        private final long nanosMax;
        private final AtomicBoolean cancelled = new AtomicBoolean();

        Deadline(Clock clock, long startNanos, long millisMax) {
            this.clock = clock;
            this.startNanos = startNanos;
            this.nanosMax = TimeUnit.MILLISECONDS.toNanos(millisMax);
        }

        void cancel() {
            cancelled.set(true);
        }

        boolean isOver() {
            return cancelled.get() || clock.monotonicNanos() - startNanos > nanosMax;
        }
    }
}
