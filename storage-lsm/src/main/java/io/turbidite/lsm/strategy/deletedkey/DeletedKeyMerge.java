package io.turbidite.lsm.strategy.deletedkey;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.MergeHook;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The merge of a deleted-key index: entries go whose primary keys the deleted-key trees of the
 * merged components have, newer than the entry and at or below the horizon.
 *
 * <p>The deleted-key trees are merged right after, with the same readers in mind: where the oldest
 * component is among the inputs they drop what is at or below that horizon, and what they told of
 * is gone here.
 */
public final class DeletedKeyMerge implements MergeHook {
    private final IndexSchema index;
    private final List<ComponentHandle> deletedKeyTrees;
    private final Counter removedCount;
    private @Nullable DeletedKeyFilter filter;

    /**
     * @param deletedKeyTrees of the merged components, newest first; held by the merge
     */
    public DeletedKeyMerge(
            IndexSchema index, List<ComponentHandle> deletedKeyTrees, Meters meters) {
        this.index = index;
        this.deletedKeyTrees = deletedKeyTrees;
        this.removedCount = removedCount(meters);
    }

    /** The entries that merges of deleted-key indexes left out. */
    public static Counter removedCount(Meters meters) {
        return meters.counter("deletedkey.removed");
    }

    @Override
    public EntryStream filter(EntryStream kept, VersionRetention retention) {
        DeletedKeys deleted = new DeletedKeys(index.entryKeys(), 0, List.of(), deletedKeyTrees);
        DeletedKeyFilter filtered = new DeletedKeyFilter(kept, deleted, retention.horizon());
        filter = filtered;
        return filtered;
    }

    @Override
    public boolean complete(long stepBytes) {
        if (filter != null) {
            removedCount.add(filter.removedCount());
        }
        return true;
    }
}
