package io.turbidite.feeds.web;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.type.Field;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.query.CsvRows;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How the rows of a statement are written into an answer. Stateless. */
enum RowForm {
    /** An object a line, then a line with the summary or the error. */
    LINES("application/x-ndjson") {
        @Override
        void begin(QueryResult result, ByteSink to) {
            // the first line is the first row
        }

        @Override
        void row(QueryResult result, long before, ByteSink to) {
            result.toJson(to);
            to.putByte('\n');
        }

        @Override
        void end(Map<String, @Nullable Object> last, ByteSink to) {
            put(Json.text(last) + "\n", to);
        }
    },

    /** One object: the rows, a line each, and behind them the summary or the error. */
    OBJECT("application/json") {
        @Override
        void begin(QueryResult result, ByteSink to) {
            put("{\"rows\":[", to);
        }

        @Override
        void row(QueryResult result, long before, ByteSink to) {
            put(before == 0 ? "\n" : ",\n", to);
            result.toJson(to);
        }

        @Override
        void end(Map<String, @Nullable Object> last, ByteSink to) {
            put("],\n" + Json.text(last).substring(1) + "\n", to);
        }
    },

    /** A line of names, then a line a row; nothing behind them, so an error cuts the answer. */
    CSV("text/csv; charset=utf-8; header=present") {
        @Override
        void begin(QueryResult result, ByteSink to) {
            put(CsvRows.head(names(result)), to);
        }

        @Override
        void row(QueryResult result, long before, ByteSink to) {
            put(CsvRows.line(names(result), result.map()), to);
        }

        @Override
        void end(Map<String, @Nullable Object> last, ByteSink to) {
            // CSV has no place for more than rows
        }

        private List<String> names(QueryResult result) {
            return result.rowType().declared().stream().map(Field::name).toList();
        }
    };

    private final String type;

    RowForm(String type) {
        this.type = type;
    }

    /** The header Content-Type. */
    String type() {
        return type;
    }

    abstract void begin(QueryResult result, ByteSink to);

    /**
     * Writes the row that the result stands on.
     *
     * @param before rows that are written
     */
    abstract void row(QueryResult result, long before, ByteSink to);

    /**
     * Writes what the client is told behind the rows.
     *
     * @param last one key, {@code summary} or {@code error}
     */
    abstract void end(Map<String, @Nullable Object> last, ByteSink to);

    private static void put(String text, ByteSink to) {
        to.putBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * What a client takes best, the first of equals; lines for whoever takes anything.
     *
     * @param accept the header Accept (RFC 9110, 12.5.1); null: anything
     * @throws Problem with 406 if it takes none of them
     */
    static RowForm of(@Nullable String accept) {
        if (accept == null || accept.isBlank()) {
            return LINES;
        }
        RowForm best = null;
        double bestWeight = 0;
        for (String one : accept.split(",", -1)) {
            String[] parts = one.strip().toLowerCase(Locale.ROOT).split(";", -1);
            RowForm form = ofType(parts[0].strip());
            double weight = weightOf(parts);
            if (form != null && weight > bestWeight) {
                best = form;
                bestWeight = weight;
            }
        }
        if (best == null) {
            throw Problem.of(406, "rows come as %s, not as '%s'".formatted(ALL, accept))
                    .advise("send it as header, Accept: text/csv");
        }
        return best;
    }

    private static final String ALL = "application/x-ndjson, application/json or text/csv";

    private static @Nullable RowForm ofType(String type) {
        return switch (type) {
            case "application/x-ndjson", "application/ndjson", "application/*", "*/*" -> LINES;
            case "application/json" -> OBJECT;
            case "text/csv", "text/*" -> CSV;
            default -> null;
        };
    }

    private static double weightOf(String[] parts) {
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].strip();
            if (part.startsWith("q=")) {
                try {
                    return Double.parseDouble(part.substring(2));
                } catch (NumberFormatException e) {
                    throw Problem.of(400, "in 'Accept', '%s' is no weight".formatted(part));
                }
            }
        }
        return 1;
    }
}
