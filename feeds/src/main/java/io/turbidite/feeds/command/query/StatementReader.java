package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.util.Locale;

/**
 * Statements of a text, one after another, each to its semicolon or to the end. Semicolons in
 * quotes and comments are of the statement. <em>Confined to one thread.</em>
 */
final class StatementReader {
    private static final int END = -1;
    private static final int BYTE_ORDER_MARK = 0xfeff;

    /** Line breaks that stand before a statement at most: they count as part of it. */
    private static final int LINES_MAX = 10_000;

    private final Reader reader;
    private int ahead = END;
    private boolean hasAhead;
    private int line = 1;
    private int begun = 1;
    private int firstWordLine = 1;
    private boolean isBegun;
    private boolean isTerminated;

    StatementReader(Reader reader) {
        this.reader = reader;
    }

    /** Whether a text ends with a statement that is whole, or has none. */
    static boolean isWhole(String text) {
        StatementReader statements = new StatementReader(new StringReader(text));
        boolean whole = true;
        while (statements.next() != null) {
            whole = statements.isTerminated;
        }
        return whole;
    }

    /**
     * The next statement without its semicolon, behind as many line breaks as there are before it,
     * so that places in it are those of the text, unless it {@link #isFarDown}; null at the end.
     *
     * @throws InvalidRequestException if the text is not of its encoding
     */
    @Nullable
    String next() {
        while (true) {
            StringBuilder statement = new StringBuilder();
            begun = line;
            boolean hasWord = read(statement);
            if (hasWord) {
                return "\n".repeat(isFarDown() ? 0 : begun - 1) + statement;
            }
            if (!isTerminated) {
                return null;
            }
        }
    }

    /** Whether places in the statement are counted from {@link #firstLine}. */
    boolean isFarDown() {
        return begun > LINES_MAX;
    }

    /** The line that the statement, or a comment before it, begins in; from 1. */
    int firstLine() {
        return begun;
    }

    /** The line of its first word; from 1. */
    int firstWordLine() {
        return firstWordLine;
    }

    /** Whether the text ended with it, without a semicolon. */
    boolean isLast() {
        return !isTerminated;
    }

    /** Reads to a semicolon or the end; says whether there is more than blanks and comments. */
    private boolean read(StringBuilder statement) {
        boolean hasWord = false;
        isTerminated = false;
        for (int c = take(); c != END; c = take()) {
            if (c == ';') {
                isTerminated = true;
                return hasWord;
            }
            append(statement, c);
            if (c == '-' && peek() == '-') {
                until(statement, "\n");
            } else if (c == '/' && peek() == '*') {
                append(statement, take());
                until(statement, "*/");
            } else if (c == '\'' || c == '"') {
                firstWordLine = hasWord ? firstWordLine : line;
                hasWord = true;
                until(statement, String.valueOf((char) c));
            } else if (!Character.isWhitespace(c)) {
                firstWordLine = hasWord ? firstWordLine : line;
                hasWord = true;
            }
            if (!hasWord && c == '\n') {
                statement.setLength(0); // lines without a word are counted, not kept
                begun = line;
            }
        }
        return hasWord;
    }

    /** Takes all to an end, which may not come. */
    private void until(StringBuilder statement, String end) {
        int from = statement.length();
        for (int c = take(); c != END; c = take()) {
            append(statement, c);
            int start = statement.length() - end.length();
            if (start >= from && statement.indexOf(end, start) == start) {
                return;
            }
        }
    }

    private static void append(StringBuilder statement, int c) {
        if (statement.length() > Sql.TEXT_CHARS_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a statement is longer than the limit of %,d characters",
                    Sql.TEXT_CHARS_MAX));
        }
        statement.append((char) c);
    }

    private int peek() {
        if (!hasAhead) {
            ahead = readOne();
            hasAhead = true;
        }
        return ahead;
    }

    private int take() {
        int c = peek();
        hasAhead = false;
        line += c == '\n' ? 1 : 0;
        return c;
    }

    private int readOne() {
        try {
            int c = reader.read();
            boolean isMark = c == BYTE_ORDER_MARK && !isBegun;
            isBegun = true;
            return isMark ? reader.read() : c;
        } catch (CharacterCodingException e) {
            throw new InvalidRequestException(
                    "the statements are not UTF-8, behind line %d".formatted(line), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
