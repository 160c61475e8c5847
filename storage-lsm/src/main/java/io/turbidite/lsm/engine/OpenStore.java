package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.DirectDisk;
import io.turbidite.core.file.Disk;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.log.LogEnvironment;
import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.lsm.backup.ComponentRestore;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.EngineEvents;
import io.turbidite.lsm.partition.OutsideRegions;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Trash;
import io.turbidite.lsm.write.Replay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The parts of an open store, made in order and closed in reverse.
 *
 * <ol>
 *   <li>Take the directory's lock; whatever is decided is decided under it.
 *   <li>Read the manifest, or write the first one if the directory holds no file of a store.
 *   <li>Put back from the {@link Trash} what the manifest names.
 *   <li>Open the components of every partition.
 *   <li>Replay the log into fresh memory layers: every operation above its partition's flushed
 *       timestamp. Replay flushes nothing, so recovering twice gives the same (R2); the memory it
 *       takes was taken before the crash as well.
 *   <li>Go on above the highest timestamp seen.
 *   <li>Put aside what the manifest does not name ({@link Trash}), now that it and the log were
 *       found to belong together. Nothing that could be the only copy is deleted.
 * </ol>
 */
final class OpenStore {
    /** What may lie in a directory in which a store's making was cut short. */
    private static final Set<String> ROOT_NAMES = Set.of(
            StoreFiles.LOCK,
            StoreFiles.MANIFEST_DRAFT,
            StoreFiles.DATA,
            StoreFiles.LOG,
            StoreFiles.TRASH,
            StoreFiles.REGIONS);

    /** Where files of a store lie. */
    private static final List<String> STORE_DIRECTORIES =
            List.of(StoreFiles.DATA, StoreFiles.LOG, StoreFiles.TRASH);

    private final Deque<Runnable> closers = new ArrayDeque<>();
    private final Meters meters;
    private final StoreEvents events = new StoreEvents();
    private final List<OpenDataset> datasets = new ArrayList<>();
    private final List<Rebuild> toBuild = new ArrayList<>();
    private final EngineRuntime runtime;
    private final StoreCore core;
    private final PartitionRegistry partitions;

    /** A disabled index that is to be built anew. */
    record Rebuild(OpenDataset dataset, String index) {}

    private OpenStore(
            StoreCore.Environment environment,
            Disk.Lock lock,
            EngineOptions options,
            Manifest manifest) {
        this.meters = new Meters(environment.clock());
        EngineRuntime given = options.runtime();
        EngineRuntime runtime = given == null
                ? EngineRuntime.ofOne(
                        environment.tasks(),
                        environment.clock(),
                        meters,
                        EngineRuntime.Budgets.of(options))
                : given;
        if (given == null) {
            closers.push(runtime::close);
        }
        this.runtime = runtime;
        BufferCache cache = given == null ? runtime.cache() : runtime.cache().share(meters);
        if (given != null) {
            given.show(meters);
            closers.push(cache::close);
        }
        WriteShares.Share unflushed = runtime.shares().join(environment.disk().description());
        closers.push(unflushed::close);
        EngineEvents engineEvents = new EngineEvents(events, environment.clock());
        this.core = new StoreCore(
                options.directIo()
                        ? environment.withComponentDisk(
                                directDisk(environment.disk(), runtime, engineEvents))
                        : environment,
                lock,
                runtime.memoryOf(cache, unflushed),
                manifest,
                meters,
                engineEvents,
                options.indexKinds());
        this.partitions = new PartitionRegistry(core);
    }

    private DirectDisk directDisk(Disk disk, EngineRuntime runtime, EngineEvents engineEvents) {
        DirectDisk direct = new DirectDisk(
                disk, runtime.directIo(), () -> engineEvents.directIoRefused(disk.description()));
        closers.push(direct::close);
        meters.gauge("disk.direct", () -> direct.isDirect() ? 1 : 0);
        return direct;
    }

    static OpenStore open(StoreCore.Environment environment, EngineOptions options, OpenMode mode) {
        Disk disk = environment.disk();
        boolean create = mode == OpenMode.CREATE;
        checkIsPlace(disk, create);
        Disk.Lock lock = disk.tryLock(StoreFiles.LOCK).orRefuse(disk.description());
        OpenStore opened = null;
        boolean complete = false;
        try {
            Manifest manifest;
            if (disk.exists(StoreFiles.MANIFEST)) {
                manifest = Manifest.open(disk);
            } else {
                checkEmpty(disk, create);
                manifest = create(environment);
            }
            opened = new OpenStore(environment, lock, options, manifest);
            opened.recover(options, mode);
            complete = true;
            return opened;
        } finally {
            if (opened != null) {
                opened.closers.addLast(lock::close);
                if (!complete) {
                    opened.close();
                }
            } else {
                lock.close();
            }
        }
    }

    /**
     * Refuses what can be no store, so that no lock file is left in somebody's directory. Who makes
     * a store makes the lock first: without one nobody is about to, and nothing is decided here
     * that may change.
     */
    private static void checkIsPlace(Disk disk, boolean create) {
        List<String> names = disk.list("");
        if (!names.contains(StoreFiles.LOCK) && !names.contains(StoreFiles.MANIFEST)) {
            checkEmpty(disk, create);
        }
    }

    private static void checkEmpty(Disk disk, boolean create) {
        if (disk.exists(StoreFiles.INCOMPLETE)) {
            throw new InvalidRequestException(
                    "%s is not a store: what was to fill it was interrupted; delete it%s"
                            .formatted(
                                    disk.description(),
                                    disk.exists(StoreFiles.SHIPMENT)
                                            ? ", or receive the same shipment again, which goes on"
                                            : ""));
        }
        checkNoneLost(disk);
        for (String name : disk.list("")) {
            if (!ROOT_NAMES.contains(name) && !StoreFiles.isOfHashLogs(disk, name)) {
                throw new InvalidRequestException("%s is not a store: it has no %s but a file '%s'"
                        .formatted(disk.description(), StoreFiles.MANIFEST, name));
            }
        }
        if (!create) {
            throw new InvalidRequestException("%s is not a store: it has no %s"
                    .formatted(disk.description(), StoreFiles.MANIFEST));
        }
    }

    /**
     * A manifest is made before any other file of a store: where there is one, there was a
     * manifest.
     */
    private static void checkNoneLost(Disk disk) {
        int[] fileCounts = new int[STORE_DIRECTORIES.size()];
        int total = 0;
        for (int i = 0; i < fileCounts.length; i++) {
            String directory = STORE_DIRECTORIES.get(i);
            fileCounts[i] = disk.exists(directory) ? disk.list(directory).size() : 0;
            total += fileCounts[i];
        }
        if (total > 0) {
            throw CorruptionException.missing(
                    StoreFiles.MANIFEST,
                    "%s still holds files of a store (%s: %d, %s: %d, %s: %d); put it back from where the directory came, or restore a backup elsewhere; nothing was changed"
                            .formatted(
                                    disk.description(),
                                    STORE_DIRECTORIES.get(0),
                                    fileCounts[0],
                                    STORE_DIRECTORIES.get(1),
                                    fileCounts[1],
                                    STORE_DIRECTORIES.get(2),
                                    fileCounts[2]));
        }
    }

    private static Manifest create(StoreCore.Environment environment) {
        Disk disk = environment.disk();
        disk.createDirectories(StoreFiles.DATA);
        disk.createDirectories(StoreFiles.LOG);
        disk.syncDirectory("");
        long seed = environment.clock().wallMicros() ^ environment.clock().monotonicNanos();
        return Manifest.create(disk, new SplittableRandom(seed).nextLong());
    }

    private void recover(EngineOptions options, OpenMode mode) {
        if (mode == OpenMode.READING) {
            core.health().beginReading();
        }
        long startNanos = core.clock().monotonicNanos();
        ManifestState state = core.manifest().state();
        if (options.directIo()) {
            // a store without components should know, too, whether it can
            core.componentDisk().openReadOnly(StoreFiles.MANIFEST).close();
        }
        checkLogIsThere(state);
        // before replay: the tokens that it would remove might not be those that were put
        List<Outdated> outdated = outdated(state);
        ManifestState named = state;
        if (mode != OpenMode.READING) {
            open(core.disk());
            if (!outdated.isEmpty()) {
                core.manifest().edit(given -> without(given, outdated), () -> {});
                named = core.manifest().state();
            }
            putBack(named);
        }
        if (mode != OpenMode.READING) {
            core.manifest().drawSession(newSession());
        }
        OpenRegions regions = OpenRegions.open(core, named, mode == OpenMode.READING);
        try (regions) {
            recover(options, mode, without(state, outdated), named, regions, startNanos);
        }
    }

    private void recover(
            EngineOptions options,
            OpenMode mode,
            ManifestState found,
            ManifestState onDisk,
            OpenRegions regions,
            long startNanos) {
        ManifestState state = regions.disabled(found);
        ManifestState named = onDisk;
        if (mode != OpenMode.READING) {
            core.manifest().beginSession();
        }
        if (mode != OpenMode.READING && regions.isAny()) {
            // names the session too, before a region absorbs anything in it
            core.manifest().edit(regions::disabled, () -> {});
            named = core.manifest().state();
            state = named;
            regions.dropUnsound(named);
        }
        List<OpenRegions.ToBuild> missing = regions.toBuild();
        // those of datasets that are created later too
        closers.push(() -> partitions.close());
        for (DatasetState dataset : state.datasets()) {
            List<Partition> opened = new ArrayList<>();
            for (int i = 0; i < dataset.partitions().size(); i++) {
                PartitionState partitionState = dataset.partitions().get(i);
                Partition partition = Partition.open(
                        dataset.schema(), i, partitionState, regions.of(partitionState), core);
                partitions.add(partition);
                opened.add(partition);
            }
            OpenDataset open = new OpenDataset(dataset.schema(), opened);
            datasets.add(open);
            for (OpenRegions.ToBuild one : missing) {
                if (one.datasetId() == dataset.schema().id() && mode != OpenMode.READING) {
                    toBuild.add(new Rebuild(open, one.index().name()));
                }
            }
        }
        Replay replay = new Replay();
        datasets.forEach(dataset -> replay.add(dataset.schema(), dataset.partitions()));
        LogEnvironment environment = new LogEnvironment(
                core.disk(),
                StoreFiles.LOG,
                state.storeId(),
                core.tasks(),
                core.clock(),
                core::checkLock);
        WriteAheadLog log = mode == OpenMode.READING
                ? WriteAheadLog.openForReading(
                        environment, options.log(), state.logPosition(), replay::record)
                : WriteAheadLog.open(
                        environment, options.log(), state.logPosition(), replay::record);
        closers.push(() -> closeLog(log));
        core.attachLog(log);
        core.timestamps().resumeAbove(replay.lastTimestamp());
        if (mode != OpenMode.READING) {
            core.manifest().noteOwnFrom(core.timestamps().lastDrawn() + 1);
        }
        for (OpenDataset dataset : datasets) {
            NewerRegions.refuse(dataset, core, mode == OpenMode.READING)
                    .forEach(index -> toBuild.add(new Rebuild(dataset, index.name())));
        }
        if (mode == OpenMode.READING) {
            core.trash().find(named);
        } else {
            putAside(core.manifest().state());
        }
        passOverFiles();
        partitions.all().forEach(Partition::reportGrowth);
        core.quarantine().enforce();
        replay.unread().forEach(core.quarantine()::takeUnreplayed);
        replay.unmarked().forEach(core.quarantine()::takeUnmarked);
        if (mode != OpenMode.READING) {
            ComponentRestore.runAtOpening(partitions);
        }
        datasets.forEach(this::reportDisabled);
        for (OpenDataset dataset : datasets) {
            long needed = CacheNeed.of(dataset.schema()).bytes();
            if (needed > core.cache().bytesMax()) {
                core.events()
                        .cacheTooSmall(dataset.schema(), needed, core.cache().bytesMax());
            }
        }
        core.events()
                .recovered(
                        replay.byteCount(),
                        replay.operationCount(),
                        core.clock().monotonicNanos() - startNanos);
    }

    /** What it mixes in lets two openings at a clock that stands still differ. */
    private long newSession() {
        long moment = core.clock().wallMicros() ^ core.clock().monotonicNanos();
        ManifestState state = core.manifest().state();
        long seed = moment ^ state.session() ^ state.nextFileId();
        return Math.max(1, new SplittableRandom(seed).nextLong() >>> 1);
    }

    /** An index whose keys this process would make otherwise than they were made. */
    private record Outdated(DatasetSchema schema, IndexSchema index) {}

    private static List<Outdated> outdated(ManifestState state) {
        List<Outdated> found = new ArrayList<>();
        for (DatasetState dataset : state.datasets()) {
            for (IndexSchema index : dataset.schema().indexes()) {
                if (!index.entryKeys().outdated().isEmpty()) {
                    found.add(new Outdated(dataset.schema(), index));
                }
            }
        }
        return found;
    }

    private static ManifestState without(ManifestState state, List<Outdated> outdated) {
        ManifestState changed = state;
        for (Outdated one : outdated) {
            DatasetState dataset =
                    Objects.requireNonNull(changed.find(one.schema().id()));
            changed = SchemaEdits.withoutTrees(
                    changed,
                    dataset.schema().with(one.index().withState(IndexSchema.State.DISABLED)),
                    one.index());
        }
        return changed;
    }

    /**
     * A log that is not there looks like the one of a fresh store; the manifest tells them apart.
     */
    private void checkLogIsThere(ManifestState state) {
        if (state.hasLog() && WriteAheadLog.isMissing(core.disk(), StoreFiles.LOG)) {
            throw CorruptionException.missing(
                    StoreFiles.LOG,
                    "no segment of it is there, though it has held records of %s; put the directory back from where the store came, or restore a backup elsewhere; nothing was changed"
                            .formatted(core.disk().description()));
        }
    }

    /**
     * A rebuilding that was killed leaves its index so, which nobody may know; and so does this
     * opening, where an index is outdated.
     */
    private void reportDisabled(OpenDataset dataset) {
        for (IndexSchema index : dataset.schema().catalog().all()) {
            if (index.state() == IndexSchema.State.DISABLED) {
                core.events()
                        .indexChanged(dataset.schema(), index.name(), "disabled", new long[2], 0);
            }
        }
    }

    private void closeLog(WriteAheadLog log) {
        log.close();
        if (core.health().firstFailure() == null) {
            core.noteLog();
        }
    }

    /** Before anything changes: what is opened to be changed is no backup any more. */
    private static void open(Disk disk) {
        if (disk.exists(StoreFiles.UNOPENED)) {
            disk.delete(StoreFiles.UNOPENED);
            disk.syncDirectory("");
        }
    }

    /** Files that an opening with another manifest took away. */
    private void putBack(ManifestState state) {
        List<Trash.Item> back = core.trash().putBack(state);
        if (!back.isEmpty()) {
            core.events().trashChanged("manifest", back);
        }
    }

    private void putAside(ManifestState state) {
        Disk disk = core.disk();
        for (String mark : List.of(StoreFiles.SHIPMENT, StoreFiles.INCOMPLETE)) {
            if (disk.exists(mark)) {
                disk.delete(mark); // whole: the manifest is there
            }
        }
        if (disk.exists(StoreFiles.SPILL)) {
            disk.list(StoreFiles.SPILL).forEach(name -> disk.delete(StoreFiles.SPILL + "/" + name));
        }
        if (disk.exists(StoreFiles.REGIONS)) {
            deleteRegions(state);
        }
        List<Trash.Item> taken = core.trash().takeIn(state);
        if (!taken.isEmpty()) {
            core.events().trashChanged("opening", taken);
        }
    }

    /** Regions that no manifest names: they can be built again, so they need no trash. */
    private void deleteRegions(ManifestState state) {
        Disk disk = core.disk();
        Set<Long> named = new HashSet<>();
        Set<String> files = new HashSet<>();
        for (DatasetState dataset : state.datasets()) {
            for (PartitionState partition : dataset.partitions()) {
                partition.regions().forEach(region -> {
                    named.add(region.regionId());
                    files.add(RegionPlace.fileName(region.regionId()));
                });
            }
        }
        List<String> names;
        try {
            names = disk.list(StoreFiles.REGIONS);
        } catch (StorageIoException unread) {
            core.events().failed("looking through the directory of regions", unread);
            return;
        }
        for (String name : names) {
            if (StoreFiles.isRegion(name) && !files.contains(name)) {
                disk.delete(StoreFiles.REGIONS + "/" + name);
            }
        }
        OutsideRegions.tidy(core, names, named);
    }

    /** A file that no manifest names keeps its id to itself, wherever it is. */
    private void passOverFiles() {
        List<String> names = new ArrayList<>(
                core.trash().items().stream().map(Trash.Item::name).toList());
        if (core.disk().exists(StoreFiles.DATA)) {
            names.addAll(core.disk().list(StoreFiles.DATA));
        }
        names.forEach(name -> core.manifest().passOver(StoreFiles.fileIdOf(name)));
    }

    PartitionRegistry partitions() {
        return partitions;
    }

    /** What memory and I/O come from; the store's own, unless it was given one. */
    EngineRuntime runtime() {
        return runtime;
    }

    StoreCore core() {
        return core;
    }

    List<OpenDataset> datasets() {
        return datasets;
    }

    /** The indexes whose regions were not sound. */
    List<Rebuild> toBuild() {
        return toBuild;
    }

    Meters meters() {
        return meters;
    }

    StoreEvents events() {
        return events;
    }

    /**
     * Closes every part, the last made first; background work must have ended.
     *
     * @throws StorageException the first failure, when all the rest is closed too
     */
    void close() {
        core.health().close();
        Cleanup all = new Cleanup().addAll(closers, Runnable::run);
        closers.clear();
        all.run();
    }
}
