package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.scan.RecordsInTurn;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.IndexWalk;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The matching records that can be among the first few of an order, by a B+-tree whose keys have
 * it; a few more may come, and all in no order: whoever sorts them finds the first few.
 *
 * <ol>
 *   <li>gather: of all partitions the next entries in key order, a batch of them;
 *   <li>look their records up, partition by partition, and hand on those that match. Where an entry
 *       may be obsolete, its record is one of the batch only if the entry that it has now lies
 *       between the first entry of this batch and that of the next one; so each record comes once;
 *   <li>next batch, four times as large, while fewer match than are wanted. Then the entries that
 *       are equal to the last one in what the order goes by, as any of them may come before it.
 * </ol>
 *
 * <p>The first batch is small: most readers want ten rows. <em>Confined to one thread.</em>
 */
public final class IndexOrderRecords extends RecordsInTurn {
    /** Where some records may not match, a few at once are hardly dearer than one. */
    private static final long FIRST_BATCH_COUNT = 16;

    private static final long BATCH_GROWTH = 4;

    private final ReadView view;
    private final IndexRange range;
    private final IndexWalk walk;
    private final NewestRecords.Wanted wanted;
    private final FetchOptions options;

    /** For candidates without timestamps. */
    private final FetchOptions unprunedOptions;

    private final LookupWorkers workers;
    private final NearestRecords.Meters meters;
    private final StopLooks looks;
    private final Front[] fronts;
    private final RecordView record;

    /** Whether entries have the timestamps of versions, by which layers can be left out. */
    private final boolean hasVersions;

    /** Whether entries that the source does not vouch for may be obsolete. */
    private final boolean isDoubtful;

    /** Made for the first batch that has a doubtful entry. */
    private @Nullable EntriesOfRecord entriesOfRecord;

    private long batchCountMax;
    private boolean isOpen;

    /** The first entry of the batch; none where nothing lies before it. */
    private final ByteSink beginBytes = newSink();

    private final Slice begin = new Slice();
    private boolean hasBegin;

    /** The first entry that is not in the batch; none where nothing lies behind it. */
    private final ByteSink endBytes = newSink();

    private final Slice end = new Slice();
    private boolean hasEnd;

    /** The last entry of the batch. */
    private final ByteSink lastBytes = newSink();

    private final Slice last = new Slice();

    /** Whether an entry of the batch may be obsolete. */
    private boolean hasDoubtful;

    /** Of the batch: the partition whose records are looked up next. */
    private int next;

    private long matchCount;
    private long visitedCount;

    /**
     * Reads some partitions.
     *
     * @param range of keys
     * @param walk in which direction, and what are ties
     * @param wanted how many records, at least, and what must hold of them
     * @param matchesAll whether each record that is found is expected to match
     * @param lookup how records are got by the keys that are found
     * @param checkNotStopped throws where the reader is to stop
     */
    public IndexOrderRecords(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            IndexWalk walk,
            NewestRecords.Wanted wanted,
            boolean matchesAll,
            FetchedRecords.Lookup lookup,
            NearestRecords.Meters meters,
            Runnable checkNotStopped) {
        this.view = view;
        this.range = range;
        this.walk = walk;
        this.wanted = wanted;
        this.options = lookup.options();
        this.unprunedOptions = options.withPruning(FetchOptions.Pruning.NONE);
        this.workers = new LookupWorkers(lookup.tasks(), lookup.workerCount());
        this.meters = meters;
        this.looks = new StopLooks(checkNotStopped);
        this.record = new RecordView(view.source().type());
        this.hasVersions = !range.index().alwaysValid();
        this.isDoubtful = hasVersions || !range.filter().isNone();
        int keyBytes = Math.max(
                Limits.KEY_BYTES_MAX, lookup.keyBytesMax() / Math.max(1, partitions.size()));
        this.fronts = new Front[partitions.size()];
        for (int i = 0; i < fronts.length; i++) {
            fronts[i] = new Front(partitions.get(i), keyBytes);
        }
        this.batchCountMax = matchesAll && !isDoubtful
                ? wanted.count()
                : Math.max(FIRST_BATCH_COUNT, wanted.count());
    }

    private static ByteSink newSink() {
        return new ByteSink(64, Integer.MAX_VALUE - 8);
    }

    /** The entries of a partition. */
    private final class Front {
        private final int partition;
        private final KeyBatch batch;
        private final ByteSink bytes = newSink();

        /** The secondary key with the primary key behind it. */
        private final Slice entry = new Slice();

        private final Slice primaryKey = new Slice();
        private @Nullable IndexCursor cursor;
        private long entryCount;
        private boolean standsOnEntry;
        private long timestamp;
        private long checkedUntil;

        Front(int partition, int keyBytesMax) {
            this.partition = partition;
            this.batch = new KeyBatch(keyBytesMax);
        }

        void open() {
            IndexCursor entries =
                    view.search(partition, range.index().name(), range.search(), range.filter());
            cursor = entries;
            if (walk.descending()) {
                entries.seekEnd();
            }
            advance(entries);
        }

        void advance() {
            IndexCursor open = cursor;
            if (open == null) {
                throw new IllegalStateException("the search is closed");
            }
            advance(open);
        }

        private void advance(IndexCursor entries) {
            standsOnEntry = walk.descending() ? entries.previous() : entries.next();
            if (standsOnEntry) {
                entryCount++;
                bytes.clear().putBytes(entries.secondaryKey());
                int before = bytes.length();
                bytes.putBytes(entries.primaryKey()).asSlice(entry);
                primaryKey.set(entry.segment(), entry.offset() + before, entry.length() - before);
                timestamp = entries.timestamp();
                checkedUntil = entries.checkedUntil();
            }
        }

        boolean add() {
            boolean fits = hasVersions
                    ? batch.add(primaryKey, timestamp, checkedUntil)
                    : batch.add(primaryKey);
            hasDoubtful |= fits && isDoubtful && checkedUntil != Long.MAX_VALUE;
            return fits;
        }

        void close() {
            IndexCursor open = cursor;
            if (open != null) {
                cursor = null;
                standsOnEntry = false;
                meters.searched().add(entryCount);
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
            if (!lookUp() && !gather()) {
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
        return !hasDoubtful || belongsToBatch(found);
    }

    /** Whether the entry that the record has now is one of the batch. */
    private boolean belongsToBatch(RecordStream found) {
        EntriesOfRecord entries = entriesOfRecord;
        if (entries == null) {
            entries = new EntriesOfRecord(view.source().type(), range);
            entriesOfRecord = entries;
        }
        Slice entry = entries.smallest(found);
        return entry != null
                && (!hasBegin || walk.compare(entry, begin) >= 0)
                && (!hasEnd || walk.compare(entry, end) < 0);
    }

    /** Gathers a batch; false if nothing that is left can be among the rows that are wanted. */
    private boolean gather() {
        if (!isOpen) {
            isOpen = true;
            for (Front front : fronts) {
                front.open();
            }
        } else if (!hasEnd) {
            return false;
        }
        for (Front front : fronts) {
            front.batch.clear();
        }
        next = 0;
        hasDoubtful = false;
        hasBegin = hasEnd;
        if (hasEnd) {
            beginBytes.clear().putBytes(end).asSlice(begin);
        }
        boolean isEnough = matchCount >= wanted.count();
        boolean isAny = false;
        Front front = first();
        for (long gathered = 0; front != null && gathered < batchCountMax; gathered++) {
            if (isEnough && (walk.isExact() || !walk.areTies(last, front.entry))) {
                break;
            }
            if (!front.add()) {
                break;
            }
            isAny = true;
            lastBytes.clear().putBytes(front.entry).asSlice(last);
            looks.look();
            front.advance();
            front = first();
        }
        hasEnd = front != null;
        if (front != null) {
            endBytes.clear().putBytes(front.entry).asSlice(end);
        }
        batchCountMax = Math.min(Integer.MAX_VALUE, batchCountMax) * BATCH_GROWTH;
        return isAny;
    }

    /** The partition whose entry comes first; null at the end. */
    private @Nullable Front first() {
        Front first = null;
        for (Front front : fronts) {
            if (front.standsOnEntry
                    && (first == null || walk.compare(front.entry, first.entry) < 0)) {
                first = front;
            }
        }
        return first;
    }

    /** Opens the records of the next partition that the batch has keys of. */
    private boolean lookUp() {
        while (next < fronts.length) {
            Front front = fronts[next++];
            if (front.batch.size() > 0) {
                front.batch.sortDistinct();
                meters.distinct().add(front.batch.size());
                FetchOptions ofBatch = front.batch.hasTimestamps() ? options : unprunedOptions;
                standOn(workers.fetch(view, front.partition, front.batch, ofBatch));
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
        Cleanup cleanup = new Cleanup().add(this::closeRecords).add(workers::close);
        for (Front front : fronts) {
            cleanup.add(front::close);
        }
        cleanup.run();
    }
}
