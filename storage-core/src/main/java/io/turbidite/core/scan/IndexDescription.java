package io.turbidite.core.scan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.ElementKeys;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.RecordType;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

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
 * @param multiValued whether a record may have none or several entries; otherwise it has one
 * @param parameters what its entries depend on beside the fields, by name
 */
public record IndexDescription(
        String name,
        Kind kind,
        List<String> fields,
        boolean alwaysValid,
        KeyForm keyForm,
        boolean multiValued,
        Map<String, String> parameters) {
    /** The ways to search. */
    public enum Kind {
        /** By ranges of the encoded key. */
        BTREE,
        /** By windows. */
        RTREE,
        /** By tokens. */
        INVERTED,
        /**
         * By ranges of the encoded key; its entries lie where a kind keeps them that the store was
         * given.
         */
        PM;

        /** Whether it can be searched by ranges of the encoded key of its fields. */
        public boolean hasRanges() {
            return this == BTREE || this == PM;
        }

        /** Whether a store needs an {@link IndexKind} for it. */
        public boolean isGiven() {
            return this == PM;
        }

        /** The name for people: {@code btree}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * The kind of that {@link #label}.
         *
         * @throws InvalidRequestException naming the kinds there are
         */
        public static Kind of(String label) {
            for (Kind kind : values()) {
                if (kind.label().equals(label)) {
                    return kind;
                }
            }
            throw new InvalidRequestException(
                    "unknown kind of index '%s'; there are btree, rtree, inverted and pm"
                            .formatted(label));
        }
    }

    /** A B+-tree with one entry for each record, with the present encoding of keys. */
    public IndexDescription(String name, Kind kind, List<String> fields, boolean alwaysValid) {
        this(name, kind, fields, alwaysValid, KeyForm.CURRENT, false, Map.of());
    }

    public IndexDescription {
        fields = List.copyOf(fields);
        parameters = Map.copyOf(parameters);
    }

    /** The entry keys that it has for records of a type. */
    public EntryKeys entryKeys(RecordType type) {
        return entryKeys(kind, type, fields, "index " + name, keyForm, parameters);
    }

    /**
     * The entry keys of an index.
     *
     * @param use who it is for, in messages: {@code "index by_tail"}
     * @param parameters as {@link EntryKeys#parameters} gave them once, or as a user gives them for
     *     a new index
     * @throws InvalidRequestException if the kind does not go with the fields or the parameters
     */
    public static EntryKeys entryKeys(
            Kind kind,
            RecordType type,
            List<String> fields,
            String use,
            KeyForm form,
            Map<String, String> parameters) {
        return switch (kind) {
            case BTREE -> {
                if (!parameters.isEmpty()) {
                    throw new InvalidRequestException("%s: a btree takes no parameter, not %s"
                            .formatted(use, new TreeMap<>(parameters).keySet()));
                }
                KeySpec spec = KeySpec.ofEach(type, fields, use, form);
                yield spec.each() == KeySpec.NO_ARRAY
                        ? new FieldKeys(spec, use)
                        : new ElementKeys(spec, use);
            }
            case RTREE -> {
                if (!parameters.isEmpty()) {
                    throw new InvalidRequestException("%s: an rtree takes no parameter, not %s"
                            .formatted(use, new TreeMap<>(parameters).keySet()));
                }
                yield SpatialKeys.of(type, fields, use);
            }
            case INVERTED -> TokenKeys.of(type, fields, use, parameters);
            case PM -> {
                KeySpec spec = KeySpec.ofEach(type, fields, use, form);
                if (spec.each() != KeySpec.NO_ARRAY) {
                    throw new InvalidRequestException(
                            "%s is on the elements of an array, %s, which kind %s can't be"
                                    .formatted(use, fields, kind.label()));
                }
                yield new FieldKeys(spec, use, parameters);
            }
        };
    }
}
