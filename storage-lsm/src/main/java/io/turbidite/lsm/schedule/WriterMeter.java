package io.turbidite.lsm.schedule;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;

/**
 * What writers bring, how long their writes take, and what they wait. <em>Thread-safe.</em>
 */
public record WriterMeter(Counter bytes, Latency times, Latency stalls, Latency delays) {
    /** Those of a store. */
    public static WriterMeter of(Meters meters) {
        return meters.once(
                WriterMeter.class,
                made -> new WriterMeter(
                        made.counter("write.bytes"),
                        made.latency("write.time"),
                        made.latency("write.stall.time"),
                        made.latency("write.delay.time")));
    }
}
