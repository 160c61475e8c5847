package io.turbidite.lsm.indexbuild;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.IndexBackfill;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Builds the old part of one partition's tree of a new index: for each disk component of the
 * primary one of the index, with the same ID and filter.
 *
 * <ol>
 *   <li>Hold the primary's components that lie below the first timestamp that writers maintain, and
 *       take them: no merge replaces them until the index is in place, so its IDs are the
 *       primary's then too. Memory is not held: writers need it.
 *   <li>Read all their versions in one merged pass, so that each record's versions come together,
 *       newest first, and give the entries ({@link IndexBackfill}) to the component whose ID covers
 *       the version's timestamp: IDs are disjoint.
 *   <li>Sort each component's entries within the memory given, write it.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class PartitionBuild implements IndexFilling {
    private final Partition partition;
    private final IndexBackfill backfill;
    private final List<ComponentHandle> sources = new ArrayList<>();
    private final List<BuiltComponent> targets = new ArrayList<>();

    /** The targets' deleted-key trees, in the same places; empty if the index has none. */
    private final List<BuiltComponent> deletedKeyTrees = new ArrayList<>();

    private final Placement sink = new Placement();
    private @Nullable EntryCursor versions;
    private final DatasetSchema schema;
    private final IndexSchema index;
    private final long below;
    private final long memoryBytes;
    private long memoryBytesMax;
    private long entriesTotal;
    private long entriesRead;
    private boolean complete;

    /**
     * @param below the first timestamp that writers maintain; what lies under it is on disk
     * @param memoryBytes for sorting; more is taken if it is less than two chunks a component
     */
    public PartitionBuild(
            Partition partition,
            DatasetSchema schema,
            IndexSchema index,
            long below,
            long memoryBytes) {
        this.partition = partition;
        this.schema = schema;
        this.index = index;
        this.below = below;
        this.memoryBytes = memoryBytes;
        this.backfill = new IndexBackfill(
                schema,
                index,
                partition.core().timestamps()::hasSnapshotBetween,
                this::supersededAt);
    }

    @Override
    public boolean tryHold() {
        Version pinned = partition.pin();
        try {
            List<ComponentHandle> old = pinned.tree(TreeId.PRIMARY).stream()
                    .filter(handle -> handle.state().maxTimestamp() < below)
                    .toList();
            // nobody merges what is set aside: there is nothing to wait for
            old.forEach(handle -> handle.component().requireSound());
            List<ComponentHandle> taken =
                    old.stream().takeWhile(ComponentHandle::tryTake).toList();
            boolean got = taken.size() == old.size()
                    && (old.isEmpty() || partition.holds(TreeId.PRIMARY, old));
            if (!got) {
                taken.forEach(ComponentHandle::giveBack);
                return false;
            }
            old.forEach(ComponentHandle::retain);
            sources.addAll(old);
        } finally {
            pinned.unpin();
        }
        for (ComponentHandle source : sources) {
            targets.add(new BuiltComponent(partition, schema, index.tree(), source));
            if (index.hasDeletedKeyTree()) {
                TreeId deletedKeyTree = index.tree().deletedKeyTree();
                deletedKeyTrees.add(new BuiltComponent(partition, schema, deletedKeyTree, source));
            }
            entriesTotal += source.component().entryCount();
        }
        memoryBytesMax =
                Math.max(memoryBytes, 2L * partition.core().chunks().chunkBytes() * all().size());
        return true;
    }

    @Override
    public boolean read(int entryCount) {
        EntryCursor cursor = versions();
        for (int i = 0; i < entryCount; i++) {
            if (!cursor.next()) {
                backfill.finish(sink);
                return false;
            }
            entriesRead++;
            backfill.add(cursor.key(), cursor.timestamp(), cursor.value(), sink);
        }
        spillIfFull();
        return true;
    }

    /** See {@link IndexBackfill.Writers}: asked of records whose key is too long alone. */
    private long supersededAt(Slice primaryKey, long timestamp) {
        long hash = BloomFilter.hash(primaryKey);
        Found found = new Found(Limits.KEY_BYTES_MAX);
        long hiddenAt = Long.MAX_VALUE;
        // the version first, the watermark second: see VersionSearch.find
        Version pinned = partition.pin();
        try {
            long until = partition.core().timestamps().watermark();
            while (VersionSearch.findKey(pinned, primaryKey, hash, until, found) != Found.ABSENT
                    && found.timestamp > timestamp) {
                hiddenAt = found.timestamp;
                until = hiddenAt - 1;
            }
        } finally {
            pinned.unpin();
        }
        return hiddenAt;
    }

    /** Opened when they are read first: read-ahead takes memory. */
    private EntryCursor versions() {
        EntryCursor opened = versions;
        if (opened == null) {
            opened = MergeCursor.of(sources.stream()
                    .map(source -> source.component().streamCursor())
                    .toList());
            versions = opened;
        }
        return opened;
    }

    /** Puts entries where their version is. */
    private final class Placement implements IndexBackfill.Sink {
        @Override
        public void entry(Slice key, long timestamp, boolean antimatter) {
            covering(targets, timestamp).put(key, timestamp, antimatter);
        }

        @Override
        public void writtenOver(Slice primaryKey, long timestamp) {
            if (!deletedKeyTrees.isEmpty()) {
                covering(deletedKeyTrees, timestamp).put(primaryKey, timestamp, true);
            }
        }

        private static BuiltComponent covering(List<BuiltComponent> components, long timestamp) {
            for (BuiltComponent component : components) {
                if (component.covers(timestamp)) {
                    return component;
                }
            }
            throw new AssertionError("no component covers " + timestamp);
        }
    }

    private List<BuiltComponent> all() {
        List<BuiltComponent> all = new ArrayList<>(targets);
        all.addAll(deletedKeyTrees);
        return all;
    }

    private void spillIfFull() {
        long bytes = 0;
        BuiltComponent largest = null;
        for (BuiltComponent target : all()) {
            bytes += target.memoryBytes();
            if (largest == null || target.memoryBytes() > largest.memoryBytes()) {
                largest = target;
            }
        }
        if (largest != null && bytes > memoryBytesMax) {
            largest.spill();
        }
    }

    @Override
    public void complete(BooleanSupplier stop) {
        closeVersions();
        for (BuiltComponent target : all()) {
            target.complete(stop);
        }
        if (!targets.isEmpty()) {
            partition.core().disk().syncDirectory(StoreFiles.DATA);
        }
        complete = true;
    }

    /**
     * Puts what was built under what the partition has of the index; it takes references of its
     * own.
     */
    @Override
    public void install() {
        if (!complete) {
            throw new IllegalStateException("the build is not complete");
        }
        if (index.hasDeletedKeyTree()) {
            // first: a merge of the index finds the like of each of its components here
            partition
                    .current()
                    .installBuilt(
                            index.tree().deletedKeyTree(),
                            deletedKeyTrees.stream().map(BuiltComponent::built).toList());
        }
        partition
                .current()
                .installBuilt(
                        index.tree(),
                        targets.stream().map(BuiltComponent::built).toList());
    }

    public Partition partition() {
        return partition;
    }

    @Override
    public long entriesRead() {
        return entriesRead;
    }

    @Override
    public long entriesTotal() {
        return entriesTotal;
    }

    @Override
    public void close(boolean installed) {
        closeVersions();
        all().forEach(target -> target.close(installed));
        targets.clear();
        deletedKeyTrees.clear();
        sources.forEach(ComponentHandle::giveBack);
        ComponentFiles.letGo(sources, true);
        sources.clear();
    }

    private void closeVersions() {
        if (versions != null) {
            versions.close();
            versions = null;
        }
    }
}
