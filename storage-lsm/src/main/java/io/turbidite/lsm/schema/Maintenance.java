package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How auxiliary structures follow updates (LUO19 §3.1, §4, §5; DEFER18). */
public enum Maintenance {
    /** Reads the old record before each write; indexes and filters are always exact. */
    EAGER,
    /** Blind writes; obsolete entries are found by timestamp. */
    VALIDATION,
    /** Filters stay exact for new records; superseded records are marked dead in place. */
    MUTABLE_BITMAP,
    /** Each secondary component carries the keys deleted in it. */
    DELETED_KEY,
    /** The primary's merges hand the secondaries what was superseded. */
    DEFERRED;

    /** The name in definitions: {@code mutable-bitmap}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The strategy with this label.
     *
     * @throws InvalidRequestException listing the strategies
     */
    public static Maintenance ofLabel(String label) {
        for (Maintenance maintenance : values()) {
            if (maintenance.label().equals(label)) {
                return maintenance;
            }
        }
        throw new InvalidRequestException("unknown maintenance '%s'; strategies are %s"
                .formatted(
                        label,
                        Arrays.stream(values())
                                .map(Maintenance::label)
                                .collect(Collectors.joining(", "))));
    }
}
