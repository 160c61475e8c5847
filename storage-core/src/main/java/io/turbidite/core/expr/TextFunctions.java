package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The bodies of functions that take texts apart and put them together. Characters are code points.
 * Static, without state.
 */
final class TextFunctions {
    /** Longest text that a function makes of shorter ones. */
    static final int MADE_CHARS_MAX = 1 << 20;

    private TextFunctions() {}

    /** The first characters; of a number below 0 all but so many of the last. */
    static @Nullable Object left(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object count = arguments.get(1).evaluate(row);
        if (value == null || count == null) {
            return null;
        }
        int[] text = codePoints(value);
        long wanted = whole("left", count);
        long end = wanted < 0 ? Math.max(0, text.length + wanted) : Math.min(wanted, text.length);
        return new String(text, 0, (int) end);
    }

    /** The last characters; of a number below 0 all but so many of the first. */
    static @Nullable Object right(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object count = arguments.get(1).evaluate(row);
        if (value == null || count == null) {
            return null;
        }
        int[] text = codePoints(value);
        long wanted = whole("right", count);
        long start = wanted < 0
                ? Math.min(text.length, wanted == Long.MIN_VALUE ? Long.MAX_VALUE : -wanted)
                : Math.max(0, text.length - wanted);
        return new String(text, (int) start, text.length - (int) start);
    }

    /** Filled up to so many characters, or cut to them: {@code lpad(text, length, fill)}. */
    static Function.Body padding(boolean isLeft) {
        String name = isLeft ? "lpad" : "rpad";
        return (arguments, row) -> {
            Object value = arguments.get(0).evaluate(row);
            Object length = arguments.get(1).evaluate(row);
            Object filling = arguments.size() > 2 ? arguments.get(2).evaluate(row) : " ";
            if (value == null || length == null || filling == null) {
                return null;
            }
            int wanted = bounded(name, whole(name, length));
            int[] text = codePoints(value);
            int[] fill = codePoints(filling);
            if (text.length >= wanted || fill.length == 0) {
                return new String(text, 0, Math.min(text.length, wanted));
            }
            int[] made = new int[wanted];
            int missing = wanted - text.length;
            int start = isLeft ? 0 : text.length;
            for (int i = 0; i < missing; i++) {
                made[start + i] = fill[i % fill.length];
            }
            System.arraycopy(text, 0, made, isLeft ? missing : 0, text.length);
            return new String(made, 0, wanted);
        };
    }

    /** So many times one behind the other; of no such number the empty text. */
    static @Nullable Object repeat(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object count = arguments.get(1).evaluate(row);
        if (value == null || count == null) {
            return null;
        }
        String text = Values.text(value);
        long times = Math.max(0, whole("repeat", count));
        if (text.isEmpty() || times == 0) {
            return "";
        }
        bounded("repeat", times > MADE_CHARS_MAX ? times : times * text.length());
        return text.repeat((int) times);
    }

    static @Nullable Object reverse(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        return value == null
                ? null
                : new StringBuilder(Values.text(value)).reverse().toString();
    }

    /** The part of a number, counted from 1, or from the end below 0; none is the empty text. */
    static @Nullable Object part(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object mark = arguments.get(1).evaluate(row);
        Object number = arguments.get(2).evaluate(row);
        if (value == null || mark == null || number == null) {
            return null;
        }
        String text = Values.text(value);
        String between = Values.text(mark);
        long wanted = whole("split_part", number);
        if (wanted == 0) {
            throw new InvalidRequestException("split_part counts parts from 1: there is no part 0");
        }
        if (between.isEmpty()) {
            return wanted == 1 || wanted == -1 ? text : "";
        }
        return wanted > 0 ? partOf(text, between, wanted) : partBehind(text, between, wanted);
    }

    private static String partOf(String text, String between, long wanted) {
        int start = 0;
        for (long i = 1; ; i++) {
            int end = text.indexOf(between, start);
            if (i == wanted) {
                return text.substring(start, end < 0 ? text.length() : end);
            }
            if (end < 0) {
                return "";
            }
            start = end + between.length();
        }
    }

    private static String partBehind(String text, String between, long wanted) {
        int end = text.length();
        for (long i = -1; ; i--) {
            int start =
                    end < between.length() ? -1 : text.lastIndexOf(between, end - between.length());
            if (i == wanted) {
                return text.substring(start < 0 ? 0 : start + between.length(), end);
            }
            if (start < 0) {
                return "";
            }
            end = start;
        }
    }

    /** Values with a text between them, without those that are null. */
    static @Nullable Object joined(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object between = arguments.getFirst().evaluate(row);
        if (between == null) {
            return null;
        }
        StringBuilder joined = new StringBuilder();
        boolean isFirst = true;
        for (BoundExpression argument : arguments.subList(1, arguments.size())) {
            Object value = argument.evaluate(row);
            if (value != null) {
                joined.append(isFirst ? "" : Values.text(between)).append(Values.text(value));
                isFirst = false;
            }
        }
        return joined.toString();
    }

    /** Without the characters of a set: {@code trim_of('both', characters, text)}. */
    static @Nullable Object trimmed(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object side = arguments.get(0).evaluate(row);
        Object characters = arguments.get(1).evaluate(row);
        Object value = arguments.get(2).evaluate(row);
        if (side == null || characters == null || value == null) {
            return null;
        }
        String ends = Values.text(side).toLowerCase(Locale.ROOT);
        if (!List.of("both", "leading", "trailing").contains(ends)) {
            throw new InvalidRequestException(
                    "trim_of takes both, leading or trailing, not '%s'".formatted(ends));
        }
        int[] unwanted = codePoints(characters);
        Arrays.sort(unwanted);
        int[] text = codePoints(value);
        int start = 0;
        int end = text.length;
        while (!ends.equals("trailing") && start < end && has(unwanted, text[start])) {
            start++;
        }
        while (!ends.equals("leading") && end > start && has(unwanted, text[end - 1])) {
            end--;
        }
        return new String(text, start, end - start);
    }

    private static boolean has(int[] sorted, int character) {
        return Arrays.binarySearch(sorted, character) >= 0;
    }

    private static int[] codePoints(Object value) {
        return Values.text(value).codePoints().toArray();
    }

    private static int bounded(String function, long length) {
        if (length > MADE_CHARS_MAX) {
            throw tooLong(function);
        }
        return (int) Math.max(0, length);
    }

    static InvalidRequestException tooLong(String function) {
        return new InvalidRequestException(String.format(
                Locale.ROOT, "%s makes texts of at most %,d characters", function, MADE_CHARS_MAX));
    }

    static long whole(String function, Object value) {
        if (Arithmetic.plain(value) instanceof Long number) {
            return number;
        }
        throw new InvalidRequestException("%s takes whole numbers, not '%s'"
                .formatted(function, shown(String.valueOf(value))));
    }

    static String shown(String text) {
        return text.length() > 40 ? text.substring(0, 40) + "…" : text;
    }
}
