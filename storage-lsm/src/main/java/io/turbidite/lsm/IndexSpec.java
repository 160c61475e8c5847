package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.scan.IndexDescription;

import java.util.List;

/**
 * A secondary index to be created with its dataset. <em>Immutable.</em>
 *
 * @param name 1 to 64 of {@code [A-Za-z0-9_-]}, unique in its dataset
 * @param kind how it can be searched
 * @param fields declared fields, in key order; at least one
 */
public record IndexSpec(String name, IndexDescription.Kind kind, List<String> fields) {
    public IndexSpec {
        Limits.checkName("index", name);
        fields = List.copyOf(fields);
        if (fields.isEmpty()) {
            throw new InvalidRequestException("index %s names no field".formatted(name));
        }
        if (kind != IndexDescription.Kind.BTREE) {
            throw new InvalidRequestException("index %s: kind %s is not built; btree is"
                    .formatted(name, kind.name().toLowerCase(java.util.Locale.ROOT)));
        }
    }

    /** A B+-tree over one or more fields. */
    public static IndexSpec btree(String name, String... fields) {
        return new IndexSpec(name, IndexDescription.Kind.BTREE, List.of(fields));
    }
}
