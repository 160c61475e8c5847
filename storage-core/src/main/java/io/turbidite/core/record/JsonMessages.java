package io.turbidite.core.record;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Jackson says of wrong JSON, for people. Static, without state. */
public final class JsonMessages {
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
        put(words, "Unexpected end-of-input.*", "it ends too early");
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

    private static void put(Map<Pattern, String> words, String pattern, String told) {
        words.put(Pattern.compile(pattern, Pattern.DOTALL), told);
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
