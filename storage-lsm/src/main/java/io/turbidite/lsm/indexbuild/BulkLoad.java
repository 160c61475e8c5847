package io.turbidite.lsm.indexbuild;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.sort.EntrySort;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Builds the components of one empty partition, one for each tree, all with one ID.
 *
 * <ol>
 *   <li>Records that come in any order go through an {@link EntrySort} by primary key first,
 *       numbered as they came, so that the last of several with one key is the newest.
 *   <li>Records in key order are written to the primary's pages as they come, and what they give
 *       each secondary goes into a sort of its own.
 *   <li>At the end the secondaries are written, each from its sort.
 * </ol>
 *
 * <p>Nothing is a component before {@link #install}; whatever fails before leaves files that are
 * deleted by {@link #close}, or when the store opens.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class BulkLoad {
    private static final Slice NOTHING = new Slice();

    private final Partition partition;
    private final StoreCore core;
    private final DatasetSchema schema;

    /** The secondaries that have components. */
    private final List<IndexSchema> onDisk;

    /** Regions that have taken the load in. */
    private final List<RegionHandle> absorbed = new ArrayList<>();

    private final long secondaryBytesMax;
    private final @Nullable EntrySort unsorted;
    private final long expectedRecords;
    private final RecordView view;
    private final ByteSink sink = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final Slice encoded = new Slice();
    private final EntryKeyList entryKeys = new EntryKeyList();
    private final Map<TreeId, ComponentHandle> loaded = new HashMap<>();
    private @Nullable Build build;
    private long firstTimestamp = Long.MAX_VALUE;
    private boolean complete;

    /** The primary being written, and what the secondaries will hold. */
    private static final class Build implements AutoCloseable {
        final Timestamps timestamps;

        /** Of the first record, and of the last one so far. */
        final long firstTimestamp;

        long timestamp;
        final long wallMicros;
        final ComponentBuild primary;
        final ComponentWriter records;
        final ComponentFilter.Builder filter;
        final List<EntrySort> secondaries = new ArrayList<>();

        Build(BulkLoad load, long expectedRecords) {
            StoreCore core = load.core;
            timestamps = core.timestamps();
            firstTimestamp = drawNext();
            wallMicros = core.clock().wallMicros();
            filter = ComponentFilter.builder(load.schema.filter());
            primary = load.build(TreeId.PRIMARY);
            try (Undo undo = Undo.of(this::close)) {
                records = primary.create(expectedRecords);
                int count = load.onDisk.size();
                for (int i = 0; i < count; i++) {
                    secondaries.add(EntrySort.create(
                            core.sortStorage(),
                            load.secondaryBytesMax / count,
                            new Duplicates.Keep()));
                }
                undo.keep();
            }
        }

        /** Each record has a timestamp of its own. What has it is seen when all are installed. */
        long drawNext() {
            timestamps.awaitRoom();
            long draw = timestamps.draw(1);
            timestamps.complete(draw);
            timestamp = Timestamps.lastOf(draw);
            return timestamp;
        }

        @Override
        public void close() {
            try {
                primary.close();
            } catch (StorageIoException left) {
                // no manifest names the file: it goes when the store opens next
            }
            new Cleanup().addAll(secondaries, EntrySort::close).run();
        }
    }

    private BulkLoad(
            Partition partition,
            long secondaryBytesMax,
            long expectedRecords,
            @Nullable EntrySort unsorted) {
        this.partition = partition;
        this.core = partition.core();
        this.schema = partition.schema();
        this.onDisk =
                schema.indexes().stream().filter(index -> !index.hasRegion()).toList();
        this.secondaryBytesMax = secondaryBytesMax;
        this.expectedRecords = expectedRecords;
        this.unsorted = unsorted;
        this.view = new RecordView(schema.type());
    }

    /**
     * A load of records whose keys ascend.
     *
     * @param memoryBytesMax to sort secondary entries in
     * @param expectedRecords sizes the Bloom filter; about right is good enough
     */
    public static BulkLoad sorted(Partition partition, long memoryBytesMax, long expectedRecords) {
        return new BulkLoad(partition, memoryBytesMax, expectedRecords, null);
    }

    /**
     * A load of records in any order.
     *
     * @param recordBytesMax to sort records in while they come
     * @param secondaryBytesMax to sort secondary entries in while the load is completed
     */
    public static BulkLoad unsorted(
            Partition partition,
            long recordBytesMax,
            long secondaryBytesMax,
            Duplicates duplicates) {
        EntrySort sort =
                EntrySort.create(partition.core().sortStorage(), recordBytesMax, duplicates);
        return new BulkLoad(partition, secondaryBytesMax, 0, sort);
    }

    /**
     * Adds a record, of which all keys are within their limits.
     *
     * @param number of the record in its load, from 1
     */
    public void add(Slice key, long number, Slice record) {
        if (unsorted != null) {
            unsorted.add(key, number, false, record);
        } else {
            put(key, record);
        }
    }

    /** Takes the record that comes next in key order. */
    private void put(Slice key, Slice record) {
        Build current = build;
        if (current == null) {
            current = new Build(this, unsorted == null ? expectedRecords : unsorted.entryCount());
            build = current;
        } else {
            var _ = current.drawNext();
        }
        view.wrap(record);
        for (int field = 0; field < schema.filter().size(); field++) {
            KeySpec filter = schema.filter().get(field);
            if (filter.hasNullOrMissing(view)) {
                current.filter.addAbsent(field);
            } else {
                sink.clear();
                filter.append(view, sink);
                current.filter.add(field, sink.asSlice(encoded));
            }
        }
        List<IndexSchema> indexes = onDisk;
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).entryKeys().append(view, key, entryKeys.clear());
            for (int k = 0; k < entryKeys.count(); k++) {
                EntrySort entries = current.secondaries.get(i);
                entries.add(entryKeys.key(k, encoded), current.timestamp, false, NOTHING);
            }
        }
        current.records.add(key, current.timestamp, false, record);
    }

    /**
     * Writes what is left and makes all files durable. After a failure the load can only be closed.
     *
     * @return how many records there are, without duplicates
     */
    public long complete() {
        if (!complete) {
            if (unsorted != null) {
                try (EntryStream records = unsorted.sorted()) {
                    while (records.next()) {
                        put(records.key(), records.value());
                    }
                }
                unsorted.close();
            }
            if (build != null) {
                firstTimestamp = build.firstTimestamp;
                writeComponents(build);
                build.close();
                build = null;
            }
            core.disk().syncDirectory(StoreFiles.DATA);
            complete = true;
        }
        return loaded.isEmpty() ? 0 : primary().component().entryCount();
    }

    private void writeComponents(Build done) {
        long afterMicros = core.clock().wallMicros();
        // the component covers all from behind what was flushed before the partition became empty
        ComponentId id = new ComponentId(partition.flushedTimestamp() + 1, done.timestamp);
        ComponentFilter filter = done.filter.build();
        done.primary.finish(id, filter, done.wallMicros, afterMicros);
        loaded.put(TreeId.PRIMARY, done.primary.open(0));
        for (int i = 0; i < done.secondaries.size(); i++) {
            IndexSchema index = onDisk.get(i);
            TreeId tree = index.tree();
            try (ComponentBuild built = build(tree)) {
                try (EntrySort sort = done.secondaries.get(i);
                        EntryStream entries = sort.sorted()) {
                    built.create(sort.entryCount()).addAll(entries);
                }
                built.writer().noteVersions(primary().component().matterCount());
                built.finish(id, filter, done.wallMicros, afterMicros);
                loaded.put(tree, built.open(0));
            }
            if (index.hasDeletedKeyTree()) {
                writeDeletedKeyTree(tree.deletedKeyTree(), id, done);
            }
        }
    }

    /** Nothing is written over in a partition that was empty. */
    private void writeDeletedKeyTree(TreeId tree, ComponentId id, Build done) {
        try (ComponentBuild built = build(tree)) {
            var _ = built.create(0);
            built.finish(id, done.filter.build(), done.wallMicros, core.clock().wallMicros());
            loaded.put(tree, built.open(0));
        }
    }

    private ComponentBuild build(TreeId tree) {
        return ComponentBuild.of(partition, schema, tree);
    }

    private ComponentHandle primary() {
        return Objects.requireNonNull(loaded.get(TreeId.PRIMARY));
    }

    /** Gives every primary key that is loaded, once the load is complete. */
    public void forEachKey(Consumer<Slice> out) {
        if (!loaded.isEmpty()) {
            try (TreeCursor cursor = primary().component().keyCursor()) {
                while (cursor.next()) {
                    out.accept(cursor.key());
                }
            }
        }
    }

    /** Whether a record with that primary key is loaded. */
    public boolean has(Slice key, long hash) {
        return !loaded.isEmpty()
                && primary().component().mayContain(hash)
                && primary().component().findKey(key, Long.MAX_VALUE, new Found(0)) != Found.ABSENT;
    }

    /** The first timestamp of the loaded records; {@link Long#MAX_VALUE} if there are none. */
    public long firstTimestamp() {
        return firstTimestamp;
    }

    /** What the manifest says of the partition once the load is there. */
    public PartitionState stateAfter(PartitionState before) {
        if (loaded.isEmpty()) {
            return before;
        }
        Map<TreeId, ComponentState> components = new HashMap<>();
        loaded.forEach((tree, component) -> components.put(tree, component.state()));
        long last = primary().state().maxTimestamp();
        PartitionState after = before.withFlushed(last, components);
        for (RegionLayer region : partition.version().regions()) {
            RegionState kept = before.region(region.tree());
            if (kept != null && absorb(region, last)) {
                after = after.with(kept.through(last));
            }
        }
        return after;
    }

    /**
     * Lets a region have the loaded records. If the load fails after that, the region is of no use
     * any more: nobody would take them back while the store is open.
     */
    private boolean absorb(RegionLayer region, long last) {
        RegionHandle handle = region.handle();
        IndexSchema index = Objects.requireNonNull(schema.index(region.tree()));
        absorbed.add(handle);
        if (handle.failure() != null) {
            return false;
        }
        try {
            new RegionFill(core, schema, index, handle.region(), secondaryBytesMax)
                    .run(List.of(primary()), region.through(), last, () -> false);
            return true;
        } catch (StorageException | IllegalStateException | InternalError cause) {
            StorageException _ = handle.fail(cause);
            handle.tellOnce(
                    told -> core.events().regionRefused(partition.name(), index.name(), told));
            return false;
        }
    }

    /** Makes the load visible; under the manifest's lock. */
    public void install() {
        if (!loaded.isEmpty()) {
            partition.current().installLoaded(loaded);
            LoadMeter meter = LoadMeter.of(core.meters());
            for (ComponentHandle component : loaded.values()) {
                meter.entries().add(component.component().entryCount());
                meter.bytes().add(component.state().bytes());
            }
        }
    }

    /** Lets everything go; what was not installed is deleted. */
    public void close(boolean installed) {
        if (!installed) {
            for (RegionHandle handle : absorbed) {
                StorageException _ = handle.fail(
                        new InvalidRequestException("a bulk load failed when it had absorbed it"));
            }
        }
        if (unsorted != null) {
            unsorted.close();
        }
        if (build != null) {
            build.close();
            build = null;
        }
        ComponentFiles.letGo(loaded.values(), installed);
        loaded.clear();
    }
}
