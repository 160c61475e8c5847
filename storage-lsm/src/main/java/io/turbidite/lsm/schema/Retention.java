package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.TypeKind;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long a dataset keeps records, by the age of its first filter field (design §4 rule 10).
 * <em>Immutable.</em>
 *
 * @param seconds 1 second to 1,000 years
 */
public record Retention(long seconds) {
    private static final Pattern TEXT = Pattern.compile("([1-9][0-9]{0,11})([dhms])");
    private static final long SECONDS_MAX = 1_000L * 366 * 86_400;

    public Retention {
        if (seconds < 1 || seconds > SECONDS_MAX) {
            throw new InvalidRequestException(
                    "retain is %d seconds but must be 1 second to 1,000 years".formatted(seconds));
        }
    }

    /** Keeps records for this long; fractions of seconds are cut off. */
    public static Retention of(Duration duration) {
        return new Retention(duration.toSeconds());
    }

    /**
     * Reads {@code 30d}, {@code 12h}, {@code 90m} or {@code 45s}.
     *
     * @throws InvalidRequestException saying how to write it
     */
    public static Retention parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidRequestException(
                    "retain is '%s' but must be a number with d, h, m or s behind it, such as 30d"
                            .formatted(text));
        }
        long count = Long.parseLong(matcher.group(1));
        return new Retention(
                switch (matcher.group(2)) {
                    case "d" -> count * 86_400;
                    case "h" -> count * 3_600;
                    case "m" -> count * 60;
                    default -> count;
                });
    }

    /**
     * The smallest value of the filter field that is young enough, in the encoding of the filter's
     * bounds.
     *
     * @param filter a datetime or a date
     */
    public byte[] limit(KeySpec filter, long nowWallMicros) {
        Instant limit = Instant.EPOCH.plus(nowWallMicros, ChronoUnit.MICROS).minusSeconds(seconds);
        return filter.kinds().getFirst() == TypeKind.DATE
                ? filter.encode(limit.atOffset(ZoneOffset.UTC).toLocalDate())
                : filter.encode(limit);
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3_600 == 0) {
            return seconds / 3_600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }
}
