package io.turbidite.hashlog;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.recovery.Checkpoints;
import io.turbidite.hashlog.recovery.SessionPoint;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryState;
import io.turbidite.hashlog.scan.AdaptiveReadAhead;
import io.turbidite.hashlog.scan.DeviceProfile;
import io.turbidite.hashlog.table.HashTable;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A log of raw records with a subset hash index (FISH19).
 *
 * <p><em>Thread-safe;</em> sessions and readers are confined to their threads. Only one process can
 * open a log, and only once: an opening holds the directory's lock.
 *
 * <pre>{@code
 * try (HashLog log = HashLog.openOrCreate(site, HashLogOptions.defaults(), random.nextLong())) {
 *     int byType = log.register("type", PsfDefinition.parse("field(type)")).id();
 *     try (IngestSession session = log.openSession("loader")) {
 *         session.ingest(batch, 0, batch.byteSize());
 *         session.awaitDurable();
 *     }
 * }
 * }</pre>
 */
public final class HashLog implements AutoCloseable {
    /** Between two looks at a table that is being written. */
    private static final long GROW_IDLE_MICROS = 5_000;

    /** Where nothing was written since the last look: writers that come lend a hand. */
    private static final long REST_MICROS = 100_000;

    private final LogSite site;
    private final Disk.@Nullable Lock lock;
    private final HashLogOptions options;
    private final HybridLog log;
    private final HashTable table;
    private final Registrations registrations;
    private final History history;
    private final Deletions deletions;
    private final Tasks.Worker growth;

    /** Of the last look at the table; its worker's. */
    private long growthTail;

    private final @Nullable AutoCheckpoint checkpoints;
    private final DeviceProfile device = new DeviceProfile();
    private final Sessions sessions;
    private final Callers callers;

    /** Takes over what was opened, and the lock; if it can't, it closes all but the lock. */
    HashLog(LogSite site, HashLogOptions options, OpenedLog opened, Disk.@Nullable Lock lock) {
        this.site = site;
        this.lock = lock;
        this.options = options;
        this.log = opened.log();
        this.table = opened.table();
        opened.begin(lock);
        try (Undo undo = Undo.of(opened::close)) {
            this.callers = new Callers(log);
            this.deletions = new Deletions(log);
            this.registrations = new Registrations(site, opened, options.functions());
            this.history = new History(site, log, registrations);
            Meters meters = site.meters().scope("log", site.name());
            this.sessions = new Sessions(this, opened.sessions(), meters);
            try (Undo undoHistory = Undo.of(history::close)) {
                this.growth =
                        site.tasks().start("hashlog-table", this::growthIdleMicros, table::grow);
                try (Undo undoGrowth = Undo.of(growth::close)) {
                    Indexed indexed = new Indexed(table, sessions);
                    this.checkpoints = site.disk() == null || log.isReadOnly()
                            ? null
                            : new AutoCheckpoint(opened, indexed, options.checkpointBytes());
                    undoGrowth.keep();
                }
                undoHistory.keep();
            }
            meters.gauge("hashlog.table.buckets", table::bucketCount);
            meters.gauge("hashlog.table.overflow", table::overflowBucketCount);
            meters.gauge("hashlog.tail", log::tail);
            meters.gauge("hashlog.durable", log::durable);
            undo.keep();
        }
    }

    /** The content of a checkpoint besides the log. */
    private record Indexed(HashTable table, Sessions of) implements Checkpoints.Source {
        @Override
        public Map<String, SessionPoint> sessions() {
            return of.points();
        }
    }

    private long growthIdleMicros() {
        long tail = log.tail();
        boolean isWritten = tail != growthTail;
        growthTail = tail;
        return isWritten || table.wantsGrowth() ? GROW_IDLE_MICROS : REST_MICROS;
    }

    /**
     * Creates a new, empty log.
     *
     * @param logId a random number: it tells this log's files from all others
     * @throws InvalidRequestException if there is a log in the directory, or the budgets don't
     *     suffice
     * @throws io.turbidite.core.CorruptionException if there are pages of a log whose registry is
     *     missing
     */
    public static HashLog create(LogSite site, HashLogOptions options, long logId) {
        return LogDirectory.create(site, options, logId);
    }

    /**
     * Opens the log in the site's directory and recovers it: all records up to its end are there
     * and in their chains, PSFs go on, and {@link #recoveredSerial} says how far each session had
     * come.
     *
     * @throws InvalidRequestException if there is no log, a PSF names a function that the options
     *     don't have, or the budgets don't suffice
     * @throws StoreInUseException if the log is open already
     * @throws io.turbidite.core.CorruptionException if durable data can't be read
     */
    public static HashLog open(LogSite site, HashLogOptions options) {
        return LogDirectory.open(site, options, false);
    }

    /**
     * Opens a log for reading only. It mends and tidies up in memory alone, and changes no file of
     * the directory except the lock's. It refuses sessions, deletions, registrations, truncations
     * and checkpoints.
     *
     * @throws StoreInUseException if the log is open already, even for reading
     */
    public static HashLog openForReading(LogSite site, HashLogOptions options) {
        return LogDirectory.open(site, options, true);
    }

    /** Opens the existing log, or else creates one with {@code logId}. */
    public static HashLog openOrCreate(LogSite site, HashLogOptions options, long logId) {
        return LogDirectory.openOrCreate(site, options, logId);
    }

    // ---- PSFs -----------------------------------------------------------------------------------

    /**
     * Registers a PSF and waits until it indexes every new record.
     *
     * @param name as people call it; no other active PSF may have it
     * @return with its id and the interval that begins at the safe boundary
     * @throws InvalidRequestException if the name is taken or the definition isn't understood
     */
    public RegisteredPsf register(String name, PsfDefinition definition) {
        return register(name, definition, 1);
    }

    /**
     * Registers a PSF with hot values; otherwise as {@link #register(String, PsfDefinition)}.
     *
     * @param chainCount over how many chains each of its properties is spread: 1, 2, 4, 8 or 16
     */
    public RegisteredPsf register(String name, PsfDefinition definition, int chainCount) {
        return callers.call("a registration", () -> {
            log.checkWritable();
            return registrations.register(name, definition, chainCount);
        });
    }

    /**
     * Registers several PSFs together: all of them or none, with one boundary. This costs as much
     * as registering one; registering them one after the other makes the registry durable twice for
     * each.
     *
     * @param definitions by name; ids are given in the map's order
     * @param chainCount as of {@link #register(String, PsfDefinition, int)}, for each of them
     * @return in the map's order
     * @throws InvalidRequestException if a name is taken or a definition isn't understood: none is
     *     registered
     */
    public List<RegisteredPsf> registerAll(Map<String, PsfDefinition> definitions, int chainCount) {
        return callers.call("a registration", () -> {
            log.checkWritable();
            return registrations.register(definitions, chainCount);
        });
    }

    /**
     * Ends the indexing of a PSF. Returns when no session evaluates the PSF any more. Its intervals
     * stay and serve queries.
     *
     * @throws InvalidRequestException if the PSF is not registered
     */
    public RegisteredPsf deregister(int id) {
        return callers.call("a deregistration", () -> {
            log.checkWritable();
            return registrations.deregister(id);
        });
    }

    /**
     * Starts to index in the background the records that the log took before a PSF was registered.
     * Queries still look at every record that it has not reached yet. It ends with the log; start
     * it again then.
     *
     * @param psf name of the PSF
     * @throws InvalidRequestException if there is no such PSF, its history is being indexed
     *     already, or the log is on the null device
     */
    public HistoryIndexing indexHistory(String psf) {
        return callers.call("an indexing of history", () -> {
            log.checkWritable();
            return history.index(this, psf, HistoryIndexing.Bounds.DEFAULT);
        });
    }

    /** All PSFs, present and past, by id, with the intervals in which each is indexed. */
    public List<RegisteredPsf> psfs() {
        return callers.call("a look at PSFs", () -> registrations.registry().psfs());
    }

    // ---- ingestion ------------------------------------------------------------------------------

    /** Opens a session that counts from 0 and only counts its refused records. */
    public IngestSession openSession(String name) {
        return openSession(name, 0, record -> {});
    }

    /**
     * Opens a session.
     *
     * @param name 1 to 256 bytes of UTF-8. Marks in the log say how far the session came, so a
     *     client that comes back after a crash uses the same name
     * @param startSerial how many records the session got before
     * @param listener gets each refused record
     * @throws InvalidRequestException if a session of this name is open, or too many are
     */
    public IngestSession openSession(
            String name, long startSerial, RejectedRecord.Listener listener) {
        return callers.owned("session " + name, caller -> {
            log.checkWritable();
            registrations.requireDurable();
            return sessions.open(caller, name, startSerial, listener);
        });
    }

    /**
     * How many input records of the session the log certainly held at its opening; 0 if it knows no
     * session of this name. A client goes on behind them: {@code openSession(name,
     * recoveredSerial(name), ..)}. The log may also have records that the session took after its
     * last mark (64 KiB of them at most, none after a clean close); these then come twice.
     */
    public long recoveredSerial(String name) {
        return sessions.recoveredSerial(name);
    }

    /** The names of the sessions that had left marks in the log at its opening. */
    public Set<String> recoveredSessions() {
        return sessions.recovered();
    }

    // ---- reading --------------------------------------------------------------------------------

    /** The address space: its addresses, durability, truncation. */
    public HybridLog log() {
        return log;
    }

    /** Opens a reader of records by address; {@code name} is shown if it stalls the others. */
    public LogReader openReader(String name) {
        return callers.call("the opening of a reader", () -> reader(name));
    }

    /** Opens a reader within a call. */
    LogReader reader(String name) {
        return LogReader.open(log, name, device);
    }

    /**
     * A walk along the chain of a property through {@code reader}, newest first.
     *
     * @throws InvalidRequestException if the reader belongs to another log
     */
    public ChainWalk walk(LogReader reader, Property property) {
        return walk(reader, property, newReadAhead());
    }

    ReadAhead newReadAhead() {
        return new AdaptiveReadAhead(device);
    }

    /** The same walk, reading from disk as {@code readAhead} says. */
    public ChainWalk walk(LogReader reader, Property property, ReadAhead readAhead) {
        return walk(reader, property, plan().heads().hashes(property), readAhead);
    }

    /** The same walk along some of the property's chains, given by their hashes. */
    ChainWalk walk(LogReader reader, Property property, long[] chains, ReadAhead readAhead) {
        callers.checkOpen();
        if (reader.log() != log) {
            throw new InvalidRequestException("the reader is of log %s: log %s can't take it"
                    .formatted(reader.log().site().name(), log.site().name()));
        }
        return new ChainWalk(reader, table, property, chains, readAhead);
    }

    /**
     * Finds records, newest first.
     *
     * @throws InvalidRequestException if the query names something that doesn't exist, or an
     *     impossible value
     */
    public LogCursor find(LogQuery query) {
        return callers.owned("a cursor", caller -> LogCursor.open(this, caller, query));
    }

    /**
     * Hands over matching records as they come, oldest first, from address {@code query.from()} on.
     *
     * @param query a property, an expression, both or none; without an end
     * @param durableOnly true shows a record only when a power cut can't take it back
     * @throws InvalidRequestException if the query names something that doesn't exist
     */
    public LogSubscription subscribe(LogQuery query, boolean durableOnly) {
        return callers.owned(
                "a subscription", caller -> new LogSubscription(this, caller, query, durableOnly));
    }

    /**
     * Deletes a record: queries and subscriptions don't show it any more. Its bytes stay in the log
     * until truncation. The deletion becomes durable like a record that a session takes now; see
     * {@link #awaitDurable}.
     *
     * @param address of a record that a query has shown
     * @return false if the record was deleted before
     * @throws InvalidRequestException if no record starts there
     */
    public boolean delete(long address) {
        return callers.call("a deletion", () -> {
            log.checkWritable();
            try (LogReader reader = reader("deletion")) {
                reader.protect();
                RecordStarts.require(address, reader);
            }
            return deletions.delete(address);
        });
    }

    /** Deletes a record at an address that certainly is a record's. The caller is not protected. */
    boolean deleteRecord(long address) {
        return deletions.delete(address);
    }

    /** Blocks until all records, deletions and marks so far are durable. */
    public void awaitDurable() {
        callers.run("a wait for durability", () -> {
            log.awaitDurable(log.tail());
        });
    }

    /**
     * Hands every record that a query finds to the sinks, page by page, in no order.
     *
     * @param workerCount 1 to 256, each with its own sink
     */
    public void findInParallel(LogQuery query, int workerCount, Supplier<RecordSink> sinks) {
        ParallelScan scan = callers.call("a parallel query", () -> new ParallelScan(this, query));
        scan.run(workerCount, sinks);
    }

    /** The parser of the records. */
    public ParserSpec parser() {
        callers.checkOpen();
        return registry().parser();
    }

    /** The number of buckets of the hash table. */
    public int bucketCount() {
        callers.checkOpen();
        return table.bucketCount();
    }

    /** The number of overflow buckets, chained behind full ones. */
    public int overflowBucketCount() {
        callers.checkOpen();
        return table.overflowBucketCount();
    }

    History history() {
        return history;
    }

    Tasks tasks() {
        return site.tasks();
    }

    RegistryState registry() {
        return registrations.registry();
    }

    PsfFunctions functions() {
        return options.functions();
    }

    /** What it was opened with, and what its directory says. */
    public HashLogOptions options() {
        return options;
    }

    // ---- durability -----------------------------------------------------------------------------

    /**
     * Drops the records below {@code address}, and whole segments from disk. Returns when a power
     * cut can't bring them back. Records that are not durable yet stay.
     *
     * @param address any; if it is within a record, that record stays
     */
    public void truncate(long address) {
        callers.run("a truncation", () -> {
            log.checkWritable();
            long begin = log.begin();
            long end = Math.min(address, log.durable());
            if (end > begin) {
                log.truncate(startOfRecord(end));
                history.wake();
            }
        });
    }

    private long startOfRecord(long address) {
        try (LogReader reader = reader("truncation")) {
            reader.protect();
            return RecordStarts.before(address, reader);
        }
    }

    /**
     * Writes an index checkpoint, besides the automatic ones. Then an opening replays the log only
     * from the returned address on. Ingestion goes on meanwhile.
     *
     * @return -1 if the table grew again and again, so that no checkpoint was made
     * @throws InvalidRequestException on the null device
     * @throws io.turbidite.core.StorageIoException if the disk refused; older checkpoints are still
     *     there
     */
    public long checkpoint() {
        return callers.call("a checkpoint", () -> {
            log.checkWritable();
            if (checkpoints == null) {
                throw new InvalidRequestException("a log in memory has no checkpoints");
            }
            return checkpoints.write();
        });
    }

    /**
     * From then on no call waits for the device longer than {@code micros}: sessions give records
     * back, and a close says what is lost. Use it when the user wants the process to end, for
     * example by Ctrl-C; you can't take it back.
     */
    public void endWaitsWithin(long micros) {
        callers.checkOpen();
        log.endWaitsWithin(micros);
    }

    /**
     * Makes everything visible durable, then ends background work. It wakes waiting calls and waits
     * for working ones. From then on every call throws {@link io.turbidite.core.ClosedException}:
     * of the log, and of sessions, cursors and subscriptions that are left open. Code that the log
     * calls back may close it; the call around it then throws. Only a listener of its events, on
     * the log's own thread, may not.
     *
     * @throws InvalidRequestException if a call has not ended for 10 s; the message names its
     *     caller. Close the log again when the call has ended
     */
    @Override
    public void close() {
        if (!callers.beginClose()) {
            return;
        }
        Cleanup all = new Cleanup().add(history::close);
        if (checkpoints != null) {
            all.add(checkpoints::close);
        }
        all.add(growth::close).add(deletions::close).add(log::close).add(table::close);
        if (lock != null) {
            all.add(lock::close);
        }
        all.add(callers::endClose).run();
    }

    // ---- for sessions ---------------------------------------------------------------------------

    Sessions sessions() {
        return sessions;
    }

    Callers callers() {
        return callers;
    }

    HashTable table() {
        return table;
    }

    /** The newest address of a chain's entry of the table. */
    long headOf(long chain) {
        return table.headOf(chain);
    }

    Registrations.Plan plan() {
        return registrations.plan();
    }

    PlanWatch planFollowers() {
        return registrations.followers();
    }

    @Override
    public String toString() {
        return "HashLog[%s, %s]".formatted(log, table);
    }
}
