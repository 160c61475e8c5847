package io.turbidite.core.memory;

import io.turbidite.core.InvalidRequestException;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Byte counts as people write them: {@code 65536}, {@code 64KiB}, {@code 1 GiB}.
 * <em>Stateless.</em>
 */
public final class ByteSize {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,19}) ?(B|KiB|MiB|GiB|TiB)?");
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private ByteSize() {}

    /**
     * The number of bytes that {@code text} says.
     *
     * @param what what the bytes are for, the start of the error
     * @throws InvalidRequestException if it isn't a whole number with one of the units B, KiB, MiB,
     *     GiB, TiB or none, or is more than 2^63-1
     */
    public static long parse(String what, String text) {
        Matcher matcher = TEXT.matcher(text.strip());
        if (matcher.matches()) {
            int unit = unitIndex(matcher.group(2));
            try {
                long count = Long.parseLong(matcher.group(1));
                return Math.multiplyExact(count, 1L << (10 * unit));
            } catch (NumberFormatException | ArithmeticException e) {
                throw new InvalidRequestException(
                        "%s: '%s' is more than 2^63-1 bytes".formatted(what, text), e);
            }
        }
        throw new InvalidRequestException(
                "%s: '%s' is not a number of bytes such as 67108864, 64MiB or 1GiB"
                        .formatted(what, text));
    }

    /** The shortest text that {@link #parse} reads back: the largest unit that divides it. */
    public static String format(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(4, Long.numberOfTrailingZeros(bytes) / 10);
        return unit == 0 ? Long.toString(bytes) : (bytes >> (10 * unit)) + UNITS[unit];
    }

    private static int unitIndex(String name) {
        for (int i = 1; i < UNITS.length; i++) {
            if (UNITS[i].equals(name)) {
                return i;
            }
        }
        return 0;
    }
}
