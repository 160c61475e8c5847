package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.RepairPlacement;

/**
 * Where the repair of an index belongs. <em>Immutable.</em>
 *
 * @param isDue whether a repair by itself should begin
 * @param reason a sentence with the figures that it was decided by
 */
public record RepairDecision(RepairPlacement placement, boolean isDue, String reason) {
    /** Of an index that nothing is known of. */
    public static final RepairDecision NONE = new RepairDecision(
            RepairPlacement.NEVER, false, "nothing was written over yet, as far as is known");

    /** What was decided before the store was opened. */
    public static RepairDecision kept(RepairPlacement placement) {
        return placement == RepairPlacement.NEVER
                ? NONE
                : new RepairDecision(
                        placement,
                        false,
                        "decided before the store was opened; nothing speaks against it yet");
    }
}
