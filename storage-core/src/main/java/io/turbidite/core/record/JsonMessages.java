package io.turbidite.core.record;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Jackson says of wrong JSON, for people. Static, without state. */
public final class JsonMessages {
    private static final int MESSAGE_CHARS_MAX = 160;

    /** Stands before the line and column of a bracket; the text itself is never told. */
    private static final Pattern SOURCE = Pattern.compile("\\[Source: [^;\\]]*; ");

    private static final String CHARACTER =
            "Unexpected character \\('(.+?)' \\(code .*?\\)\\)[^:]*: .*";

    /** In the order in which they are tried: a later one may match what an earlier one means. */
    private static final Map<Pattern, String> WORDS = words();

    private JsonMessages() {}

    private static Map<Pattern, String> words() {
        Map<Pattern, String> words = new LinkedHashMap<>();
        put(
                words,
                CHARACTER + "double-quote to start.*",
                "a name in double quotes is expected, not '$1'");
        put(words, CHARACTER + "a colon to separate.*", "':' is expected, not '$1'");
        put(words, CHARACTER + "comma to separate.*", "',' or the end is expected, not '$1'");
        put(words, CHARACTER + "expected a (?:valid )?value.*", "a value is expected, not '$1'");
        put(words, CHARACTER + "comment.*", "'$1' can't stand here; JSON has no comments");
        put(words, CHARACTER, "'$1' can't stand here");
        put(words, "Unexpected close marker '(.)': expected '(.)'.*", "'$2' is expected, not '$1'");
        put(words, "Unexpected close marker '(.)': no open .*", "'$1' closes nothing");
        put(words, "Unexpected end-of-input.*", "it ends too early");
        put(words, "Non-standard token '(.*?)': .*", "'$1' is no number of JSON");
        put(words, "Duplicate field '(.*)'.*", "the field '$1' is there twice");
        put(words, "Invalid UTF-8 (?:start|middle) byte 0x(\\w+).*", "byte 0x$1 is not UTF-8");
        put(words, limit("Number value"), "a number of $1 characters is over the limit of $2");
        put(words, limit("String value"), "a text of $1 characters is over the limit of $2");
        put(words, limit("Name"), "a name is longer than the limit of $2 bytes");
        put(words, limit("Document nesting"), "it is nested deeper than the limit of $2");
        put(
                words,
                "Unrecognized token '(.*?)': .*",
                "'$1' is no value of JSON; text stands in double quotes");
        put(
                words,
                "Illegal unquoted character \\(\\(CTRL-CHAR, code (\\d+)\\)\\).*",
                "a text has a control character, code $1, that is not escaped");
        put(
                words,
                "Illegal character \\(\\(CTRL-CHAR, code (\\d+)\\)\\).*",
                "a control character, code $1, can't stand here");
        put(
                words,
                "Unrecognized character escape '?(.+?)'? \\(code .*",
                "a text has '\\\\$1', which is no escape of JSON");
        put(words, "Invalid numeric value: Leading zeroes not allowed.*", "a number begins with 0");
        return words;
    }

    private static String limit(String of) {
        return of + " (?:length|depth) \\((\\d+)\\) exceeds the maximum allowed \\((\\d+),.*";
    }

    private static void put(Map<Pattern, String> words, String pattern, String told) {
        words.put(Pattern.compile(pattern, Pattern.DOTALL), told);
    }

    static String told(JacksonException wrong, String what) {
        JsonLocation at = wrong.getLocation();
        return told(wrong.getOriginalMessage(), at == null ? -1 : at.getByteOffset(), what);
    }

    /**
     * What is wrong, and where.
     *
     * @param message Jackson's
     * @param at the byte; -1 if that is not known
     * @param what the text should be: "a JSON object"
     */
    public static String told(String message, long at, String what) {
        String first = told(message);
        String cut = first.length() > MESSAGE_CHARS_MAX
                ? first.substring(0, MESSAGE_CHARS_MAX) + "…"
                : first;
        return "the text is not %s%s: %s".formatted(what, at >= 0 ? " at byte " + at : "", cut);
    }

    /** The message, in a line: in words of ours if it is one of those that are common. */
    public static String told(String message) {
        for (Map.Entry<Pattern, String> word : WORDS.entrySet()) {
            Matcher matcher = word.getKey().matcher(message);
            if (matcher.matches()) {
                return matcher.replaceFirst(word.getValue());
            }
        }
        return SOURCE.matcher(message).replaceAll("[").lines().findFirst().orElse("");
    }
}
