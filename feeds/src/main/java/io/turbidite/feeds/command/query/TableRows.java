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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Writes the rows of a query as a table for people. Columns are as wide as the first rows need;
 * numbers stand at the right.
 */
final class TableRows {
    /** Rows that are looked at before the first is written. */
    private static final int MEASURED_ROWS = 1_000;

    /** Long rows end the look before. */
    private static final int MEASURED_CHARS = 1 << 20;

    /** What would break the table, or move the cursor. */
    private static final Pattern CONTROL = Pattern.compile("\\p{javaISOControl}");

    private static final int WIDTH_MAX = 60;
    private static final String BETWEEN = "  ";

    private final List<Field> fields;
    private final OutputStream out;
    private final int[] widths;

    private TableRows(List<Field> fields, OutputStream out) {
        this.fields = fields;
        this.out = out;
        this.widths = fields.stream().mapToInt(f -> length(f.name())).toArray();
    }

    /**
     * Writes the remaining rows, and flushes.
     *
     * @return how many
     * @throws UncheckedIOException if nobody reads on
     */
    static long write(QueryResult result, OutputStream out) {
        TableRows table = new TableRows(result.rowType().declared(), out);
        try {
            long rows = table.write(result);
            out.flush();
            return rows;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long write(QueryResult result) throws IOException {
        List<List<String>> first = new ArrayList<>();
        long chars = 0;
        boolean more = result.next();
        while (more && first.size() < MEASURED_ROWS && chars < MEASURED_CHARS) {
            List<String> row = cells(result);
            first.add(row);
            chars += row.stream().mapToInt(String::length).sum();
            more = result.next();
        }
        for (List<String> row : first) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.min(WIDTH_MAX, Math.max(widths[i], length(row.get(i))));
            }
        }
        line(fields.stream().map(field -> plain(field.name())).toList());
        line(Arrays.stream(widths).mapToObj("-"::repeat).toList());
        for (List<String> row : first) {
            line(row);
        }
        long rows = first.size();
        while (more) {
            line(cells(result));
            rows++;
            more = result.next();
        }
        return rows;
    }

    private List<String> cells(QueryResult result) {
        Map<String, @Nullable Object> row = result.map();
        List<String> cells = new ArrayList<>(fields.size());
        for (Field field : fields) {
            cells.add(text(row.get(field.name())));
        }
        return cells;
    }

    private static String text(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case String text -> plain(text);
            case BigDecimal decimal -> decimal.toPlainString();
            case byte[] bytes -> Base64.getEncoder().encodeToString(bytes);
            default -> Json.plainText(value);
        };
    }

    private static String plain(String text) {
        return CONTROL.matcher(text).replaceAll(" ");
    }

    private static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    private void line(List<String> cells) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size(); i++) {
            String cell = cells.get(i);
            String blanks = " ".repeat(Math.max(0, widths[i] - length(cell)));
            line.append(i == 0 ? "" : BETWEEN);
            line.append(isNumber(i) ? blanks + cell : cell + blanks);
        }
        out.write((line.toString().stripTrailing() + '\n').getBytes(StandardCharsets.UTF_8));
    }

    private boolean isNumber(int column) {
        return switch (fields.get(column).kind()) {
            case INT8, INT16, INT32, INT64, FLOAT, DOUBLE, DECIMAL -> true;
            default -> false;
        };
    }
}
