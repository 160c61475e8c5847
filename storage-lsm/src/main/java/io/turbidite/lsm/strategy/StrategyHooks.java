package io.turbidite.lsm.strategy;

import io.turbidite.lsm.partition.MergeHook;
import io.turbidite.lsm.partition.MergeHooks;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.deferred.DeferredMerge;
import io.turbidite.lsm.strategy.deletedkey.DeletedKeyMerge;
import io.turbidite.lsm.strategy.validation.RepairHook;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The hooks of one merge, by the strategies of its dataset and indexes.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
public final class StrategyHooks implements MergeHooks {
    /**
     * Chunks of the write memory, of which it has 256 or more, to sort in what a merge finds
     * superseded.
     */
    private static final int SORT_CHUNKS = 16;

    private final Partition partition;
    private final StoreCore core;
    private final DatasetSchema schema;
    private final Map<TreeId, List<ComponentHandle>> inputs;
    private @Nullable DeferredMerge deferred;

    /**
     * @param inputs for each tree of the merge, newest first; the merge holds them
     */
    public StrategyHooks(
            Partition partition, DatasetSchema schema, Map<TreeId, List<ComponentHandle>> inputs) {
        this.partition = partition;
        this.core = partition.core();
        this.schema = schema;
        this.inputs = Map.copyOf(inputs);
    }

    @Override
    public MergeHook of(TreeId tree, boolean includesOldest) {
        assert inputs.containsKey(tree) : tree;
        if (tree.isPrimary()) {
            return primary();
        }
        IndexSchema index = schema.index(tree);
        if (index == null || tree.isDeletedKeyTree()) {
            return MergeHook.NONE;
        }
        return switch (index.maintenance()) {
            // alone it is rewritten only, without what is invalid
            case DEFERRED ->
                deferred == null
                        ? MergeHook.NONE
                        : deferred.secondary(index.id(), Objects.requireNonNull(inputs.get(tree)));
            case DELETED_KEY ->
                new DeletedKeyMerge(
                        index,
                        Objects.requireNonNull(inputs.get(tree.deletedKeyTree())),
                        core.meters());
            case VALIDATION ->
                schema.repair() == MergeRepair.OFF || isPrimaryDamaged()
                        ? MergeHook.NONE
                        : RepairHook.of(partition, index, Objects.requireNonNull(inputs.get(tree)));
            case AUTO ->
                partition.work().repair(index.id()).placement().atMerge() && !isPrimaryDamaged()
                        ? RepairHook.of(partition, index, Objects.requireNonNull(inputs.get(tree)))
                        : MergeHook.NONE;
            case EAGER, MUTABLE_BITMAP -> MergeHook.NONE;
        };
    }

    /** What was superseded can't be told then; the merge does without. */
    private boolean isPrimaryDamaged() {
        return partition.components(TreeId.PRIMARY).stream()
                .anyMatch(ComponentHandle::isQuarantined);
    }

    private MergeHook primary() {
        if (schema.deferredIndexes().isEmpty()) {
            return MergeHook.NONE;
        }
        long sortBytes = (long) SORT_CHUNKS * core.chunks().chunkBytes();
        DeferredMerge made = new DeferredMerge(core, schema, sortBytes);
        deferred = made;
        return made.primary();
    }

    @Override
    public void close() {
        if (deferred != null) {
            deferred.close();
        }
    }
}
