package io.turbidite.lsm.ship;

import java.util.List;

/**
 * What a shipment consisted of, at either end.
 *
 * @param timestamp the last operation that is in it
 * @param wallMicros when that was, microseconds since 1970
 * @param sent component files that went over the stream and that the receiver did not have
 * @param kept component files that the receiver had of this shipment before
 * @param bytes of the component files sent
 * @param leftOut names of components in quarantine, which are not in it: what they held is missing
 */
public record ShipmentReport(
        long timestamp, long wallMicros, int sent, int kept, long bytes, List<String> leftOut) {
    public ShipmentReport {
        leftOut = List.copyOf(leftOut);
    }
}
