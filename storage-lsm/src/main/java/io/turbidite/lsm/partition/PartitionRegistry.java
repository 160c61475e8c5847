package io.turbidite.lsm.partition;

import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.DatasetState;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * All partitions of a store, and the account of the memory that their unflushed layers hold together.
 *
 * <p><em>Thread-safe.</em>
 */
public final class PartitionRegistry {
    private final CopyOnWriteArrayList<Partition> partitions = new CopyOnWriteArrayList<>();
    private final AtomicLong unflushedBytes = new AtomicLong();
    private final AtomicLong installCount = new AtomicLong();

    /** Of datasets that were dropped while somebody read them. */
    private final CopyOnWriteArrayList<Partition> dropped = new CopyOnWriteArrayList<>();

    private final AtomicInteger nextOrder = new AtomicInteger();

    /** By dataset id. */
    private final Map<Integer, WorkMeter> works = new ConcurrentHashMap<>();

    int newOrder() {
        return nextOrder.getAndIncrement();
    }

    public void add(Partition partition) {
        partitions.add(partition);
    }

    /** Takes a partition out, and what it holds in memory; nobody writes to it any more. */
    void remove(Partition partition) {
        dropped.add(partition);
        partitions.remove(partition);
        works.remove(partition.schema().id());
        unflushedBytes.addAndGet(-partition.reportedBytes());
    }

    /** Counts what is done with a dataset, from what the manifest has of it on. */
    WorkMeter work(int datasetId, ManifestState state) {
        return works.computeIfAbsent(datasetId, id -> {
            DatasetState dataset = state.find(id);
            return new WorkMeter(dataset == null ? DatasetCounts.NONE : dataset.counts());
        });
    }

    public List<Partition> all() {
        return partitions;
    }

    /** Takes old versions from idle cursors, and forgets dropped partitions that nobody reads any more. */
    public void letIdleCursorsGo() {
        partitions.forEach(partition -> partition.current().letIdleCursorsGo());
        dropped.forEach(partition -> partition.current().letIdleCursorsGo());
        dropped.removeIf(partition -> partition.versionCount() == 0);
    }

    /** Closes all partitions, as {@link Partition#close} says. */
    public void close() {
        partitions.forEach(Partition::close);
        dropped.forEach(Partition::close);
    }

    /** Memory of all layers that are not on disk yet, in steps of 64 KiB. */
    public long unflushedBytes() {
        return unflushedBytes.get();
    }

    void addUnflushed(long bytes) {
        unflushedBytes.addAndGet(bytes);
    }

    /** How many versions were installed: whoever has seen the count has seen them all. */
    public long installCount() {
        return installCount.get();
    }

    void countInstall() {
        installCount.incrementAndGet();
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
