package io.turbidite.lsm.strategy.deferred;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * What merges of the primary tell deferred indexes, and what that removes. <em>Thread-safe.</em>
 */
public record DeferredMeter(Counter antimatter, Counter removed) {
    /** Those of a store. */
    public static DeferredMeter of(Meters meters) {
        return meters.once(
                DeferredMeter.class,
                made -> new DeferredMeter(
                        made.counter("deferred.antimatter"), made.counter("deferred.removed")));
    }
}
