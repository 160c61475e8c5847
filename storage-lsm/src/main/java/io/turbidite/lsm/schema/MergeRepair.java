package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;

import java.util.Locale;

/** Whether merges check the entries of indexes under validation (LUO19 §4.4). */
public enum MergeRepair {
    /** They do: obsolete entries are gone two merges later, and searches need not look far. */
    MERGE,
    /** They don't: writes cost the least; repair when there is time. */
    OFF;

    /** The name in definitions: {@code merge}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The choice with this label.
     *
     * @throws InvalidRequestException naming both
     */
    public static MergeRepair ofLabel(String label) {
        for (MergeRepair repair : values()) {
            if (repair.label().equals(label)) {
                return repair;
            }
        }
        throw new InvalidRequestException(
                "repair is '%s' but must be merge or off".formatted(label));
    }
}
