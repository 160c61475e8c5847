package io.turbidite.feeds.flow;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Xxh3;

import java.util.concurrent.TimeUnit;

/**
 * Which records are left out so that no more than so many a second are taken: a pure decision over
 * the hash of a record's key, the time, and what came before. <em>Confined to one thread at a
 * time.</em>
 *
 * <p>Time is cut into windows, of {@value #WINDOW_MILLIS} ms, or of a second where fewer than
 * {@value #RATE_OF_WINDOWS} records a second are taken. Invariants:
 *
 * <ol>
 *   <li>in each window no more are taken than its share of the rate; the windows of a second have
 *       the rate together,
 *   <li>none is left out in a window that gets no more than its share, if the one before got no
 *       more either,
 *   <li>beside that a window takes the keys whose hash is low enough for what the window before
 *       got, so that the records of a key stay or go together, as far as the past tells; which
 *       hashes are low is drawn anew each second, so that each key has the same chance.
 * </ol>
 */
public final class ThrottlePolicy {
    private static final int WINDOW_MILLIS = 100;
    private static final int RATE_OF_WINDOWS = 100;

    /** A window that used less of its share makes the next one take more keys. */
    private static final double LOW_SHARE_MIN = 0.8;

    private final long rate;
    private final long windowNanos;
    private final long windowsASecond;
    private boolean hasBegun;
    private long beganNanos;
    private long window;
    private long shareLeft;
    private long seen;
    private long lowCount;

    /** Of a hash that is drawn evenly between 0 and 2<sup>63</sup>: those below are taken. */
    private long hashEnd = Long.MAX_VALUE;

    private long droppedCount;

    /**
     * A policy.
     *
     * @param recordsPerSecond at least 1
     */
    public ThrottlePolicy(int recordsPerSecond) {
        if (recordsPerSecond < 1) {
            throw new InvalidRequestException(
                    "%d records a second are none: 1 at least".formatted(recordsPerSecond));
        }
        rate = recordsPerSecond;
        windowsASecond = recordsPerSecond < RATE_OF_WINDOWS ? 1 : 1_000 / WINDOW_MILLIS;
        windowNanos = TimeUnit.SECONDS.toNanos(1) / windowsASecond;
    }

    /**
     * Decides about the next record.
     *
     * @param keyHash of its key, by any hash whose bits are even
     * @param nanos the time, by a clock that never goes back
     * @return whether it is taken
     */
    public boolean takes(long keyHash, long nanos) {
        turnTo(nanos);
        seen++;
        boolean isLow = isLow(keyHash);
        lowCount += isLow ? 1 : 0;
        if (shareLeft == 0 || !isLow) {
            droppedCount++;
            return false;
        }
        shareLeft--;
        return true;
    }

    private boolean isLow(long keyHash) {
        return hashEnd == Long.MAX_VALUE
                || Xxh3.hash(keyHash, window / windowsASecond) >>> 1 < hashEnd;
    }

    private void turnTo(long nanos) {
        if (!hasBegun) {
            hasBegun = true;
            beganNanos = nanos;
            shareLeft = share(0);
            return;
        }
        long now = (nanos - beganNanos) / windowNanos;
        if (now == window) {
            return;
        }
        boolean isNext = now == window + 1; // else those between got nothing
        long second = window / windowsASecond;
        window = now;
        shareLeft = share(now);
        if (!isNext || seen <= shareLeft) {
            hashEnd = Long.MAX_VALUE;
        } else if (hashEnd == Long.MAX_VALUE || now / windowsASecond != second) {
            hashEnd = scaled(Long.MAX_VALUE, seen);
        } else if (lowCount > shareLeft || lowCount < shareLeft * LOW_SHARE_MIN) {
            hashEnd = scaled(hashEnd, lowCount); // keys are not all alike
        }
        seen = 0;
        lowCount = 0;
    }

    /** Where hashes must end so that, of so many below {@code end}, the window's share is left. */
    private long scaled(long end, long countBelow) {
        return (long) ((double) end * shareLeft / Math.max(1, countBelow)); // at most all
    }

    /** What a window may take, so that those of a second come to the rate. */
    private long share(long of) {
        long inSecond = of % windowsASecond;
        return rate * (inSecond + 1) / windowsASecond - rate * inSecond / windowsASecond;
    }

    /** Records that it left out. */
    public long droppedCount() {
        return droppedCount;
    }
}
