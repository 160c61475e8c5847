package io.turbidite.feeds.flow;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.time.Clock;

/**
 * How the time of one consumer goes by: at work, or in waiting for batches. <em>Confined to the
 * thread that delivers.</em>
 */
final class StoreTime {
    private final FeedMeters meters;
    private final Clock clock;
    private final Counter busy;
    private final Counter waits;
    private final BusyTime busyTime = new BusyTime();
    private long nanos;

    StoreTime(FeedMeters meters, Clock clock, Counter busy, Counter waits) {
        this.meters = meters;
        this.clock = clock;
        this.busy = busy;
        this.waits = waits;
        this.nanos = clock.monotonicNanos();
    }

    /** A batch is taken in hand. */
    void begins() {
        waits();
        busyTime.begins(nanos);
    }

    /** It could not be taken, and comes again. */
    void givesBack() {
        busyTime.forget();
    }

    /** There still is nothing to do: what was waited so far is counted. */
    void waits() {
        long now = clock.monotonicNanos();
        waits.add(Math.max(0, now - nanos));
        nanos = now;
    }

    /** A batch is in the store. */
    void ends(Batch batch) {
        long now = clock.monotonicNanos();
        busyTime.ends(now); // first: nothing is to be told twice
        busy.add(Math.max(0, now - nanos));
        nanos = now;
        meters.delivered(batch, now);
    }

    /** At work on the batch in hand; by any thread. */
    long underWayNanos(long now) {
        return busyTime.underWayNanos(now);
    }

    /** At work so far; by any thread. */
    long busyNanos(long now) {
        return busyTime.nanos(now);
    }
}
