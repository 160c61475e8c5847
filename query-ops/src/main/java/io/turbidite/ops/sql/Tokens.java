package io.turbidite.ops.sql;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * The words and signs of a statement, one after the other, for statements that Calcite does not
 * parse. Knows what was asked for at the present place, for messages. <em>Confined to one
 * thread.</em>
 */
final class Tokens {
    private static final int EXPECTED_SHOWN = 5;

    /** What a token is. */
    enum Kind {
        /** A name or a word of the language; quoted ones are names only. */
        WORD,
        QUOTED_NAME,
        TEXT,
        NUMBER,
        SIGN,
        END
    }

    /**
     * @param text of names and texts without their quotes
     * @param start its place
     * @param end the place behind it
     */
    record Token(Kind kind, String text, int start, int end) {}

    private final String text;
    private final String shown;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    /** What could stand at {@link #at}. */
    private final Set<String> expected = new TreeSet<>();

    /**
     * @param text whose quotes and comments end
     * @param shown as it was given, for messages; every character at its place
     */
    Tokens(String text, String shown) {
        this.text = text;
        this.shown = shown;
        int from = 0;
        while (true) {
            from = behindBlanks(text, from);
            if (from == text.length()) {
                tokens.add(new Token(Kind.END, "", from, from));
                return;
            }
            Token token = read(from);
            tokens.add(token);
            from = token.end();
        }
    }

    /** The place behind blanks and comments. */
    static int behindBlanks(String text, int start) {
        int from = start;
        while (from < text.length()) {
            if (Character.isWhitespace(text.charAt(from))) {
                from++;
            } else if (text.startsWith("--", from)) {
                int end = text.indexOf('\n', from);
                from = end < 0 ? text.length() : end;
            } else if (text.startsWith("/*", from)) {
                int end = text.indexOf("*/", from + 2);
                from = end < 0 ? text.length() : end + 2;
            } else {
                return from;
            }
        }
        return from;
    }

    /** The first word of a statement in lower case; empty if it begins with something else. */
    static String firstWord(String text) {
        int from = behindBlanks(text, 0);
        int end = from;
        while (end < text.length() && isNamePart(text.charAt(end))) {
            end++;
        }
        return text.substring(from, end).toLowerCase(Locale.ROOT);
    }

    static boolean isNamePart(char c) {
        return c == '_' || c == '$' || Character.isLetterOrDigit(c);
    }

    private Token read(int start) {
        char c = text.charAt(start);
        if (c == '\'' || c == '"') {
            StringBuilder inside = new StringBuilder();
            int from = start + 1;
            while (true) {
                int end = text.indexOf(c, from);
                if (end < 0) {
                    throw StatementText.at("the quote does not end", shown, start);
                }
                inside.append(text, from, end);
                if (end + 1 < text.length() && text.charAt(end + 1) == c) {
                    inside.append(c);
                    from = end + 2;
                } else {
                    return new Token(
                            c == '\'' ? Kind.TEXT : Kind.QUOTED_NAME,
                            inside.toString(),
                            start,
                            end + 1);
                }
            }
        }
        if (isNamePart(c)) {
            boolean isNumber = Character.isDigit(c);
            int end = start + 1;
            while (end < text.length()
                    && (isNamePart(text.charAt(end)) || (isNumber && text.charAt(end) == '.'))) {
                end++;
            }
            return new Token(
                    isNumber ? Kind.NUMBER : Kind.WORD, text.substring(start, end), start, end);
        }
        int end = start + Character.charCount(text.codePointAt(start));
        return new Token(Kind.SIGN, text.substring(start, end), start, end);
    }

    Token peek() {
        return tokens.get(at);
    }

    Token next() {
        Token token = tokens.get(at);
        if (token.kind() != Kind.END) {
            at++;
        }
        expected.clear();
        return token;
    }

    /** Whether these words are next. */
    boolean isNext(String first, String second) {
        return is(at, first) && is(at + 1, second);
    }

    private boolean is(int index, String word) {
        return index < tokens.size()
                && tokens.get(index).kind() == Kind.WORD
                && tokens.get(index).text().equalsIgnoreCase(word);
    }

    /** What could stand at the present place, for the message. */
    void expect(String what) {
        expected.add(what);
    }

    /** Takes a word of the language, if it is next. */
    boolean takes(String word) {
        expected.add(word.toUpperCase(Locale.ROOT));
        Token token = peek();
        if (token.kind() == Kind.WORD && token.text().equalsIgnoreCase(word)) {
            var _ = next();
            return true;
        }
        return false;
    }

    /** Takes a sign, if it is next. */
    boolean takesSign(String sign) {
        expected.add("'" + sign + "'");
        Token token = peek();
        if (token.kind() == Kind.SIGN && token.text().equals(sign)) {
            var _ = next();
            return true;
        }
        return false;
    }

    void require(String word) {
        if (!takes(word)) {
            throw wrong();
        }
    }

    void requireSign(String sign) {
        if (!takesSign(sign)) {
            throw wrong();
        }
    }

    /** A name, quoted or not. */
    Token name(String what) {
        Token token = peek();
        if (token.kind() != Kind.WORD && token.kind() != Kind.QUOTED_NAME) {
            expected.add(what);
            throw wrong();
        }
        return next();
    }

    /** A number or a text, if one of them is next. */
    @Nullable
    Token value() {
        Token token = peek();
        expected.add("a value");
        return token.kind() == Kind.TEXT || token.kind() == Kind.NUMBER ? next() : null;
    }

    /** A whole number of at most nine digits. */
    int number() {
        Token token = peek();
        expected.add("a whole number");
        if (token.kind() != Kind.NUMBER || !token.text().matches("[0-9]{1,9}")) {
            throw wrong();
        }
        return Integer.parseInt(next().text());
    }

    /** That the statement ends here. */
    void end() {
        if (peek().kind() != Kind.END) {
            throw wrong();
        }
    }

    /** What is next can't stand here. */
    SqlException wrong() {
        Token token = peek();
        String message = token.kind() == Kind.END
                ? "the statement ends too early"
                : "'%s' can't stand here".formatted(text.substring(token.start(), token.end()));
        if (!expected.isEmpty() && expected.size() <= EXPECTED_SHOWN) {
            message += "; expected " + String.join(", ", expected);
        }
        return at(message, token);
    }

    /** What is wrong with a token. */
    SqlException at(String message, Token token) {
        return StatementText.at(message, shown, token.start());
    }

    /** The text from one place to another. */
    String between(int start, int end) {
        return text.substring(start, end);
    }
}
