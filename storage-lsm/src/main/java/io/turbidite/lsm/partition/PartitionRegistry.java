package io.turbidite.lsm.partition;

import io.turbidite.core.Cleanup;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * All partitions of a store, and what they stand on.
 *
 * <p><em>Thread-safe.</em>
 */
public final class PartitionRegistry {
    private final CopyOnWriteArrayList<Partition> partitions = new CopyOnWriteArrayList<>();

    /** Of datasets that were dropped while somebody read them. */
    private final CopyOnWriteArrayList<Partition> dropped = new CopyOnWriteArrayList<>();

    private final StoreCore core;

    /** A registry of none yet. */
    public PartitionRegistry(StoreCore core) {
        this.core = core;
        core.quarantine().lookIn(partitions);
    }

    public StoreCore core() {
        return core;
    }

    public void add(Partition partition) {
        partitions.add(partition);
    }

    /** Drops a partition, and what it holds in memory: see {@link CurrentVersion#drop}. */
    public void drop(Partition partition) {
        dropped.add(partition);
        partitions.remove(partition);
        core.account().forget(partition.schema().id());
        core.account().addUnflushed(-partition.reportedBytes());
        partition.drop();
    }

    public List<Partition> all() {
        return partitions;
    }

    /**
     * Takes old versions from idle cursors, and forgets dropped partitions that nobody reads any
     * more.
     */
    public void letIdleCursorsGo() {
        partitions.forEach(partition -> partition.current().letIdleCursorsGo());
        dropped.forEach(partition -> partition.current().letIdleCursorsGo());
        dropped.removeIf(partition -> partition.versionCount() == 0);
    }

    /** Closes all partitions, as {@link Partition#close} says. */
    public void close() {
        new Cleanup()
                .addAll(partitions, Partition::close)
                .addAll(dropped, Partition::close)
                .run();
    }

    /** The partition of these whose current layer holds the most memory; null if all are empty. */
    @Nullable
    public Partition largest(Predicate<Partition> of) {
        Partition largest = null;
        long most = 0;
        for (Partition partition : partitions) {
            long bytes = partition.currentBytes();
            if (bytes > most && of.test(partition)) {
                most = bytes;
                largest = partition;
            }
        }
        return largest;
    }

    /** The partition that keeps the most log alive; null if none keeps any. */
    @Nullable
    public Partition oldest() {
        Partition oldest = null;
        long least = Long.MAX_VALUE;
        for (Partition partition : partitions) {
            long position = partition.replayFrom(false);
            if (partition.unflushedBytes() > 0 && position < least) {
                least = position;
                oldest = partition;
            }
        }
        return oldest;
    }

    /**
     * From where the log must be replayed, once the frozen layer of {@code flushed} is on disk.
     *
     * @param flushed null if nothing is being flushed
     * @param nothing what to answer if there is no partition
     */
    public long replayFrom(@Nullable Partition flushed, long nothing) {
        long least = nothing;
        for (Partition partition : partitions) {
            boolean skipFrozen = flushed != null && partition.equals(flushed);
            least = Math.min(least, partition.replayFrom(skipFrozen));
        }
        return least;
    }
}
