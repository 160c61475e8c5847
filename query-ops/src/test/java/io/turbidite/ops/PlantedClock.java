package io.turbidite.ops;

import io.turbidite.core.time.Clock;

import java.util.concurrent.atomic.AtomicLong;

/** A clock that tells each thread what it was made to take. <em>Thread-safe.</em> */
final class PlantedClock implements Clock {
    private final ThreadLocal<long[]> taken = ThreadLocal.withInitial(() -> new long[1]);
    private final AtomicLong takenByAll = new AtomicLong();

    /** The calling thread took this. */
    void take(long nanos) {
        taken.get()[0] += nanos;
        takenByAll.addAndGet(nanos);
    }

    /** What all threads took. */
    long takenByAll() {
        return takenByAll.get();
    }

    @Override
    public long wallMicros() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long monotonicNanos() {
        return taken.get()[0];
    }
}
