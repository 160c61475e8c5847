package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/** What the build concurrency of a store took. <em>Thread-safe.</em> */
public final class BuildConcurrencyMeter {
    private final Counter sideFileEntries;
    private final Counter sideFileBytes;
    private final Counter sideFilesFull;
    private final Counter locksRefused;

    public BuildConcurrencyMeter(Meters meters) {
        this.sideFileEntries = meters.counter("sidefile.entries");
        this.sideFileBytes = meters.counter("sidefile.bytes");
        this.sideFilesFull = meters.counter("sidefile.full");
        this.locksRefused = meters.counter("handover.locks.refused");
    }

    void addedToSideFile(long bytes) {
        sideFileEntries.increment();
        sideFileBytes.add(bytes);
    }

    /**
     * A side-file had no more memory: invalidations were read from the sources' bitmaps instead.
     */
    void sideFileFull() {
        sideFilesFull.increment();
    }

    /** There was no memory for the lock method. */
    void lockRefused() {
        locksRefused.increment();
    }
}
