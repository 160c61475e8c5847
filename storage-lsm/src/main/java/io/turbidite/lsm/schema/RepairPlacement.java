package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;

import java.util.Locale;

/**
 * When the entries of an index under {@link Maintenance#AUTO} are checked against the primary. Each
 * does what those before it do, and more.
 */
public enum RepairPlacement {
    /** Never: there is nothing to find. */
    NEVER,
    /** By themselves, when nobody writes and neither flushes nor merges wait. */
    WHEN_IDLE,
    /** By merges too, which have the entries in hand. */
    AT_MERGE,
    /** By themselves, at once. */
    NOW;

    /** Whether merges check what they write. */
    public boolean atMerge() {
        return this == AT_MERGE || this == NOW;
    }

    /** The name for people and files: {@code at merge}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /**
     * The placement with this label.
     *
     * @throws InvalidRequestException if there is none
     */
    public static RepairPlacement ofLabel(String label) {
        for (RepairPlacement placement : values()) {
            if (placement.label().equals(label)) {
                return placement;
            }
        }
        throw new InvalidRequestException("unknown placement of repair '%s'".formatted(label));
    }
}
