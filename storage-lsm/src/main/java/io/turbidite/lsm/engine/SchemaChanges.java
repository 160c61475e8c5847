package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.StorageException;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.dataset.BeingChangedException;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.indexbuild.IndexFilling;
import io.turbidite.lsm.indexbuild.PartitionBuild;
import io.turbidite.lsm.indexbuild.RegionBuild;
import io.turbidite.lsm.indexbuild.UniqueCheck;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.RegionFiles;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.IndexSchema.State;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.write.WritePath;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Changes of datasets while they are in use. One at a time for each dataset; builds run one after
 * the other on a worker of their own.
 *
 * <ol>
 *   <li>Each change is one manifest edit, at its end: a crash leaves it done or not done.
 *   <li>A tree is added while no write is in flight, so that a write sees one schema from its first
 *       read to its last entry. One may be taken away at any time: writers pass a tree over that is
 *       gone.
 *   <li>Whoever has pinned a version goes on with its trees. Index ids are never used again, so
 *       nobody takes one tree for another.
 * </ol>
 *
 * <p><em>Thread-safe.</em>
 */
public final class SchemaChanges {
    private static final long IDLE_MICROS = 5_000;

    /** Where nothing is built: who starts to build wakes it. */
    private static final long REST_MICROS = 1_000_000;

    /** A build sorts in this part of the write memory. */
    private static final int MEMORY_SHARE = 4;

    private static final String WORKER = "index build";

    private final EngineOptions options;
    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final BackgroundWork background;
    private final WritePath writes;
    private final ConcurrentLinkedQueue<OnlineIndexBuild> builds = new ConcurrentLinkedQueue<>();

    /** Disabled indexes whose regions are to be built anew, by nobody's order. */
    private final ConcurrentLinkedQueue<Rebuild> rebuilds = new ConcurrentLinkedQueue<>();

    private record Rebuild(OpenDataset dataset, String index) {}

    /** The one that writes are paused for; only the worker changes it. */
    private volatile @Nullable Rebuild paused;

    private final RegionWatch regions;

    private final Tasks.Worker builder;

    SchemaChanges(
            EngineOptions options,
            PartitionRegistry partitions,
            BackgroundWork background,
            WritePath writes) {
        this.options = options;
        this.partitions = partitions;
        this.core = partitions.core();
        this.background = background;
        this.writes = writes;
        this.regions = new RegionWatch(this, WORKER);
        this.builder = core.start(
                WORKER,
                () -> builds.isEmpty() && rebuilds.isEmpty() && paused == null
                        ? REST_MICROS
                        : IDLE_MICROS,
                this::step);
    }

    /**
     * Starts to create an index; returns when writers maintain it.
     *
     * @param definition makes it, in state {@code BUILDING}, for the schema that it is added to
     */
    public OnlineIndexBuild startIndex(
            OpenDataset dataset, String name, Function<DatasetSchema, IndexSchema> definition) {
        core.health().checkWritable();
        return besideOwnBuilds(dataset, () -> {
            var _ = awaitOwnBuilds(dataset, name);
            DatasetSchema base = dataset.schema();
            IndexSchema there = base.catalog().find(name);
            if (there != null) {
                throw new InvalidRequestException("dataset %s has an index '%s' already, on %s (%s)"
                        .formatted(
                                dataset.name(),
                                name,
                                there.fields(),
                                there.state().label()));
            }
            return start(dataset, base, definition.apply(base));
        });
    }

    /**
     * Tries a change again that a build of the store's own was faster than: it may begin when the
     * wait for all of them has ended.
     */
    private <T> T besideOwnBuilds(OpenDataset dataset, Supplier<T> change) {
        while (true) {
            try {
                return change.get();
            } catch (BeingChangedException refused) {
                if (!changesByItself(dataset) || core.health().isOver()) {
                    throw refused;
                }
                core.tasks()
                        .await(() -> !changesByItself(dataset) || core.health().isOver());
            }
        }
    }

    /** Starts to build a disabled index anew. */
    public OnlineIndexBuild startEnable(OpenDataset dataset, String name) {
        core.health().checkWritable();
        return besideOwnBuilds(dataset, () -> {
            OnlineIndexBuild own = takeOver(dataset, name);
            if (own != null) {
                return own;
            }
            DatasetSchema base = dataset.schema();
            IndexSchema there = find(base, name);
            if (there.state() != State.DISABLED) {
                throw new InvalidRequestException(
                        "index '%s' of dataset %s is not disabled: it is %s"
                                .formatted(name, dataset.name(), there.state().label()));
            }
            return start(dataset, base, toBuild(base, there));
        });
    }

    private static IndexSchema toBuild(DatasetSchema base, IndexSchema there) {
        return there.withId(base.catalog().nextId()).withState(State.BUILDING);
    }

    /** Disables an index if it is not, and starts to build it anew. */
    public OnlineIndexBuild startRebuild(OpenDataset dataset, String name) {
        core.health().checkWritable();
        var _ = find(dataset.schema(), name);
        // before anything is given up: without the records there is nothing to build from
        dataset.partitions().forEach(SchemaChanges::requireWhole);
        OnlineIndexBuild own = takeOver(dataset, name);
        if (own != null) {
            return own;
        }
        IndexSchema there = find(dataset.schema(), name);
        if (there.state() != State.DISABLED) {
            if (there.hasRegion()) {
                RegionFiles.requirePlace(core, dataset.schema(), there);
                // who is killed on the way leaves it to the next opening
                changeBesideOwnBuilds(dataset, name, Change.DISABLE_UNTIL_BUILT);
            } else {
                disableIndex(dataset, name);
            }
        }
        try {
            return startEnable(dataset, name);
        } catch (StorageException failure) {
            failure.addSuppressed(leftDisabled(dataset, there));
            throw failure;
        }
    }

    /** What goes with a failure that leaves an index without its tree. */
    static InvalidRequestException leftDisabled(OpenDataset dataset, IndexSchema index) {
        return new InvalidRequestException(
                "index %s of dataset %s is disabled: it is not searched%s; enable it when the cause is mended"
                        .formatted(
                                index.name(),
                                dataset.name(),
                                index.unique() ? ", and unique keys are not enforced" : ""));
    }

    /**
     * Reads all pages of the primary that the build will read, once, and compares their checksums:
     * damage that nobody has met yet would end the build when the index is gone.
     */
    private static void requireWhole(Partition partition) {
        Version pinned = partition.pin();
        try {
            for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
                handle.component().requireSound();
                List<CorruptionException> found = new ArrayList<>();
                handle.component().verifyPages(found::add);
                if (!found.isEmpty()) {
                    throw found.getFirst();
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    private static IndexSchema find(DatasetSchema schema, String name) {
        IndexSchema index = schema.catalog().find(name);
        if (index == null) {
            List<String> names =
                    schema.catalog().all().stream().map(IndexSchema::name).toList();
            throw new InvalidRequestException("dataset %s has no index '%s'; there are %s%s"
                    .formatted(schema.name(), name, names, NearestName.hint(name, names)));
        }
        return index;
    }

    private OnlineIndexBuild start(OpenDataset dataset, DatasetSchema base, IndexSchema index) {
        return start(dataset, base, index, building -> register(dataset, building));
    }

    /**
     * Starts a build.
     *
     * @param registration lets writers maintain the index; gives for each partition the first
     *     timestamp they do it for
     */
    private OnlineIndexBuild start(
            OpenDataset dataset,
            DatasetSchema base,
            IndexSchema index,
            Function<DatasetSchema, List<Long>> registration) {
        core.health().checkWritable();
        // refuses what does not go together, before anything is begun
        DatasetSchema building = base.with(index);
        if (CacheNeed.of(building).pageBytes() > CacheNeed.of(base).pageBytes()) {
            CacheNeed.check(building, options.cacheBytes());
        }
        dataset.admission().beginChange();
        if (!base.equals(dataset.schema())) {
            dataset.admission().endChange();
            throw new InvalidRequestException(
                    "dataset %s has just been changed; try again".formatted(dataset.name()));
        }
        List<IndexFilling> parts = new ArrayList<>();
        OnlineIndexBuild build = null;
        try {
            List<Long> below = registration.apply(building);
            long memoryBytes = options.writeMemoryBytes()
                    / MEMORY_SHARE
                    / dataset.partitions().size();
            for (Partition partition : dataset.partitions()) {
                parts.add(
                        index.hasRegion()
                                ? new RegionBuild(
                                        partition,
                                        building,
                                        index,
                                        below.get(partition.number()),
                                        memoryBytes)
                                : new PartitionBuild(
                                        partition,
                                        building,
                                        index,
                                        below.get(partition.number()),
                                        memoryBytes));
            }
            build = new OnlineIndexBuild(this, dataset, base.withIdsUsedBy(building), index, parts);
        } finally {
            if (build == null) {
                takeBack(dataset, base.withIdsUsedBy(building));
                parts.forEach(part -> part.close(false));
                dataset.admission().endChange();
            }
        }
        build.begin();
        builds.add(build);
        builder.wake();
        return build;
    }

    /**
     * Lets writers maintain the index; gives for each partition the first timestamp they do it for.
     */
    private List<Long> register(OpenDataset dataset, DatasetSchema building) {
        // most of the waiting is done while writers go on
        dataset.partitions().forEach(this::flushFrozen);
        List<Long> below = new ArrayList<>();
        writes.whileIdle(() -> {
            for (Partition partition : dataset.partitions()) {
                long first = partition.current().beginIndex(building);
                while (first < 0) {
                    flushFrozen(partition);
                    first = partition.current().beginIndex(building);
                }
                below.add(first);
            }
            dataset.install(building);
        });
        dataset.partitions().forEach(this::flushFrozen);
        return below;
    }

    /**
     * The same while writes are paused, without waiting for anything.
     *
     * @throws InvalidRequestException if a layer was frozen meanwhile
     */
    private static List<Long> registerPaused(OpenDataset dataset, DatasetSchema building) {
        List<Long> below = new ArrayList<>();
        for (Partition partition : dataset.partitions()) {
            long first = partition.current().beginIndex(building);
            if (first < 0) {
                throw new InvalidRequestException("%s is being flushed".formatted(partition));
            }
            below.add(first);
        }
        dataset.install(building);
        return below;
    }

    private void flushFrozen(Partition partition) {
        if (partition.hasFrozen()) {
            background.flush(partition);
        }
    }

    /** Looks at the regions of a dataset from now on. */
    void watch(OpenDataset dataset) {
        regions.watch(dataset);
    }

    /** Builds a disabled index anew, soon. */
    void rebuildSoon(OpenDataset dataset, String index) {
        rebuilds.add(new Rebuild(dataset, index));
        builder.wake();
    }

    /**
     * Starts the first of those whose dataset nobody changes, when no write is in flight; the
     * others wait. A step never waits itself: it may be run inside the wait of the very write that
     * it would wait for.
     */
    private void startRebuilds() {
        Rebuild next = paused;
        if (next == null) {
            next = nextRebuild();
            if (next == null || !writes.tryPause()) {
                return;
            }
            paused = next;
            rebuilds.remove(next);
        }
        if (!writes.isPaused()) {
            return;
        }
        try {
            startRebuild(next);
        } finally {
            resumeWrites();
        }
    }

    /** As {@link #awaitOwnBuilds}, of somebody who builds the index if the store has not begun. */
    private @Nullable OnlineIndexBuild takeOver(OpenDataset dataset, String name) {
        rebuilds.removeIf(next -> next.dataset().equals(dataset) && next.index().equals(name));
        return awaitOwnBuilds(dataset, name);
    }

    /**
     * Lets the builds that the store began by itself come to their end. Who wants to change the
     * dataset need not know of them, and a command that was refused would end them with its store.
     *
     * @return the one of this index, if it is under way: it is not waited for
     */
    private @Nullable OnlineIndexBuild awaitOwnBuilds(OpenDataset dataset, String name) {
        core.tasks()
                .await(() -> ownBuild(dataset, name) != null
                        || !changesByItself(dataset)
                        || core.health().isOver());
        return ownBuild(dataset, name);
    }

    private boolean changesByItself(OpenDataset dataset) {
        Rebuild starting = paused;
        return (starting != null && starting.dataset().equals(dataset))
                || builds.stream().anyMatch(build -> build.isOwn() && build.isOf(dataset))
                || (rebuilds.stream().anyMatch(next -> next.dataset().equals(dataset))
                        && dataset.partitions().stream().noneMatch(Partition::hasFrozen));
    }

    private @Nullable OnlineIndexBuild ownBuild(OpenDataset dataset, String name) {
        OnlineIndexBuild build = running(dataset, name);
        return build != null && build.isOwn() ? build : null;
    }

    private @Nullable Rebuild nextRebuild() {
        for (Rebuild next : rebuilds) {
            OpenDataset dataset = next.dataset();
            if (!dataset.admission().isBeingChanged()
                    && dataset.partitions().stream().noneMatch(Partition::hasFrozen)) {
                return next;
            }
        }
        return null;
    }

    private void resumeWrites() {
        if (paused != null) {
            paused = null;
            writes.resume();
        }
    }

    /** Starts a build that nobody waits for; whoever was faster, or drops the index, has won. */
    private void startRebuild(Rebuild next) {
        OpenDataset dataset = next.dataset();
        DatasetSchema before = dataset.schema();
        IndexSchema there = before.catalog().find(next.index());
        if (there == null || there.state() != State.DISABLED) {
            return;
        }
        try {
            start(
                            dataset,
                            before,
                            toBuild(before, there),
                            building -> registerPaused(dataset, building))
                    .markOwn();
        } catch (StorageException refused) {
            if (refused instanceof InvalidRequestException
                    && (dataset.admission().isBeingChanged()
                            || !before.equals(dataset.schema())
                            || dataset.partitions().stream().anyMatch(Partition::hasFrozen))) {
                rebuilds.add(next); // somebody came in between
            } else {
                core.events()
                        .indexChanged(dataset.schema(), next.index(), "failed", new long[2], 0);
            }
        }
    }

    private boolean step() {
        boolean hasTidied = false;
        if (core.health().isWritable() && !core.health().isClosing()) {
            regions.disableFailed();
            hasTidied = regions.tidy();
        }
        if (core.health().isClosing()) {
            resumeWrites();
        } else {
            startRebuilds();
        }
        OnlineIndexBuild build = next();
        if (build == null) {
            return hasTidied;
        }
        boolean more = build.step();
        if (build.isDone()) {
            builds.remove(build);
        }
        return more || build.isDone() || hasTidied;
    }

    /** The first one, which may have to wait; before it any that is to stop, which need not. */
    private @Nullable OnlineIndexBuild next() {
        for (OnlineIndexBuild build : builds) {
            if (build.isStopping()) {
                return build;
            }
        }
        return builds.peek();
    }

    /** Stops a build soon. */
    void wake() {
        builder.wake();
    }

    WritePath writes() {
        return writes;
    }

    /** What all partitions stand on. */
    public StoreCore core() {
        return core;
    }

    StorageException stopped(OpenDataset dataset, IndexSchema index) {
        return new InvalidRequestException("the build of index %s of dataset %s was stopped"
                .formatted(index.name(), dataset.name()));
    }

    /** Makes a built index durable, and visible to readers. */
    void install(OpenDataset dataset, IndexSchema index, List<IndexFilling> parts) {
        DatasetSchema ready = dataset.schema().withReady(index);
        core.log().flush();
        List<RegionBuild> regions = parts.stream()
                .filter(RegionBuild.class::isInstance)
                .map(RegionBuild.class::cast)
                .toList();
        core.edit(
                state -> SchemaEdits.withRegions(
                        SchemaEdits.withTrees(state, dataset, ready, index), ready, regions),
                () -> {
                    regions.forEach(RegionBuild::installRegion);
                    installSchema(dataset, ready);
                });
    }

    static void installSchema(OpenDataset dataset, DatasetSchema schema) {
        dataset.partitions().forEach(partition -> partition.current().installSchema(schema));
        dataset.install(schema);
    }

    /** Goes back to the schema before a build. */
    void takeBack(OpenDataset dataset, DatasetSchema back) {
        core.manifest().atRest(state -> {
            installSchema(dataset, back);
            return state;
        });
    }

    /**
     * Looks for two records with the same key in a unique index.
     *
     * @throws DuplicateKeyException naming both
     */
    void checkUnique(OpenDataset dataset, IndexSchema index, BooleanSupplier stop) {
        core.health().checkReadable();
        Timestamps timestamps = core.timestamps();
        long now = timestamps.register();
        try {
            UniqueCheck.check(
                    dataset.schema(),
                    index,
                    dataset.partitions(),
                    new ViewState(now, core.health()),
                    stop);
        } finally {
            timestamps.release(now);
        }
    }

    /** Drops an index; the build of one that is being built is stopped. */
    public void dropIndex(OpenDataset dataset, String name) {
        var _ = awaitOwnBuilds(dataset, name);
        OnlineIndexBuild running = running(dataset, name);
        if (running != null && find(dataset.schema(), name).state() == State.BUILDING) {
            running.stop();
            if (dataset.schema().catalog().find(name) == null) {
                return;
            }
            var _ = awaitOwnBuilds(dataset, name);
        }
        changeBesideOwnBuilds(dataset, name, Change.DROP);
    }

    /** Keeps an index's definition and drops the rest. */
    public void disableIndex(OpenDataset dataset, String name) {
        var _ = awaitOwnBuilds(dataset, name);
        changeBesideOwnBuilds(dataset, name, Change.DISABLE);
    }

    private void changeBesideOwnBuilds(OpenDataset dataset, String name, Change kind) {
        var _ = besideOwnBuilds(dataset, () -> {
            change(dataset, name, kind);
            return kind;
        });
    }

    /** What becomes of an index. */
    enum Change {
        DROP,
        DISABLE,
        /** The manifest keeps the names of its regions, so that an opening builds them anew. */
        DISABLE_UNTIL_BUILT
    }

    /**
     * Takes an index out of use.
     *
     * @throws InvalidRequestException if somebody changes the dataset
     */
    void change(OpenDataset dataset, String name, Change kind) {
        core.health().checkWritable();
        dataset.admission().beginChange();
        try {
            DatasetSchema before = dataset.schema();
            IndexSchema index = find(before, name);
            boolean drop = kind == Change.DROP;
            if (!drop && !index.isReady()) {
                throw new InvalidRequestException("index '%s' of dataset %s is not ready: it is %s"
                        .formatted(name, dataset.name(), index.state().label()));
            }
            DatasetSchema after =
                    drop ? before.withoutIndex(name) : before.with(index.withState(State.DISABLED));
            edit(
                    manifest -> kind == Change.DISABLE_UNTIL_BUILT
                            ? SchemaEdits.withRegionsToBuild(manifest, after, index)
                            : SchemaEdits.withoutTrees(manifest, after, index),
                    () -> installSchema(dataset, after));
            core.events().indexChanged(after, name, drop ? "dropped" : "disabled", new long[2], 0);
        } finally {
            dataset.admission().endChange();
        }
    }

    /**
     * Drops a dataset.
     *
     * @param forget takes it from those there are, at the moment when it is gone
     */
    public void dropDataset(OpenDataset dataset, Runnable forget) {
        core.health().checkWritable();
        for (OnlineIndexBuild build : builds) {
            if (build.isOf(dataset)) {
                build.stop();
            }
        }
        dataset.admission().beginChange();
        boolean dropped = false;
        try {
            dataset.admission().markDropped(true);
            // whoever did not see the mark is through
            writes.awaitInFlight();
            edit(state -> state.withoutDataset(dataset.schema().id()), () -> {
                dataset.partitions().forEach(partitions::drop);
                forget.run();
            });
            dropped = true;
            core.events().indexChanged(dataset.schema(), "", "dropped", new long[2], 0);
        } finally {
            dataset.admission().markDropped(dropped);
            dataset.admission().endChange();
        }
    }

    private void edit(UnaryOperator<ManifestState> change, Runnable install) {
        core.edit(change, install);
        core.tasks().signal();
    }

    private @Nullable OnlineIndexBuild running(OpenDataset dataset, String name) {
        for (OnlineIndexBuild build : builds) {
            if (build.isOf(dataset) && build.index().equals(name)) {
                return build;
            }
        }
        return null;
    }

    /** Ends the builds under way; nothing is left of their indexes. */
    void close() {
        new Cleanup()
                .add(builder::close)
                .add(this::resumeWrites)
                .add(() ->
                        new Cleanup().addAll(builds, OnlineIndexBuild::giveUp).run())
                .add(builds::clear)
                .run();
    }
}
