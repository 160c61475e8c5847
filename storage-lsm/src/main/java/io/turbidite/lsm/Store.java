package io.turbidite.lsm;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.backup.Backup;
import io.turbidite.lsm.backup.BackupReport;
import io.turbidite.lsm.backup.ComponentRestore;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.backup.QuarantineReport;
import io.turbidite.lsm.backup.Restore;
import io.turbidite.lsm.backup.RestoreReport;
import io.turbidite.lsm.check.FormatSurvey;
import io.turbidite.lsm.check.StoredFormat;
import io.turbidite.lsm.check.UpgradeReport;
import io.turbidite.lsm.check.Verifier;
import io.turbidite.lsm.check.VerifyReport;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.engine.OpenMode;
import io.turbidite.lsm.engine.StoreEngine;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.ship.Reception;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.lsm.ship.ShipmentReport;
import io.turbidite.lsm.version.Manifest;

import org.jspecify.annotations.Nullable;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * A directory with datasets: one process holds it, with a write-ahead log, a buffer cache and
 * background work.
 *
 * <p>When a write has returned, its data survives as the durability mode says. After a crash every
 * index agrees with every other. A failed write or sync of the log or the manifest makes the store
 * read-only until it is opened again (D6).
 *
 * <em>Thread-safe.</em> Cursors and views that are open when the store is closed throw {@link
 * ClosedException} at their next use.
 */
public final class Store implements AutoCloseable {
    private final StoreEngine engine;
    private final Map<String, Dataset> datasets = new ConcurrentHashMap<>();
    private boolean closed;

    private Store(StoreEngine engine) {
        this.engine = engine;
        engine.datasetsAtOpening().forEach(this::add);
    }

    private Dataset add(OpenDataset opened) {
        Dataset dataset = new Dataset(this, opened);
        datasets.put(opened.name(), dataset);
        return dataset;
    }

    /** Opens the store in a directory. Creates one if the directory is empty or missing. */
    public static Store open(Path directory) {
        return open(directory, StoreOptions.defaults());
    }

    /**
     * Opens the store in a directory. Creates one if the directory is empty or missing.
     *
     * @throws InvalidRequestException if the directory holds something else, or another process has
     *     the store open
     * @throws io.turbidite.core.CorruptionException naming file and offset, if the store is damaged
     */
    public static Store open(Path directory, StoreOptions options) {
        Disk disk = RealDisk.open(directory);
        Tasks tasks = ThreadTasks.create("turbidite");
        return open(
                new StoreCore.Environment(disk, tasks, Clock.system()), options, OpenMode.CREATE);
    }

    /**
     * Opens an existing store.
     *
     * @throws InvalidRequestException also if there is none; nothing is created
     */
    public static Store openExisting(Path directory, StoreOptions options) {
        return openExisting(directory, options, OpenMode.EXISTING);
    }

    /**
     * Opens an existing store for queries, checks and backups. It holds the store's lock but
     * changes no byte of the directory: everything that a crash left stays as it is. Calls that
     * would change the store are refused.
     *
     * @throws InvalidRequestException also if there is none; nothing is created
     */
    public static Store openForReading(Path directory, StoreOptions options) {
        return openExisting(directory, options, OpenMode.READING);
    }

    /** As {@link #openForReading(Path, StoreOptions)}, on a given disk; closes {@code tasks}. */
    public static Store openForReading(Disk disk, Tasks tasks, Clock clock, StoreOptions options) {
        return open(new StoreCore.Environment(disk, tasks, clock), options, OpenMode.READING);
    }

    private static Store openExisting(Path directory, StoreOptions options, OpenMode mode) {
        RealDisk.checkDirectory(directory);
        Disk disk = RealDisk.open(directory);
        Tasks tasks = ThreadTasks.create("turbidite");
        return open(new StoreCore.Environment(disk, tasks, Clock.system()), options, mode);
    }

    /**
     * Opens a store on a given disk, with given background work and clock; closes {@code tasks}.
     */
    public static Store open(Disk disk, Tasks tasks, Clock clock, StoreOptions options) {
        return open(new StoreCore.Environment(disk, tasks, clock), options, OpenMode.CREATE);
    }

    private static Store open(
            StoreCore.Environment environment, StoreOptions options, OpenMode mode) {
        return new Store(StoreEngine.open(environment, options.forEngine(), mode));
    }

    /**
     * Creates a dataset. When this returns the dataset is durable.
     *
     * @throws InvalidRequestException naming what is wrong with the spec, or if a dataset has that
     *     name
     */
    public synchronized Dataset createDataset(DatasetSpec spec) {
        core().health().checkWritable();
        if (datasets.containsKey(spec.name())) {
            throw new InvalidRequestException(
                    "there is a dataset named %s already".formatted(spec.name()));
        }
        return add(engine.create(spec.resolve(engine.nextDatasetId(), core().kinds())));
    }

    /**
     * The dataset of the specification's name; created if there is none. What the specification
     * leaves at its default means what the dataset has, and the dataset may have more indexes.
     *
     * @throws InvalidRequestException listing where the dataset differs, or as {@link
     *     #createDataset}
     */
    public synchronized Dataset openDataset(DatasetSpec spec) {
        checkReadable();
        Dataset there = datasets.get(spec.name());
        if (there == null) {
            return createDataset(spec);
        }
        SpecMatch.check(spec, there.schema(), core().kinds(), core().disk().description());
        return there;
    }

    /**
     * Drops a dataset and all its records. An open cursor comes to its end, or throws an {@link
     * InvalidRequestException} when it would have to reopen its source. Every later call on the
     * dataset throws too. The store deletes the dataset's files when the last cursor is closed.
     *
     * @throws InvalidRequestException if no dataset has that name, or it is being bulk loaded
     */
    public void dropDataset(String name) {
        Dataset dataset = dataset(name);
        engine.schemaChanges().dropDataset(dataset.opened(), () -> datasets.remove(name, dataset));
    }

    /**
     * The dataset of that name.
     *
     * @throws InvalidRequestException listing the existing datasets
     */
    public Dataset dataset(String name) {
        Dataset dataset = findDataset(name);
        if (dataset == null) {
            throw new InvalidRequestException("there is no dataset '%s'; there are %s%s"
                    .formatted(
                            name,
                            new TreeMap<>(datasets).keySet(),
                            NearestName.hint(name, new TreeMap<>(datasets).keySet())));
        }
        return dataset;
    }

    /** The dataset of that name, or null. */
    public @Nullable Dataset findDataset(String name) {
        checkReadable();
        return datasets.get(name);
    }

    /** All datasets, by name. */
    public List<Dataset> datasets() {
        checkReadable();
        return List.copyOf(new TreeMap<>(datasets).values());
    }

    /** A batch for {@link #write}; reusable. */
    public WriteBatch newBatch() {
        checkReadable();
        return new WriteBatch(this, engine.newWrite());
    }

    /**
     * Does all operations of a batch or none, so that readers see all at once. Returns when they
     * are visible and as durable as the mode says. An empty batch writes nothing, and is refused
     * while others are.
     *
     * @throws io.turbidite.core.DuplicateKeyException if an insert's key is taken; nothing was
     *     changed
     * @throws InvalidRequestException if the batch belongs to another store, or to an earlier
     *     opening of this one
     * @throws io.turbidite.core.StorageIoException if there is no space on disk for it; the store
     *     takes writes again when there is
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     */
    public void write(WriteBatch batch) {
        requireOwn("a batch", batch.store());
        batch.beginWrite();
        try {
            engine.write(batch.write());
        } finally {
            batch.endWrite();
        }
    }

    /**
     * As {@link #write}, but returns as soon as the operations are visible: readers may see what a
     * crash takes back. The batch is free again. How much may be on its way to the disk is bounded
     * by the memory of the log, for which this waits.
     *
     * @return tells when they are durable
     */
    public Commit writeAsync(WriteBatch batch) {
        requireOwn("a batch", batch.store());
        batch.beginWrite();
        try {
            return new Commit(engine.commits(), engine.writeAsync(batch.write()));
        } finally {
            batch.endWrite();
        }
    }

    /**
     * Checks that a dataset belongs to this store, and was got from it since its opening.
     *
     * @throws InvalidRequestException naming both stores
     */
    public void requireOwn(Dataset dataset) {
        requireOwn("dataset " + dataset.name(), dataset.store());
    }

    private void requireOwn(String what, Store owner) {
        if (owner == this) {
            return;
        }
        String here = core().disk().description();
        String there = owner.core().disk().description();
        throw new InvalidRequestException(
                here.equals(there)
                        ? "%s is of an earlier opening of the store in %s: get it anew from this one"
                                .formatted(what, here)
                        : "%s is of the store in %s: the store in %s can't take it"
                                .formatted(what, there, here));
    }

    /** Registers a snapshot of this moment. Close it soon: it keeps old versions alive. */
    public Snapshot openSnapshot() {
        return engine.openSnapshot((state, release) -> new Snapshot(this, state, release));
    }

    ReadView openView(Dataset dataset) {
        // the indexes first: one that is ready only later may lack what this moment shows
        DatasetSchema schema = dataset.schema();
        return engine.openView(
                (state, release) -> new DatasetView(dataset, schema, state, release));
    }

    /**
     * Makes everything written so far durable, whatever the mode, and leaves a mark behind it in
     * the log. If the log before the mark is damaged later, the next opening says so.
     */
    public void sync() {
        engine.sync();
    }

    /**
     * After {@code micros} no call waits any more for room, or for a flush, a merge or a repair
     * that it asked for. A call that waits, or would have to, throws a {@link StorageIoException}
     * of kind INTERRUPTED, and none of its write was done. Use it for Ctrl-C, before you close the
     * store; an interrupt does the same for one thread. A write that is already in the log is still
     * waited for to the end. Any thread may call this.
     */
    public void endWaitsWithin(long micros) {
        core().endWaitsWithin(micros);
    }

    /** Checks every checksum, and every index against the primary. Writers may go on. */
    public VerifyReport verify() {
        return verify(Verifier::verify);
    }

    /**
     * Checks the manifest, and for every component its size and everything except its leaf pages.
     * This takes a fraction of the time of {@link #verify}. It finds cut, swapped or stale files,
     * but not every flipped bit.
     */
    public VerifyReport verifyQuickly() {
        checkReadable();
        try {
            var _ = Manifest.open(core().disk());
        } catch (CorruptionException damage) {
            return new VerifyReport(0, 0, 0, List.of(damage.toString()));
        }
        return verify(Verifier::verifyQuickly);
    }

    private VerifyReport verify(Function<List<Verifier.Subject>, VerifyReport> check) {
        checkReadable();
        List<Verifier.Subject> subjects = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(subjects, subject -> subject.view().close())) {
            for (Dataset dataset : datasets()) {
                subjects.add(new Verifier.Subject(
                        dataset.schema(), dataset.partitions(), dataset.openView()));
            }
            return check.apply(subjects);
        }
    }

    /**
     * Copies the store, as it is now, into a new or empty directory while writers go on. The copy
     * can be opened as a store. It lacks what is kept besides datasets (dead letters of feeds).
     *
     * @throws InvalidRequestException if the directory is not empty or lies in the store, or if
     *     {@code mode} is {@code LINK} and the directory is on another file system; nothing is
     *     changed
     */
    public BackupReport backup(Path directory, CopyMode mode) {
        checkReadable();
        if (core().disk() instanceof RealDisk own && own.encloses(directory)) {
            throw new InvalidRequestException("%s lies inside the store in %s; back up elsewhere"
                    .formatted(directory, own.description()));
        }
        return RealDisk.filled(directory, target -> backup(target, mode));
    }

    /** As {@link #backup(Path, CopyMode)}, into the root of a disk, which must be empty. */
    public BackupReport backup(Disk target, CopyMode mode) {
        checkReadable();
        return Backup.write(engine.partitions(), target, mode);
    }

    /**
     * The files of the store and the versions of their formats, but for the log's; reads their
     * headers alone. {@link #formats(Path)} does it for a store that is not open in this process.
     */
    public List<StoredFormat> formats() {
        checkReadable();
        return FormatSurvey.ofHeld(core().disk());
    }

    /**
     * The files of a store and the versions of their formats; reads their headers alone, takes no
     * lock and changes nothing. Of a store that this release can't read, it tells the manifest.
     *
     * @throws InvalidRequestException if there is no store, or this process has it open
     */
    public static List<StoredFormat> formats(Path directory) {
        RealDisk.checkDirectory(directory);
        Disk disk = RealDisk.open(directory);
        List<StoredFormat> found = FormatSurvey.of(disk);
        if (found.isEmpty()) {
            throw new InvalidRequestException(
                    "%s is not a store: it has no manifest".formatted(disk.description()));
        }
        return found;
    }

    /**
     * Rewrites every file of an older format in today's, as merges would by and by: each component
     * by itself, and the manifest. Readers and writers go on. When this ends early, what was
     * rewritten stays so and the rest is as it was; a second call goes on.
     *
     * @throws StorageIoException of kind NO_SPACE if a component has no room beside itself
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     */
    public UpgradeReport upgrade() {
        checkReadable();
        core().health().checkWritable();
        List<StoredFormat> before = outdated();
        for (Dataset dataset : datasets()) {
            dataset.partitions().forEach(background()::renew);
        }
        if (core().manifest().isOutdated()) {
            core().edit(same -> same, () -> {});
        }
        return UpgradeReport.of(before, outdated());
    }

    private List<StoredFormat> outdated() {
        return formats().stream().filter(StoredFormat::isOutdated).toList();
    }

    /**
     * Puts a component into quarantine that {@link #verify} has found damaged. Reads every byte of
     * the component. A merge that meets the damage does the same without being asked.
     *
     * @param file of the component, in the store's directory
     * @return what is wrong with it
     * @throws InvalidRequestException if the file is whole, is in quarantine already, or belongs to
     *     no component in use
     */
    public String quarantine(String file) {
        checkReadable();
        core().health().checkWritable();
        CorruptionException damage = core().quarantine().takeDamaged(file);
        engine.background().wakeMerges();
        return String.valueOf(damage.getMessage());
    }

    /**
     * Brings components back from quarantine: those whose files are whole again, and those whose
     * original files are in {@code backup}. The others stay, and the report says what is lost with
     * them.
     *
     * @param backup directory of a backup, or of a copy of this store that is not open; null only
     *     checks whether files are whole again
     * @throws InvalidRequestException if the directory holds no backup of this store, even if
     *     nothing is in quarantine
     */
    public QuarantineReport restoreQuarantined(@Nullable Path backup) {
        checkReadable();
        if (backup == null) {
            return restoreFrom(null);
        }
        RealDisk.checkDirectory(backup);
        Disk from = RealDisk.open(backup);
        if (from.description().equals(environment().disk().description())) {
            throw new InvalidRequestException(
                    "%s is the store itself, and no backup of it".formatted(from.description()));
        }
        return restoreFrom(from);
    }

    /** As {@link #restoreQuarantined}, from the root of a disk. */
    public synchronized QuarantineReport restoreFrom(@Nullable Disk backup) {
        checkReadable();
        QuarantineReport report = ComponentRestore.run(engine.partitions(), backup);
        engine.background().wakeMerges();
        return report;
    }

    /**
     * Copies a backup into a new or empty directory and checks every checksum of the copy; {@link
     * #verify} checks the indexes too. The copy can be opened as a store.
     *
     * @throws InvalidRequestException if there is no complete backup that was never opened as a
     *     store, or if the directory is not empty; nothing is changed
     * @throws io.turbidite.core.CorruptionException if the backup is damaged; nothing is restored
     */
    public static RestoreReport restore(Path backup, Path directory) {
        return Restore.copy(backup, directory);
    }

    /**
     * Holds the store, as it is now, to send it to another machine while writers go on. First
     * writes what was in memory beside the store's components. Close the shipment before the store.
     *
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     */
    public Shipment openShipment() {
        checkReadable();
        return Shipment.open(engine.partitions());
    }

    /**
     * Makes a store in a directory out of a {@link Shipment}'s stream, and checks every checksum.
     * If the stream breaks, the complete files stay in the directory, which is not yet a store.
     * Another stream of the same shipment can go on there ({@link #receivedCount}).
     *
     * @param in read to the shipment's end, not beyond; not closed
     * @param directory new, empty, or with the beginning of the same shipment
     * @throws InvalidRequestException if the directory holds something else; it is left as it was
     * @throws io.turbidite.core.CorruptionException if the stream is damaged or ends too early
     */
    public static ShipmentReport receive(InputStream in, Path directory) {
        return Reception.receive(in, directory);
    }

    /**
     * The number of component files of a shipment that a directory has after a stream broke. {@link
     * Shipment#writeTo} can leave these out. 0 if the directory is empty or missing.
     *
     * @throws InvalidRequestException if something else is there
     */
    public static int receivedCount(Path directory) {
        return Reception.fileCount(directory);
    }

    /** What the store consists of now. */
    public StoreDescription describe() {
        checkReadable();
        return StoreDescription.of(this);
    }

    /**
     * Deletes components and bitmaps that an opening found and no manifest names; {@link #describe}
     * lists them. First find out why they are there: if somebody replaced the manifest by an older
     * one, it does not name all files that it should. So what this opening moved there stays until
     * the store is opened again, or has been open for a day.
     *
     * @return what was deleted
     */
    public List<StoreDescription.TrashDescription> emptyTrash() {
        core().health().checkWritable();
        return StoreDescription.TrashDescription.of(core().emptyTrash("command"));
    }

    /** Events of the background work. */
    public StoreEvents events() {
        return engine.events();
    }

    /** Counters and latencies. Bind them with {@code MicrometerBinder}. */
    public Meters meters() {
        return engine.meters();
    }

    /**
     * What the store runs on, for code that builds upon the store: its background work runs on the
     * store's tasks, and it keeps its files on the store's disk, in a directory of its own.
     */
    public StoreCore.Environment environment() {
        return new StoreCore.Environment(core().disk(), core().tasks(), core().clock());
    }

    StoreEngine engine() {
        return engine;
    }

    StoreCore core() {
        return engine.core();
    }

    BackgroundWork background() {
        return engine.background();
    }

    long watermark() {
        return core().timestamps().watermark();
    }

    void checkReadable() {
        engine.checkReadable();
    }

    /** Whether writers and readers have given back everything they took; for tests. */
    boolean holdsNothing() {
        return engine.holdsNothing();
    }

    /**
     * Ends background work, seals the log and releases the directory. Does not flush memory
     * components: the log has their contents. A second call does nothing.
     *
     * @throws IllegalStateException if a listener of {@link Commit#whenDurable} calls it
     */
    @Override
    public void close() {
        engine.commits().checkMayClose();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        engine.close(() -> datasets().stream().map(Dataset::opened).toList());
    }
}
