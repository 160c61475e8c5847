package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.epoch.Epochs;
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

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * Changes the PSFs of a log while data flows (FISH19 §5.3).
 *
 * <p><em>Thread-safe;</em> one change at a time, the others wait. Registration: 1. the PSF gets an id, which
 * is made durable before a record can carry it. 2. The new set is published; each session compiles it when
 * it next protects or refreshes. 3. When every epoch has passed, the tail of that moment is the safe
 * boundary: all records from there on are indexed. Deregistration takes the tail first, makes it durable as
 * the interval's end, and publishes the smaller set afterwards: a record beyond the boundary may be indexed,
 * but none before it is not.
 */
final class Registrations {
    private final LogSite site;
    private final HybridLog log;
    private final Epochs epochs;
    private final PsfFunctions functions;
    private final AtomicBoolean changing = new AtomicBoolean();
    private volatile RegistryState registry;
    private volatile Plan plan;

    /** What sessions evaluate; another version is another set. */
    record Plan(long version, PsfSet set, ChainHeads heads) {}

    Registrations(LogSite site, OpenedLog opened, PsfFunctions functions) {
        this.site = site;
        this.log = opened.log();
        this.epochs = opened.epochs();
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

    RegisteredPsf register(String name, PsfDefinition definition, int chainCount) {
        begin();
        try {
            RegistryState with = registry.registered(name, definition, chainCount);
            int id = with.psfs().size() - 1;
            PsfSet set = with.activeSet(functions);
            persist(with);
            long boundary = publish(set);
            persist(registry.changed(id, psf -> psf.begun(boundary)));
            return registry.psf(id);
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

    /** Changes the registry without a change of what sessions evaluate. */
    void change(UnaryOperator<RegistryState> change) {
        begin();
        try {
            persist(change.apply(registry));
        } finally {
            end();
        }
    }

    /** The same, unless another change is under way. */
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
        site.tasks().await(() -> changing.compareAndSet(false, true));
    }

    private void end() {
        changing.set(false);
        site.tasks().signal();
    }

    /** Publishes a set; returns the tail of a moment at which every session followed it. */
    private long publish(PsfSet set) {
        long[] boundary = {-1};
        AtomicBoolean passed = new AtomicBoolean();
        plan = new Plan(plan.version() + 1, set, registry.chainHeads());
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
}
