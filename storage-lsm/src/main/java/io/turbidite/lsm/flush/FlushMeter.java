package io.turbidite.lsm.flush;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;

/**
 * What the flushes of a store write, and how long they take. <em>Thread-safe.</em>
 */
public record FlushMeter(Counter bytes, Latency time) {
    /** Those of a store. */
    public static FlushMeter of(Meters meters) {
        return meters.once(
                FlushMeter.class,
                made -> new FlushMeter(made.counter("flush.bytes"), made.latency("flush.time")));
    }
}
