package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the tokens of the small languages (expressions, paths, parsers and PSFs of the hash log)
 * from a text of bounded length. Every complaint names the position, counted in characters from 0,
 * and what stands there. <em>Confined to one thread.</em>
 */
public final class TokenReader {
    /** Longest text of one definition. */
    public static final int CHAR_COUNT_MAX = 8_192;

    static final int NUMBER_CHAR_COUNT_MAX = 40;
    private static final Set<String> KEYWORDS = Set.of("true", "false", "null", "in");

    /** Words that mean something between operands alone, and are names elsewhere. */
    private static final Set<String> WORDS = Set.of("and", "or", "not", "is");

    private static final Pattern NUMBER =
            Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,4})?");
    private static final Pattern NUMERAL =
            Pattern.compile("[+-]?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");

    private final String text;

    /** Whether names are those of flat records: of letters of any script, dots included. */
    private final boolean flat;

    private int position;

    /** Reads a text in which names are the steps of paths. */
    public TokenReader(String text) {
        this(text, false);
    }

    TokenReader(String text, boolean flat) {
        if (text.length() > CHAR_COUNT_MAX) {
            throw new InvalidRequestException(
                    "a definition of %d characters is longer than the limit of %d"
                            .formatted(text.length(), CHAR_COUNT_MAX));
        }
        this.text = text;
        this.flat = flat;
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
        while (position < text.length() && " \t\r\n\f\u000B".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    /** The next character that is not white space, without taking it; 0 at the end. */
    public char peek() {
        skipSpace();
        return position < text.length() ? text.charAt(position) : 0;
    }

    /** Goes back to a place where it has been. */
    void back(int place) {
        position = place;
    }

    /** Whether {@code token} comes next. */
    boolean at(String token) {
        skipSpace();
        return text.startsWith(token, position);
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
        if (!text.startsWith(word, position) || (end < text.length() && continuesWord(end))) {
            return false;
        }
        position = end;
        return true;
    }

    private boolean continuesWord(int at) {
        return flat ? continuesFlatName(text.codePointAt(at)) : continuesName(text.charAt(at));
    }

    private static boolean startsFlatName(int codePoint) {
        return Character.isLetter(codePoint) || codePoint == '_' || codePoint == '$';
    }

    private static boolean continuesFlatName(int codePoint) {
        int type = Character.getType(codePoint);
        boolean isNumber = type == Character.DECIMAL_DIGIT_NUMBER
                || type == Character.LETTER_NUMBER
                || type == Character.OTHER_NUMBER;
        return startsFlatName(codePoint) || isNumber || codePoint == '.' || codePoint == '-';
    }

    /** Whether a word comes next that stands between operands. */
    boolean atComparisonWord() {
        int start = position();
        boolean found =
                acceptWord("in") || acceptWord("is") || acceptWord("and") || acceptWord("or");
        position = start;
        return found;
    }

    /** Takes {@code token}, which must come next. */
    public void expect(String token) {
        if (!accept(token)) {
            throw expected("'" + token + "'");
        }
    }

    /** Nothing may follow. */
    public void end() {
        if (!text.substring(position).isBlank()) {
            throw expected("nothing more");
        }
    }

    /** What to throw when {@code what} should have come next. */
    public InvalidRequestException expected(String what) {
        skipSpace();
        String found = position >= text.length()
                ? "the end"
                : "'" + text.substring(position, Math.min(text.length(), position + 12)) + "'";
        String hint = inSmallLetters(wordFrom(position));
        return wrongAt(
                position,
                "expected %s, found %s%s"
                        .formatted(
                                what, found, hint.isEmpty() ? inSmallLetters(wordBefore()) : hint));
    }

    private String wordFrom(int start) {
        int end = start;
        while (end < text.length() && Character.isLetter(text.charAt(end))) {
            end++;
        }
        return text.substring(start, end);
    }

    private String wordBefore() {
        int end = position;
        while (end > 0 && Character.isWhitespace(text.charAt(end - 1))) {
            end--;
        }
        int start = end;
        while (start > 0 && Character.isLetter(text.charAt(start - 1))) {
            start--;
        }
        return text.substring(start, end);
    }

    /**
     * What to say of a name that means something if it is written in small letters; empty of any
     * other one.
     */
    public static String inSmallLetters(String name) {
        String small = name.toLowerCase(Locale.ROOT);
        boolean isMeant =
                !name.equals(small) && (KEYWORDS.contains(small) || WORDS.contains(small));
        return isMeant ? "; '%s' is written in small letters".formatted(small) : "";
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
        if (flat) {
            return flatName();
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

    private String flatName() {
        int start = position();
        int at = start;
        if (!atFlatName()) {
            throw expected("a name");
        }
        while (at < text.length() && continuesFlatName(text.codePointAt(at))) {
            at += Character.charCount(text.codePointAt(at));
        }
        if (text.startsWith(RecordType.EACH, at)) {
            at += RecordType.EACH.length();
        }
        position = at;
        return text.substring(start, at);
    }

    /** Whether a name comes next. */
    boolean atName() {
        char c = peek();
        return c == '`' || (flat ? atFlatName() : startsName(c));
    }

    private boolean atFlatName() {
        return position < text.length() && startsFlatName(text.codePointAt(position));
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

    /** Whether a string comes next. */
    boolean atString() {
        return peek() == '"' || peek() == '\'';
    }

    /**
     * A string between double quotes, in which a quote or backslash stands after a backslash, or
     * between single quotes, in which a single quote is doubled.
     */
    String anyString() {
        return peek() == '\'' ? quoted('\'') : string();
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
        throw wrongAt(start, "this %s does not end".formatted(quote == '`' ? "name" : "string"));
    }

    /** The form of a name that {@link #name()} reads back, in texts of flat records. */
    static String quoteFlat(String name) {
        String stem = name.endsWith(RecordType.EACH)
                ? name.substring(0, name.length() - RecordType.EACH.length())
                : name;
        boolean plain = !stem.isEmpty()
                && startsName(stem.charAt(0))
                && stem.chars().allMatch(c -> continuesName((char) c) || c == '.');
        return plain && !isKeyword(name) && !WORDS.contains(name)
                ? name
                : "`" + name.replace("`", "``") + "`";
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
        return c == '-' || (c >= '0' && c <= '9') || (flat && c == '+');
    }

    /** Whether a sign comes next and right behind it a digit. */
    boolean atSignedNumber() {
        char sign = peek();
        return (sign == '-' || (flat && sign == '+'))
                && position + 1 < text.length()
                && Character.digit(text.charAt(position + 1), 10) >= 0;
    }

    /**
     * A number as it is written: as JSON writes it, in flat records also with a plus sign and with
     * zeros before it, of any length.
     */
    String numeral() {
        if (!flat) {
            return Literal.Numeric.of(number()).text();
        }
        Matcher matcher = NUMERAL.matcher(text).region(position(), text.length());
        if (!matcher.lookingAt()) {
            throw expected("a number");
        }
        position = matcher.end();
        return matcher.group();
    }

    /** A number as JSON writes it, of at most 40 characters. */
    public BigDecimal number() {
        int start = position();
        int at = start;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String literal = text.substring(start, at);
        if (!isNumber(literal) || !isNumber(normal(literal))) {
            throw expected("a number");
        }
        position = at;
        return new BigDecimal(literal);
    }

    private static boolean isNumber(String literal) {
        return literal.length() <= NUMBER_CHAR_COUNT_MAX
                && NUMBER.matcher(literal).matches();
    }

    /** The one form of a number, which may need a longer exponent than any that is read. */
    private static String normal(String number) {
        return Literal.Numeric.of(new BigDecimal(number)).text();
    }

    /** Whether a numeral is of bounded length, as it stands and in its one form. */
    static boolean isBounded(String numeral) {
        try {
            return numeral.length() <= NUMBER_CHAR_COUNT_MAX && isNumber(normal(numeral));
        } catch (ArithmeticException | NumberFormatException e) {
            return false; // an exponent beyond all numbers
        }
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
