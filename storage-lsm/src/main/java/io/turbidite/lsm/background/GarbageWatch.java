package io.turbidite.lsm.background;

import io.turbidite.lsm.merge.run.MergeWork;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.validation.AutoRepair;
import io.turbidite.lsm.strategy.validation.RepairWork;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Watches the obsolete entries of indexes whose strategy leaves it to the store when to clear them
 * away: of those under auto ({@link AutoRepair}), and of deferred ones, whose garbage goes with
 * merges of the primary (DEFER18): where its policy wants none, one is made up when more than a
 * fifth is garbage, and nobody is in the way or a query passed over more than one should.
 *
 * <p>It looks whenever components were installed, and now and then: for queries and for quiet,
 * which install nothing. <em>Thread-safe:</em> one at a time looks, others go on.
 */
final class GarbageWatch {
    private static final long LOOK_NANOS = 200_000_000;

    /** Between two looks of workers that have nothing to repair. */
    private static final long WATCHING_MICROS = 100_000;

    private static final long REST_MICROS = 1_000_000;

    /** Nobody has written for so long: writers are quiet. */
    static final long QUIET_NANOS = 1_000_000_000;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final MergeWork merges;
    private final BooleanSupplier flushWaits;
    private final AutoRepair repairs;

    /**
     * No lock: what is looked at may wait for other workers, and a simulated wait runs them inside
     * itself.
     */
    private final AtomicBoolean looking = new AtomicBoolean();

    private long seenInstalls = -1;
    private long nextLookNanos;

    /** The last operation that was seen, and since when it is the last. */
    private long lastWrite;

    private volatile long lastWriteNanos;

    GarbageWatch(
            PartitionRegistry partitions,
            RepairWork work,
            MergeWork merges,
            BooleanSupplier flushWaits) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.merges = merges;
        this.flushWaits = flushWaits;
        this.repairs = new AutoRepair(core, work, this::isQuiet);
        this.lastWriteNanos = core.clock().monotonicNanos();
    }

    /**
     * How long nobody needs to look: where an index moves its repair by itself, or garbage waits
     * for a quiet time, that comes without a word.
     */
    long restMicros() {
        boolean watches = partitions.all().stream()
                .anyMatch(partition ->
                        hasAuto(partition.schema()) || partition.garbage().isUrgent());
        return watches ? WATCHING_MICROS : REST_MICROS;
    }

    /** Looks, if it is time to. */
    void look() {
        if (!looking.compareAndSet(false, true)) {
            return;
        }
        try {
            long now = core.clock().monotonicNanos();
            long installs = core.account().installCount();
            if (installs == seenInstalls && now < nextLookNanos) {
                return;
            }
            seenInstalls = installs;
            nextLookNanos = now + LOOK_NANOS;
            long write = core.timestamps().lastDrawn();
            if (write != lastWrite) {
                lastWrite = write;
                lastWriteNanos = now;
            }
            if (core.health().firstFailure() == null) {
                look(now);
            }
        } finally {
            looking.set(false);
        }
    }

    private void look(long now) {
        Map<Integer, List<Partition>> autos = new HashMap<>();
        Map<Integer, List<Partition>> urgent = new HashMap<>();
        for (Partition partition : partitions.all()) {
            DatasetSchema schema = partition.schema();
            if (hasAuto(schema)) {
                autos.computeIfAbsent(schema.id(), _ -> new ArrayList<>()).add(partition);
            }
            if (partition.garbage().isUrgent()) {
                urgent.computeIfAbsent(schema.id(), _ -> new ArrayList<>()).add(partition);
            }
        }
        urgent.values().forEach(this::lookAtDeferred);
        repairs.look(autos.values(), now);
    }

    static boolean hasAuto(DatasetSchema schema) {
        return schema.indexes().stream().anyMatch(index -> index.maintenance() == Maintenance.AUTO);
    }

    private void lookAtDeferred(List<Partition> ofDataset) {
        Partition any = ofDataset.getFirst();
        long passedOver = 0;
        for (IndexSchema index : any.schema().deferredIndexes()) {
            passedOver = Math.max(passedOver, any.work().takePassedOverMost(index.id()));
        }
        if (passedOver > 0) {
            ofDataset.forEach(partition -> merges.takeGarbage(partition, "query"));
        } else if (isQuiet()) {
            ofDataset.forEach(partition -> merges.takeGarbage(partition, "idle"));
        }
    }

    /** Whether nobody writes, and neither flushes nor merges wait. */
    private boolean isQuiet() {
        return core.clock().monotonicNanos() - lastWriteNanos >= QUIET_NANOS
                && merges.count() == 0
                && !flushWaits.getAsBoolean();
    }
}
