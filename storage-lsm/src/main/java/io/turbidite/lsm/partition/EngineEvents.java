package io.turbidite.lsm.partition;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.advice.RepairDecision;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrencyMeter;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Trash;
import io.turbidite.lsm.version.Version.MergedTree;

import java.util.Collection;
import java.util.List;

/**
 * Takes note of what background work did and why writers waited: meters for the sum, an event for
 * each (D8). <em>Thread-safe.</em>
 */
public final class EngineEvents {
    private final StoreEvents events;
    private final Clock clock;
    private final Counter ingestedBytes;
    private final Counter flushBytes;
    private final Counter mergeReadBytes;
    private final Counter mergeWriteBytes;
    private final Counter pauses;
    private final Counter loadEntries;
    private final Counter loadBytes;
    private final Counter sortSpilledBytes;
    private final Counter deferredAntimatter;
    private final Counter deferredRemoved;
    private final Counter deletedKeyRemoved;
    private final Counter expiredComponents;
    private final Counter backups;
    private final Counter backupBytes;
    private final Counter shipments;
    private final Counter shipmentBytes;
    private final Counter cursorsLetGo;
    private final Counter validated;
    private final Counter validationSearches;
    private final Counter lookupKeys;
    private final Counter lookupBloomTests;
    private final Counter lookupLayers;
    private final Counter lookupSearches;
    private final Counter lookupPages;
    private final Counter marks;
    private final Counter bitmapSaves;
    private final Counter bitmapSaveBytes;
    private final BuildConcurrencyMeter handovers;
    private final Counter repairChecked;
    private final Counter repairSpared;
    private final Counter repairSearched;
    private final Counter repairMarked;
    private final Counter repairKeyPages;
    private final Counter repairMoves;
    private final Counter garbageMerges;
    private final Counter quarantines;
    private final Latency repairs;
    private final Latency flushes;
    private final Latency merges;
    private final Latency stalls;
    private final Latency delays;

    public EngineEvents(Meters meters, StoreEvents events, Clock clock) {
        this.events = events;
        this.clock = clock;
        this.ingestedBytes = meters.counter("write.bytes");
        this.flushBytes = meters.counter("flush.bytes");
        this.mergeReadBytes = meters.counter("merge.bytes.read");
        this.mergeWriteBytes = meters.counter("merge.bytes.written");
        this.pauses = meters.counter("background.pauses");
        this.loadEntries = meters.counter("load.entries");
        this.loadBytes = meters.counter("load.bytes");
        this.sortSpilledBytes = meters.counter("sort.bytes.spilled");
        this.deferredAntimatter = meters.counter("deferred.antimatter");
        this.deferredRemoved = meters.counter("deferred.removed");
        this.deletedKeyRemoved = meters.counter("deletedkey.removed");
        this.expiredComponents = meters.counter("retention.components");
        this.backups = meters.counter("backup.count");
        this.backupBytes = meters.counter("backup.bytes");
        this.shipments = meters.counter("shipment.count");
        this.shipmentBytes = meters.counter("shipment.bytes");
        this.cursorsLetGo = meters.counter("cursors.let.go");
        this.validated = meters.counter("validation.candidates");
        this.validationSearches = meters.counter("validation.searches");
        this.lookupKeys = meters.counter("lookup.keys");
        this.lookupBloomTests = meters.counter("lookup.bloom.tests");
        this.lookupLayers = meters.counter("lookup.layers");
        this.lookupSearches = meters.counter("lookup.searches");
        this.lookupPages = meters.counter("lookup.pages");
        this.marks = meters.counter("bitmap.marks");
        this.bitmapSaves = meters.counter("bitmap.saves");
        this.bitmapSaveBytes = meters.counter("bitmap.save.bytes");
        this.handovers = new BuildConcurrencyMeter(meters);
        this.repairChecked = meters.counter("repair.entries.checked");
        this.repairSpared = meters.counter("repair.entries.spared");
        this.repairSearched = meters.counter("repair.entries.searched");
        this.repairMarked = meters.counter("repair.entries.marked");
        this.repairKeyPages = meters.counter("repair.key.pages");
        this.repairMoves = meters.counter("repair.moves");
        this.garbageMerges = meters.counter("merge.for.garbage");
        this.quarantines = meters.counter("quarantine.count");
        this.repairs = meters.latency("repair.time");
        this.flushes = meters.latency("flush.time");
        this.merges = meters.latency("merge.time");
        this.stalls = meters.latency("write.stall.time");
        this.delays = meters.latency("write.delay.time");
    }

    /** Bytes of keys and records that writers brought. */
    public Counter ingestedBytes() {
        return ingestedBytes;
    }

    public void flushed(
            PartitionName partition, MemoryLayer layer, String cause, long bytes, long nanos) {
        flushBytes.add(bytes);
        flushes.record(nanos);
        events.publish(new StoreEvent.Flushed(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                cause,
                layer.minTimestamp(),
                layer.maxTimestamp(),
                layer.tree(TreeId.PRIMARY).entryCount(),
                bytes,
                nanos));
    }

    public void merged(int partition, DatasetSchema schema, MergedTree merge, long nanos) {
        List<ComponentHandle> inputs = merge.inputs();
        ComponentHandle output = merge.output();
        long bytesRead = inputs.stream()
                .map(ComponentHandle::state)
                .mapToLong(ComponentState::bytes)
                .sum();
        mergeReadBytes.add(bytesRead);
        mergeWriteBytes.add(output.state().bytes());
        merges.record(nanos);
        events.publish(new StoreEvent.Merged(
                clock.wallMicros(),
                schema.name(),
                partition,
                schema.treeName(merge.tree()),
                schema.mergePolicy().toString(),
                inputs.size(),
                bytesRead,
                output.state().bytes(),
                inputs.stream()
                        .mapToLong(input -> input.component().entryCount())
                        .sum(),
                output.component().entryCount(),
                nanos));
    }

    /**
     * A component of an index was checked against the primary.
     *
     * @param cause {@code "merge"}, {@code "request"} or {@code "auto"}
     */
    public void repaired(
            PartitionName partition, IndexSchema index, String cause, RepairCounts counts) {
        repairChecked.add(counts.checked());
        repairSpared.add(counts.spared());
        repairSearched.add(counts.searched());
        repairMarked.add(counts.marked());
        repairKeyPages.add(counts.keyPages());
        repairs.record(counts.nanos());
        events.publish(new StoreEvent.Repaired(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                index.name(),
                cause,
                counts.checked(),
                counts.spared(),
                counts.searched(),
                counts.marked(),
                counts.nanos()));
    }

    /** The repair of an index under auto is placed elsewhere from now on. */
    public void repairPlaced(
            String dataset, IndexSchema index, RepairPlacement before, RepairDecision decision) {
        repairMoves.increment();
        events.publish(new StoreEvent.RepairPlaced(
                clock.wallMicros(),
                dataset,
                index.name(),
                before.label(),
                decision.placement().label(),
                decision.reason()));
    }

    /** A merge is started that no policy wants, for the garbage that it takes away. */
    public void mergesGarbage(PartitionName partition, double garbageShare, String cause) {
        garbageMerges.increment();
        events.publish(new StoreEvent.GarbageMerged(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                (int) Math.round(100 * garbageShare),
                cause));
    }

    /** A writer has marked a superseded record. */
    public void marked() {
        marks.increment();
    }

    /** A live bitmap's marks are on disk. */
    public void bitmapSaved(long bytes) {
        bitmapSaves.increment();
        bitmapSaveBytes.add(bytes);
    }

    /** Counts what it takes to bring marks to components that are being built. */
    BuildConcurrencyMeter handovers() {
        return handovers;
    }

    /**
     * Index entries were validated by their timestamps, with so many searches of key trees on disk.
     */
    public void validated(long candidates, long searches) {
        validated.add(candidates);
        validationSearches.add(searches);
    }

    /**
     * A merge of the primary made anti-matter for a deferred index, which removed so many entries.
     */
    public void deferred(long antimatterCount, long removedCount) {
        deferredAntimatter.add(antimatterCount);
        deferredRemoved.add(removedCount);
    }

    /** A merge of a deleted-key index left out so many entries. */
    public void deletedKeysApplied(long removedCount) {
        deletedKeyRemoved.add(removedCount);
    }

    /** Counts what external sorts write to their runs. */
    Counter sortSpilledBytes() {
        return sortSpilledBytes;
    }

    /** A component of a bulk load. */
    public void loaded(long entryCount, long bytes) {
        loadEntries.add(entryCount);
        loadBytes.add(bytes);
    }

    /** A writer waited because there was no room. */
    public void stalled(String cause, long nanos) {
        stalls.record(nanos);
        events.publish(new StoreEvent.Stalled(clock.wallMicros(), "", -1, cause, nanos));
    }

    /** A writer waited to keep the pace. */
    public void delayed(long nanos) {
        delays.record(nanos);
    }

    /** Writers are held to a pace from now on, or no longer. */
    public void slowed(boolean slowed, long bytesPerSecond) {
        events.publish(new StoreEvent.Slowed(clock.wallMicros(), slowed, bytesPerSecond));
    }

    public void paused(String work, Throwable cause, long nanos) {
        pauses.increment();
        events.publish(new StoreEvent.SpaceChanged(
                clock.wallMicros(),
                true,
                "%s: %s; tried again in %d ms"
                        .formatted(work, cause.getMessage(), nanos / 1_000_000)));
    }

    public void resumed(String work) {
        events.publish(new StoreEvent.SpaceChanged(clock.wallMicros(), false, work));
    }

    /** Says that retention dropped components. */
    public void expired(PartitionName partition, Collection<ComponentHandle> components) {
        expiredComponents.add(components.size());
        events.publish(new StoreEvent.Expired(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                components.size(),
                components.stream()
                        .filter(handle -> TreeId.of(handle.component().header()).isPrimary())
                        .mapToLong(handle -> handle.component().entryCount())
                        .sum(),
                components.stream().mapToLong(handle -> handle.state().bytes()).sum()));
    }

    /** The wall clock would drop what the records of a dataset do not tell to be old. */
    public void retentionHeldBack(String dataset, long dataMicros) {
        events.publish(new StoreEvent.RetentionHeldBack(clock.wallMicros(), dataset, dataMicros));
    }

    /** Says that a component is set aside. */
    void quarantined(
            DatasetSchema schema, int partition, TreeId tree, ComponentState state, String cause) {
        quarantines.increment();
        events.publish(new StoreEvent.Quarantined(
                clock.wallMicros(),
                schema.name(),
                partition,
                schema.treeName(tree),
                StoreFiles.component(state.fileId()),
                state.bytes(),
                cause));
    }

    /** Says that scans of a dataset need more cache than there is. */
    public void cacheTooSmall(DatasetSchema schema, long neededBytes, long cacheBytes) {
        events.publish(new StoreEvent.CacheTooSmall(
                clock.wallMicros(), schema.name(), neededBytes, cacheBytes));
    }

    /** Says that a reader has met damage. */
    void damageMet(
            DatasetSchema schema, int partition, TreeId tree, ComponentState state, String cause) {
        events.publish(new StoreEvent.DamageMet(
                clock.wallMicros(),
                schema.name(),
                partition,
                schema.treeName(tree),
                StoreFiles.component(state.fileId()),
                cause));
    }

    /** Says that a component is in use again. */
    void quarantineLifted(DatasetSchema schema, int partition, TreeId tree, ComponentState state) {
        events.publish(new StoreEvent.QuarantineLifted(
                clock.wallMicros(),
                schema.name(),
                partition,
                schema.treeName(tree),
                StoreFiles.component(state.fileId()),
                state.bytes()));
    }

    /** Says that a damaged bitmap of a secondary is done without. */
    void deadEntriesDropped(
            DatasetSchema schema, int partition, TreeId tree, String file, String cause) {
        events.publish(new StoreEvent.DeadEntriesDropped(
                clock.wallMicros(), schema.name(), partition, schema.treeName(tree), file, cause));
    }

    /** Says that components go through the page cache although they should not. */
    public void directIoRefused(String disk) {
        events.publish(new StoreEvent.DirectIoRefused(clock.wallMicros(), disk));
    }

    /** Says that a backup is complete. */
    public void backedUp(long timestamp, int linked, int copied, long bytes) {
        backups.increment();
        backupBytes.add(bytes);
        events.publish(
                new StoreEvent.BackedUp(clock.wallMicros(), timestamp, linked, copied, bytes));
    }

    /** Says that a shipment, or what a receiver lacked of it, was sent. */
    public void shipped(long timestamp, int files, long bytes) {
        shipments.increment();
        shipmentBytes.add(bytes);
        events.publish(new StoreEvent.Shipped(clock.wallMicros(), timestamp, files, bytes));
    }

    /** A snapshot is so old that it may have been forgotten. */
    public void snapshotOld(Timestamps.HeldSnapshot old) {
        events.publish(new StoreEvent.SnapshotOld(
                clock.wallMicros(), old.timestamp(), old.count(), old.ageNanos()));
    }

    /** An idle cursor was relieved of an old version. */
    void cursorLetGo() {
        cursorsLetGo.increment();
    }

    /** A batched lookup has ended. */
    public void lookedUp(FetchWork work) {
        lookupKeys.add(work.keyCount());
        lookupBloomTests.add(work.bloomTestCount());
        lookupLayers.add(work.layerVisitCount());
        lookupSearches.add(work.searchCount());
        lookupPages.add(work.pageCount());
    }

    /** Says what became of an index; {@link StoreEvent.IndexChanged} has the words. */
    public void indexChanged(
            DatasetSchema schema, String index, String state, long[] readAndTotal, long nanos) {
        events.publish(new StoreEvent.IndexChanged(
                clock.wallMicros(),
                schema.name(),
                index,
                state,
                readAndTotal[0],
                readAndTotal[1],
                nanos));
    }

    /** Files went to the trash, or from it; {@link StoreEvent.TrashChanged} has the causes. */
    public void trashChanged(String cause, List<Trash.Item> items) {
        events.publish(new StoreEvent.TrashChanged(
                clock.wallMicros(), cause, items.size(), Trash.Item.bytes(items)));
    }

    /** Says whose call a close waits for. */
    public void closeKept(String whose, long nanos) {
        events.publish(new StoreEvent.CloseKept(clock.wallMicros(), whose, nanos));
    }

    /** Something failed where no caller can be told. */
    public void failed(String what, Throwable cause) {
        events.publish(new StoreEvent.Failed(clock.wallMicros(), what, cause));
    }

    /** Says how an opening went. */
    public void recovered(long logBytes, long operationCount, long nanos) {
        events.publish(
                new StoreEvent.Recovered(clock.wallMicros(), logBytes, operationCount, nanos));
    }
}
