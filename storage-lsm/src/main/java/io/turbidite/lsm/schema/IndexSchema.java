package io.turbidite.lsm.schema;

import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription;

/**
 * A secondary index of a dataset, resolved. <em>Immutable.</em>
 *
 * @param id unique in its dataset, never reused; the primary is 0
 * @param key the indexed fields; an entry's key is theirs, then the primary key
 * @param maintenance how it follows updates
 */
public record IndexSchema(
        int id, String name, IndexDescription.Kind kind, KeySpec key, Maintenance maintenance) {
    /** The id of every partition's primary index. */
    public static final int PRIMARY_ID = 0;

    public IndexDescription describe() {
        return new IndexDescription(name, kind, key.fields(), maintenance == Maintenance.EAGER);
    }
}
