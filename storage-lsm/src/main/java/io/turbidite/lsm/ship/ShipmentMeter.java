package io.turbidite.lsm.ship;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * The shipments that a store has sent. <em>Thread-safe.</em>
 */
public record ShipmentMeter(Counter count, Counter bytes) {
    /** Those of a store. */
    public static ShipmentMeter of(Meters meters) {
        return meters.once(
                ShipmentMeter.class,
                made -> new ShipmentMeter(
                        made.counter("shipment.count"), made.counter("shipment.bytes")));
    }
}
