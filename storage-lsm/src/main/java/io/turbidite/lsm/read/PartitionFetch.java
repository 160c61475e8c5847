package io.turbidite.lsm.read;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionLease;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

/**
 * The live records of sorted keys, as a {@link KeyLookup} finds them.
 *
 * <p><em>Confined to one thread</em>, but for {@link #close()}. Holds a version by a
 * {@link VersionLease}, which may be taken from it while it is idle; between two batches it lets go
 * of an old one by itself. What it stands on is a copy.
 */
final class PartitionFetch implements RecordStream {
    private final Partition partition;
    private final ViewState view;
    private final KeyBatch keys;
    private final KeyLookup lookup = new KeyLookup();
    private final @Nullable OrderedLookup ordered;
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private final FilterPredicate filter;
    private final VersionLease hold;
    private long timestamp;
    private boolean onRecord;

    /**
     * Records found that are older or newer than the candidates that named them; -1 if nobody
     * counts.
     */
    private long outdatedCount;

    private long foundCount;
    private boolean isExhausted;

    PartitionFetch(Partition partition, ViewState view, KeyBatch sortedKeys, FetchOptions options) {
        this.partition = partition;
        this.view = view;
        this.keys = sortedKeys;
        this.ordered = options.orderBytes() > 0 && options.batchBytes() > 0
                ? new OrderedLookup(lookup, options.orderBytes())
                : null;
        this.outdatedCount = sortedKeys.hasTimestamps() && view.readsCandidates() ? 0 : -1;
        this.filter = options.filter();
        lookup.begin(sortedKeys, view.timestamp(), options);
        this.hold = new VersionLease(partition, view, this::end);
    }

    @Override
    public boolean next() {
        hold.enter();
        try {
            onRecord = false;
            if (hold.version() == null) {
                lookup.moveTo(hold.pin());
                lookup.considered().end(partition, TreeId.PRIMARY, filter);
            }
            onRecord = ordered == null ? nextFound() : nextInOrder(ordered);
            isExhausted |= !onRecord;
            return onRecord;
        } finally {
            hold.leave();
        }
    }

    private boolean nextFound() {
        while (!lookup.next()) {
            if (!lookup.nextBatch(Integer.MAX_VALUE)) {
                return false;
            }
            moveToNewest();
        }
        stand(lookup.index(), lookup.timestamp());
        lookup.record(record);
        return true;
    }

    private boolean nextInOrder(OrderedLookup batch) {
        while (!batch.next()) {
            moveToNewest();
            if (!batch.nextBatch()) {
                return false;
            }
        }
        stand(batch.index(), batch.timestamp());
        batch.record(record);
        return true;
    }

    private void stand(int index, long newTimestamp) {
        keys.key(index, key);
        timestamp = newTimestamp;
        foundCount++;
        if (outdatedCount >= 0 && keys.timestamp(index) != newTimestamp) {
            outdatedCount++;
        }
    }

    /** Between two batches nothing is lost by going over to the newest version. */
    private void moveToNewest() {
        Version version = hold.version();
        if (version != null && !partition.isCurrent(version)) {
            lookup.leaveVersion();
            lookup.moveTo(hold.pin());
        }
    }

    private void end() {
        lookup.close();
        if (isExhausted && outdatedCount >= 0) {
            // what has no record was deleted; behind a filter it may be in a layer passed over
            long decided = filter.isNone() ? keys.size() : foundCount;
            long obsolete = decided - foundCount + outdatedCount;
            view.validated(partition.work(), decided - toldCount(), obsolete);
        }
        FetchWork work = lookup.work();
        partition.work().pinned(work.pageCount(), work.missCount());
        FetchMeter.of(partition.core().meters()).add(work);
    }

    /** Of the keys those that were certain, and counted when they were found. */
    private long toldCount() {
        long told = 0;
        if (view.tellsCertain() && filter.isNone()) {
            for (int i = 0; i < keys.size(); i++) {
                told += keys.checkedUntil(i) == Long.MAX_VALUE ? 1 : 0;
            }
        }
        return told;
    }

    @Override
    public Slice key() {
        checkOnRecord();
        return key;
    }

    @Override
    public long timestamp() {
        checkOnRecord();
        return timestamp;
    }

    @Override
    public Slice record() {
        checkOnRecord();
        return record;
    }

    private void checkOnRecord() {
        if (!onRecord || hold.isClosed()) {
            view.checkOpen();
            if (hold.isClosed()) {
                throw new ClosedException("the cursor");
            }
            throw new IllegalStateException("the cursor stands on no record");
        }
    }

    @Override
    public long visitedCount() {
        return lookup.work().keyCount();
    }

    @Override
    public FetchWork work() {
        return lookup.work();
    }

    @Override
    public LayerWork layers() {
        return lookup.considered().work();
    }

    @Override
    public void close() {
        hold.close();
    }

    @Override
    public String toString() {
        return "fetch of %d keys from %s".formatted(keys.size(), partition);
    }
}
