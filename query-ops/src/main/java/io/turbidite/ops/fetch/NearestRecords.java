package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.IndexSearch.Nearest;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.ops.expr.Distances;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.scan.RecordsInTurn;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.SearchMeter;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The matching records that can be among the first few nearest to a place, by an R-tree; a few more
 * may come, and all in no order.
 *
 * <ol>
 *   <li>gather: of all partitions the nearest valid entries, a batch of them;
 *   <li>look their records up, and hand on those that match;
 *   <li>next batch, four times as large, while fewer match than are wanted.
 *   <li>When enough do, the entries as far as the last one are asked too: ties are cut by primary
 *       key. Those above the largest primary key that matched so far are left out.
 * </ol>
 *
 * <p>A valid entry is that of its record's present value, so each record comes once.
 * <em>Confined to one thread.</em>
 */
public final class NearestRecords extends RecordsInTurn {
    private static final long BATCH_GROWTH = 4;

    private final ReadView view;
    private final IndexRange range;
    private final SpatialKind kind;
    private final Place place;
    private final Wanted wanted;
    private final FetchOptions options;
    private final Meters meters;
    private final StopLooks looks;
    private final Front[] fronts;
    private final RecordView record;
    private final Box box = new Box();
    private long batchCountMax;
    private boolean isOpen;

    /** Of the batch: the partition whose records are looked up next. */
    private int next;

    private boolean isAtEnd;

    /** How far the last entry is that was gathered. */
    private double gatheredDistance;

    private long matchCount;

    /** The farthest that match: how far, how many, and the largest primary key. */
    private double tieDistance = -1;

    private long tieCount;
    private final ByteSink tieKey = new ByteSink(64, 2 * Limits.KEY_BYTES_MAX);
    private final Slice tieSlice = new Slice();
    private long visitedCount;

    /**
     * What is wanted.
     *
     * @param count how many records, at least
     * @param distances how far they are
     * @param predicates all must hold
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    public record Wanted(long count, Distances distances, RecordPredicate[] predicates) {}

    /**
     * Where to count.
     *
     * @param searched valid and invalid entries found
     * @param searches what finding them took
     * @param distinct primary keys looked up
     * @param work what that took
     */
    public record Meters(
            OperatorMeter searched,
            SearchMeter searches,
            OperatorMeter distinct,
            LookupMeter work) {}

    /**
     * Reads some partitions.
     *
     * @param range of an R-tree, all of it, nearest first
     * @param keyBytesMax most bytes of keys that are sorted together
     * @param checkNotStopped throws where the reader is to stop
     */
    public NearestRecords(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            Wanted wanted,
            int keyBytesMax,
            FetchOptions options,
            Meters meters,
            Runnable checkNotStopped) {
        this.view = view;
        this.range = range;
        Nearest nearest = (Nearest) range.search();
        this.kind = nearest.kind();
        this.place = nearest.place();
        this.wanted = wanted;
        this.options = options;
        this.meters = meters;
        this.looks = new StopLooks(checkNotStopped);
        this.record = new RecordView(view.source().type());
        int keyBytes = Math.max(Limits.KEY_BYTES_MAX, keyBytesMax / Math.max(1, partitions.size()));
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
        private @Nullable ValidSearch search;
        private boolean standsOnEntry;
        private double distance;

        Front(int partition, int keyBytesMax) {
            this.partition = partition;
            this.batch = new KeyBatch(keyBytesMax);
        }

        void open() {
            search = ValidSearch.open(
                    view, partition, range.index(), range.search(), range.filter());
            advance();
        }

        private ValidSearch search() {
            ValidSearch open = search;
            if (open == null) {
                throw new IllegalStateException("the search is closed");
            }
            return open;
        }

        void advance() {
            ValidSearch entries = search();
            standsOnEntry = entries.next();
            if (standsOnEntry) {
                kind.decode(entries.secondaryKey(), 0, box);
                distance = place.distance(box);
            }
        }

        boolean add() {
            ValidSearch entry = search();
            return range.index().alwaysValid()
                    ? batch.add(entry.primaryKey())
                    : batch.add(entry.primaryKey(), entry.timestamp());
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
                    record.wrap(found.record());
                    if (matches()) {
                        count(found.key());
                        return true;
                    }
                }
                closeRecords();
            }
            if (!lookUp() && (isAtEnd || hasEnough() || !gather())) {
                return false;
            }
        }
    }

    private boolean matches() {
        for (RecordPredicate predicate : wanted.predicates()) {
            if (!predicate.matches(record)) {
                return false;
            }
        }
        return true;
    }

    private void count(Slice key) {
        matchCount++;
        double distance = wanted.distances().of(record);
        if (distance > tieDistance) {
            tieDistance = distance;
            tieCount = 0;
        }
        if (distance == tieDistance) {
            tieCount++;
            if (tieCount == 1 || key.compareBytes(tieKey.asSlice(tieSlice)) > 0) {
                tieKey.clear().putBytes(key);
            }
        }
    }

    /** Whether nothing that comes can be among the first. */
    private boolean hasEnough() {
        return matchCount >= wanted.count()
                && (tieDistance < gatheredDistance || matchCount - tieCount >= wanted.count());
    }

    /** Gathers a batch; false if there is nothing left that matters. */
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
        boolean isTies = matchCount >= wanted.count();
        long gathered = 0;
        while (gathered < batchCountMax) {
            Front front = nearestFront();
            if (front == null || (isTies && front.distance > gatheredDistance)) {
                isAtEnd = true;
                break;
            }
            boolean isTooLate = isTies
                    && front.search().primaryKey().compareBytes(tieKey.asSlice(tieSlice)) > 0;
            if (!isTooLate) {
                if (!front.add()) {
                    break;
                }
                gathered++;
                gatheredDistance = front.distance;
            }
            looks.look();
            front.advance();
        }
        batchCountMax = Math.min(Integer.MAX_VALUE, batchCountMax) * BATCH_GROWTH;
        return gathered > 0;
    }

    private @Nullable Front nearestFront() {
        Front nearest = null;
        for (Front front : fronts) {
            if (front.standsOnEntry && (nearest == null || front.distance < nearest.distance)) {
                nearest = front;
            }
        }
        return nearest;
    }

    /** Opens the records of the next partition that the batch has keys of. */
    private boolean lookUp() {
        while (next < fronts.length) {
            Front front = fronts[next++];
            if (front.batch.size() > 0) {
                front.batch.sortDistinct();
                meters.distinct().add(front.batch.size());
                standOn(view.fetch(front.partition, front.batch, options));
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
        RecordStream open = current();
        if (open != null) {
            standOn(null);
            open.close();
            meters.work().add(open.work(), open.layers());
        }
    }

    @Override
    public void close() {
        new Cleanup()
                .add(this::closeRecords)
                .addAll(List.of(fronts), Front::close)
                .run();
    }
}
