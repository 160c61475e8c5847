package io.turbidite.lsm.indexbuild;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * What bulk loads write. <em>Thread-safe.</em>
 */
public record LoadMeter(Counter entries, Counter bytes) {
    /** Those of a store. */
    public static LoadMeter of(Meters meters) {
        return meters.once(
                LoadMeter.class,
                made -> new LoadMeter(made.counter("load.entries"), made.counter("load.bytes")));
    }
}
