package io.turbidite.feeds.command.copy;

import io.turbidite.feeds.command.common.Json;

import org.jspecify.annotations.Nullable;

import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Rows of CSV (RFC 4180) as {@link io.turbidite.feeds.parse.CsvRecordParser} reads them back: null
 * is an empty field, an empty string two quotes. <em>Immutable.</em>
 *
 * @param separator between fields
 */
record CsvCells(char separator) {
    /** Appends a row of names. */
    void appendNames(StringBuilder row, List<String> names) {
        for (int i = 0; i < names.size(); i++) {
            row.append(i == 0 ? "" : separator);
            appendText(row, names.get(i));
        }
        row.append('\n');
    }

    /** Appends the values of some fields of a record. */
    void append(StringBuilder row, List<String> names, Map<String, @Nullable Object> record) {
        for (int i = 0; i < names.size(); i++) {
            if (i > 0) {
                row.append(separator);
            }
            Object value = record.get(names.get(i));
            if (value != null) {
                appendText(row, text(value));
            }
        }
        row.append('\n');
    }

    private static String text(Object value) {
        return switch (value) {
            case String text -> text;
            case byte[] bytes -> Base64.getEncoder().encodeToString(bytes);
            default -> Json.plainText(value);
        };
    }

    private void appendText(StringBuilder row, String text) {
        boolean quoted = text.isEmpty();
        for (int i = 0; i < text.length() && !quoted; i++) {
            char c = text.charAt(i);
            quoted = c == separator || c == '"' || c == '\n' || c == '\r';
        }
        if (quoted) {
            row.append('"').append(text.replace("\"", "\"\"")).append('"');
        } else {
            row.append(text);
        }
    }
}
