package io.turbidite.feeds.command.query;

import io.turbidite.core.type.Field;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Writes the rows of a query as RFC 4180 has them: a line of names, then a line a row, with commas
 * between. Null and missing are empty, an empty text is {@code ""}; points, arrays and records are
 * JSON. Only declared fields have a column.
 */
public final class CsvRows {
    private static final String LINE_END = "\r\n";

    private CsvRows() {}

    /**
     * Writes the remaining rows, and flushes.
     *
     * @return how many
     * @throws UncheckedIOException if nobody reads on
     */
    static long write(QueryResult result, OutputStream out) {
        List<String> names =
                result.rowType().declared().stream().map(Field::name).toList();
        long rows = 0;
        try {
            out.write(head(names).getBytes(StandardCharsets.UTF_8));
            for (Map<String, @Nullable Object> row : result) {
                out.write(line(names, row).getBytes(StandardCharsets.UTF_8));
                rows++;
            }
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rows;
    }

    /** The line of names, with its end. */
    public static String head(List<String> names) {
        StringJoiner header = new StringJoiner(",", "", LINE_END);
        names.forEach(name -> header.add(quoted(name)));
        return header.toString();
    }

    /** The line of a row, with its end. */
    public static String line(List<String> names, Map<String, @Nullable Object> row) {
        StringJoiner line = new StringJoiner(",", "", LINE_END);
        names.forEach(name -> line.add(text(row.get(name))));
        return line.toString();
    }

    private static String text(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case String text -> text.isEmpty() ? "\"\"" : quoted(text);
            case BigDecimal decimal -> decimal.toPlainString();
            case byte[] bytes -> Base64.getEncoder().encodeToString(bytes);
            default -> quoted(Json.plainText(value));
        };
    }

    private static String quoted(String text) {
        boolean isPlain =
                text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return isPlain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
}
