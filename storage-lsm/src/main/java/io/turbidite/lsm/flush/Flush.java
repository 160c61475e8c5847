package io.turbidite.lsm.flush;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.IoBudget;
import io.turbidite.lsm.schedule.MergePace;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.run.BitmapSave;
import io.turbidite.lsm.strategy.bitmap.run.BitmapSwitch;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Writes a partition's frozen layer to disk, one component for each tree, all with one component
 * ID, even if empty (LUO19 §2.2: the memory components of a partition are always flushed together).
 *
 * <ol>
 *   <li>Freeze the current layer, unless one is frozen from a flush that failed for want of space.
 *   <li>Make the log durable to its last record, so that no component is ahead of it (rule 6).
 *   <li>Let the regions absorb the layer, of indexes that have one: an opening takes back what
 *       they hold beyond the manifest. One that can't is not read any more, and the flush goes on.
 *   <li>Write and sync the components, sync their directory.
 *   <li>One manifest edit; under its lock the new version.
 *   <li>Let go of the log that is no longer needed.
 * </ol>
 *
 * A failure before step 5 leaves orphans, which are deleted here, or go to the trash at the next
 * opening, and the frozen layer in place.
 */
public final class Flush {
    /**
     * Bytes of entries between two looks at the I/O budget, and what is made durable at once at
     * least.
     */
    private static final long STEP_BYTES = 512 << 10;

    /** The part of a flush that is counted as left until it is installed: syncs take their time. */
    private static final int FINISHING_SHARE = 16;

    private final Partition partition;
    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final IoBudget io;
    private final MergePace pace;
    private final long syncBytes;
    private final WriterThrottle throttle;

    /** Memory of the layer, and what of it is not written yet. */
    private long layerBytes;

    private long entriesLeft;
    private long entryCount;

    /** Waited to let commits go first. */
    private long pacedNanos;

    /**
     * @param partitions all of the store
     * @param io what the flush may write a second, before any merge
     * @param pace that keeps it out of the way of commits, as long as writers have room
     * @param syncBytes what was written is synced when it is that much; 0 for never before the end
     * @param throttle is told how far the flush is
     */
    public Flush(
            Partition partition,
            PartitionRegistry partitions,
            IoBudget io,
            MergePace pace,
            long syncBytes,
            WriterThrottle throttle) {
        this.partition = partition;
        this.partitions = partitions;
        this.core = partition.core();
        this.io = io;
        this.pace = pace;
        this.syncBytes = syncBytes;
        this.throttle = throttle;
    }

    /**
     * Flushes.
     *
     * @param cause what asks for it, for the event
     * @return false if there was nothing to flush
     */
    public boolean run(String cause) {
        if (partition.frozenLayer() == null && !partition.current().freeze()) {
            return false;
        }
        core.log().flush();
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return false;
        }
        Map<TreeId, ComponentHandle> flushed = new LinkedHashMap<>();
        Installation installation = new Installation();
        try {
            MemoryLayer layer = Objects.requireNonNull(pinned.frozen());
            long startNanos = core.clock().monotonicNanos();
            begin(pinned, layer);
            Subject subject =
                    new Subject(pinned, layer, layer.filter(), core.timestamps().retention(false));
            absorb(pinned.regions(), subject);
            for (TreeId tree : pinned.schema().treeIds()) {
                // the layer may be older than the index
                if (layer.hasTree(tree)) {
                    ComponentHandle primary = flushed.get(TreeId.PRIMARY);
                    flushed.put(
                            tree,
                            write(
                                    subject,
                                    tree,
                                    primary == null ? -1 : primary.component().matterCount()));
                }
            }
            core.disk().syncDirectory(StoreFiles.DATA);
            // before the log goes that would tell it again
            core.quarantine().note();
            installation.run(() -> install(subject, flushed));
            long bytes = flushed.values().stream()
                    .mapToLong(handle -> handle.state().bytes())
                    .sum();
            long nanos = core.clock().monotonicNanos() - startNanos;
            throttle.flushed(layerBytes, nanos - pacedNanos);
            FlushMeter meter = FlushMeter.of(core.meters());
            meter.bytes().add(bytes);
            meter.time().record(nanos);
            core.events().flushed(partition.name(), layer, cause, bytes, nanos);
        } finally {
            MemoryLayer layer = pinned.frozen();
            endUnlessNull(layer == null ? null : layer.concurrency());
            // an installed component is held by the version; one that was not is deleted here
            ComponentFiles.letGo(flushed.values(), installation.mayStand());
            pinned.unpin();
            throttle.flushEnded();
        }
        core.tasks().signal();
        core.log().truncateBefore(core.manifest().state().logPosition());
        return true;
    }

    /**
     * What is flushed.
     *
     * @param filter of all trees
     * @param readers asked once: what goes from one tree may be counted on in the next
     */
    private record Subject(
            Version pinned, MemoryLayer layer, ComponentFilter filter, VersionRetention readers) {}

    /**
     * @param versions of records in the layer; -1 in the primary, which comes first
     */
    private ComponentHandle write(Subject subject, TreeId tree, long versions) {
        MemoryLayer layer = subject.layer;
        MemoryComponent memory = layer.tree(tree);
        VersionRetention retention =
                subject.readers.droppingAntimatter(subject.pinned.dropsAntimatter(tree, -1));
        BuildConcurrency concurrency =
                ComponentFiles.isLive(subject.pinned.schema(), tree) ? layer.concurrency() : null;
        try (ComponentBuild build = ComponentBuild.of(partition, subject.pinned.schema(), tree);
                Undo undo = Undo.of(() -> endUnlessNull(concurrency))) {
            if (concurrency != null) {
                concurrency.begin(build.withBitmap(memory.entryCount()));
            }
            ComponentWriter writer = build.create(memory.entryCount());
            try (EntryStream entries = retention.retain(memory.valueCursor())) {
                copy(entries, writer, concurrency);
            }
            writer.noteVersions(versions);
            build.finish(
                    new ComponentId(layer.minTimestamp(), layer.maxTimestamp()),
                    subject.filter,
                    layer.minWallMicros(),
                    layer.maxWallMicros());
            return undo.keep(build.open(0));
        }
    }

    /** Regions that have the layer already got it from a flush that failed later. */
    @SuppressWarnings("CatchingUnchecked") // an index fails alone
    private void absorb(List<RegionLayer> regions, Subject subject) {
        for (RegionLayer region : regions) {
            RegionHandle handle = region.handle();
            IndexSchema index = partition.schema().index(region.tree());
            if (index == null
                    || handle.failure() != null
                    || handle.region().absorbedThrough() >= subject.layer.maxTimestamp()) {
                continue;
            }
            try {
                LayerAbsorption.run(handle.region(), index, subject.layer, subject.readers);
            } catch (RuntimeException | InternalError cause) {
                // whatever a kind throws: records are flushed without it
                StorageException _ = handle.fail(cause);
                handle.tellOnce(
                        told -> core.events().regionRefused(partition.name(), index.name(), told));
            }
        }
    }

    private static void endUnlessNull(@Nullable BuildConcurrency concurrency) {
        if (concurrency != null) {
            concurrency.end();
        }
    }

    private void begin(Version pinned, MemoryLayer layer) {
        layerBytes = layer.reportedBytes();
        for (TreeId tree : pinned.schema().treeIds()) {
            entryCount += layer.hasTree(tree) ? layer.tree(tree).entryCount() : 0;
        }
        entriesLeft = entryCount;
        throttle.flushing(layerBytes);
    }

    /**
     * Copies the entries; those that have a successor are written as invalid (design §4 rule 5).
     */
    private void copy(
            EntryStream entries, ComponentWriter writer, @Nullable BuildConcurrency concurrency) {
        EntryHead entry = new EntryHead();
        long ordinal = 0;
        long charged = 0;
        long synced = 0;
        boolean more = true;
        while (more) {
            awaitTurn();
            long stepBytes = 0;
            long stepEntries = 0;
            while (stepBytes < STEP_BYTES && more) {
                more = entries.next(entry);
                if (more) {
                    Slice value = entries.value();
                    writer.add(entry, value);
                    if (concurrency != null) {
                        concurrency.copied(entries, ordinal);
                    }
                    ordinal++;
                    stepBytes += entry.keyBytes + value.length() + Long.BYTES;
                    stepEntries++;
                }
            }
            long written = writer.bytesWritten();
            io.charge(written - charged);
            pace.charge(written - charged);
            charged = written;
            if (syncBytes > 0 && written - synced >= pace.pieceBytes(syncBytes)) {
                writer.syncSoFar();
                synced = written;
            }
            entriesLeft = Math.max(0, entriesLeft - stepEntries);
            throttle.flushing(Math.max(layerBytes / FINISHING_SHARE, (long)
                    (layerBytes * (entriesLeft / (double) entryCount))));
        }
    }

    /**
     * Waits until the next step may be written.
     *
     * @throws ClosedException if the store is being closed: what would be flushed is in the log
     */
    private void awaitTurn() {
        if (!io.flushMayGo()) {
            io.beginFlushWait();
            try {
                core.tasks().await(() -> io.flushMayGo() || core.health().isClosing());
            } finally {
                io.endFlushWait();
            }
        }
        if (mustWaitForCommits()) {
            long startNanos = core.clock().monotonicNanos();
            core.tasks().await(() -> !mustWaitForCommits());
            pacedNanos += core.clock().monotonicNanos() - startNanos;
        }
        if (core.health().isClosing()) {
            throw new ClosedException("the store");
        }
    }

    private boolean mustWaitForCommits() {
        return !pace.mayGo() && !throttle.flushIsUrgent() && !core.health().isClosing();
    }

    private void install(Subject subject, Map<TreeId, ComponentHandle> flushed) {
        MemoryLayer layer = subject.layer;
        long last = layer.maxTimestamp();
        BuildConcurrency concurrency = layer.concurrency();
        ComponentHandle primary = flushed.get(TreeId.PRIMARY);
        if (concurrency != null && primary != null) {
            BitmapSwitch bitmaps = new BitmapSwitch(concurrency, primary, List.of());
            BitmapSave.run(partition, new BitmapSave.Edit() {
                @Override
                public List<ComponentHandle> components(List<ComponentHandle> others) {
                    bitmaps.catchUp();
                    List<ComponentHandle> all = new ArrayList<>(others);
                    all.add(primary);
                    return all;
                }

                @Override
                public ManifestState change(ManifestState state) {
                    return stateAfter(state, subject, flushed);
                }

                @Override
                public void install() {
                    partition.current().installFlushed(flushed, last, bitmaps::finish);
                }
            });
            return;
        }
        core.edit(
                state -> stateAfter(state, subject, flushed),
                () -> partition.current().installFlushed(flushed, last, null));
    }

    /** Trees that the manifest does not know are being built, or were dropped meanwhile. */
    private ManifestState stateAfter(
            ManifestState state, Subject subject, Map<TreeId, ComponentHandle> flushed) {
        MemoryLayer layer = subject.layer;
        int datasetId = partition.schema().id();
        if (partition.isDropped()) {
            return state;
        }
        Map<TreeId, ComponentState> components = new HashMap<>();
        flushed.forEach((id, component) -> components.put(id, component.state()));
        PartitionState before = state.partition(datasetId, partition.number());
        boolean first = before.tree(TreeId.PRIMARY).isEmpty();
        // an index may have become ready since the flush began
        absorb(partition.version().regions(), subject);
        PartitionState after = withAbsorbed(
                before.withFlushed(layer.maxTimestamp(), components), layer.maxTimestamp());
        long last = core.timestamps().lastDrawn();
        long replayFrom = partitions.replayFrom(partition, core.log().position());
        // a write that was given up since the log's flush leaves nothing in memory to hold it back
        long position = Math.min(replayFrom, core.log().durablePosition());
        return state.withPartition(datasetId, partition.number(), after)
                .withCounts(
                        datasetId,
                        counts -> partition
                                .work()
                                .stamp(
                                        counts.plus(counts(layer, flushed, first)),
                                        partition.schema()))
                .withProgress(last, position);
    }

    /** What a failed region lacks, the next opening builds anew. */
    private PartitionState withAbsorbed(PartitionState state, long through) {
        PartitionState changed = state;
        for (RegionLayer region : partition.version().regions()) {
            RegionState kept = state.region(region.tree());
            if (kept != null && region.handle().failure() == null) {
                changed = changed.with(kept.through(through));
            }
        }
        return changed;
    }

    /**
     * What was flushed of the primary. The first flush of a partition leaves anti-matter out as
     * well, so that what was superseded can't be told.
     */
    private static DatasetCounts.Flushes counts(
            MemoryLayer layer, Map<TreeId, ComponentHandle> flushed, boolean first) {
        DiskComponent primary =
                Objects.requireNonNull(flushed.get(TreeId.PRIMARY)).component();
        long writes = layer.tree(TreeId.PRIMARY).entryCount();
        long antimatter = primary.antimatterCount();
        long superseded = first ? 0 : writes - primary.entryCount();
        return new DatasetCounts.Flushes(writes, antimatter, superseded, 0);
    }
}
