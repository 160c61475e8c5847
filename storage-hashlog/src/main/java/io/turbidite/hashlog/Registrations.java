package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.psf.PsfSet;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * Changes the PSFs of a log while data flows (FISH19 §5.3).
 *
 * <em>Thread-safe;</em> one change at a time, the others wait. Registration: 1. the PSF gets an id,
 * and this is made durable before a record can carry it. 2. The new set is published; each ingest
 * session compiles it when it next protects or refreshes ({@link PlanWatch}). 3. When every session
 * follows, the tail of that moment is the safe boundary: all records from there on are indexed.
 * Deregistration takes the tail first, makes it durable as the interval's end, and then publishes
 * the smaller set: every record below the boundary is indexed, and a record beyond it may be.
 *
 * <p>Readers evaluate no set, and nobody waits for them: an open cursor holds back no registration.
 */
final class Registrations {
    private final LogSite site;
    private final HybridLog log;
    private final PsfFunctions functions;
    private final PlanWatch followers = new PlanWatch();
    private final AtomicBoolean changing = new AtomicBoolean();
    private volatile RegistryState registry;
    private volatile Plan plan;

    /** The plan that sessions evaluate; another version is another set. */
    record Plan(long version, PsfSet set, ChainHeads heads) {}

    Registrations(LogSite site, OpenedLog opened, PsfFunctions functions) {
        this.site = site;
        this.log = opened.log();
        this.functions = functions;
        this.registry = opened.registry();
        this.plan = new Plan(0, registry.activeSet(functions), registry.chainHeads());
    }

    RegistryState registry() {
        return registry;
    }

    Plan plan() {
        return plan;
    }

    PsfFunctions functions() {
        return functions;
    }

    /** The followers of the plans; each ingest session enters itself. */
    PlanWatch followers() {
        return followers;
    }

    RegisteredPsf register(String name, PsfDefinition definition, int chainCount) {
        return register(Map.of(name, definition), chainCount).getFirst();
    }

    /** Registers all PSFs or none, with one boundary, at the cost of one. */
    List<RegisteredPsf> register(Map<String, PsfDefinition> definitions, int chainCount) {
        if (definitions.isEmpty()) {
            return List.of();
        }
        begin();
        try {
            int first = registry.psfs().size();
            RegistryState with = registry;
            for (Map.Entry<String, PsfDefinition> psf : definitions.entrySet()) {
                with = with.registered(psf.getKey(), psf.getValue(), chainCount);
            }
            PsfSet set = with.activeSet(functions);
            persist(with);
            long boundary = publish(set);
            RegistryState begun = registry;
            for (int id = first; id < first + definitions.size(); id++) {
                begun = begun.changed(id, psf -> psf.begun(boundary));
            }
            persist(begun);
            return new ArrayList<>(begun.psfs().subList(first, first + definitions.size()));
        } finally {
            end();
        }
    }

    RegisteredPsf deregister(int id) {
        begin();
        try {
            if (!registry.psf(id).active()) {
                throw new InvalidRequestException("PSF %d '%s' is not registered any more"
                        .formatted(id, registry.psf(id).name()));
            }
            long boundary = log.tail();
            persist(registry.changed(id, psf -> psf.ended(boundary)));
            publish(registry.activeSet(functions));
            return registry.psf(id);
        } finally {
            end();
        }
    }

    /**
     * Requires that the registry is durable: records of a set that a power cut may take back would
     * be missing from the chains of the one before.
     *
     * @throws io.turbidite.core.StorageIoException if the disk is full, as it was at the opening
     */
    void requireDurable() {
        if (isDurable()) {
            return;
        }
        begin();
        try {
            if (!isDurable()) {
                persist(registry);
            }
        } finally {
            end();
        }
    }

    private boolean isDurable() {
        return site.disk() == null || log.registryNumber() == registry.number();
    }

    /** Changes the registry, but not the plan of the sessions. */
    void change(UnaryOperator<RegistryState> change) {
        begin();
        try {
            persist(change.apply(registry));
        } finally {
            end();
        }
    }

    /** The same, but not if another change is under way. */
    boolean tryToChange(UnaryOperator<RegistryState> change) {
        if (!changing.compareAndSet(false, true)) {
            return false;
        }
        try {
            persist(change.apply(registry));
        } finally {
            end();
        }
        return true;
    }

    private void begin() {
        followers.refuseWithinCall();
        boolean[] taken = {false};
        site.tasks().await(() -> {
            taken[0] = changing.compareAndSet(false, true);
            return taken[0] || log.isEnding();
        });
        if (!taken[0]) {
            log.checkUsable();
        }
    }

    private void end() {
        changing.set(false);
        site.tasks().signal();
    }

    /** Publishes a set. Returns the tail of a moment at which every session followed it. */
    private long publish(PsfSet set) {
        long version = plan.version() + 1;
        plan = new Plan(version, set, registry.chainHeads());
        site.tasks().await(() -> followers.allFollow(version) || log.isEnding());
        if (!followers.allFollow(version)) {
            log.checkUsable(); // the next opening goes on with it, as after a power cut
        }
        return log.tail();
    }

    /**
     * The one way for all changes. It makes no change after a failure, without the lock, or after a
     * change of unknown outcome.
     */
    private void persist(RegistryState state) {
        Disk disk = site.disk();
        RegistryState next = state.after(registry);
        log.checkUnfailed();
        if (disk != null) {
            log.checkLock();
            try {
                RegistryFile.write(disk, site.directory(), next);
                log.registryNumber(next.number());
            } catch (StoreFailedException uncertain) {
                log.fail(uncertain);
                throw uncertain;
            }
        }
        registry = next;
    }
}
