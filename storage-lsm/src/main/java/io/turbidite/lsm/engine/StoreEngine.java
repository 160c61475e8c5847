package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.dataset.KeptCounts;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.write.Commits;
import io.turbidite.lsm.write.Write;
import io.turbidite.lsm.write.WritePath;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * An open store from within: its parts, the way of its writes, its background work, and changes of
 * its schemas. Which datasets there are by name, and who holds them, is known above it.
 *
 * <p><em>Thread-safe.</em>
 */
public final class StoreEngine {
    private final EngineOptions options;
    private final OpenStore parts;

    /** From here on the runtime, if it is shared, may be closed. */
    private final Runnable leaveRuntime;

    private final StoreCore core;
    private final PartitionRegistry partitions;
    private final BackgroundWork background;
    private final WritePath writes;
    private final Commits commits;
    private final SchemaChanges schemaChanges;
    private final QueryMeans queryMeans;

    /** Those that are open. */
    private final Set<DatasetLoad> loads = ConcurrentHashMap.newKeySet();

    private StoreEngine(EngineOptions options, OpenStore parts, Runnable leaveRuntime) {
        this.options = options;
        this.leaveRuntime = leaveRuntime;
        this.parts = parts;
        this.core = parts.core();
        this.partitions = parts.partitions();
        this.background = new BackgroundWork(
                partitions,
                options.writeMemoryBytes(),
                options.logBytesMax(),
                options.log().segmentBytes(),
                options.background(),
                parts.runtime().io());
        this.writes = new WritePath(core, background);
        this.commits = new Commits(core, writes);
        this.queryMeans = new QueryMeans(
                parts.runtime().queries(), core.disk(), StoreFiles.SPILL, core.tasks());
        this.schemaChanges = new SchemaChanges(options, partitions, background, writes);
        parts.datasets().forEach(schemaChanges::watch);
        parts.toBuild().forEach(one -> schemaChanges.rebuildSoon(one.dataset(), one.index()));
        StoreMeters.register(parts.meters(), partitions, background, options);
    }

    /** What its queries may use. */
    public QueryMeans queryMeans() {
        return queryMeans;
    }

    /** Opens the store on a disk; closes the tasks it was given if that fails. */
    public static StoreEngine open(
            StoreCore.Environment environment, EngineOptions options, OpenMode mode) {
        OpenStore parts = null;
        StoreEngine opened = null;
        Runnable leave = () -> {};
        try {
            EngineRuntime shared = options.runtime();
            if (shared != null) {
                leave = shared.enter(environment.disk().description());
            }
            parts = OpenStore.open(environment, options, mode);
            opened = new StoreEngine(options, parts, leave);
            return opened;
        } finally {
            if (opened == null) {
                Cleanup all = new Cleanup();
                if (parts != null) {
                    all.add(parts::close);
                }
                all.add(environment.tasks()::close).add(leave).run();
            }
        }
    }

    /** The datasets that it was opened with. */
    public List<OpenDataset> datasetsAtOpening() {
        return parts.datasets();
    }

    /** The number of the dataset that is created next. */
    public int nextDatasetId() {
        return core.manifest().state().nextDatasetId();
    }

    /** Creates a dataset; it is there for good when this returns. One at a time. */
    public OpenDataset create(DatasetSchema schema) {
        CacheNeed.check(schema, options.cacheBytes());
        List<Partition> made = new ArrayList<>();
        try (NewRegions regions = NewRegions.create(core, schema)) {
            DatasetState state = regions.with(DatasetState.empty(schema));
            core.edit(before -> before.withDataset(state), () -> {
                for (int i = 0; i < schema.partitions(); i++) {
                    Partition partition = Partition.open(
                            schema, i, state.partitions().get(i), regions.of(i), core);
                    made.add(partition);
                    partitions.add(partition);
                }
                regions.keep();
            });
        }
        OpenDataset created = new OpenDataset(schema, made);
        schemaChanges.watch(created);
        return created;
    }

    /** What {@link #write} takes; reusable. */
    public Write newWrite() {
        return new Write(options.log().payloadBytesMax());
    }

    /**
     * Does all operations of a write or none; returns when they are visible and as durable as
     * promised.
     */
    public void write(Write write) {
        writes.write(write);
    }

    /**
     * Does all operations of a write or none; returns when they are visible.
     *
     * @return what to ask {@link #commits} for
     */
    public long writeAsync(Write write) {
        return writes.writeAsync(write);
    }

    /** Who waits for writes to be durable. */
    public Commits commits() {
        return commits;
    }

    /**
     * Registers a snapshot of now, which stays registered only if something was made that releases
     * it.
     *
     * @param maker is given the moment, and what releases it
     */
    public <T> T openSnapshot(BiFunction<ViewState, Runnable, T> maker) {
        Timestamps timestamps = core.timestamps();
        return atNow(timestamps::register, timestamps::release, maker);
    }

    /**
     * As {@link #openSnapshot}, for one view of one dataset, which searches no index that is made
     * later.
     */
    public <T> T openView(BiFunction<ViewState, Runnable, T> maker) {
        Timestamps timestamps = core.timestamps();
        return atNow(timestamps::registerView, timestamps::releaseView, maker);
    }

    private <T> T atNow(
            LongSupplier register, LongConsumer release, BiFunction<ViewState, Runnable, T> maker) {
        checkReadable();
        long timestamp = register.getAsLong();
        T made = null;
        try {
            made = maker.apply(
                    new ViewState(timestamp, core.health()), () -> release.accept(timestamp));
            return made;
        } finally {
            if (made == null) {
                release.accept(timestamp);
            }
        }
    }

    /**
     * @throws ClosedException if the store is being closed: it may not see the load
     */
    void add(DatasetLoad load) {
        loads.add(load);
        if (core.health().isClosing()) {
            load.close();
            throw new ClosedException("the store");
        }
    }

    void remove(DatasetLoad load) {
        loads.remove(load);
    }

    /** Makes everything written so far durable, whatever the mode. */
    public void sync() {
        core.health().checkWritable();
        core.log().sync();
    }

    public void checkReadable() {
        core.health().checkReadable();
    }

    public EngineOptions options() {
        return options;
    }

    /** All of the store. */
    public PartitionRegistry partitions() {
        return partitions;
    }

    public StoreCore core() {
        return core;
    }

    public BackgroundWork background() {
        return background;
    }

    public WritePath writes() {
        return writes;
    }

    public SchemaChanges schemaChanges() {
        return schemaChanges;
    }

    public Meters meters() {
        return parts.meters();
    }

    public StoreEvents events() {
        return parts.events();
    }

    /** Whether nothing is left of what writes and readers take; for tests. */
    public boolean holdsNothing() {
        return writes.isIdle() && core.timestamps().snapshotCount() == 0;
    }

    /**
     * Ends background work, seals the log, lets the directory go; once. Memory components are not
     * flushed.
     *
     * @param datasets gives those there are when nothing changes any more: their counts are kept
     */
    public void close(Supplier<List<OpenDataset>> datasets) {
        core.health().beginClose();
        core.tasks().signal();
        // whatever fails, a file that can't be deleted for one: no lock stays behind
        new Cleanup()
                .add(() -> {
                    endWork();
                    // of a store that did not end well they are counted again
                    KeptCounts.save(core, datasets.get(), parts.events());
                })
                .add(parts::close)
                .add(core.tasks()::close)
                .add(leaveRuntime)
                .run();
    }

    private void endWork() {
        new Cleanup()
                .addAll(loads, this::end)
                .add(schemaChanges::close)
                .add(writes::close)
                .add(commits::close)
                .add(background::close)
                .run();
    }

    /** Who comes later is refused. */
    private void end(DatasetLoad load) {
        core.awaitBeforeClose(load::toString, () -> !load.isInside());
        load.close();
    }
}
