package io.turbidite.feeds.flow;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

/**
 * How the time of one parse worker goes by: at work, in waiting for the source, or in waiting for
 * room in its ring. <em>Confined to the worker's thread.</em>
 */
public final class ParseTime {
    private final Clock clock;
    private final Counter busy;
    private final Counter waitsForSource;
    private final Counter waitsForStore;
    private final BusyTime busyTime = new BusyTime();
    private @Nullable Counter waitingFor;
    private long nanos;

    ParseTime(Clock clock, Counter busy, Counter waitsForSource, Counter waitsForStore) {
        this.clock = clock;
        this.busy = busy;
        this.waitsForSource = waitsForSource;
        this.waitsForStore = waitsForStore;
        this.nanos = clock.monotonicNanos();
    }

    /** Work goes on. */
    public void begins() {
        waits();
        nanos = clock.monotonicNanos();
        busyTime.begins(nanos);
    }

    /** There may be more to read right away. */
    public void endsReading() {
        end(null);
    }

    /** There is nothing to read for now. */
    public void endsResting() {
        end(waitsForSource);
    }

    /** The ring is full. */
    public void endsFull() {
        end(waitsForStore);
    }

    private void end(@Nullable Counter waits) {
        long now = clock.monotonicNanos();
        long spent = Math.max(0, now - nanos);
        busy.add(spent);
        busyTime.ends(now);
        nanos = now;
        waitingFor = waits;
    }

    /** Still nothing goes on: what was waited so far is counted. */
    public void waits() {
        Counter waited = waitingFor;
        if (waited != null) {
            long now = clock.monotonicNanos();
            waited.add(Math.max(0, now - nanos));
            nanos = now;
        }
    }

    /** At work so far; by any thread. */
    public long busyNanos(long now) {
        return busyTime.nanos(now);
    }

    /** The worker does nothing any more. */
    public void stops() {
        waits();
        waitingFor = null;
    }
}
