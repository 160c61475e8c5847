package io.turbidite.lsm.partition;

import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;

/**
 * The hooks of one merge, by the strategies of its dataset and indexes.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
final class MergeHooks {
    private final DatasetSchema schema;

    MergeHooks(DatasetSchema schema) {
        this.schema = schema;
    }

    /**
     * The hook for a tree; asked once for each, in the order in which they are merged.
     *
     * @param inputs newest first
     * @param includesOldest whether no older component of the tree exists
     */
    MergeHook of(int tree, List<ComponentHandle> inputs, boolean includesOldest) {
        assert schema.treeIds().contains(tree) && !inputs.isEmpty() : tree;
        return MergeHook.NONE;
    }
}
