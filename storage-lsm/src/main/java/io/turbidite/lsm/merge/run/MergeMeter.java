package io.turbidite.lsm.merge.run;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;

/**
 * What the merges of a store read and write, and how long they take. <em>Thread-safe.</em>
 */
public record MergeMeter(
        Counter bytesRead, Counter bytesWritten, Counter forGarbage, Latency time) {
    /** Those of a store. */
    public static MergeMeter of(Meters meters) {
        return meters.once(
                MergeMeter.class,
                made -> new MergeMeter(
                        made.counter("merge.bytes.read"),
                        made.counter("merge.bytes.written"),
                        made.counter("merge.for.garbage"),
                        made.latency("merge.time")));
    }
}
