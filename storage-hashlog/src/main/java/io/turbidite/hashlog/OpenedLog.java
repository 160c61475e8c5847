package io.turbidite.hashlog;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.hashlog.history.Runs;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogEnd;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.LogStart;
import io.turbidite.hashlog.recovery.Checkpoints;
import io.turbidite.hashlog.recovery.IndexCheckpoint;
import io.turbidite.hashlog.recovery.SessionPoint;
import io.turbidite.hashlog.recovery.TableReplay;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;
import io.turbidite.hashlog.table.HashTable;
import io.turbidite.hashlog.table.TableShape;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.Objects;

/**
 * The state at the beginning of a hash log, fresh or recovered. <em>Immutable;</em> the {@link
 * HashLog} closes table and log.
 *
 * @param registry as it is on disk, durably, if the log's {@link HybridLog#registryNumber()} is its
 *     number
 * @param sessions the newest mark of each session in the log
 * @param replayedFrom the address from which the index was rebuilt; the tail if nothing was
 */
record OpenedLog(
        RegistryState registry,
        Epochs epochs,
        HashTable table,
        HybridLog log,
        Map<String, SessionPoint> sessions,
        long replayedFrom) {

    /** An empty log. */
    static OpenedLog fresh(LogSite site, HashLogOptions options, RegistryState registry) {
        Epochs epochs = Epochs.create(options.log().sessionCountMax(), site.clock());
        HashTable table = HashTable.create(registry.tableBits(), epochs, account(site, options));
        LogStart start = LogStart.fresh(registry.logId(), registry.shape());
        try (Undo undo = Undo.of(table::close)) {
            HybridLog log = undo.keep(HybridLog.open(site, options.log(), start, epochs));
            return new OpenedLog(registry, epochs, table, log, Map.of(), log.tail());
        }
    }

    /**
     * Recovers the log in the site's directory, in this order:
     *
     * <ol>
     *   <li>reads the registry, and requires every function that an active PSF names;
     *   <li>fills the table from the newest sound checkpoint;
     *   <li>finds the end: it verifies pages from the start of the replay. A log that ends before a
     *       sound checkpoint's end was cut: it refuses that log. For a log of an older release,
     *       whose marks may be lost, it takes an older checkpoint, or none;
     *   <li>removes what is behind the end and clips intervals to it, durably: new records must not
     *       meet what an earlier life left. It drops runs that can't be opened;
     *   <li>replays the rest.
     * </ol>
     *
     * <p>For reading, all of this happens in memory, and nothing on disk changes.
     *
     * @param readOnly whether nothing may change
     * @throws io.turbidite.core.CorruptionException if what was reported durable can't be read
     * @throws io.turbidite.core.InvalidRequestException if a function is missing, or the budgets
     *     don't suffice
     */
    static OpenedLog recover(LogSite site, HashLogOptions options, Disk disk, boolean readOnly) {
        long startNanos = site.clock().monotonicNanos();
        RegistryFile.Stored stored = RegistryFile.read(disk, site.directory());
        RegistryState found = stored.state();
        found.activeSet(options.functions());
        LogShape shape = new LogShape(
                found.shape().pageBytes(),
                options.log().shape().ringPageCount(),
                found.shape().segmentPageCount());
        Epochs epochs = Epochs.create(options.log().sessionCountMax(), site.clock());
        MemoryBudget.Account account = account(site, options);
        LogShape written = new LogShape(
                shape.pageBytes(),
                Math.max(shape.ringPageCount(), found.shape().ringPageCount()),
                shape.segmentPageCount());
        Base base = base(site, disk, stored, written, epochs, account);
        RegistryState registry;
        HybridLog log;
        Runs runs = new Runs(disk, site.directory(), found.logId());
        try (Undo undo = Undo.of(base.index.table()::close)) {
            requireNewest(site, found, base.start);
            if (!readOnly) {
                LogEnd.settle(site, shape, base.start, stored.hasTail(), base.index.from());
            }
            registry = runs.withoutUnusable(found.clipped(base.start.tail()), base.start.begin());
            LogOptions pages = options.log().withShape(shape);
            log = readOnly
                    ? HybridLog.openForReading(site, pages, base.start, epochs)
                    : HybridLog.open(site, pages, base.start, epochs);
            undo.keep(); // from here on the table is theirs who rebuild it
        }
        try (Undo undo = Undo.of(log::close)) {
            Rebuilt rebuilt = rebuild(site, disk, log, registry, base.index, epochs, account);
            TableReplay replay = rebuilt.replay;
            try (Undo undoTable = Undo.of(rebuilt.table::close)) {
                registry = readOnly
                        ? rebuilt.registry
                        : settled(rebuilt.registry, stored, base.start, runs, log);
                undoTable.keep();
                undo.keep();
            }
            if (base.start.marksLost() > 0) {
                tellMarkLost(site);
            }
            report(site, log, replay, startNanos);
            return new OpenedLog(
                    registry, epochs, rebuilt.table, log, replay.sessions(), replay.from());
        }
    }

    /**
     * Makes the registry durable. Also one that was found: memory may show what a failed sync has
     * lost. If pages name it, it was durable before they were written. On a full disk, where a log
     * can be opened to be truncated, it may stay as it is on disk.
     *
     * @return with its number
     */
    private static RegistryState settled(
            RegistryState rebuilt,
            RegistryFile.Stored stored,
            LogStart start,
            Runs runs,
            HybridLog log) {
        boolean isChanged = !rebuilt.equals(stored.state()) || !stored.hasTail();
        RegistryState registry = isChanged ? rebuilt.after(stored.state()) : rebuilt;
        boolean isDurable = registry.number() <= start.registryNumber()
                || isWritten(registry, stored, log.site());
        log.registryNumber(isDurable ? registry.number() : start.registryNumber());
        if (isDurable) {
            runs.deleteUnnamed(registry);
        }
        return registry;
    }

    /** Whether there was space to write the registry. */
    private static boolean isWritten(
            RegistryState registry, RegistryFile.Stored stored, LogSite site) {
        Disk disk = Objects.requireNonNull(site.disk());
        try {
            RegistryFile.write(disk, site.directory(), registry);
            return true;
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NO_SPACE || !stored.hasTail()) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Requires that no page was written under a newer registry than the one that was found: its
     * PSFs would be asked for records that were never put into their chains.
     */
    private static void requireNewest(LogSite site, RegistryState found, LogStart start) {
        if (start.registryNumber() > found.number()) {
            throw new CorruptionException(
                    site.directory() + "/HASHLOG",
                    0,
                    "the registry",
                    "of change %d or later, under which the newest pages were written"
                            .formatted(start.registryNumber()),
                    "of change %d; it may be an older file: restore the newest"
                            .formatted(found.number()));
        }
    }

    /** Takes the log over. Closes table and log if another process turns out to have it. */
    void begin(Disk.@Nullable Lock lock) {
        try (Undo undo = Undo.of(this::close)) {
            log.begin(lock);
            undo.keep();
        }
    }

    /** Before it is a {@link HashLog}'s. */
    void close() {
        new Cleanup().add(log::close).add(table::close).run();
    }

    private record Base(IndexCheckpoint index, LogStart start) {}

    private record Rebuilt(HashTable table, RegistryState registry, TableReplay replay) {}

    /**
     * Brings the table up to the end of the log, in one of these ways: 1. by raising entries, with
     * an entry of its own for each chain; 2. if there is no room, into a table of more base bits,
     * which is always right; 3. if the budget has no room for that, in the order of addresses, so
     * that chains share entries as they did when they were linked; 4. if the table that linked them
     * was larger than the budget now allows, not at all: the index begins at the end, and queries
     * read older records by full scan. Closes the tables that it gives up.
     */
    private static Rebuilt rebuild(
            LogSite site,
            Disk disk,
            HybridLog log,
            RegistryState registry,
            IndexCheckpoint index,
            Epochs epochs,
            MemoryBudget.Account account) {
        Rebuilt rebuilt = tried(log, registry, index, TableReplay.Way.RAISED);
        for (int bits = registry.tableBits() + 2;
                rebuilt == null && bits <= TableShape.BASE_BITS_MAX;
                bits += 2) {
            HashTable finer = HashTable.createIfRoom(new TableShape(bits, 0), epochs, account);
            if (finer == null) {
                break;
            }
            RegistryState more = registry.withTableBits(bits);
            rebuilt = tried(log, more, IndexCheckpoint.none(finer), TableReplay.Way.RAISED);
        }
        if (rebuilt == null) {
            IndexCheckpoint again = index.number() == 0
                    ? null
                    : new Checkpoints(disk, site.directory(), registry.logId())
                            .read(index.number(), registry.tableBits(), epochs, account);
            if (again == null) {
                again = IndexCheckpoint.none(
                        HashTable.create(registry.tableBits(), epochs, account));
            }
            rebuilt = tried(log, registry, again, TableReplay.Way.IN_ORDER);
        }
        if (rebuilt == null) {
            HashTable empty = HashTable.create(registry.tableBits(), epochs, account);
            RegistryState anew = registry.indexedFrom(log.tail());
            rebuilt = tried(log, anew, IndexCheckpoint.none(empty), TableReplay.Way.LEFT_OUT);
            tellLeftOut(site, log, account);
        }
        return Objects.requireNonNull(rebuilt, "a replay without an index needs no room");
    }

    /** Tries one way. Null, with the table closed, if it has no room. */
    private static @Nullable Rebuilt tried(
            HybridLog log, RegistryState registry, IndexCheckpoint index, TableReplay.Way way) {
        try (Undo undo = Undo.of(index.table()::close)) {
            TableReplay replay = new TableReplay(log, registry.chainHeads(), index, way);
            return replay.run() ? undo.keep(new Rebuilt(index.table(), registry, replay)) : null;
        }
    }

    private static void tellLeftOut(LogSite site, HybridLog log, MemoryBudget.Account account) {
        site.events()
                .publish(new StoreEvent.Failed(
                        site.clock().wallMicros(),
                        "index of log " + site.name(),
                        new InvalidRequestException(
                                "the table has no room for what a larger one linked: records below %d are found by full scan, or by history runs once they are indexed (%s)"
                                        .formatted(log.tail(), account))));
    }

    private static void tellMarkLost(LogSite site) {
        site.events()
                .publish(new StoreEvent.Failed(
                        site.clock().wallMicros(),
                        "marks of log " + site.name(),
                        new CorruptionException(
                                site.directory() + "/TAIL",
                                0,
                                "the marks of how far the newest page is durable",
                                "two that are sound",
                                "one, maybe the older: a newest page without checksums of"
                                        + " its own may have gone further")));
    }

    private static Base base(
            LogSite site,
            Disk disk,
            RegistryFile.Stored stored,
            LogShape shape,
            Epochs epochs,
            MemoryBudget.Account account) {
        RegistryState registry = stored.state();
        Checkpoints checkpoints = new Checkpoints(disk, site.directory(), registry.logId());
        for (long number : checkpoints.numbers()) {
            IndexCheckpoint index = checkpoints.read(number, registry.tableBits(), epochs, account);
            if (index != null) {
                Base base = baseOn(index, site, shape, stored);
                if (base != null) {
                    return base;
                }
            }
        }
        LogStart start = LogEnd.find(site, shape, registry.logId(), stored.hasTail(), 0);
        HashTable empty = HashTable.create(registry.tableBits(), epochs, account);
        return new Base(IndexCheckpoint.none(empty), start);
    }

    private static @Nullable Base baseOn(
            IndexCheckpoint index, LogSite site, LogShape shape, RegistryFile.Stored stored) {
        try (Undo undo = Undo.of(index.table()::close)) {
            LogStart start = LogEnd.find(
                    site, shape, stored.state().logId(), stored.hasTail(), index.from());
            if (start.tail() >= index.end()) {
                return undo.keep(new Base(index, start));
            }
            if (stored.hasTail()) {
                throw new CorruptionException(
                        site.directory() + "/TAIL",
                        0,
                        "the end of the log",
                        "at %d or behind, as index checkpoint %08x.index says, which is written when all of that is durable"
                                .formatted(index.end(), index.number()),
                        "at %d: an older TAIL or older pages were put there, or a newer checkpoint"
                                .formatted(start.tail()));
            }
            return null;
        }
    }

    private static void report(LogSite site, HybridLog log, TableReplay replay, long startNanos) {
        site.events()
                .publish(new StoreEvent.Recovered(
                        site.clock().wallMicros(),
                        log.tail() - replay.from(),
                        replay.recordCount(),
                        site.clock().monotonicNanos() - startNanos));
    }

    private static MemoryBudget.Account account(LogSite site, HashLogOptions options) {
        return site.budget().account("hash table " + site.name(), options.tableBytesMax());
    }
}
