package io.turbidite.it.pm;

import io.turbidite.core.index.IndexKind;
import io.turbidite.lsm.harness.Regions;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.sim.SimPmKind;

/** Regions in simulated memory, for the random histories. Confined to one thread. */
final class SimRegions implements Regions {
    private final History history;
    private final SimPmKind kind;

    /** Who has had the regions last. */
    private static final class History {
        SimPmKind last;

        History(SimPmKind first) {
            last = first;
        }
    }

    private SimRegions(History history, SimPmKind kind) {
        this.history = history;
        this.kind = kind;
        history.last = kind;
    }

    static SimRegions of(RegionMode mode) {
        SimPmKind first = new SimPmKind(mode);
        return new SimRegions(new History(first), first);
    }

    /** The same for a history that begins anew. */
    SimRegions anew() {
        return new SimRegions(history, new SimPmKind(kind.mode()));
    }

    /** The kind of the store that was opened last, whatever was cut meanwhile. */
    SimPmKind last() {
        return history.last;
    }

    @Override
    public IndexKind kind() {
        return kind;
    }

    @Override
    public Regions cut(long seed) {
        return new SimRegions(history, kind.cut(seed));
    }
}
