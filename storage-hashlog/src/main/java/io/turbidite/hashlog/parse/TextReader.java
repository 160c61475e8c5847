package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Reads the small languages of this module (paths, parsers, PSF definitions, predicates) from a
 * text of bounded length. Every complaint names the position, counted in characters from 0, and
 * what stands there. <em>Confined to one thread.</em>
 */
public final class TextReader {
    /** Longest text of one definition. */
    public static final int CHAR_COUNT_MAX = 8_192;

    private static final int NUMBER_CHAR_COUNT_MAX = 40;
    private static final Set<String> KEYWORDS = Set.of("true", "false", "null", "in");

    private final String text;
    private int position;

    public TextReader(String text) {
        if (text.length() > CHAR_COUNT_MAX) {
            throw new InvalidRequestException(
                    "a definition of %d characters is longer than the limit of %d"
                            .formatted(text.length(), CHAR_COUNT_MAX));
        }
        this.text = text;
    }

    /**
     * Whether {@code name} has a meaning of its own, so that a field of this name must be quoted.
     */
    public static boolean isKeyword(String name) {
        return KEYWORDS.contains(name);
    }

    static boolean startsName(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    }

    static boolean continuesName(char c) {
        return startsName(c) || (c >= '0' && c <= '9') || c == '-';
    }

    /** Where the next character stands that is not white space. */
    public int position() {
        skipSpace();
        return position;
    }

    private void skipSpace() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    /** The next character that is not white space, without taking it; 0 at the end. */
    public char peek() {
        skipSpace();
        return position < text.length() ? text.charAt(position) : 0;
    }

    /** Takes {@code token} if it comes next. */
    public boolean accept(String token) {
        skipSpace();
        if (!text.startsWith(token, position)) {
            return false;
        }
        position += token.length();
        return true;
    }

    /** Takes the word {@code word} if it comes next and ends there. */
    public boolean acceptWord(String word) {
        skipSpace();
        int end = position + word.length();
        if (!text.startsWith(word, position)
                || (end < text.length() && continuesName(text.charAt(end)))) {
            return false;
        }
        position = end;
        return true;
    }

    /** Takes {@code token}, which must come next. */
    public void expect(String token) {
        if (!accept(token)) {
            throw expected("'" + token + "'");
        }
    }

    /** Nothing may follow. */
    public void end() {
        if (peek() != 0 || position < text.length()) {
            throw expected("nothing more");
        }
    }

    /** What to throw when {@code what} should have come next. */
    public InvalidRequestException expected(String what) {
        skipSpace();
        String found = position >= text.length()
                ? "the end"
                : "'" + text.substring(position, Math.min(text.length(), position + 12)) + "'";
        return wrongAt(position, "expected %s, found %s".formatted(what, found));
    }

    /** What to throw when {@code problem} is at {@code place}. */
    public InvalidRequestException wrongAt(int place, String problem) {
        String shown = text.length() > 200 ? text.substring(0, 200) + "…" : text;
        return new InvalidRequestException(
                "at position %d: %s, in: %s".formatted(place, problem, shown));
    }

    /** A name, plain or between grave accents. */
    public String name() {
        if (peek() == '`') {
            return quoted('`');
        }
        int start = position;
        if (!startsName(peek())) {
            throw expected("a name");
        }
        while (position < text.length() && continuesName(text.charAt(position))) {
            position++;
        }
        return text.substring(start, position);
    }

    /** A path as {@link FieldPath} describes it. */
    public FieldPath path() {
        int start = position();
        List<FieldPath.Step> steps = new ArrayList<>();
        try {
            steps.add(new FieldPath.Name(pathName()));
            while (position < text.length()) {
                if (text.charAt(position) == '.') {
                    position++;
                    steps.add(new FieldPath.Name(pathName()));
                } else if (text.charAt(position) == '[') {
                    position++;
                    steps.add(new FieldPath.Element(index()));
                    expect("]");
                } else {
                    break;
                }
            }
            return new FieldPath(steps);
        } catch (InvalidRequestException e) {
            if (e.getMessage() != null && e.getMessage().startsWith("at position")) {
                throw e;
            }
            throw wrongAt(start, String.valueOf(e.getMessage()));
        }
    }

    private String pathName() {
        int start = position();
        boolean quoted = peek() == '`';
        String name = name();
        if (!quoted && isKeyword(name)) {
            throw wrongAt(start, "'%s' is a keyword, write `%s` for a field".formatted(name, name));
        }
        return name;
    }

    private int index() {
        int start = position;
        while (position < text.length() && Character.digit(text.charAt(position), 10) >= 0) {
            position++;
        }
        if (position == start || position - start > 7) {
            position = start;
            throw expected("an index of 1 to 7 digits");
        }
        return Integer.parseInt(text, start, position, 10);
    }

    /** A string between double quotes; a quote or backslash inside stands after a backslash. */
    public String string() {
        if (peek() != '"') {
            throw expected("a string");
        }
        int start = position++;
        StringBuilder value = new StringBuilder();
        while (position < text.length()) {
            char c = text.charAt(position++);
            if (c == '"') {
                return value.toString();
            }
            value.append(c == '\\' ? escape(position++) : c);
        }
        throw wrongAt(start, "this string does not end");
    }

    private char escape(int place) {
        char c = place < text.length() ? text.charAt(place) : 0;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                if (place + 5 > text.length()
                        || !text.substring(place + 1, place + 5).matches("[0-9a-fA-F]{4}")) {
                    throw wrongAt(place, "\\u needs four hexadecimal digits");
                }
                position += 4;
                yield (char) Integer.parseInt(text, place + 1, place + 5, 16);
            }
            default -> throw wrongAt(place, "no escape starts with this character");
        };
    }

    private String quoted(char quote) {
        int start = position++;
        StringBuilder value = new StringBuilder();
        while (position < text.length()) {
            char c = text.charAt(position++);
            if (c == quote) {
                if (position == text.length() || text.charAt(position) != quote) {
                    return value.toString();
                }
                position++;
            }
            value.append(c);
        }
        throw wrongAt(start, "this name does not end");
    }

    /** The form of a string that {@link #string()} reads back. */
    public static String quote(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> text.append(c < ' ' ? "\\u%04x".formatted((int) c) : String.valueOf(c));
            }
        }
        return text.append('"').toString();
    }

    /** Whether a number comes next. */
    public boolean atNumber() {
        char c = peek();
        return c == '-' || (c >= '0' && c <= '9');
    }

    /** A number as JSON writes it, of at most 40 characters. */
    public BigDecimal number() {
        int start = position();
        int at = start;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String literal = text.substring(start, at);
        if (literal.length() > NUMBER_CHAR_COUNT_MAX
                || !literal.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")) {
            throw expected("a number");
        }
        position = at;
        return new BigDecimal(literal);
    }

    /** An integer of {@code min} to {@code max}. */
    public int integer(int min, int max) {
        int start = position();
        BigDecimal number = number();
        if (number.stripTrailingZeros().scale() > 0
                || number.compareTo(BigDecimal.valueOf(min)) < 0
                || number.compareTo(BigDecimal.valueOf(max)) > 0) {
            throw wrongAt(start, "expected an integer of %d to %d".formatted(min, max));
        }
        return number.intValueExact();
    }
}
