package io.turbidite.lsm.strategy.bitmap.run;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * What writers invalidate in validity bitmaps, and what saving these writes. <em>Thread-safe.</em>
 */
public record BitmapMeter(Counter invalidations, Counter saves, Counter savedBytes) {
    /** Those of a store. */
    public static BitmapMeter of(Meters meters) {
        return meters.once(
                BitmapMeter.class,
                made -> new BitmapMeter(
                        made.counter("bitmap.marks"),
                        made.counter("bitmap.saves"),
                        made.counter("bitmap.save.bytes")));
    }
}
