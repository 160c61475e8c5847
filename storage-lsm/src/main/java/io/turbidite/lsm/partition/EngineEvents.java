package io.turbidite.lsm.partition;

import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.advice.RepairDecision;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Trash;
import io.turbidite.lsm.version.Version.MergedTree;

import java.util.Collection;
import java.util.List;

/**
 * Publishes what background work did and why writers waited, an event for each (D8). What the rooms
 * count they count themselves. <em>Thread-safe.</em>
 */
public final class EngineEvents {
    private final StoreEvents events;
    private final Clock clock;

    public EngineEvents(StoreEvents events, Clock clock) {
        this.events = events;
        this.clock = clock;
    }

    public void flushed(
            PartitionName partition, MemoryLayer layer, String cause, long bytes, long nanos) {
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
        events.publish(new StoreEvent.Merged(
                clock.wallMicros(),
                schema.name(),
                partition,
                schema.treeName(merge.tree()),
                schema.mergePolicy().toString(),
                inputs.size(),
                merge.bytesRead(),
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
        events.publish(new StoreEvent.GarbageMerged(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                (int) Math.round(100 * garbageShare),
                cause));
    }

    /** A writer waited because there was no room. */
    public void stalled(String cause, long nanos) {
        events.publish(new StoreEvent.Stalled(clock.wallMicros(), "", -1, cause, nanos));
    }

    /** Writers are held to a pace from now on, or no longer. */
    public void slowed(boolean slowed, long bytesPerSecond) {
        events.publish(new StoreEvent.Slowed(clock.wallMicros(), slowed, bytesPerSecond));
    }

    public void paused(String work, Throwable cause, long nanos) {
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
        events.publish(
                new StoreEvent.BackedUp(clock.wallMicros(), timestamp, linked, copied, bytes));
    }

    /** Says that a shipment, or what a receiver lacked of it, was sent. */
    public void shipped(long timestamp, int files, long bytes) {
        events.publish(new StoreEvent.Shipped(clock.wallMicros(), timestamp, files, bytes));
    }

    /** A snapshot is so old that it may have been forgotten. */
    public void snapshotOld(Timestamps.HeldSnapshot old) {
        events.publish(new StoreEvent.SnapshotOld(
                clock.wallMicros(), old.timestamp(), old.count(), old.ageNanos()));
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

    /** A region can't be used; {@link StoreEvent.RegionRefused} has the words. */
    public void regionRefused(PartitionName partition, String index, Throwable cause) {
        events.publish(new StoreEvent.RegionRefused(
                clock.wallMicros(),
                partition.dataset(),
                partition.number(),
                index,
                String.valueOf(cause.getMessage())));
    }

    /** The file of a region that no index has any more could not be deleted. */
    public void regionLeft(PartitionName partition, String index, String cause) {
        events.publish(new StoreEvent.RegionLeft(
                clock.wallMicros(), partition.dataset(), partition.number(), index, cause));
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

    /** Says that a listener keeps those behind it waiting. */
    public void listenerSlow(long nanos) {
        events.publish(new StoreEvent.ListenerSlow(clock.wallMicros(), nanos));
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
