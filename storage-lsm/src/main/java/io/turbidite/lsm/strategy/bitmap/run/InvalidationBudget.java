package io.turbidite.lsm.strategy.bitmap.run;

import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.WritePace;
import io.turbidite.lsm.schedule.WriterMeter;

import java.util.List;

/**
 * Bounds what live bitmaps hold for readers of the past: as long as a snapshot is open, the time of
 * each invalidation since then has to be known (design §4 rule 5), some 20 to 40 bytes each.
 *
 * <p>Invariant: an invalidation that was let in is never refused. So writers are asked before they
 * hold anything, and what those that are in flight bring comes on top of the bound.
 *
 * <p><em>Thread-safe</em>, but for {@link #forget}, which is the flush worker's.
 */
public final class InvalidationBudget {
    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final long bytesMax;

    /** Nothing more can be forgotten until the horizon has passed it. */
    private long forgottenUpTo = -1;

    /**
     * @param bytesMax from where on writers are held
     */
    public InvalidationBudget(PartitionRegistry partitions, long bytesMax) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.bytesMax = bytesMax;
    }

    private long bytesUsed() {
        return core.bitmaps().invalidations().bytesUsed();
    }

    public boolean isFull() {
        return bytesUsed() >= bytesMax;
    }

    /** Gives back what nobody needs any more, once half of the room is taken. */
    public void forget() {
        if (bytesUsed() < bytesMax / 2) {
            return;
        }
        long horizon = core.timestamps().horizon();
        if (horizon > forgottenUpTo) {
            forgottenUpTo = horizon;
            partitions.all().forEach(Partition::forgetInvalidations);
            core.tasks().signal();
        }
    }

    /**
     * Returns when there is room; to be called before anything is held.
     *
     * @throws io.turbidite.core.StoreFailedException if the store failed while waiting
     * @throws StorageIoException if readers of long ago stay
     */
    public void await() {
        long startNanos = core.clock().monotonicNanos();
        core.awaitBeforeWrite(
                "snapshots that keep invalidations",
                () -> !isFull() || waitedNanos(startNanos) >= WritePace.REFUSE_NANOS);
        long waitedNanos = waitedNanos(startNanos);
        WriterMeter.of(core.meters()).stalls().record(waitedNanos);
        core.events().stalled("an old snapshot keeps invalidations", waitedNanos);
        core.health().checkWritable();
        if (isFull()) {
            throw refusal();
        }
    }

    private long waitedNanos(long startNanos) {
        return core.clock().monotonicNanos() - startNanos;
    }

    private StorageIoException refusal() {
        List<Timestamps.HeldSnapshot> held = core.timestamps().snapshots();
        long ageNanos = held.isEmpty() ? 0 : held.getFirst().ageNanos();
        return new StorageIoException(
                StorageIoException.Kind.NO_SPACE,
                "write",
                "the store",
                "%d bytes of invalidations are kept for snapshots and views, of which the oldest is open for %d s; at most %d may be: close it; the store takes writes again then"
                        .formatted(bytesUsed(), ageNanos / 1_000_000_000, bytesMax),
                null);
    }
}
