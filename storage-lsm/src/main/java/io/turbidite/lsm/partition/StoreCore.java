package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.component.ComponentWriters;
import io.turbidite.lsm.memory.ChunkSource;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.sort.SortStorage;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrencyMeter;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.FileReaper;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Trash;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The core of an open store: what all its partitions stand on. Each part says how it may be used.
 * <em>Immutable</em> once the log is attached, which happens while the store opens: replay needs
 * the partitions, and they need the rest.
 */
public final class StoreCore {
    /** A sixteenth of the write memory, which has 256 chunks or more. */
    private static final int REPAIR_CHUNKS = 16;

    /** A close that is kept for longer says by whom. */
    private static final long CLOSE_NANOS_UNTOLD = 10_000_000_000L;

    private final Disk disk;
    private final Disk componentDisk;
    private final ComponentWriters writers;
    private final Tasks tasks;
    private final Clock clock;
    private final BufferCache cache;
    private final ChunkSource chunks;
    private final MutableValidityBitmap.Memory bitmaps;
    private final MemoryBudget.Account regions;
    private final LiveVersions.Shared liveVersions;
    private final BuildConcurrency.Shared builds;
    private final Manifest manifest;
    private final Meters meters;
    private final EngineEvents events;
    private final Counter sortSpilledBytes;
    private final Counter pauses;
    private final FileReaper reaper;
    private final Trash trash;
    private final Disk.Lock lock;
    private final IndexKinds kinds;
    private final Timestamps timestamps;
    private final StoreAccount account;
    private final StoreHealth health = new StoreHealth();

    /** Of the monotonic clock; so far away that it is never reached, until somebody says when. */
    private final AtomicLong waitsEndNanos;

    private final Quarantine quarantine;
    private @Nullable WriteAheadLog log;

    /**
     * The world outside: the disk, background work, time.
     *
     * @param componentDisk the same disk, as components are read and written on it
     */
    public record Environment(Disk disk, Disk componentDisk, Tasks tasks, Clock clock) {
        public Environment(Disk disk, Tasks tasks, Clock clock) {
            this(disk, disk, tasks, clock);
        }

        public Environment withComponentDisk(Disk components) {
            return new Environment(disk, components, tasks, clock);
        }
    }

    /**
     * What memory comes from.
     *
     * @param bitmaps pays for live bitmaps and what belongs to them
     * @param builds the most that merges may take to keep invalidations for what they build
     * @param regions pays for what indexes of kinds that the store was given keep in memory
     * @param liveVersions pays for what is known of live versions
     * @param unflushed the store's part of what memory components hold
     */
    public record Memory(
            BufferCache cache,
            ChunkSource chunks,
            MutableValidityBitmap.Memory bitmaps,
            MemoryBudget.Account builds,
            MemoryBudget.Account regions,
            MemoryBudget.Account liveVersions,
            WriteShares.Share unflushed) {}

    /**
     * @param lock of the store's directory; the caller holds it as long as the store is open
     * @param kinds of index beside the store's own
     */
    public StoreCore(
            Environment environment,
            Disk.Lock lock,
            Memory memory,
            Manifest manifest,
            Meters meters,
            EngineEvents events,
            IndexKinds kinds) {
        this.lock = lock;
        this.kinds = kinds;
        this.disk = environment.disk();
        this.componentDisk = environment.componentDisk();
        this.writers = new ComponentWriters(componentDisk);
        this.tasks = environment.tasks();
        this.clock = environment.clock();
        this.waitsEndNanos = new AtomicLong(clock.monotonicNanos() + Long.MAX_VALUE / 2);
        this.cache = memory.cache();
        this.chunks = memory.chunks();
        this.bitmaps = memory.bitmaps();
        this.regions = memory.regions();
        this.liveVersions = new LiveVersions.Shared(memory.liveVersions());
        this.account = new StoreAccount(memory.unflushed());
        this.manifest = manifest;
        this.meters = meters;
        this.events = events;
        this.sortSpilledBytes = meters.counter("sort.bytes.spilled");
        this.pauses = meters.counter("background.pauses");
        this.reaper = new FileReaper(disk);
        this.timestamps = new Timestamps(
                manifest.state().lastTimestamp(),
                tasks,
                clock,
                () -> health.firstFailure() != null);
        this.trash = Trash.of(disk, clock);
        this.quarantine = new Quarantine(
                change -> edit(change, () -> {}),
                meters.counter("quarantine.count"),
                events,
                account);
        this.builds = new BuildConcurrency.Shared(
                memory.bitmaps().words(),
                memory.builds(),
                timestamps::horizon,
                new BuildConcurrencyMeter(meters));
    }

    /** Completes it. */
    public void attachLog(WriteAheadLog opened) {
        log = opened;
    }

    public Disk disk() {
        return disk;
    }

    /** The same disk, for reading and writing components. */
    public Disk componentDisk() {
        return componentDisk;
    }

    /** Who makes component files on that disk. */
    public ComponentWriters writers() {
        return writers;
    }

    public Tasks tasks() {
        return tasks;
    }

    /**
     * Starts background work. A bug that ends it breaks the store, so that nobody waits for it for
     * ever.
     *
     * @param name for thread names and traces
     */
    public Tasks.Worker start(String name, long idleMicros, Tasks.Step step) {
        return start(name, () -> idleMicros, step);
    }

    /**
     * As {@link #start(String, long, Tasks.Step)}; the worker says each time how long it rests.
     */
    public Tasks.Worker start(String name, LongSupplier idleMicros, Tasks.Step step) {
        return tasks.start(name, idleMicros, () -> {
            try {
                return BufferCache.inBackground(step::run);
            } catch (ClosedException closed) {
                throw closed;
            } catch (RuntimeException | Error bug) {
                health.breakDown(name, bug);
                tasks.signal();
                throw bug;
            }
        });
    }

    /**
     * Notes that background work pauses because it can't go on now.
     *
     * @param name of the work, for people
     * @param nanos until it is tried again
     */
    public void pause(String name, Throwable cause, long nanos) {
        pauses.increment();
        events.paused(name, cause, nanos);
    }

    public Clock clock() {
        return clock;
    }

    /**
     * Waits for what comes before anything is held or written. Ends early if the store takes no
     * more writes, if the thread is interrupted, or when {@link #endWaitsWithin} says so.
     *
     * @param what is waited for, for people
     * @throws StorageIoException of kind INTERRUPTED if somebody has ended the wait; nothing was
     *     done
     */
    public void awaitBeforeWrite(String what, BooleanSupplier condition) {
        awaitWork(what, () -> condition.getAsBoolean() || !health.isWritable());
    }

    /**
     * Waits for a call that keeps the store from being closed, to its end, since it uses what would
     * be closed; if that takes long, says whose it is.
     *
     * @param whose call, for people
     */
    public void awaitBeforeClose(Supplier<String> whose, BooleanSupplier condition) {
        long until = clock.monotonicNanos() + CLOSE_NANOS_UNTOLD;
        tasks.await(() -> condition.getAsBoolean() || clock.monotonicNanos() >= until);
        if (!condition.getAsBoolean()) {
            events.closeKept(whose.get(), CLOSE_NANOS_UNTOLD);
            tasks.await(condition);
        }
    }

    /**
     * Waits for background work that was asked for. Ends early if it will never be done, if the
     * thread is interrupted, or when {@link #endWaitsWithin} says so; the work goes on.
     *
     * @param what is waited for, for people
     * @throws StorageIoException of kind INTERRUPTED if somebody has ended the wait
     */
    public void awaitWork(String what, BooleanSupplier condition) {
        BooleanSupplier through = () -> condition.getAsBoolean() || health.isOver();
        boolean uninterrupted =
                tasks.awaitUnlessInterrupted(() -> through.getAsBoolean() || waitsHaveEnded());
        if (!through.getAsBoolean()) {
            throw StorageIoException.ofEndedWait(
                    what,
                    uninterrupted
                            ? "the store was told to wait no longer"
                            : "the thread was interrupted");
        }
    }

    private boolean waitsHaveEnded() {
        return clock.monotonicNanos() - waitsEndNanos.get() >= 0;
    }

    /** From then on nobody waits with {@link #awaitBeforeWrite}. */
    public void endWaitsWithin(long micros) {
        waitsEndNanos.set(clock.monotonicNanos() + micros * 1_000);
        tasks.signal();
    }

    public BufferCache cache() {
        return cache;
    }

    public ChunkSource chunks() {
        return chunks;
    }

    /** Pays for live bitmaps and what belongs to them. */
    public MutableValidityBitmap.Memory bitmaps() {
        return bitmaps;
    }

    /** What builds of components share while writers invalidate what is copied. */
    public BuildConcurrency.Shared builds() {
        return builds;
    }

    /** Kinds of index beside the store's own. */
    public IndexKinds kinds() {
        return kinds;
    }

    /** Pays for what indexes of such kinds keep in memory. */
    public MemoryBudget.Account regions() {
        return regions;
    }

    /** What is known of live versions. */
    public LiveVersions.Shared liveVersions() {
        return liveVersions;
    }

    /** Where entries are sorted that may be more than memory holds. */
    public SortStorage sortStorage() {
        return new SortStorage(
                disk,
                chunks,
                manifest.state().storeId(),
                manifest::newFileId,
                StoreFiles::sortRun,
                sortSpilledBytes);
    }

    /** How entries of secondaries are checked, unless it is said. */
    public RepairOptions repairOptions() {
        return RepairOptions.within(REPAIR_CHUNKS * (long) chunks.chunkBytes());
    }

    /** For questions; changes go through {@link #edit}. */
    public Manifest manifest() {
        return manifest;
    }

    /**
     * Changes the manifest: the one way for all. Nothing is changed after a failure of the store,
     * nor when the directory's lock is gone; and after a change whose outcome is unknown the store
     * takes no writes (D6).
     *
     * @param change from the current state; not called again
     * @param install makes the change visible in memory; runs when it is durable
     * @throws io.turbidite.core.StorageIoException if it can't be written; nothing has happened
     * @throws StoreFailedException if the store had failed, or has by this: which manifest stands
     *     is known only after reopening, so no file that either names may be deleted
     */
    public void edit(UnaryOperator<ManifestState> change, Runnable install) {
        try {
            manifest.edit(
                    state -> {
                        health.checkUnfailed();
                        checkLock();
                        ManifestState changed = change.apply(state);
                        return hasDurableRecords() ? changed.withLog() : changed;
                    },
                    install);
        } catch (StoreFailedException failure) {
            health.fail(failure);
            tasks.signal();
            throw failure;
        }
    }

    /**
     * Notes in the manifest that the log holds records, once in a store's life: from then on one
     * without a log is not taken for a fresh one.
     */
    public void noteLog() {
        if (!manifest.state().hasLog() && hasDurableRecords()) {
            edit(state -> state, () -> {});
        }
    }

    private boolean hasDurableRecords() {
        return log != null && log.durableSequence() > 0;
    }

    /**
     * Looks whether the directory's lock still keeps others out.
     *
     * @throws StoreFailedException if its file is gone or another one; the store takes no writes
     *     from now on
     */
    public void checkLock() {
        if (!lock.isInPlace()) {
            StoreFailedException failure = new StoreFailedException(
                    "the file %s of %s was deleted or replaced while the store was open, so that another"
                                    .formatted(StoreFiles.LOCK, disk.description())
                            + " process may have opened it; close this one, and delete that file never",
                    null);
            health.fail(failure);
            tasks.signal();
            throw failure;
        }
    }

    public FileReaper reaper() {
        return reaper;
    }

    /** What openings found that no manifest names. */
    public Trash trash() {
        return trash;
    }

    /**
     * Deletes what {@linkplain Trash#empty may go} from the trash, and says so.
     *
     * @param cause {@code "command"}, {@code "age"} or {@code "space"}
     * @return what was deleted
     */
    public List<Trash.Item> emptyTrash(String cause) {
        List<Trash.Item> deleted = trash.empty(manifest.state());
        if (!deleted.isEmpty()) {
            events.trashChanged(cause, deleted);
        }
        return deleted;
    }

    public Timestamps timestamps() {
        return timestamps;
    }

    public WriteAheadLog log() {
        return Objects.requireNonNull(log, "the log is attached when the store is open");
    }

    /** What the partitions sum up. */
    public StoreAccount account() {
        return account;
    }

    /** Sets damaged components aside. */
    public Quarantine quarantine() {
        return quarantine;
    }

    public StoreHealth health() {
        return health;
    }

    /** Each room counts in its own. */
    public Meters meters() {
        return meters;
    }

    public EngineEvents events() {
        return events;
    }
}
