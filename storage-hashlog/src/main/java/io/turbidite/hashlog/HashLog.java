package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskName;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.LogStart;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfSet;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;
import io.turbidite.hashlog.scan.AdaptiveReadAhead;
import io.turbidite.hashlog.scan.DeviceProfile;
import io.turbidite.hashlog.table.HashTable;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A log of raw records with a subset hash index (FISH19).
 *
 * <p><em>Thread-safe;</em> sessions and readers are confined to their threads. One process, one opening:
 * whoever opens it holds the directory's lock.
 *
 * <pre>{@code
 * try (HashLog log = HashLog.open(site, HashLogOptions.defaults(), logId)) {
 *     int byType = log.register("type", PsfDefinition.parse("field(type)")).id();
 *     try (IngestSession session = log.openSession("loader")) {
 *         session.ingest(batch, 0, batch.byteSize());
 *         session.awaitDurable();
 *     }
 * }
 * }</pre>
 *
 * <p>Registration (FISH19 §5.3). 1. The PSF gets an id, which is made durable before a record can carry it.
 * 2. The new set is published; each session compiles it when it next protects or refreshes. 3. When every
 * epoch has passed, the tail of that moment is the safe boundary: all records from there on are indexed.
 * Deregistration takes the tail first, makes it durable as the interval's end, and publishes the smaller set
 * afterwards: a record beyond the boundary may be indexed, but none before it is not.
 */
public final class HashLog implements AutoCloseable {
    private static final long GROW_IDLE_MICROS = 5_000;

    private final LogSite site;
    private final Disk.@Nullable Lock lock;
    private final HashLogOptions options;
    private final HybridLog log;
    private final HashTable table;
    private final Epochs epochs;
    private final Counters counters;
    private final Tasks.Worker growth;
    private final DeviceProfile device = new DeviceProfile();
    private final AtomicBoolean changing = new AtomicBoolean();
    private final Set<String> sessionNames = new HashSet<>();
    private volatile RegistryState registry;
    private volatile Plan plan;
    private boolean closed;

    private HashLog(
            LogSite site,
            HashLogOptions options,
            RegistryState registry,
            LogStart start,
            Disk.@Nullable Lock lock) {
        this.site = site;
        this.lock = lock;
        this.options = options;
        this.registry = registry;
        this.plan = new Plan(0, registry.activeSet());
        this.counters = Counters.of(site.meters().scope("log", site.name()));
        this.epochs = Epochs.create(options.log().sessionCountMax(), site.clock());
        this.table = HashTable.create(
                options.tableBits(),
                epochs,
                site.budget().account("hash table " + site.name(), options.tableBytesMax()));
        HybridLog opened = null;
        try {
            opened = HybridLog.open(site, options.log(), start, epochs);
        } finally {
            if (opened == null) {
                table.close();
            }
        }
        this.log = opened;
        this.growth = site.tasks().start("hashlog-table", GROW_IDLE_MICROS, table::grow);
        Meters meters = site.meters().scope("log", site.name());
        meters.gauge("hashlog.table.buckets", table::bucketCount);
        meters.gauge("hashlog.table.overflow", table::overflowBucketCount);
        meters.gauge("hashlog.tail", log::tail);
        meters.gauge("hashlog.durable", log::durable);
    }

    /**
     * A new, empty log.
     *
     * @param logId a random number: it tells this log's files from all others
     * @throws InvalidRequestException if there is a log in the directory, or the budgets don't suffice
     */
    public static HashLog create(LogSite site, HashLogOptions options, long logId) {
        RegistryState state = RegistryState.fresh(logId, options.log().shape(), options.parser());
        LogStart start = LogStart.fresh(logId, options.log().shape());
        Disk disk = site.disk();
        if (disk == null) {
            return new HashLog(site, options, state, start, null);
        }
        createDurably(disk, site.directory());
        return locked(disk, site.directory(), lock -> {
            if (RegistryFile.exists(disk, site.directory())) {
                throw new InvalidRequestException(
                        "there is a hash log in %s: open it, or take another directory"
                                .formatted(site.directory()));
            }
            RegistryFile.write(disk, site.directory(), state);
            return new HashLog(site, options, state, start, lock);
        });
    }

    /** Opens under the directory's lock, which is given back if the opening fails. */
    private static HashLog locked(
            Disk disk, String directory, Function<Disk.Lock, HashLog> opening) {
        Disk.Lock lock = disk.tryLock(directory + "/LOCK");
        if (lock == null) {
            throw new StoreInUseException(directory);
        }
        boolean done = false;
        try {
            HashLog log = opening.apply(lock);
            done = true;
            return log;
        } finally {
            if (!done) {
                lock.close();
            }
        }
    }

    /** A directory's name is durable once the directory it is in is synced. */
    private static void createDurably(Disk disk, String directory) {
        disk.createDirectories(directory);
        for (String at = directory; !at.isEmpty(); at = DiskName.parent(at)) {
            disk.syncDirectory(DiskName.parent(at));
        }
    }

    /**
     * A log goes on where recovery found its end; registered PSFs go on too. The hash table is empty: whoever
     * recovers fills it through {@link #table} before the first session.
     *
     * @throws StoreInUseException if it is open already
     */
    static HashLog open(
            LogSite site, HashLogOptions options, RegistryState registry, LogStart start) {
        Disk disk = site.disk();
        return disk == null
                ? new HashLog(site, options, registry, start, null)
                : locked(
                        disk,
                        site.directory(),
                        lock -> new HashLog(site, options, registry, start, lock));
    }

    // ---- PSFs -----------------------------------------------------------------------------------

    /**
     * Registers a PSF and waits until every record that comes is indexed by it.
     *
     * @param name as people call it; of the active PSFs no other may have it
     * @return with its id and the interval that begins at the safe boundary
     * @throws InvalidRequestException if the name is taken or the definition isn't understood
     */
    public RegisteredPsf register(String name, PsfDefinition definition) {
        site.tasks().await(() -> changing.compareAndSet(false, true));
        try {
            RegistryState with = registry.registered(name, definition);
            int id = with.psfs().size() - 1;
            PsfSet set = with.activeSet();
            persist(with);
            long boundary = publish(set);
            persist(registry.changed(id, psf -> psf.begun(boundary)));
            return registry.psf(id);
        } finally {
            changing.set(false);
            site.tasks().signal();
        }
    }

    /**
     * Ends the indexing of a PSF; returns when no session evaluates it any more. Its intervals stay and
     * serve queries.
     *
     * @throws InvalidRequestException if it is not registered
     */
    public RegisteredPsf deregister(int id) {
        site.tasks().await(() -> changing.compareAndSet(false, true));
        try {
            if (!registry.psf(id).active()) {
                throw new InvalidRequestException("PSF %d '%s' is not registered any more"
                        .formatted(id, registry.psf(id).name()));
            }
            long boundary = log.tail();
            persist(registry.changed(id, psf -> psf.ended(boundary)));
            publish(registry.activeSet());
            return registry.psf(id);
        } finally {
            changing.set(false);
            site.tasks().signal();
        }
    }

    /** All PSFs there are and were, by id, with the intervals in which each is indexed. */
    public List<RegisteredPsf> psfs() {
        return registry.psfs();
    }

    /** Publishes a set; returns the tail of a moment at which every session followed it. */
    private long publish(PsfSet set) {
        long[] boundary = {-1};
        AtomicBoolean passed = new AtomicBoolean();
        plan = new Plan(plan.version() + 1, set);
        epochs.bump(() -> {
            boundary[0] = log.tail();
            passed.set(true);
            site.tasks().signal();
        });
        site.tasks().await(passed::get);
        return boundary[0];
    }

    private void persist(RegistryState state) {
        Disk disk = site.disk();
        if (disk != null) {
            RegistryFile.write(disk, site.directory(), state);
        }
        registry = state;
    }

    // ---- ingestion ------------------------------------------------------------------------------

    /** A session that counts from 0 and whose refused records are only counted. */
    public IngestSession openSession(String name) {
        return openSession(name, 0, record -> {});
    }

    /**
     * A session.
     *
     * @param name 1 to 256 bytes of UTF-8; marks in the log say how far it came, so a client that comes back
     *     after a crash takes the name again
     * @param startSerial records that the session had been given before
     * @param listener told of each refused record
     * @throws InvalidRequestException if a session of this name is open, or too many are
     */
    public IngestSession openSession(
            String name, long startSerial, RejectedRecord.Listener listener) {
        int nameBytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (nameBytes == 0 || nameBytes > SessionMark.NAME_BYTES_MAX || startSerial < 0) {
            throw new InvalidRequestException(
                    "a session needs a name of 1 to 256 bytes and a start serial of 0 or more: '%s', %d"
                            .formatted(name, startSerial));
        }
        synchronized (sessionNames) {
            if (!sessionNames.add(name)) {
                throw new InvalidRequestException(
                        "a session '%s' is open: close it, or take another name".formatted(name));
            }
        }
        boolean done = false;
        try {
            log.checkUsable();
            IngestSession session = new IngestSession(this, name, startSerial, listener, counters);
            done = true;
            return session;
        } finally {
            if (!done) {
                forgetName(name);
            }
        }
    }

    void forget(IngestSession session) {
        forgetName(session.name());
    }

    private void forgetName(String name) {
        synchronized (sessionNames) {
            sessionNames.remove(name);
        }
    }

    // ---- reading --------------------------------------------------------------------------------

    /** The address space: its addresses, durability, truncation. */
    public HybridLog log() {
        return log;
    }

    /** A reader of what lies at addresses; {@code name} is shown if it stalls the others. */
    public LogReader openReader(String name) {
        return LogReader.open(log, name, device);
    }

    /** A walk along the chain of a property through {@code reader}, newest first. */
    public ChainWalk walk(LogReader reader, Property property) {
        return new ChainWalk(reader, table, property, new AdaptiveReadAhead(device));
    }

    /**
     * Finds records, newest first.
     *
     * @throws InvalidRequestException if the query names what isn't there, or a value that can't be
     */
    public LogCursor find(LogQuery query) {
        return LogCursor.open(this, query);
    }

    /**
     * Hands every record that a query finds to the sinks, page by page, in no order.
     *
     * @param workerCount 1 to 256, each with a sink of its own
     */
    public void findInParallel(LogQuery query, int workerCount, Supplier<RecordSink> sinks) {
        new ParallelScan(this, query).run(workerCount, sinks);
    }

    /** Reads the records. */
    public ParserSpec parser() {
        return registry.parser();
    }

    /** Buckets of the hash table. */
    public int bucketCount() {
        return table.bucketCount();
    }

    /** Buckets behind a full one. */
    public int overflowBucketCount() {
        return table.overflowBucketCount();
    }

    Tasks tasks() {
        return site.tasks();
    }

    RegistryState registry() {
        return registry;
    }

    /**
     * The newest key pointer of the chain that the property is on, 0 if there is none: what a walk starts
     * from, and where a subscription sees that something new has come.
     *
     * @param reader protected
     */
    public long chainHead(LogReader reader, Property property) {
        assert reader.isProtected();
        return table.headOf(property.hash());
    }

    public HashLogOptions options() {
        return options;
    }

    /** Ends background work after everything visible was made durable; sessions are closed before. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            growth.close();
            log.close();
        } finally {
            table.close();
            if (lock != null) {
                lock.close();
            }
        }
    }

    // ---- for sessions ---------------------------------------------------------------------------

    HashTable table() {
        return table;
    }

    Plan plan() {
        return plan;
    }

    /** What sessions evaluate; another version is another set. */
    record Plan(long version, PsfSet set) {}

    /** What all sessions count together. */
    record Counters(
            Counter accepted, Counter rejected, Counter payloadBytes, Counter hardInsertions) {
        static Counters of(Meters meters) {
            return new Counters(
                    meters.counter("hashlog.ingest.records"),
                    meters.counter("hashlog.ingest.rejected"),
                    meters.counter("hashlog.ingest.bytes"),
                    meters.counter("hashlog.chain.contended"));
        }
    }

    @Override
    public String toString() {
        return "HashLog[%s, %s]".formatted(log, table);
    }
}
