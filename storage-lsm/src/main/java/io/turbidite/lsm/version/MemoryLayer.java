package io.turbidite.lsm.version;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.memory.ChunkSource;
import io.turbidite.lsm.memory.KeyFilter;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory components of all indexes of a partition, with one filter and one coverage: they are
 * written, frozen, flushed and let go together.
 *
 * <p><em>Thread-safe</em> while current (writers are inside the partition's gate); read-only once
 * frozen.
 */
public final class MemoryLayer {
    /** Steps in which growth is reported, so that writers rarely touch the shared account. */
    private static final long GRAIN_BYTES = 64 << 10;

    private final int[] treeNumbers;
    private final MemoryComponent[] trees;
    private final KeyFilter keys;
    private final FilterTracker filter;
    private final long minTimestamp;
    private final long logPosition;
    private volatile @Nullable BuildConcurrency concurrency;
    private final AtomicInteger references = new AtomicInteger(1);
    private final AtomicLong reportedBytes = new AtomicLong();
    private final long minWallMicros;
    private volatile long maxWallMicros;
    private volatile long maxTimestamp = -1;

    /**
     * @param minTimestamp the first timestamp it covers
     * @param logPosition every record of an operation in this layer is at or behind it
     * @param wallMicros now
     */
    public MemoryLayer(
            ChunkSource chunks,
            DatasetSchema schema,
            long minTimestamp,
            long logPosition,
            long wallMicros) {
        this.treeNumbers =
                schema.layerTreeIds().stream().mapToInt(TreeId::number).toArray();
        this.trees = new MemoryComponent[treeNumbers.length];
        for (int i = 0; i < trees.length; i++) {
            trees[i] = MemoryComponent.create(chunks);
        }
        this.keys = KeyFilter.create(chunks);
        this.filter = new FilterTracker(schema.filter());
        this.minTimestamp = minTimestamp;
        this.logPosition = logPosition;
        this.minWallMicros = wallMicros;
        this.maxWallMicros = wallMicros;
    }

    /** The component of a tree. */
    public MemoryComponent tree(TreeId tree) {
        for (int i = 0; i < treeNumbers.length; i++) {
            if (treeNumbers[i] == tree.number()) {
                return trees[i];
            }
        }
        throw new IllegalArgumentException("no tree %s in this layer".formatted(tree));
    }

    /** Whether the index was there when the layer was made. */
    public boolean hasTree(TreeId tree) {
        for (int number : treeNumbers) {
            if (number == tree.number()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Notes a primary key by its hash; comes before the key's entry is put into the primary.
     */
    public void noteKey(long hash) {
        keys.add(hash);
    }

    /** False: no operation of this layer has the primary key of this hash. */
    public boolean mayContainKey(long hash) {
        return keys.mayContain(hash);
    }

    /**
     * False: no operation of this layer can be seen yet. {@link #isEmpty} may still say so when one
     * can.
     */
    public boolean hasKeys() {
        return keys.hasKeys();
    }

    /** Widens the filter by a value of a filter field. */
    public void widenFilter(int field, Slice encoded) {
        filter.widen(field, encoded);
    }

    /** Notes that a record without a value of the filter field came in. */
    public void widenFilterByAbsent(int field) {
        filter.markAbsent(field);
    }

    /** Notes that something unknown came in: no filter field prunes the layer any more. */
    public void widenFilterByAll() {
        filter.markUnknown();
    }

    public boolean mayMatch(FilterPredicate predicate) {
        return filter.mayMatch(predicate);
    }

    /** As {@link ComponentFilter#ruledOutBy}, of what came in so far. */
    public int ruledOutBy(FilterPredicate predicate) {
        return filter.ruledOutBy(predicate);
    }

    public ComponentFilter filter() {
        return filter.snapshot();
    }

    /** Says which timestamp is the last one covered; no writer comes after. */
    public void freeze(long lastTimestamp, long wallMicros) {
        maxWallMicros = wallMicros;
        maxTimestamp = lastTimestamp;
    }

    /**
     * Gives the layer its build concurrency, which it owns from now on: its entries are copied into
     * a component with a live bitmap. Inside the closed gate, when it is frozen.
     */
    public void open(BuildConcurrency opened) {
        concurrency = opened;
    }

    /** Is told of invalidations of its entries while it is frozen; null under other strategies. */
    public @Nullable BuildConcurrency concurrency() {
        return concurrency;
    }

    public long minTimestamp() {
        return minTimestamp;
    }

    /** When the layer became current. */
    public long minWallMicros() {
        return minWallMicros;
    }

    /** When it was frozen. */
    public long maxWallMicros() {
        return maxWallMicros;
    }

    /** The last timestamp covered, or -1 while the layer is current. */
    public long maxTimestamp() {
        return maxTimestamp;
    }

    public long logPosition() {
        return logPosition;
    }

    /** Whether no entry was put; an operation always puts one into the primary. */
    public boolean isEmpty() {
        return trees[0].entryCount() == 0;
    }

    /** Memory held by all components together, and by its build concurrency. */
    public long bytesUsed() {
        long bytes = 0;
        for (MemoryComponent tree : trees) {
            bytes += tree.bytesUsed();
        }
        BuildConcurrency opened = concurrency;
        return opened == null ? bytes : bytes + opened.bytesUsed();
    }

    /**
     * How much memory the layer has taken since this was last asked, if that is a step of {@link
     * #GRAIN_BYTES} at least; otherwise 0. The answers add up to {@link #reportedBytes}.
     */
    public long takeGrowth() {
        long before = reportedBytes.get();
        long growth = bytesUsed() - before;
        return growth >= GRAIN_BYTES && reportedBytes.compareAndSet(before, before + growth)
                ? growth
                : 0;
    }

    /** Memory taken, as far as it was asked for by {@link #takeGrowth}. */
    public long reportedBytes() {
        return reportedBytes.get();
    }

    void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "memory layer was let go";
    }

    /** Lets one reference go; the last one gives the memory back. */
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "memory layer is let go twice";
        if (left == 0) {
            for (MemoryComponent tree : trees) {
                tree.close();
            }
            keys.close();
            BuildConcurrency opened = concurrency;
            if (opened != null) {
                opened.close();
            }
        }
    }
}
