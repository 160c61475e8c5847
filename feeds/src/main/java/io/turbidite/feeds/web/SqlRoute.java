package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.HttpOptions;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;

/** Statements of SQL; their rows are a {@link RowAnswer}. <em>Thread-safe.</em> */
final class SqlRoute {
    /** Statements are short; their parameters may be long. */
    private static final long BODY_BYTES_MAX = 4 << 20;

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
            String statement, JsonNode parameters, long limit, Duration planning, boolean explain) {
        static Question of(JsonNode body) {
            Bodies.checkKeys(
                    body,
                    List.of(
                            "statement",
                            "parameters",
                            "limit",
                            "timeoutMs",
                            "planningMs",
                            "explain"));
            return new Question(
                    Bodies.text(body, "statement"),
                    body.path("parameters"),
                    Bodies.number(body, "limit", Long.MAX_VALUE, 0, Long.MAX_VALUE),
                    Duration.ofMillis(Bodies.number(
                            body,
                            "planningMs",
                            Sql.PLANNING_MAX.toMillis(),
                            1,
                            HttpOptions.REQUEST_MILLIS_MAX)),
                    Bodies.truth(body, "explain"));
        }
    }

    private void run(Exchange exchange) throws IOException {
        Store store = stores.store(exchange);
        JsonNode body = Bodies.json(exchange);
        Question asked = Question.of(body);
        Deadline deadline = Deadline.of(exchange, clock, body);
        RunOptions options = RunOptions.defaults()
                .withSpill(store.environment().disk(), StoreFiles.SPILL)
                .withTasks(store.environment().tasks())
                .withStop(deadline::isOver);
        String text = asked.statement();
        OwnDatasets own = OwnDatasets.of(exchange);
        List<ReadView> views = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(views, ReadView::close);
                Snapshot snapshot = store.openSnapshot()) {
            for (Dataset dataset : store.datasets()) {
                if (own.mayUse(dataset.name())) {
                    views.add(snapshot.view(dataset));
                }
            }
            FeedManager manager = stores.feeds().get(exchange.name("store"));
            Catalog catalog = new ConfinedCatalog(
                    StoreCatalog.of(store, false),
                    files,
                    own,
                    manager == null ? null : new ConfinedFeeds(manager, files, exchange));
            boolean isExplained = asked.explain();
            Sql sql = !isExplained && Sql.changes(text)
                    ? Sql.on(catalog)
                    : Sql.at(views).changing(catalog);
            SqlStatement planned =
                    sql.planningAtMost(asked.planning()).statement(text, deadline::isOver);
            @Nullable Object[] values = SqlValues.of(planned.parameters(), asked.parameters());
            if (isExplained || planned.explains()) {
                exchange.answer(200, planned.explanation(options, values).toMap());
            } else if (planned.givesRows()) {
                rows(exchange, asked, planned, options, values, deadline);
            } else {
                exchange.require(
                        planned.defines() ? Right.MANAGE : Right.WRITE,
                        "store",
                        exchange.name("store"));
                change(exchange, planned, options, values, deadline);
            }
        } catch (SqlException wrong) {
            String message = String.valueOf(wrong.getMessage());
            for (Dataset dataset : store.datasets()) {
                if (message.contains("there is no dataset '%s'".formatted(dataset.name()))) {
                    own.require(dataset.name()); // it was kept from the statement
                }
            }
            // with its lines: one of blanks and a caret shows the place in the line above
            throw Problem.of(400, message.replace(System.lineSeparator(), "\n"));
        } catch (CancellationException ended) {
            throw deadline.passed();
        }
    }

    private void change(
            Exchange exchange,
            SqlStatement planned,
            RunOptions options,
            @Nullable Object[] values,
            Deadline deadline) {
        try {
            long changed = planned.execute(options, values);
            exchange.answer(
                    200,
                    Map.of(
                            "summary",
                            Json.line()
                                    .put("changed", changed)
                                    .put("millis", deadline.millis())
                                    .toMap()));
        } catch (CancellationException ended) {
            throw Problem.of(504, "the statement took too long; " + stays(planned));
        } catch (StorageException failed) {
            if (planned.changedCount() == 0) {
                throw failed;
            }
            Problem problem = Problems.of(failed);
            throw Problem.of(problem.code(), "%s; %s".formatted(problem.detail(), stays(planned)))
                    .advise(problem.advice())
                    .retry(problem.retrySeconds());
        }
    }

    private static String stays(SqlStatement planned) {
        return "%d records were changed before it ended".formatted(planned.changedCount());
    }

    private static void rows(
            Exchange exchange,
            Question asked,
            SqlStatement planned,
            RunOptions options,
            @Nullable Object[] values,
            Deadline deadline)
            throws IOException {
        RowAnswer answer = RowAnswer.of(exchange, deadline);
        try (QueryResult result = planned.run(options, values)) {
            answer.send(
                    result,
                    OptionalLong.of(asked.limit()),
                    planned.columns().stream()
                            .map(column -> RowAnswer.column(column.name(), column.type()))
                            .toList());
        }
    }
}
