package io.turbidite.ops.sql;

import java.util.Locale;

/**
 * The text of one statement, within its limits, without what only this store knows: {@code
 * EXPLAIN}. <em>Immutable.</em>
 *
 * @param whole as it was given, for messages
 * @param query what remains, with blanks where {@code EXPLAIN} stood
 */
record StatementText(
        String whole, String query, boolean explains, boolean analyzes, boolean asJson) {
    private static final String EXPLAIN = "explain";
    private static final String ANALYZE = "analyze";
    private static final String AS = "as";
    private static final String JSON = "json";

    static StatementText of(String text) {
        if (text.length() > Sql.TEXT_CHARS_MAX) {
            throw SqlException.of(String.format(
                    Locale.ROOT,
                    "a statement of %,d characters is longer than the limit of %,d",
                    text.length(),
                    Sql.TEXT_CHARS_MAX));
        }
        String statement = checked(text);
        if (statement.isBlank()) {
            throw SqlException.of("the statement is empty");
        }
        int word = behindWord(statement, 0, EXPLAIN);
        if (word < 0) {
            return new StatementText(text, statement, false, false, false);
        }
        int second = behindWord(statement, word, ANALYZE);
        int start = second < 0 ? word : second;
        int as = behindWord(statement, start, AS);
        if (as >= 0) {
            start = behindWord(statement, as, JSON);
            if (start < 0) {
                throw at("expected JSON", text, Tokens.behindBlanks(statement, as));
            }
        }
        return new StatementText(
                text,
                blanks(statement, start) + statement.substring(start),
                true,
                second >= 0,
                as >= 0);
    }

    private static String blanks(String text, int end) {
        return text.substring(0, end).replaceAll("[^\\n]", " ");
    }

    /** The place behind a word; -1 if another comes next. */
    private static int behindWord(String text, int from, String word) {
        int start = Tokens.behindBlanks(text, from);
        int end = start + word.length();
        boolean isThere = end < text.length()
                && text.substring(start, end).toLowerCase(Locale.ROOT).equals(word)
                && !Tokens.isNamePart(text.charAt(end));
        return isThere ? end : -1;
    }

    /** Checks what a parser would stumble over; without a semicolon at the end. */
    private static String checked(String text) {
        if (text.indexOf(0) >= 0) {
            throw at("a character of code 0 can't stand here", text, text.indexOf(0));
        }
        int depth = 0;
        int i = 0;
        int length = text.length();
        while (i < length) {
            char c = text.charAt(i);
            if (c == '\'' || c == '"') {
                int end = text.indexOf(c, i + 1);
                if (end < 0) {
                    throw at("the quote does not end", text, i);
                }
                i = end;
            } else if (text.startsWith("--", i)) {
                int end = text.indexOf('\n', i);
                i = end < 0 ? length : end;
            } else if (text.startsWith("/*", i)) {
                int end = text.indexOf("*/", i + 2);
                if (end < 0) {
                    throw at("the comment does not end", text, i);
                }
                i = end + 1;
            } else if (c == '(' || c == '[') {
                if (++depth > Sql.DEPTH_MAX) {
                    throw at("nested deeper than the limit of " + Sql.DEPTH_MAX, text, i);
                }
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (c == ';') {
                if (Tokens.behindBlanks(text, i + 1) < text.length()) {
                    throw at("one statement at a time: nothing can follow its ';'", text, i);
                }
                return text.substring(0, i);
            }
            i++;
        }
        return text;
    }

    static SqlException at(String message, String text, int index) {
        int line = 1;
        int start = 0;
        for (int i = text.indexOf('\n'); i >= 0 && i < index; i = text.indexOf('\n', i + 1)) {
            line++;
            start = i + 1;
        }
        return SqlException.at(message, text, line, index - start + 1, null);
    }
}
