package io.turbidite.hashlog;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.history.RunCursor;
import io.turbidite.hashlog.history.RunEntries;
import io.turbidite.hashlog.history.Runs;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryState;
import io.turbidite.hashlog.scan.ScanPart;
import io.turbidite.hashlog.scan.Ways;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The parts of a log that sorted runs index, and the work that makes more runs.
 * <em>Thread-safe;</em> owned by the log.
 */
final class History implements AutoCloseable {
    static final int ALL_CHAINS = -1;

    /** The time between two checks whether the log's begin has passed a run. */
    private static final long DROP_IDLE_MICROS = 1_000_000;

    private final LogSite site;
    private final HybridLog log;
    private final Registrations registrations;
    private final @Nullable Runs runs;
    private final MemoryBudget.Account account;
    private final Counter runCount;
    private final Counter recordCount;
    private final Counter droppedCount;
    private final Counter damagedCount;

    /** Runs that a query could not read, until they are dropped. */
    private final Set<HistoryRun> damaged = ConcurrentHashMap.newKeySet();

    private final List<HistoryIndexing> started = new ArrayList<>();
    private final Tasks.@Nullable Worker dropping;

    History(LogSite site, HybridLog log, Registrations registrations) {
        this.site = site;
        this.log = log;
        this.registrations = registrations;
        Disk disk = site.disk();
        long logId = registrations.registry().logId();
        this.runs = disk == null ? null : new Runs(disk, site.directory(), logId);
        this.account = site.budget().account("history of " + site.name());
        Meters meters = site.meters().scope("log", site.name());
        this.runCount = meters.counter("hashlog.history.runs");
        this.recordCount = meters.counter("hashlog.history.records");
        this.droppedCount = meters.counter("hashlog.history.dropped");
        this.damagedCount = meters.counter("hashlog.history.damaged");
        this.dropping = runs == null || log.isReadOnly()
                ? null
                : site.tasks().start("hashlog-history-drop", DROP_IDLE_MICROS, this::dropOld);
    }

    HistoryIndexing index(HashLog log, String psfName, HistoryIndexing.Bounds bounds) {
        if (runs == null) {
            throw new InvalidRequestException(
                    "a log in memory keeps no runs: its history is looked at by full scan");
        }
        RegisteredPsf psf = QueryPlan.named(registrations.registry(), psfName);
        synchronized (started) {
            started.removeIf(HistoryIndexing::isDone);
            for (HistoryIndexing other : started) {
                if (other.psfId() == psf.id()) {
                    throw new InvalidRequestException(
                            "the history of PSF '%s' is being indexed: wait for it"
                                    .formatted(psfName));
                }
            }
            HistoryIndexing indexing = new HistoryIndexing(log, this, psf, bounds);
            started.add(indexing);
            return indexing;
        }
    }

    LogSite site() {
        return site;
    }

    MemoryBudget.Account account() {
        return account;
    }

    RegistryState registry() {
        return registrations.registry();
    }

    /** Writes a run, and the registry names it. Runs are written one at a time. */
    void add(int psfId, long from, long to, RunEntries entries) {
        Runs files = Objects.requireNonNull(runs);
        registrations.change(state -> {
            HistoryRun run = files.write(psfId, from, to, entries);
            return state.changed(psfId, psf -> psf.withRun(run));
        });
        runCount.increment();
        recordCount.add(entries.count());
    }

    /** Wakes the worker that drops runs: the log's begin may have moved. */
    void wake() {
        Tasks.Worker worker = dropping;
        if (worker != null) {
            worker.wake();
        }
    }

    /**
     * Called when a query could not read a run and looked at the records instead. Drops the run if
     * it is damaged or gone; the next indexing of history makes a new one.
     */
    private void unreadable(HistoryRun run, StorageException why) {
        boolean passes = why instanceof StorageIoException io
                && (io.kind() == StorageIoException.Kind.TOO_MANY_FILES
                        || io.kind() == StorageIoException.Kind.ACCESS_DENIED);
        if (!passes
                && registry().psfs().stream().anyMatch(psf -> psf.runs().contains(run))
                && damaged.add(run)) {
            damagedCount.increment();
            site.events()
                    .publish(new StoreEvent.Failed(
                            site.clock().wallMicros(),
                            "a run of history of log %s, addresses %d to %d: it is dropped, index the history again"
                                    .formatted(site.name(), run.from(), run.to()),
                            why));
            wake();
        }
    }

    private List<HistoryRun> useless(RegistryState state, long begin) {
        List<HistoryRun> useless = new ArrayList<>(Runs.below(state, begin));
        for (HistoryRun run : damaged) {
            if (!useless.contains(run)) {
                useless.add(run);
            }
        }
        return useless;
    }

    /**
     * Drops runs below the log's begin, and damaged ones: first from the registry, then the files.
     * Tries a failed drop again, at the next opening at the latest.
     */
    private boolean dropOld() {
        long begin = log.begin();
        if (useless(registry(), begin).isEmpty() || log.isFailed()) {
            return false;
        }
        List<HistoryRun> dropped = new ArrayList<>();
        try {
            boolean changed = registrations.tryToChange(state -> {
                dropped.addAll(useless(state, begin));
                return Runs.without(state, dropped);
            });
            if (changed) {
                damaged.removeAll(dropped);
                Objects.requireNonNull(runs).delete(dropped);
                droppedCount.add(dropped.size());
            }
        } catch (StorageIoException _) {
            // at the next look
        }
        return false;
    }

    /**
     * The ways to the records of a plan, through {@code reader}.
     *
     * @param chain number of the only chain of the property to walk, or {@link #ALL_CHAINS}
     */
    Ways ways(HashLog log, LogReader reader, QueryPlan plan, int chain) {
        return new Ways() {
            @Override
            public ChainWalk chain(int psfId) {
                Property property = Property.of(psfId, plan.value());
                long[] chains = registrations.plan().heads().hashes(property);
                return log.walk(
                        reader,
                        property,
                        chain == ALL_CHAINS ? chains : new long[] {chains[chain]},
                        log.newReadAhead());
            }

            @Override
            public RunCursor run(ScanPart part) {
                HistoryRun run = Objects.requireNonNull(part.run());
                long hash = Property.of(part.psfId(), plan.value()).hash();
                try {
                    return Objects.requireNonNull(runs)
                            .cursor(part.psfId(), run, hash, part.from(), part.to());
                } catch (StorageIoException e) {
                    if (e.kind() == StorageIoException.Kind.NOT_FOUND
                            && run.to() <= log.log().begin()) {
                        throw new InvalidRequestException(
                                "addresses below %d are gone: the log begins at %d"
                                        .formatted(run.to(), log.log().begin()),
                                e);
                    }
                    throw e;
                }
            }

            @Override
            public void unreadable(ScanPart part, StorageException why) {
                History.this.unreadable(Objects.requireNonNull(part.run()), why);
            }

            @Override
            public ReadAhead readAhead() {
                return log.newReadAhead();
            }
        };
    }

    /** Ends the running work; finished runs stay. */
    @Override
    public void close() {
        Tasks.Worker worker = dropping;
        if (worker != null) {
            worker.close();
        }
        List<HistoryIndexing> open;
        synchronized (started) {
            open = List.copyOf(started);
        }
        new Cleanup().addAll(open, HistoryIndexing::close).run();
    }
}
