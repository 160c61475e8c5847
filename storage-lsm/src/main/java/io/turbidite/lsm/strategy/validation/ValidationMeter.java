package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * The candidates that were validated by timestamp, and the searches of key trees on disk that it
 * took. <em>Thread-safe.</em>
 */
public record ValidationMeter(Counter candidates, Counter searches) {
    /** Those of a store. */
    public static ValidationMeter of(Meters meters) {
        return meters.once(
                ValidationMeter.class,
                made -> new ValidationMeter(
                        made.counter("validation.candidates"),
                        made.counter("validation.searches")));
    }
}
