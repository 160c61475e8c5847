package io.turbidite.lsm.ship;

import java.util.List;

/**
 * The contents of a shipment, at either end.
 *
 * @param timestamp the last operation in it
 * @param wallMicros the time of that operation, microseconds since 1970
 * @param sent component files that went over the stream, because the receiver did not have them
 * @param kept component files of this shipment that the receiver had before
 * @param bytes of the component files sent
 * @param leftOut names of components in quarantine, which the shipment lacks: their contents are
 *     missing
 */
public record ShipmentReport(
        long timestamp, long wallMicros, int sent, int kept, long bytes, List<String> leftOut) {
    public ShipmentReport {
        leftOut = List.copyOf(leftOut);
    }
}
