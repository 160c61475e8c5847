package io.turbidite.lsm.upkeep;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.partition.Substrate;

/**
 * Empties the trash when it has lain there for a day of running time, and before space on disk gets short.
 *
 * <p><em>Confined to one thread</em>, but for {@link #makeRoom}.
 */
final class TrashWork {
    private static final long LOOK_NANOS = 1_000_000_000;

    private final Substrate substrate;
    private final long shortBytes;
    private long lookAtNanos;

    /**
     * @param shortBytes less space than that on disk is short
     */
    TrashWork(Substrate substrate, long shortBytes) {
        this.substrate = substrate;
        this.shortBytes = shortBytes;
        this.lookAtNanos = substrate.clock().monotonicNanos() + LOOK_NANOS;
    }

    /** Looks once a second. */
    void step() {
        long now = substrate.clock().monotonicNanos();
        if (now - lookAtNanos < 0 || substrate.trash().items().isEmpty()) {
            return;
        }
        lookAtNanos = now + LOOK_NANOS;
        try {
            if (substrate.trash().isOld()) {
                substrate.emptyTrash("age");
            } else if (substrate.disk().usableBytes() < shortBytes) {
                substrate.emptyTrash("space");
            }
        } catch (StorageException failure) {
            substrate.events().failed("the trash could not be emptied", failure);
        }
    }

    /** The disk is full: before anything waits or is refused, the trash goes. */
    static void makeRoom(Substrate substrate) {
        try {
            substrate.emptyTrash("space");
        } catch (StorageException failure) {
            substrate.events().failed("the trash could not be emptied", failure);
        }
    }
}
