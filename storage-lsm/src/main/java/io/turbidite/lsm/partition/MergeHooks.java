package io.turbidite.lsm.partition;

import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;
import java.util.Map;

/**
 * The hooks of one merge. Who knows the strategies makes them: a merge knows none.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
public interface MergeHooks extends AutoCloseable {
    /** Makes the hooks of a merge. */
    @FunctionalInterface
    interface Factory {
        /**
         * The hooks of the merge of these inputs.
         *
         * @param inputs for each tree of the merge, newest first; the merge holds them
         */
        MergeHooks of(
                Partition partition,
                DatasetSchema schema,
                Map<TreeId, List<ComponentHandle>> inputs);
    }

    /**
     * The hook for a tree; asked once for each, in the order in which they are merged.
     *
     * @param includesOldest whether no older component of the tree exists
     */
    MergeHook of(TreeId tree, boolean includesOldest);

    @Override
    void close();
}
