package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.CheckedCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.MergeHook;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Merge repair (LUO19 §4.4): while a secondary's components are merged, the merged one's entries
 * are checked against the primary's key trees as they were when the merge of the tree began; what
 * is invalid is marked in its bitmap, and goes with the next merge.
 *
 * <p>Under a correlated policy the primary's merge comes first but is installed together with this
 * one, so the key trees are those of before: newer than the entries, which is what Bloom filters
 * need (rule 3).
 */
public final class RepairHook implements MergeHook {
    private final Partition partition;
    private final IndexSchema index;
    private final List<ComponentHandle> inputs;
    private final KeyTrees keyTrees;
    private final ValidityBitmapBuilder invalidEntries;
    private final InvalidEntrySearch search;
    private final Slice primaryKey = new Slice();
    private long ordinal;
    private long nanos;
    private boolean isComplete;

    private RepairHook(
            Partition partition,
            IndexSchema index,
            List<ComponentHandle> inputs,
            KeyTrees keyTrees,
            ValidityBitmapBuilder invalidEntries) {
        StoreCore core = partition.core();
        this.partition = partition;
        this.index = index;
        this.inputs = inputs;
        this.keyTrees = keyTrees;
        this.invalidEntries = invalidEntries;
        long checkedMin = inputs.stream()
                .mapToLong(input -> input.state().repairedTimestamp())
                .min()
                .orElseThrow();
        this.search = new InvalidEntrySearch(
                keyTrees,
                checkedMin,
                core.sortStorage(),
                core.repairOptions(),
                null,
                invalidEntries);
    }

    /** The hook for a merge; one that adds nothing if there is nothing to check, or too much. */
    public static MergeHook of(
            Partition partition, IndexSchema index, List<ComponentHandle> inputs) {
        long entries = inputs.stream().mapToLong(ComponentHandle::livingCount).sum();
        KeyTrees keyTrees = holdKeyTrees(partition);
        if (keyTrees == null) {
            return MergeHook.NONE;
        }
        boolean isNews = inputs.stream()
                .anyMatch(input -> input.state().repairedTimestamp() < keyTrees.reach());
        MergeHook hook = null;
        try {
            hook = isNews && entries <= ImmutableValidityBitmap.ENTRY_COUNT_MAX
                    ? new RepairHook(
                            partition,
                            index,
                            inputs,
                            keyTrees,
                            ValidityBitmapBuilder.create(entries))
                    : MergeHook.NONE;
            return hook;
        } finally {
            if (!(hook instanceof RepairHook)) {
                keyTrees.close();
            }
        }
    }

    /** The primary's components of now; null if the dataset was dropped. */
    static @Nullable KeyTrees holdKeyTrees(Partition partition) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return null;
        }
        try {
            return KeyTrees.hold(pinned, partition.core().timestamps().horizon());
        } finally {
            pinned.unpin();
        }
    }

    @Override
    public void addInputs(List<EntryCursor> cursors) {
        for (int i = 0; i < inputs.size(); i++) {
            long checkedUntil = inputs.get(i).state().repairedTimestamp();
            cursors.set(i, new CheckedCursor(cursors.get(i), checkedUntil));
        }
    }

    @Override
    public void written(EntryStream kept, EntryCursor input) {
        if (!kept.isAntimatter()) {
            index.entryKeys().primaryKey(kept.key(), primaryKey);
            search.add(primaryKey, kept.timestamp(), ordinal, input.checkedUntil());
        }
        ordinal++;
    }

    @Override
    public boolean complete(long stepBytes) {
        long startNanos = partition.core().clock().monotonicNanos();
        isComplete = search.advance(Math.max(1, stepBytes / Repair.ENTRY_BYTES));
        nanos += partition.core().clock().monotonicNanos() - startNanos;
        return isComplete;
    }

    @Override
    public ComponentFiles.Repaired repaired() {
        assert isComplete;
        RepairCounts counts = counts();
        RepairMeter.of(partition.core().meters()).add(counts);
        partition.core().events().repaired(partition.name(), index, "merge", counts);
        return new ComponentFiles.Repaired(Repair.reached(inputs, keyTrees), invalidEntries);
    }

    /** The time that the merge took besides is the merge's. */
    private RepairCounts counts() {
        return search.counts().ofComponents(1, nanos);
    }

    @Override
    public void close() {
        try {
            search.close();
        } finally {
            keyTrees.close();
        }
    }
}
