package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * The candidates that were validated by timestamp, and the searches of key trees on disk that it
 * took; those that were decided by what is known of live versions, and the keys that were read to
 * know it. <em>Thread-safe.</em>
 */
public record ValidationMeter(Counter candidates, Counter searches, Counter decided, Counter keys) {
    /** Those of a store. */
    public static ValidationMeter of(Meters meters) {
        return meters.once(
                ValidationMeter.class,
                made -> new ValidationMeter(
                        made.counter("validation.candidates"),
                        made.counter("validation.searches"),
                        made.counter("validation.decided"),
                        made.counter("validation.keys")));
    }
}
