package io.turbidite.core.scan;

import io.turbidite.core.key.KeyForm;

import java.util.List;

/**
 * A secondary index as a planner sees it.
 *
 * @param name unique in its source
 * @param kind how it can be searched
 * @param fields indexed fields, in key order
 * @param alwaysValid whether every entry that a search without a filter returns is the record's
 *     current one (eager or deleted-key maintenance). Otherwise candidates must be validated. With
 *     a filter, {@link IndexCursor#checkedUntil} says which entries are current
 * @param keyForm how its secondary keys are encoded
 */
public record IndexDescription(
        String name, Kind kind, List<String> fields, boolean alwaysValid, KeyForm keyForm) {
    /** The ways to search. */
    public enum Kind {
        /** By ranges of the encoded key. */
        BTREE,
        /** By windows. */
        RTREE,
        /** By tokens. */
        INVERTED
    }

    /** An index with the present encoding of keys. */
    public IndexDescription(String name, Kind kind, List<String> fields, boolean alwaysValid) {
        this(name, kind, fields, alwaysValid, KeyForm.CURRENT);
    }

    public IndexDescription {
        fields = List.copyOf(fields);
    }
}
