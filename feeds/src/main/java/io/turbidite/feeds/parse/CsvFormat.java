package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * How a CSV file is written.
 *
 * @param separator between fields; an ASCII character other than a quote, a line end, a letter or a
 *     digit
 * @param header whether the first record of each file names the columns
 * @param columns their names where there is no header; empty where there is one
 */
public record CsvFormat(char separator, boolean header, List<String> columns) {
    public CsvFormat {
        columns = List.copyOf(columns);
        var _ = checkSeparator(separator);
        if (header != columns.isEmpty()) {
            throw new InvalidRequestException(
                    header
                            ? "columns can't be given for a file that has a header"
                            : "columns must be given for a file without a header");
        }
        Set<String> seen = new HashSet<>();
        for (String column : columns) {
            if (column.isEmpty() || !seen.add(column)) {
                throw new InvalidRequestException(
                        column.isEmpty()
                                ? "a column has no name"
                                : "column '%s' is there twice".formatted(column));
            }
        }
    }

    /** Returns it. */
    public static char checkSeparator(char separator) {
        if (separator >= 0x7F
                || separator == '"'
                || separator == '\n'
                || separator == '\r'
                || Character.isLetterOrDigit(separator)) {
            throw new InvalidRequestException(
                    "the separator '%s' must be an ASCII character such as , ; | or a tab"
                            .formatted(separator));
        }
        return separator;
    }
}
