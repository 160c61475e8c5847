package io.turbidite.feeds.health;

import io.turbidite.core.meter.Description;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the figures of one feed, or of none, were in the last minute. <em>Immutable.</em>
 *
 * @param before samples of the last minute and the one before them, the oldest first; fewer if
 *     nobody took them
 */
record Minute(List<Moment> before, Moment now, String feed) {
    static final long NANOS = 60_000_000_000L;

    /** Whether it is as long as a minute. */
    boolean isWhole() {
        return nanos() >= NANOS;
    }

    /** How long it is: some seconds more than a minute, or less while it isn't whole. */
    long nanos() {
        return before.isEmpty() ? 0 : now.nanos() - before.getFirst().nanos();
    }

    OptionalLong now(String figure) {
        return now.of(figure, feed);
    }

    /** What a figure was at each sample and is now; empty unless it was there all the time. */
    private long[] values(String figure) {
        return values(figure, false);
    }

    /**
     * What a figure was at each sample and is now.
     *
     * @param isFromZero whether it was 0 before it was there; otherwise empty unless it was there
     *     all the time
     */
    private long[] values(String figure, boolean isFromZero) {
        boolean isThere = !isFromZero;
        long[] values = new long[before.size() + 1];
        for (int i = 0; i < values.length; i++) {
            Moment moment = i < before.size() ? before.get(i) : now;
            OptionalLong value = moment.of(figure, feed);
            isThere |= value.isPresent();
            if (!isWhole() || (isThere && value.isEmpty())) {
                return new long[0];
            }
            values[i] = value.orElse(0);
        }
        return isThere ? values : new long[0];
    }

    /** Whether a figure only grows: many come with the first that they count. */
    private static boolean isCount(String figure) {
        Description read = Description.of(figure.replaceFirst("[{:].*", ""));
        return read != null
                && switch (read.kind()) {
                    case "counter", "total", "latency" -> true;
                    default -> false;
                };
    }

    OptionalLong least(String figure) {
        return Arrays.stream(values(figure)).min();
    }

    OptionalLong middle(String figure) {
        long[] values = values(figure);
        Arrays.sort(values);
        return values.length == 0
                ? OptionalLong.empty()
                : OptionalLong.of(values[(values.length - 1) / 2]);
    }

    /** Negative if it fell. */
    OptionalLong grown(String figure) {
        long[] values = values(figure, isCount(figure));
        return values.length == 0
                ? OptionalLong.empty()
                : OptionalLong.of(values[values.length - 1] - values[0]);
    }

    /** How much it grew; 0 if it did not from one sample to the next. */
    OptionalLong risen(String figure) {
        long[] values = values(figure, isCount(figure));
        for (int i = 1; i < values.length; i++) {
            if (values[i] <= values[i - 1]) {
                return OptionalLong.of(0);
            }
        }
        return grown(figure);
    }
}
