package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.scan.RecordsInTurn;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The matching records that can be among the first few of a secondary key, newest first, by an
 * index that has this order; a few more may come, and all in no order.
 *
 * <ol>
 *   <li>gather: of all partitions the newest valid entries, a batch of them, by (timestamp
 *       descending, primary key);
 *   <li>look their records up, each in the one component that covers its timestamp, by several
 *       workers where pages are read, and hand on those that match;
 *   <li>next batch, four times as large, while fewer match than are wanted.
 * </ol>
 *
 * <p>A valid entry is that of its record's present version, so each record comes once.
 * <em>Confined to one thread.</em>
 */
public final class NewestRecords extends RecordsInTurn {
    private static final long BATCH_GROWTH = 4;

    private final ReadView view;
    private final IndexRange range;
    private final Wanted wanted;
    private final FetchOptions options;
    private final LookupWorkers workers;
    private final boolean ownsWorkers;
    private final NearestRecords.Meters meters;
    private final StopLooks looks;
    private final Front[] fronts;
    private final RecordView record;
    private long batchCountMax;
    private boolean isOpen;

    /** Of the batch: the partition whose records are looked up next. */
    private int next;

    /** Stands on an entry of the batch before: another may never be wanted. */
    private @Nullable Front last;

    private boolean isAtEnd;
    private long matchCount;
    private long visitedCount;

    /**
     * What is wanted.
     *
     * @param count how many records, at least
     * @param predicates all must hold
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    public record Wanted(long count, RecordPredicate[] predicates) {}

    /**
     * Reads some partitions.
     *
     * @param range of one secondary key, newest first
     * @param lookup how records are got by the keys that are found
     * @param looks asks whether the reader is to stop
     */
    public NewestRecords(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            Wanted wanted,
            FetchedRecords.Lookup lookup,
            NearestRecords.Meters meters,
            StopLooks looks) {
        this(view, partitions, range, wanted, lookup, meters, looks, null);
    }

    /** The same with workers of somebody else, who closes them; null for its own. */
    NewestRecords(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            Wanted wanted,
            FetchedRecords.Lookup lookup,
            NearestRecords.Meters meters,
            StopLooks looks,
            @Nullable LookupWorkers shared) {
        this.view = view;
        this.range = range;
        this.wanted = wanted;
        this.options = lookup.options().withPruning(FetchOptions.Pruning.EXACT);
        this.ownsWorkers = shared == null;
        this.workers =
                shared == null ? new LookupWorkers(lookup.tasks(), lookup.workerCount()) : shared;
        this.meters = meters;
        this.looks = looks;
        this.record = new RecordView(view.source().type());
        int keyBytes = Math.max(
                Limits.KEY_BYTES_MAX, lookup.keyBytesMax() / Math.max(1, partitions.size()));
        this.fronts = new Front[partitions.size()];
        for (int i = 0; i < fronts.length; i++) {
            fronts[i] = new Front(partitions.get(i), keyBytes);
        }
        long enough = wanted.predicates().length == 0 ? 1 : BATCH_GROWTH;
        this.batchCountMax = Math.min(Integer.MAX_VALUE, wanted.count()) * enough;
    }

    /** The entries of a partition. */
    private final class Front {
        private final int partition;
        private final KeyBatch batch;
        private final ByteSink keyBytes = new ByteSink(64, 2 * Limits.KEY_BYTES_MAX);
        private final Slice key = new Slice();
        private @Nullable ValidSearch search;
        private boolean standsOnEntry;
        private long timestamp;

        Front(int partition, int keyBytesMax) {
            this.partition = partition;
            this.batch = new KeyBatch(keyBytesMax);
        }

        void open() {
            int each = (int) Math.min(1 << 16, (batchCountMax + fronts.length - 1) / fronts.length);
            search = ValidSearch.open(
                    view,
                    partition,
                    range.index(),
                    range.search(),
                    range.filter(),
                    Math.max(1, each));
            advance();
        }

        void advance() {
            ValidSearch entries = search();
            standsOnEntry = entries.next();
            if (standsOnEntry) {
                timestamp = entries.timestamp();
                keyBytes.clear().putBytes(entries.primaryKey()).asSlice(key);
            }
        }

        private ValidSearch search() {
            ValidSearch open = search;
            if (open == null) {
                throw new IllegalStateException("the search is closed");
            }
            return open;
        }

        boolean isBefore(Front other) {
            return timestamp != other.timestamp
                    ? timestamp > other.timestamp
                    : key.compareBytes(other.key) < 0;
        }

        boolean add() {
            return batch.add(key, timestamp);
        }

        void close() {
            ValidSearch open = search;
            if (open != null) {
                search = null;
                meters.searched().add(open.candidateCount());
                meters.searches().add(open.work(), open.layers());
                open.close();
            }
        }
    }

    @Override
    public boolean next() {
        while (true) {
            RecordStream found = current();
            if (found != null) {
                while (found.next()) {
                    visitedCount++;
                    looks.look();
                    if (matches(found)) {
                        matchCount++;
                        return true;
                    }
                }
                closeRecords();
            }
            if (!lookUp() && (isAtEnd || matchCount >= wanted.count() || !gather())) {
                return false;
            }
        }
    }

    private boolean matches(RecordStream found) {
        record.wrap(found.record());
        for (RecordPredicate predicate : wanted.predicates()) {
            if (!predicate.matches(record)) {
                return false;
            }
        }
        return true;
    }

    /** Gathers a batch; false if there is nothing left. */
    private boolean gather() {
        if (!isOpen) {
            isOpen = true;
            for (Front front : fronts) {
                front.open();
            }
        }
        for (Front front : fronts) {
            front.batch.clear();
        }
        next = 0;
        Front shown = last;
        last = null;
        if (shown != null) {
            shown.advance();
        }
        long gathered = 0;
        while (gathered < batchCountMax) {
            Front front = newestFront();
            if (front == null) {
                isAtEnd = true;
                break;
            }
            if (!front.add()) {
                break;
            }
            gathered++;
            looks.look();
            if (gathered < batchCountMax) {
                front.advance();
            } else {
                last = front;
            }
        }
        batchCountMax = Math.min(Integer.MAX_VALUE, batchCountMax) * BATCH_GROWTH;
        return gathered > 0;
    }

    private @Nullable Front newestFront() {
        Front newest = null;
        for (Front front : fronts) {
            if (front.standsOnEntry && (newest == null || front.isBefore(newest))) {
                newest = front;
            }
        }
        return newest;
    }

    /** Opens the records of the next partition that the batch has keys of. */
    private boolean lookUp() {
        while (next < fronts.length) {
            Front front = fronts[next++];
            if (front.batch.size() > 0) {
                front.batch.sortDistinct();
                meters.distinct().add(front.batch.size());
                standOn(workers.fetch(view, front.partition, front.batch, options));
                return true;
            }
        }
        return false;
    }

    /** Records found by the keys. */
    @Override
    public long visitedCount() {
        return visitedCount;
    }

    private void closeRecords() {
        workers.rest();
        RecordStream open = current();
        if (open != null) {
            standOn(null);
            open.close();
            meters.work().add(open.work(), open.layers());
        }
    }

    @Override
    public void close() {
        Cleanup cleanup = new Cleanup().add(this::closeRecords);
        if (ownsWorkers) {
            cleanup.add(workers::close);
        }
        for (Front front : fronts) {
            cleanup.add(front::close);
        }
        cleanup.run();
    }
}
