package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

/** A statement is wrong, or asks for what SQL can't do here; the message shows the place. */
public final class SqlException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    /** More of a line is not shown. */
    private static final int SHOWN_CHARS = 100;

    private final int line;
    private final int column;

    private SqlException(String message, int line, int column, @Nullable Throwable cause) {
        super(message, cause);
        this.line = line;
        this.column = column;
    }

    /** A statement that is wrong as a whole. */
    static SqlException of(String message) {
        return new SqlException(message, 0, 0, null);
    }

    /** As {@link #of(String)}, with what it comes from. */
    static SqlException of(String message, Throwable cause) {
        return new SqlException(message, 0, 0, cause);
    }

    /**
     * A statement that is wrong at a place.
     *
     * @param line counted from 1, as {@code column}
     */
    static SqlException at(
            String message, String statement, int line, int column, @Nullable Throwable cause) {
        String text = line(statement, line);
        if (text == null || column < 1) {
            return new SqlException(message, line, column, cause);
        }
        int from = Math.max(0, Math.min(column - 1, text.length()) - SHOWN_CHARS / 2);
        int to = Math.min(text.length(), from + SHOWN_CHARS);
        String shown = (from > 0 ? "…" : "")
                + text.substring(from, to).replaceAll("\\p{javaISOControl}", " ");
        int caret = column - 1 - from + (from > 0 ? 1 : 0);
        return new SqlException(
                "line %d, column %d: %s%n  %s%n  %s^"
                        .formatted(line, column, message, shown, " ".repeat(Math.max(0, caret))),
                line,
                column,
                cause);
    }

    private static @Nullable String line(String statement, int number) {
        int start = 0;
        for (int i = 1; i < number; i++) {
            int end = statement.indexOf('\n', start);
            if (end < 0) {
                return null;
            }
            start = end + 1;
        }
        int end = statement.indexOf('\n', start);
        String line = statement.substring(start, end < 0 ? statement.length() : end);
        return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
    }

    /** The line of the place, counted from 1; 0: the statement as a whole. */
    public int line() {
        return line;
    }

    /** The column of the place, counted from 1; 0: the statement as a whole. */
    public int column() {
        return column;
    }
}
