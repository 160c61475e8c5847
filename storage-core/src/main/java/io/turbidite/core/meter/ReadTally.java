package io.turbidite.core.meter;

import io.turbidite.core.time.Clock;

/**
 * Tells a store's {@link SlowOperations} of reads, one after the other. <em>Confined to one thread
 * at a time.</em>
 *
 * <p>A read that waited for nothing looks at no clock and counts as one that took no time: it costs
 * two volatile reads, and its share of one telling for 1,024 of them. One that waited is timed from
 * its first wait on.
 */
public final class ReadTally {
    private static final int TOLD_COUNT = 1_024;

    private final SlowOperations slow;
    private final Clock clock;
    private long waitsBefore;

    /** Reads that waited for nothing and were not told yet. */
    private int quickCount;

    /** None yet. */
    public ReadTally(SlowOperations slow, Clock clock) {
        this.slow = slow;
        this.clock = clock;
    }

    /** A read begins; one that fails needs no end. */
    public void begin() {
        waitsBefore = slow.waitCount();
    }

    /** The read has ended, by the thread that began it. */
    public void end() {
        if (slow.waitCount() != waitsBefore || quickCount == TOLD_COUNT) {
            endSlowly();
        } else {
            quickCount++;
        }
    }

    private void endSlowly() {
        if (slow.endedAfterWaits(waitsBefore, quickCount, clock)) {
            quickCount = 0;
            return;
        }
        quickCount++;
        if (quickCount > TOLD_COUNT) {
            slow.endedQuick(quickCount);
            quickCount = 0;
        }
    }
}
