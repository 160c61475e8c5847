package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidEntryCursor;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A standalone repair of one component of a secondary index under way (LUO19 §4.4): its valid
 * entries are checked against the primary's key trees, and it gets a new bitmap; the component's
 * file stays as it is.
 *
 * <ol>
 *   <li>Take the component, so that no merge replaces it meanwhile.
 *   <li>Scan it and check, step by step.
 *   <li>Write and sync the bitmap, sync the directory. What it is made of lies in components, which
 *       are on disk later than their log: no bitmap is ahead of the log (rule 6).
 *   <li>One manifest edit; under its lock the new version, with another handle on the same
 *       component file.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class Repair implements AutoCloseable {
    /** What an entry counts for where steps are measured in bytes. */
    static final long ENTRY_BYTES = 64;

    private final Partition partition;
    private final StoreCore core;
    private final IndexSchema index;
    private final ComponentHandle before;
    private final KeyTrees keyTrees;
    private final ValidityBitmapBuilder invalidEntries;
    private final InvalidEntrySearch search;
    private final TreeCursor entries;
    private final EntryCursor living;
    private final Slice primaryKey = new Slice();
    private boolean isScanned;
    private long nanos;

    private Repair(
            Partition partition,
            IndexSchema index,
            ComponentHandle before,
            SharedKeyTrees shared,
            RepairOptions options) {
        DiskComponent component = before.component();
        ImmutableValidityBitmap known = before.invalidEntries();
        this.partition = partition;
        this.core = partition.core();
        this.index = index;
        this.before = before;
        this.keyTrees = shared.keyTrees();
        this.invalidEntries = ValidityBitmapBuilder.of(component.entryCount(), known);
        this.search = new InvalidEntrySearch(
                keyTrees,
                before.state().repairedTimestamp(),
                core.sortStorage(),
                options,
                shared.live(),
                invalidEntries);
        this.entries = component.streamCursor();
        this.living = known == null ? entries : new ValidEntryCursor(entries, known);
    }

    /**
     * Starts a repair: takes the component.
     *
     * @param shared ready; stays the caller's
     * @return null if somebody else has taken or replaced it
     * @throws io.turbidite.core.InvalidRequestException if it has more entries than a bitmap
     *     reaches
     */
    static @Nullable Repair start(
            Partition partition,
            IndexSchema index,
            ComponentHandle handle,
            SharedKeyTrees shared,
            RepairOptions options) {
        if (!handle.tryTake()) {
            return null;
        }
        Repair started = null;
        try {
            if (partition.holds(index.tree(), List.of(handle))) {
                started = new Repair(partition, index, handle, shared, options);
                handle.retain();
            }
            return started;
        } finally {
            if (started == null) {
                handle.giveBack();
            }
        }
    }

    /** Up to where components are checked together after a check against these key trees. */
    static long reached(List<ComponentHandle> inputs, KeyTrees keyTrees) {
        long reached = Long.MAX_VALUE;
        for (ComponentHandle input : inputs) {
            long one = Math.max(input.state().repairedTimestamp(), keyTrees.reach());
            reached = Math.min(reached, one);
        }
        return reached;
    }

    /**
     * Checks some more.
     *
     * @return whether the repair is installed
     */
    boolean advance(long entriesMax) {
        long startNanos = core.clock().monotonicNanos();
        boolean isChecked = isScanned ? search.advance(entriesMax) : scan(entriesMax);
        nanos += core.clock().monotonicNanos() - startNanos;
        if (isChecked) {
            install(
                    partition,
                    index.tree(),
                    before,
                    reached(List.of(before), keyTrees),
                    invalidEntries);
        }
        return isChecked;
    }

    private boolean scan(long entriesMax) {
        long checkedUntil = before.state().repairedTimestamp();
        for (long i = 0; i < entriesMax; i++) {
            if (!living.next()) {
                isScanned = true;
                return false;
            }
            if (!living.isAntimatter()) {
                index.entryKeys().primaryKey(living.key(), primaryKey);
                search.add(primaryKey, living.timestamp(), entries.ordinal(), checkedUntil);
            }
        }
        return false;
    }

    /**
     * Installs what was found of a component.
     *
     * @param before taken and held by the caller
     * @param timestamp up to where it is checked now
     * @param invalidEntries all that is invalid of it, what was known before included
     */
    public static void install(
            Partition partition,
            TreeId tree,
            ComponentHandle before,
            long timestamp,
            ValidityBitmapBuilder invalidEntries) {
        StoreCore core = partition.core();
        ComponentState state = before.state();
        ImmutableValidityBitmap known = before.invalidEntries();
        BitmapState bitmapState = state.invalidEntries();
        if (invalidEntries.count() > bitmapState.count()) {
            bitmapState = ComponentFiles.writeBitmap(core, before.component(), invalidEntries);
            core.disk().syncDirectory(StoreFiles.DATA);
            known = ComponentFiles.openWrittenBitmap(core, before.component(), bitmapState);
        }
        ComponentHandle after = before.repaired(state.withRepaired(timestamp, bitmapState), known);
        Installation installation = new Installation();
        try {
            installation.run(() -> core.edit(
                    manifest -> stateAfter(manifest, partition, tree, before, after),
                    () -> partition.current().installRepaired(tree, before, after)));
        } finally {
            if (!installation.mayStand()) {
                after.markReplacedBy(before);
            }
            after.release();
        }
    }

    /** An index that the manifest does not know was dropped meanwhile. */
    private static ManifestState stateAfter(
            ManifestState manifest,
            Partition partition,
            TreeId tree,
            ComponentHandle before,
            ComponentHandle after) {
        if (partition.isDropped()) {
            return manifest;
        }
        int datasetId = partition.schema().id();
        PartitionState changed = manifest.partition(datasetId, partition.number())
                .withMerged(tree, List.of(before.state()), after.state());
        return manifest.withPartition(datasetId, partition.number(), changed);
    }

    IndexSchema index() {
        return index;
    }

    /** What was done. */
    RepairCounts counts() {
        return search.counts().ofComponents(1, nanos);
    }

    /** Lets everything go; what was not installed is as if it had not been. */
    @Override
    public void close() {
        try {
            living.close();
            search.close();
        } finally {
            before.giveBack();
            before.release();
        }
    }
}
