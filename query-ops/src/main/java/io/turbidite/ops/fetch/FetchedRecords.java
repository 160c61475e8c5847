package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.SpareBatches;
import io.turbidite.core.task.Tasks;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.scan.RecordsInTurn;
import io.turbidite.ops.search.Candidates;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Gets records by a secondary index (LUO19 §3.2), for each partition:
 *
 * <ol>
 *   <li>search: fill a batch with the primary keys of candidates;
 *   <li>sort the batch, drop repeated keys;
 *   <li>look the records up, layer by layer, by several workers where there are many keys, or pages
 *       to be read; they come in no order;
 *   <li>hand them on, to have all predicates checked again (direct validation);
 *   <li>next batch.
 * </ol>
 *
 * <p><em>Confined to one thread.</em>
 */
public final class FetchedRecords extends RecordsInTurn {
    private static final long BATCH_GROWTH = 4;

    /** In place of the batch that was given back. */
    private static final KeyBatch NO_KEYS = new KeyBatch(0);

    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final IntFunction<Candidates> opener;
    private final IndexRange range;
    private KeyBatch batch;
    private final FetchOptions options;

    /** For candidates without timestamps. */
    private final FetchOptions unprunedOptions;

    private final LookupWorkers workers;
    private final Meters meters;

    /** Makes the index entries of a record; made where records may repeat in several batches. */
    private @Nullable EntriesOfRecord entriesOfRecord;

    private long batchCountMax;
    private boolean isClosed;
    private int partition;
    private @Nullable Candidates search;
    private long visitedCount;

    /**
     * How to get from keys to records.
     *
     * @param keyBytesMax most bytes of keys that are sorted together
     * @param countFirst most keys of the first batch, for a reader who may stop early; later ones
     *     grow
     * @param options how a batch is looked up
     * @param tasks where workers run; null: the reader alone
     * @param workerCount workers that look keys up beside the reader
     */
    public record Lookup(
            int keyBytesMax,
            long countFirst,
            FetchOptions options,
            @Nullable Tasks tasks,
            int workerCount) {}

    /**
     * Where to count.
     *
     * @param distinct different primary keys, within a batch
     * @param work what that took
     * @param searching of the search for candidates; null: nobody asks
     * @param sorting of keys, with the search; null: nobody asks
     */
    public record Meters(
            OperatorMeter distinct,
            LookupMeter work,
            @Nullable BatchTimer searching,
            @Nullable BatchTimer sorting) {
        /** The search begins, and with it what sorts its keys. */
        private void begin() {
            if (sorting != null) {
                sorting.begin();
            }
            if (searching != null) {
                searching.begin();
            }
        }

        private void endSearch() {
            if (searching != null) {
                searching.end();
            }
        }

        private void end() {
            if (sorting != null) {
                sorting.end();
            }
        }
    }

    /**
     * Reads some partitions.
     *
     * @param opener searches a partition for candidates
     * @param range what candidates that may repeat come from
     * @param lookup how records are got by the keys that are found
     */
    public FetchedRecords(
            ReadView view,
            List<Integer> partitions,
            IntFunction<Candidates> opener,
            IndexRange range,
            Lookup lookup,
            Meters meters) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.opener = opener;
        this.range = range;
        this.batch = SpareBatches.take(lookup.keyBytesMax());
        this.batchCountMax = lookup.countFirst();
        this.options = lookup.options();
        this.unprunedOptions = options.withPruning(FetchOptions.Pruning.NONE);
        this.workers = new LookupWorkers(lookup.tasks(), lookup.workerCount());
        this.meters = meters;
    }

    @Override
    public boolean next() {
        while (true) {
            RecordStream found = current();
            Candidates candidates = search;
            if (found != null && candidates != null) {
                while (found.next()) {
                    visitedCount++;
                    if (belongsToBatch(candidates, found)) {
                        return true;
                    }
                }
                closeRecords();
            }
            if (candidates == null || !nextBatch(candidates)) {
                closeSearch();
                if (!partitions.hasNext()) {
                    return false;
                }
                partition = partitions.next();
                search = open(partition);
            }
        }
    }

    /** Records found by the keys. */
    @Override
    public long visitedCount() {
        return visitedCount;
    }

    @Override
    public void close() {
        new Cleanup()
                .add(this::closeSearch)
                .add(workers::close)
                .add(this::giveBatch)
                .run();
    }

    private void giveBatch() {
        if (!isClosed) {
            isClosed = true;
            KeyBatch used = batch;
            batch = NO_KEYS;
            SpareBatches.give(used);
        }
    }

    private void closeSearch() {
        Candidates ended = search;
        search = null;
        if (ended == null) {
            closeRecords();
        } else {
            new Cleanup().add(this::closeRecords).add(ended::close).run();
        }
    }

    private Candidates open(int of) {
        meters.begin();
        try {
            return opener.apply(of);
        } finally {
            meters.endSearch();
            meters.end();
        }
    }

    private boolean nextBatch(Candidates candidates) {
        if (!fill(candidates)) {
            return false;
        }
        batchCountMax = Math.min(Integer.MAX_VALUE, batchCountMax) * BATCH_GROWTH;
        meters.distinct().add(batch.size());
        FetchOptions ofBatch = batch.hasTimestamps() ? options : unprunedOptions;
        standOn(workers.fetch(view, partition, batch, ofBatch));
        return true;
    }

    /** Fills the batch with different keys; false if there are none. */
    private boolean fill(Candidates candidates) {
        meters.begin();
        try {
            boolean found = searched(candidates);
            if (found) {
                batch.sortDistinct();
            }
            return found;
        } finally {
            meters.end();
        }
    }

    private boolean searched(Candidates candidates) {
        try {
            return candidates.fill(batch, batchCountMax);
        } finally {
            meters.endSearch();
        }
    }

    private boolean belongsToBatch(Candidates candidates, RecordStream cursor) {
        if (!candidates.mayRepeat()) {
            return true;
        }
        EntriesOfRecord entries = entriesOfRecord;
        if (entries == null) {
            entries = new EntriesOfRecord(view.source().type(), range);
            entriesOfRecord = entries;
        }
        Slice smallest = entries.smallest(cursor);
        return smallest != null && candidates.holds(smallest);
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
}
