package io.turbidite.lsm.backup;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.backup.QuarantineReport.Outcome;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Brings components back from quarantine: as they are, if their files are whole again, else with
 * the very files from a backup or another copy of the store.
 *
 * <ol>
 *   <li>The file is copied beside the damaged one and checked from end to end; it must be of this
 *       store, this number and size, and end with the same footer, where the damaged one still has
 *       one.
 *   <li>It takes the damaged one's place.
 *   <li>Of a primary with live bitmaps the marks are those of today, not of the backup: those in
 *       memory, and all entries whose key a newer layer has. Nothing was merged across the
 *       component, so none is missing.
 *   <li>One manifest edit, under its lock the version with the component.
 * </ol>
 *
 * A crash before the last step leaves it in quarantine, perhaps with a file that is whole.
 * <em>Confined to one thread.</em>
 */
public final class ComponentRestore {
    private static final int BUFFER_BYTES = 1 << 20;

    private final StoreCore core;
    private final @Nullable Disk backup;
    private final List<Outcome> outcomes = new ArrayList<>();

    private ComponentRestore(StoreCore core, @Nullable Disk backup) {
        this.core = core;
        this.backup = backup;
    }

    /**
     * Restores what can be restored.
     *
     * @param backup null to look only whether files are whole again
     */
    public static QuarantineReport run(PartitionRegistry partitions, @Nullable Disk backup) {
        StoreCore core = partitions.core();
        core.health().checkWritable();
        if (backup != null) {
            checkIsOfStore(backup, core);
        }
        // what it goes by is what the manifest says
        core.quarantine().note();
        ComponentRestore restore = new ComponentRestore(core, backup);
        for (Partition partition : partitions.all()) {
            restore.restore(partition, ComponentHandle::isQuarantined);
        }
        return new QuarantineReport(restore.outcomes);
    }

    /**
     * Whatever is in quarantine: who names the wrong directory should hear of it on the day that it
     * does no harm.
     */
    private static void checkIsOfStore(Disk backup, StoreCore core) {
        if (!backup.exists(StoreFiles.MANIFEST)) {
            throw new InvalidRequestException("%s is no backup: it has no %s"
                    .formatted(backup.description(), StoreFiles.MANIFEST));
        }
        long storeId;
        try {
            storeId = Manifest.open(backup).state().storeId();
        } catch (CorruptionException damaged) {
            return; // each of its components says whose it is, and is checked alone
        }
        if (storeId != core.manifest().state().storeId()) {
            throw new InvalidRequestException(
                    "%s is another store, or a backup of another one: nothing of it fits here"
                            .formatted(backup.description()));
        }
    }

    /**
     * While the store opens to be written, brings back what the manifest calls damaged and is whole
     * again. Nothing else is looked at. What replay could not tell all of stays: its file says
     * nothing about that.
     */
    public static void runAtOpening(PartitionRegistry partitions) {
        StoreCore core = partitions.core();
        ComponentRestore restore = new ComponentRestore(core, null);
        for (Partition partition : partitions.all()) {
            try {
                restore.restore(partition, restore::mayBeWhole);
            } catch (StorageException failure) {
                if (FailureRule.of(failure) == FailureRule.STORE) {
                    throw failure;
                }
                // no space, or an error of the disk: it stays aside, and the next opening looks
                // again
            }
        }
    }

    private boolean mayBeWhole(ComponentHandle handle) {
        return handle.isQuarantined()
                && handle.component().isOpen()
                && !handle.isBitmapUnread()
                && !handle.state().quarantine().isEmpty()
                && !core.quarantine().isUntold(handle);
    }

    private void restore(Partition partition, Predicate<ComponentHandle> which) {
        Set<Long> tried = new HashSet<>();
        while (restoreNext(partition, which, tried)) {
            // the next one needs the version that has what was restored
        }
    }

    /**
     * Restores the next component of a partition that is in quarantine, in the version of now.
     *
     * @return false if none is left
     */
    private boolean restoreNext(
            Partition partition, Predicate<ComponentHandle> which, Set<Long> tried) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return false;
        }
        try {
            for (TreeId tree : pinned.schema().treeIds()) {
                // newest first: what is newer tells what is invalid
                for (ComponentHandle handle : pinned.tree(tree)) {
                    ComponentDamage damage = handle.component().damage();
                    if (damage != null
                            && which.test(handle)
                            && tried.add(handle.state().fileId())) {
                        restore(new Subject(partition, pinned, tree, handle), damage);
                        return true;
                    }
                }
            }
            return false;
        } finally {
            pinned.unpin();
        }
    }

    /** A component that is in quarantine. */
    private record Subject(
            Partition partition, Version pinned, TreeId tree, ComponentHandle handle) {
        long fileId() {
            return handle.state().fileId();
        }
    }

    private void restore(Subject subject, ComponentDamage damage) {
        String lost = lost(subject);
        String refusal = null;
        try {
            requireTold(subject);
            install(subject, openWhole(subject));
        } catch (CorruptionException | InvalidRequestException | StorageIoException failure) {
            if (failure instanceof StorageIoException io
                    && io.kind() != StorageIoException.Kind.NOT_FOUND) {
                throw failure;
            }
            refusal = failure.getMessage();
        }
        outcomes.add(new Outcome(
                subject.handle.component().name(), damage.whose(), damage.cause(), lost, refusal));
    }

    /** Of a primary newer layers tell what is invalid, of an eager index nobody does. */
    private void requireTold(Subject subject) {
        IndexSchema index = subject.pinned.schema().index(subject.tree);
        if (index != null
                && index.maintenance() == Maintenance.EAGER
                && stateOf(subject).isUntold()) {
            throw new InvalidRequestException(
                    "the file does not matter: %s has entries that no record has any more; rebuild the index"
                            .formatted(subject.handle.component().name()));
        }
    }

    private static String lost(Subject subject) {
        ComponentState state = subject.handle.state();
        DiskComponent component = subject.handle.component();
        String operations =
                "operations %d to %d".formatted(state.minTimestamp(), state.maxTimestamp());
        return component.isOpen()
                ? "%s, %d entries, written from %s to %s"
                        .formatted(
                                operations,
                                component.entryCount(),
                                time(component.minWallMicros()),
                                time(component.maxWallMicros()))
                : "%s, %d bytes".formatted(operations, state.bytes());
    }

    private static Instant time(long micros) {
        return Instant.ofEpochSecond(
                Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }

    private ComponentState stateOf(Subject subject) {
        PartitionState partition = core.manifest()
                .state()
                .partition(subject.partition.schema().id(), subject.partition.number());
        return partition.tree(subject.tree).stream()
                .filter(state -> state.fileId() == subject.fileId())
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException(
                        "its index is being built; stop that, and try again"));
    }

    /** The component, whole, in its place. */
    private DiskComponent openWhole(Subject subject) {
        String name = StoreFiles.component(subject.fileId());
        ComponentState state = stateOf(subject);
        CorruptionException own;
        try {
            return open(name, subject, state);
        } catch (CorruptionException damage) {
            own = damage;
        } catch (StorageIoException missing) {
            if (missing.kind() != StorageIoException.Kind.NOT_FOUND) {
                throw missing;
            }
            own = CorruptionException.missing(name, "the manifest names it");
        }
        Disk from = backup;
        if (from == null) {
            throw own;
        }
        if (!from.exists(name)) {
            throw new InvalidRequestException(
                    "%s has no %s: it is younger, or older, than the component"
                            .formatted(from.description(), name));
        }
        // deleted at the next opening, should this be cut short
        String draft = StoreFiles.sortRun(core.manifest().newFileId());
        WholeFile whole = WholeFile.of(core.disk(), name, draft);
        try (Undo undo = Undo.of(whole::abandon)) {
            copy(from, name, draft);
            checkFooter(name, draft);
            open(draft, subject, state).close();
            whole.place();
            undo.keep();
            return open(name, subject, state);
        } catch (CorruptionException damage) {
            throw new InvalidRequestException(
                    "the file in %s is not what is missing: %s"
                            .formatted(from.description(), damage.getMessage()),
                    damage);
        }
    }

    /** Opens a file as the component that the manifest means, and checks every byte of it. */
    private DiskComponent open(String name, Subject subject, ComponentState state) {
        ComponentHeader header = ComponentFiles.header(
                core,
                subject.partition.schema(),
                subject.partition.number(),
                subject.tree,
                state.fileId());
        DiskComponent component =
                DiskComponent.open(core.componentDisk(), name, header, core.cache());
        try (Undo undo = Undo.of(component::close)) {
            if (component.bytes() != state.bytes()
                    || component.id().minTimestamp() != state.minTimestamp()
                    || component.id().maxTimestamp() != state.maxTimestamp()) {
                throw new CorruptionException(
                        name, 0, "component", state.toString(), component.toString());
            }
            component.verify(damage -> {
                throw damage;
            });
            undo.keep();
            return component.reportingTo(core.quarantine()::met);
        }
    }

    private void copy(Disk from, String name, String draft) {
        try (Arena arena = NativeMemory.confined("a restore");
                DiskFile source = from.openReadOnly(name);
                DiskFile target = core.disk().create(draft)) {
            MemorySegment buffer = arena.allocate(BUFFER_BYTES);
            long bytes = source.size();
            for (long offset = 0; offset < bytes; ) {
                int step = source.read(
                        offset, buffer, 0, (int) Math.min(BUFFER_BYTES, bytes - offset));
                if (step == 0) {
                    throw new CorruptionException(
                            name, offset, "file", bytes + " bytes", offset + " bytes");
                }
                target.write(offset, buffer, 0, step);
                offset += step;
            }
            target.sync();
        }
    }

    /**
     * A copy of the store that went its own way may have another component of the same number and
     * size.
     */
    private void checkFooter(String damaged, String draft) {
        FileFooter ours;
        try (DiskFile file = core.disk().openReadOnly(damaged)) {
            ours = FileFooter.readFrom(file);
        } catch (CorruptionException | StorageIoException unreadable) {
            return; // there is nothing to compare with
        }
        try (DiskFile file = core.disk().openReadOnly(draft)) {
            FileFooter theirs = FileFooter.readFrom(file);
            if (!theirs.equals(ours)) {
                throw new CorruptionException(
                        damaged, 0, "footer", ours.toString(), theirs.toString());
            }
        }
    }

    private void install(Subject subject, DiskComponent component) {
        ComponentHandle after = null;
        Installation installation = new Installation();
        try {
            ComponentState state = stateOf(subject).withoutQuarantine();
            after = subject.handle.live() == null
                    ? withFixedBitmap(component, state)
                    : withMarks(subject, component, state);
            ComponentHandle restored = after;
            installation.run(() -> edit(subject, restored));
        } finally {
            if (after == null) {
                component.close();
            } else {
                if (!installation.mayStand() && !after.savedBitmap().isNone()) {
                    core.disk().delete(StoreFiles.bitmap(after.savedBitmap().fileId()));
                }
                after.release();
            }
        }
        core.quarantine()
                .lifted(subject.pinned.schema(), subject.partition.number(), subject.tree, after);
    }

    private void edit(Subject subject, ComponentHandle after) {
        Map<Long, BitmapState> invalidEntries = Map.of(
                subject.fileId(),
                after.live() == null ? after.state().invalidEntries() : after.savedBitmap());
        core.edit(state -> stateAfter(state, subject, invalidEntries), () -> {
            ComponentHandle before = subject.handle;
            if (before.live() != null) {
                before.markSaved(after.savedBitmap());
            }
            subject.partition.current().installRestored(subject.tree, before, after);
        });
    }

    private static ManifestState stateAfter(
            ManifestState state, Subject subject, Map<Long, BitmapState> invalidEntries) {
        int dataset = subject.partition.schema().id();
        if (subject.partition.isDropped()) {
            return state;
        }
        int number = subject.partition.number();
        return state.withPartition(
                dataset,
                number,
                state.partition(dataset, number)
                        .withBitmaps(subject.tree, invalidEntries)
                        .withComponent(
                                subject.tree, subject.fileId(), ComponentState::withoutQuarantine));
    }

    /** With the bitmap that the manifest names, of the store or of the backup. */
    private ComponentHandle withFixedBitmap(DiskComponent component, ComponentState state) {
        ImmutableValidityBitmap invalidEntries = state.invalidEntries().isNone()
                ? null
                : openBitmap(component, state.invalidEntries());
        return ComponentHandle.of(state, component, invalidEntries, core.reaper());
    }

    private ImmutableValidityBitmap openBitmap(DiskComponent component, BitmapState state) {
        String name = StoreFiles.bitmap(state.fileId());
        Disk from = backup;
        boolean present = core.disk().exists(name);
        if (present) {
            try {
                return ComponentFiles.openBitmap(core, component, state);
            } catch (CorruptionException damage) {
                if (from == null) {
                    throw damage;
                }
            }
        }
        if (from == null || !from.exists(name)) {
            throw new InvalidRequestException(
                    "%s, with its invalid entries, is %s, and not in the backup; rebuild the index"
                            .formatted(name, present ? "damaged" : "missing"));
        }
        String draft = StoreFiles.sortRun(core.manifest().newFileId());
        WholeFile whole = WholeFile.of(core.disk(), name, draft);
        try (Undo undo = Undo.of(whole::abandon)) {
            copy(from, name, draft);
            // before it takes the place of what may be mended by other means
            ComponentFiles.openBitmap(core, component, state, draft).close();
            whole.place();
            undo.keep();
        }
        return ComponentFiles.openBitmap(core, component, state);
    }

    /** With the marks of today, in a file of their own. */
    private ComponentHandle withMarks(
            Subject subject, DiskComponent component, ComponentState state) {
        MutableValidityBitmap live =
                MutableValidityBitmap.create(core.bitmaps(), component.entryCount());
        try (Undo undo = Undo.of(live::close)) {
            if (!subject.handle.isBitmapUnread()) {
                copyMarks(Objects.requireNonNull(subject.handle.live()), live);
            }
            markSuperseded(subject, component, live);
            live.beginSave();
            ValidityBitmapBuilder invalidEntries =
                    ValidityBitmapBuilder.create(component.entryCount());
            live.forEachInvalid(Long.MAX_VALUE, invalidEntries::mark);
            BitmapState saved = ComponentFiles.writeBitmap(core, component, invalidEntries);
            core.disk().syncDirectory(StoreFiles.DATA);
            undo.keep();
            return ComponentHandle.ofLive(
                    state.withRepaired(state.repairedTimestamp(), saved),
                    component,
                    live,
                    core.reaper());
        }
    }

    private void copyMarks(MutableValidityBitmap from, MutableValidityBitmap to) {
        from.forEachInvalid(
                Long.MAX_VALUE,
                entry -> to.invalidate(
                        entry, from.invalidatedAt(entry), core.timestamps()::horizon));
    }

    /**
     * Marks entries whose key some newer layer has. Those that no mark told were superseded before
     * the store was opened: nobody reads below.
     */
    private static void markSuperseded(
            Subject subject, DiskComponent component, MutableValidityBitmap live) {
        Found found = new Found(0);
        List<ComponentHandle> tree = subject.pinned.tree(subject.tree);
        List<ComponentHandle> newer = tree.subList(0, tree.indexOf(subject.handle));
        try (TreeCursor entries = component.keyCursor()) {
            while (entries.next()) {
                if (isSuperseded(subject.pinned, newer, entries.key(), found)) {
                    live.settle(entries.ordinal());
                }
            }
        }
    }

    private static boolean isSuperseded(
            Version pinned, List<ComponentHandle> newer, Slice key, Found found) {
        long hash = BloomFilter.hash(key);
        if (VersionSearch.findInMemory(pinned, key, hash, Long.MAX_VALUE, found, false)
                != Found.ABSENT) {
            return true;
        }
        for (ComponentHandle handle : newer) {
            // one that is in quarantine itself refuses: this one waits for it
            if (handle.component().mayContain(hash)
                    && handle.component().findKey(key, Long.MAX_VALUE, found) != Found.ABSENT) {
                return true;
            }
        }
        return false;
    }
}
