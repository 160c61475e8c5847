package io.turbidite.feeds.web;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Problems;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;

/**
 * An answer of rows, sent as they are found, at the client's pace, in the {@link RowForm} that it
 * takes; behind them comes {@code summary} or {@code error}. <em>Confined to one thread.</em>
 */
final class RowAnswer {
    private static final int PIECE_BYTES = 32 << 10;

    private final Exchange exchange;
    private final Deadline deadline;
    private final RowForm form;

    /** Of the answer, that are sent. */
    private long sentBytes;

    private RowAnswer(Exchange exchange, Deadline deadline, RowForm form) {
        this.exchange = exchange;
        this.deadline = deadline;
        this.form = form;
    }

    /**
     * The answer to a request; ask for it before the rows.
     *
     * @throws Problem with 406 if the client takes rows in no form that there is
     */
    static RowAnswer of(Exchange exchange, Deadline deadline) {
        return new RowAnswer(exchange, deadline, RowForm.of(exchange.header("Accept")));
    }

    /** What the summary tells of a column. */
    static Map<String, @Nullable Object> column(String name, String type) {
        return Json.line().put("name", name).put("type", type).toMap();
    }

    /**
     * Sends the rows. What fails before the first one is an answer of its own; later it comes
     * behind the rows, or where that has no place the answer is cut.
     *
     * <p>A row that does not fit in the bytes that an answer may have is not sent, and is such a
     * failure.
     *
     * @param limit most rows; whether it left some out is then told
     * @throws CancellationException if the time was over before the first row
     * @throws IOException if the client has gone, or the answer was cut
     */
    void send(QueryResult result, OptionalLong limit, List<Map<String, @Nullable Object>> columns)
            throws IOException {
        ByteSink lines = new ByteSink(PIECE_BYTES, Integer.MAX_VALUE - 8);
        boolean more = result.next();
        OutputStream out = exchange.stream(200, form.type());
        form.begin(result, lines);
        long countMax = limit.orElse(Long.MAX_VALUE);
        long count = 0;
        Json.Line last;
        try {
            while (more && count < countMax) {
                int fitting = lines.length();
                form.row(result, count, lines);
                if (sentBytes + lines.length() > exchange.options().answerBytesMax()) {
                    lines.truncate(fitting);
                    throw exchange.tooLong();
                }
                count++;
                if (lines.length() >= PIECE_BYTES) {
                    write(lines, out);
                }
                more = result.next();
            }
            Json.Line summary = Json.line().put("rows", count);
            if (limit.isPresent()) {
                summary.put("limited", more);
            }
            summary.put("millis", deadline.millis()).put("columns", columns);
            last = Json.line().put("summary", summary.toMap());
        } catch (CancellationException e) {
            last = error(deadline.passed());
        } catch (Problem e) {
            last = error(e);
        } catch (StorageException e) {
            last = error(Problems.of(e));
        } catch (RuntimeException e) {
            last = error(Problem.of(500, Failures.oneLine(String.valueOf(e.getMessage()))));
        }
        if (form == RowForm.CSV && last.toMap().containsKey("error")) {
            throw new IOException("the answer is cut: CSV has no place for an error");
        }
        form.end(last.toMap(), lines);
        write(lines, out);
        out.close();
    }

    private static Json.Line error(Problem problem) {
        return Json.line()
                .put(
                        "error",
                        Json.line()
                                .put("status", problem.code())
                                .put("detail", problem.detail())
                                .toMap());
    }

    private void write(ByteSink lines, OutputStream out) throws IOException {
        if (lines.length() > 0) {
            out.write(lines.asSlice(new Slice()).toByteArray());
            out.flush();
            sentBytes += lines.length();
            lines.clear();
        }
    }
}
