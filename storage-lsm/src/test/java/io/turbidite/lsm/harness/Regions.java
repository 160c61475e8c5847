package io.turbidite.lsm.harness;

import io.turbidite.core.index.IndexKind;
import io.turbidite.core.sim.HeapIndexKind;

/**
 * Where regions lie while stores come and go: what they hold outlives a store, and is cut together
 * with the disk.
 */
public interface Regions {
    /** The kind that stores are handed. */
    IndexKind kind();

    /** What a power cut at this moment leaves: a legal state that the seed picks. */
    Regions cut(long seed);

    /** Plain maps, of which a power cut takes nothing. */
    static Regions heap() {
        return of(HeapIndexKind.persistent());
    }

    private static Regions of(HeapIndexKind kind) {
        return new Regions() {
            @Override
            public IndexKind kind() {
                return kind;
            }

            @Override
            public Regions cut(long seed) {
                return of(kind.image());
            }
        };
    }
}
