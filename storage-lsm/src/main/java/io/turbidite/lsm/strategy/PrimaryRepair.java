package io.turbidite.lsm.strategy;

import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.deferred.DeferredAntimatter;
import io.turbidite.lsm.strategy.validation.Repair;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.List;

/**
 * DELI's way to repair, for comparison (LUO19 §4.1, §6.5 "primary repair"): all components of the
 * primary are scanned together, records and all; each that was written over gives anti-matter for
 * every index. It finds what is still on disk: what a merge of the primary has dropped leaves its
 * entries behind, so nothing can be said of how far a component is checked.
 *
 * <p>DELI puts the anti-matter into the indexes' memory components. Here it is applied at once:
 * sorted, then read beside each component, whose obsolete entries become invalid. That is less work
 * than to flush and merge it.
 *
 * <p><em>Confined to the caller's thread.</em> A component that is being merged is left out.
 */
public final class PrimaryRepair {
    private final Partition partition;
    private final StoreCore core;
    private final List<IndexSchema> indexes;
    private long checkedCount;
    private long markedCount;
    private long componentCount;

    private PrimaryRepair(Partition partition, List<IndexSchema> indexes) {
        this.partition = partition;
        this.core = partition.core();
        this.indexes = indexes;
    }

    /** Repairs indexes of a partition. */
    public static RepairCounts run(Partition partition, List<Integer> indexIds) {
        Version pinned = partition.pin();
        try {
            DatasetSchema schema = pinned.schema();
            List<IndexSchema> indexes = schema.indexes().stream()
                    .filter(index -> indexIds.contains(index.id()))
                    .toList();
            PrimaryRepair repair = new PrimaryRepair(partition, indexes);
            return repair.run(pinned);
        } finally {
            pinned.unpin();
        }
    }

    private RepairCounts run(Version pinned) {
        long startNanos = core.clock().monotonicNanos();
        long horizon = core.timestamps().horizon();
        try (DeferredAntimatter antimatter = new DeferredAntimatter(
                pinned.schema(),
                indexes,
                core.sortStorage(),
                core.repairOptions().sortBytesMax())) {
            scanPrimary(pinned, horizon, antimatter);
            for (IndexSchema index : indexes) {
                if (antimatter.count(index.id()) > 0) {
                    for (ComponentHandle handle : pinned.tree(index.tree())) {
                        apply(index, handle, antimatter);
                    }
                }
            }
        }
        long nanos = core.clock().monotonicNanos() - startNanos;
        return new RepairCounts(componentCount, checkedCount, 0, 0, markedCount, 0, nanos);
    }

    /** Reads every record; only what is superseded at or below the horizon counts (rule 3). */
    private void scanPrimary(Version pinned, long horizon, DeferredAntimatter antimatter) {
        List<EntryCursor> cursors = new ArrayList<>();
        for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
            cursors.add(handle.component().streamCursor());
        }
        try (EntryStream records = core.timestamps()
                .retention(false)
                .retain(
                        MergeCursor.of(cursors),
                        (key, timestamp, value, successorTimestamp, successor) -> {
                            if (successorTimestamp <= horizon) {
                                antimatter.superseded(
                                        key, timestamp, value, successorTimestamp, successor);
                            }
                        })) {
            boolean more = true;
            while (more) {
                more = records.next();
            }
        }
    }

    private void apply(IndexSchema index, ComponentHandle handle, DeferredAntimatter antimatter) {
        if (!handle.tryTake()) {
            return;
        }
        try {
            if (partition.holds(index.tree(), List.of(handle))) {
                ValidityBitmapBuilder invalidEntries = ValidityBitmapBuilder.of(
                        handle.component().entryCount(), handle.invalidEntries());
                long before = invalidEntries.count();
                try (EntryStream deletes = antimatter.sorted(index.id());
                        TreeCursor entries = handle.component().streamCursor()) {
                    mark(entries, deletes, invalidEntries);
                }
                if (invalidEntries.count() > before) {
                    markedCount += invalidEntries.count() - before;
                    Repair.install(
                            partition,
                            index.tree(),
                            handle,
                            handle.state().repairedTimestamp(),
                            invalidEntries);
                }
                componentCount++;
            }
        } finally {
            handle.giveBack();
        }
    }

    /** Both are ordered by key; of a key's anti-matter the newest comes first. */
    private void mark(
            TreeCursor entries, EntryStream deletes, ValidityBitmapBuilder invalidEntries) {
        KeyCopy key = new KeyCopy();
        boolean more = deletes.next();
        while (more && entries.next()) {
            checkedCount++;
            int order = deletes.key().compareBytes(entries.key());
            while (more && order < 0) {
                key.set(deletes.key());
                more = deletes.next();
                while (more && key.matches(deletes.key())) {
                    more = deletes.next(); // older: the newest was the one that counts
                }
                order = more ? deletes.key().compareBytes(entries.key()) : 1;
            }
            if (more
                    && order == 0
                    && !entries.isAntimatter()
                    && entries.timestamp() < deletes.timestamp()) {
                invalidEntries.mark(entries.ordinal());
            }
        }
    }
}
