package io.turbidite.feeds.flow;

import io.turbidite.core.InvalidRequestException;

/**
 * Which records are left out while the store is behind: a pure decision over what came before.
 * <em>Thread-safe by its lock</em>: the parse workers of a feed have one together.
 *
 * <p>Invariants, at every moment of a run:
 *
 * <ol>
 *   <li>of all records so far at most the stated share was left out,
 *   <li>while the store is not behind none is,
 *   <li>of those that may be left out one in {@code n} is taken all the same, evenly, so that a
 *       long burst leaves a sample.
 * </ol>
 */
public final class DiscardPolicy implements RecordPolicy {
    private final double shareMax;
    private final int keptOneIn;
    private long seenCount;
    private long droppedCount;
    private int sinceKept;

    /**
     * A policy.
     *
     * @param shareMax of all records, above 0 and below 1
     * @param keptOneIn at least 2
     */
    public DiscardPolicy(double shareMax, int keptOneIn) {
        if (!(shareMax > 0 && shareMax < 1)) {
            throw new InvalidRequestException(
                    "a share is above 0 and below 1, not %s".formatted(shareMax));
        }
        if (keptOneIn < 2) {
            throw new InvalidRequestException(
                    "one in %d kept would leave out none: 2 at least".formatted(keptOneIn));
        }
        this.shareMax = shareMax;
        this.keptOneIn = keptOneIn;
    }

    @Override
    public synchronized boolean takesNext(boolean isBehind) {
        seenCount++;
        if (!isBehind) {
            sinceKept = 0;
            return true;
        }
        if (droppedCount + 1 > shareMax * seenCount) {
            return true;
        }
        sinceKept++;
        if (sinceKept == keptOneIn) {
            sinceKept = 0;
            return true;
        }
        droppedCount++;
        return false;
    }

    /** Records that it left out. */
    public synchronized long droppedCount() {
        return droppedCount;
    }
}
