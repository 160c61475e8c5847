package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The bodies of functions with regular expressions, in the syntax of {@link Pattern}. A pattern
 * that goes back and forth over a text is stopped after {@link #STEP_COUNT_MAX} looks at its
 * characters. <em>Thread-safe by a concurrent map of patterns.</em>
 */
final class RegularExpressions {
    /** Looks at characters of one text: about a tenth of a second. */
    static final int STEP_COUNT_MAX = 10_000_000;

    /** Compiled patterns that are kept, as statements have few; more begin anew. */
    private static final int KEPT_COUNT_MAX = 64;

    private static final ConcurrentHashMap<Key, Pattern> KEPT = new ConcurrentHashMap<>();

    private RegularExpressions() {}

    private record Key(String pattern, int flags) {}

    /** Whether a part of a text fits: {@code regexp_like(text, pattern, flags)}. */
    static @Nullable Object like(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object pattern = arguments.get(1).evaluate(row);
        Object flags = arguments.size() > 2 ? arguments.get(2).evaluate(row) : "";
        if (value == null || pattern == null || flags == null) {
            return null;
        }
        String expression = Values.text(pattern);
        Matcher matcher = matcher("regexp_like", expression, flags(flags, false), value);
        return isFound(matcher, expression);
    }

    /**
     * The first part that fits, or with the flag g each, replaced: {@code regexp_replace(text,
     * pattern, by, flags)}; {@code \1} to {@code \9} stand for groups, {@code \&} for the part.
     */
    static @Nullable Object replace(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object pattern = arguments.get(1).evaluate(row);
        Object by = arguments.get(2).evaluate(row);
        Object flags = arguments.size() > 3 ? arguments.get(3).evaluate(row) : "";
        if (value == null || pattern == null || by == null || flags == null) {
            return null;
        }
        String text = Values.text(value);
        String expression = Values.text(pattern);
        String replacement = Values.text(by);
        boolean isGlobal = Values.text(flags).indexOf('g') >= 0;
        Matcher matcher = matcher("regexp_replace", expression, flags(flags, true), value);
        StringBuilder made = new StringBuilder();
        int from = 0;
        while (isFound(matcher, expression)) {
            made.append(text, from, matcher.start());
            append(made, replacement, text, matcher);
            from = matcher.end();
            if (made.length() > TextFunctions.MADE_CHARS_MAX) {
                throw TextFunctions.tooLong("regexp_replace");
            }
            if (!isGlobal) {
                break;
            }
        }
        return made.append(text, from, text.length()).toString();
    }

    private static void append(
            StringBuilder made, String replacement, String text, Matcher matcher) {
        for (int i = 0; i < replacement.length(); i++) {
            char c = replacement.charAt(i);
            if (c != '\\' || i + 1 == replacement.length()) {
                made.append(c);
                continue;
            }
            char next = replacement.charAt(++i);
            if (next == '&') {
                made.append(text, matcher.start(), matcher.end());
            } else if (next >= '1' && next <= '9') {
                int group = next - '0';
                if (group <= matcher.groupCount() && matcher.start(group) >= 0) {
                    made.append(text, matcher.start(group), matcher.end(group));
                }
            } else {
                made.append(next);
            }
        }
    }

    private static boolean isFound(Matcher matcher, String pattern) {
        try {
            return matcher.find();
        } catch (StackOverflowError e) {
            throw new InvalidRequestException(
                    "the regular expression '%s' goes too deep into a text"
                            .formatted(TextFunctions.shown(pattern)),
                    e);
        }
    }

    private static Matcher matcher(String function, String pattern, int flags, Object value) {
        Key key = new Key(pattern, flags);
        Pattern compiled = KEPT.get(key);
        if (compiled == null) {
            compiled = compiled(function, pattern, flags);
            if (KEPT.size() >= KEPT_COUNT_MAX) {
                KEPT.clear();
            }
            KEPT.put(key, compiled);
        }
        return compiled.matcher(new Counted(Values.text(value), pattern));
    }

    private static Pattern compiled(String function, String pattern, int flags) {
        try {
            return Pattern.compile(pattern, flags);
        } catch (PatternSyntaxException e) {
            throw new InvalidRequestException(
                    "%s: '%s' is no regular expression: %s at character %d"
                            .formatted(
                                    function,
                                    TextFunctions.shown(pattern),
                                    e.getDescription(),
                                    e.getIndex() + 1),
                    e);
        } catch (StackOverflowError e) {
            throw new InvalidRequestException(
                    "%s: the regular expression '%s' is nested too deeply"
                            .formatted(function, TextFunctions.shown(pattern)),
                    e);
        }
    }

    private static int flags(Object flags, boolean replaces) {
        int bits = 0;
        for (char flag : Values.text(flags).toCharArray()) {
            bits = switch (flag) {
                case 'i' -> bits | Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;
                case 'c' -> bits & ~(Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
                case 'm', 'n' -> bits | Pattern.MULTILINE;
                case 's' -> bits | Pattern.DOTALL;
                case 'x' -> bits | Pattern.COMMENTS;
                default -> {
                    if (flag == 'g' && replaces) {
                        yield bits;
                    }
                    throw new InvalidRequestException(
                            "'%s' is no flag of a regular expression; there are c, i, m, n, s, x%s"
                                    .formatted(flag, replaces ? " and g" : ""));
                }
            };
        }
        return bits;
    }

    /** A text that counts how often a character of it is asked for. */
    private static final class Counted implements CharSequence {
        private final String text;
        private final String pattern;
        private int steps;

        Counted(String text, String pattern) {
            this.text = text;
            this.pattern = pattern;
        }

        @Override
        public char charAt(int index) {
            if (++steps > STEP_COUNT_MAX) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "the regular expression '%s' takes too long: more than %,d steps on one text",
                        TextFunctions.shown(pattern),
                        STEP_COUNT_MAX));
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
