package io.turbidite.ops.search;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexEntries;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

/**
 * Searches an index of one partition and fills batches with the primary keys of what it finds.
 *
 * <p>A batch is the primary keys of one stretch of the index. Where entries may be out of date (of
 * an index that is not always valid, or in a search that passed over layers), a record can be in
 * several stretches, by entries of its past; in a multi-valued index by several of its present.
 * {@link #holds} says which one has the smallest matching entry of the current version, so that it
 * is returned once although batches never meet. <em>Confined to one thread.</em>
 */
public final class CandidateSearch implements Candidates {
    private final IndexCursor cursor;
    private final IndexEntries entries;
    private final Slice primaryKey = new Slice();
    private final Slice secondaryKey = new Slice();

    /** Entries that the cursor has moved over last, and the first of them not in a batch yet. */
    private int entryCount;

    private int nextEntry;
    private final SearchMeter searches;
    private final OperatorMeter meter;

    /** Where a stretch begins and ends; made with the second one. */
    private @Nullable ByteSink lowBytes;

    private @Nullable ByteSink highBytes;
    private final Slice low = new Slice();
    private final Slice high = new Slice();
    private boolean pending;
    private boolean first = true;

    /** Whether entries that the source does not vouch for may be obsolete. */
    private final boolean isDoubtful;

    private boolean mayRepeat;

    /** Whether entries have the timestamps of versions, by which layers can be left out. */
    private final boolean hasVersions;

    /** Whether a record may have several entries in the answer. */
    private final boolean isMultiValued;

    private CandidateSearch(
            IndexCursor cursor,
            boolean hasVersions,
            boolean isMultiValued,
            boolean isDoubtful,
            OperatorMeter meter,
            SearchMeter searches) {
        this.cursor = cursor;
        this.entries = cursor.entries();
        this.hasVersions = hasVersions;
        this.isMultiValued = isMultiValued;
        this.isDoubtful = isDoubtful;
        this.meter = meter;
        this.searches = searches;
    }

    /**
     * Opens a search.
     *
     * @param meter counts entries found
     * @param searches counts what it took
     */
    public static CandidateSearch open(
            ReadView view,
            int partition,
            IndexRange range,
            OperatorMeter meter,
            SearchMeter searches) {
        IndexCursor cursor =
                view.search(partition, range.index().name(), range.search(), range.filter());
        boolean hasVersions = !range.index().alwaysValid();
        boolean isDoubtful = hasVersions || !range.filter().isNone();
        // an R-tree has one entry for a record, or none; terms give a record once, current or not
        boolean isOnce = range.search() instanceof TermSearch;
        boolean isMultiValued = range.index().multiValued()
                && range.index().kind() != IndexDescription.Kind.RTREE
                && !isOnce;
        return new CandidateSearch(
                cursor, hasVersions, isMultiValued, isDoubtful && !isOnce, meter, searches);
    }

    @Override
    public boolean fill(KeyBatch batch, long countMax) {
        assert countMax > 0 : countMax;
        batch.clear();
        mayRepeat = false;
        if (!first && !pending) {
            return false;
        }
        if (pending) {
            ByteSink begin = lowBytes == null ? newSink() : lowBytes;
            lowBytes = begin;
            begin.clear().putBytes(end().asSlice(high));
            boolean fits = add(batch);
            assert fits : "a batch holds one longest key";
            nextEntry++;
        }
        first = false;
        pending = false;
        while (!pending && isOnEntry(countMax - batch.size())) {
            if (batch.size() >= countMax || !add(batch)) {
                pending = true;
                end().clear()
                        .putBytes(entries.secondaryKey(nextEntry, secondaryKey))
                        .putBytes(entries.primaryKey(nextEntry, primaryKey));
            } else {
                nextEntry++;
            }
        }
        meter.add(batch.size());
        return batch.size() > 0;
    }

    /**
     * Whether there is an entry to put.
     *
     * @param wanted how many are
     */
    private boolean isOnEntry(long wanted) {
        if (nextEntry == entryCount) {
            nextEntry = 0;
            entryCount = 0; // should the move fail
            entryCount = cursor.nextEntries(Math.clamp(wanted, 1, Integer.MAX_VALUE));
        }
        return nextEntry < entryCount;
    }

    private ByteSink end() {
        ByteSink sink = highBytes == null ? newSink() : highBytes;
        highBytes = sink;
        return sink;
    }

    private static ByteSink newSink() {
        return new ByteSink(64, Integer.MAX_VALUE - 8);
    }

    private boolean add(KeyBatch batch) {
        long checkedUntil = entries.checkedUntil(nextEntry);
        entries.primaryKey(nextEntry, primaryKey);
        boolean fits = hasVersions
                ? batch.add(primaryKey, entries.timestamp(nextEntry), checkedUntil)
                : batch.add(primaryKey);
        if (!fits) {
            return false;
        }
        mayRepeat |= isMultiValued || (isDoubtful && checkedUntil != Long.MAX_VALUE);
        return true;
    }

    /**
     * Whether entries of the last batch may be obsolete, or not the only ones of their records, so
     * that these may be in other batches too, if there are any.
     */
    @Override
    public boolean mayRepeat() {
        return mayRepeat && !isWhole();
    }

    /** Whether the last batch is all that was found. */
    private boolean isWhole() {
        return !pending && lowBytes == null;
    }

    @Override
    public boolean holds(Slice secondaryAndPrimaryKey) {
        return (lowBytes == null || secondaryAndPrimaryKey.compareBytes(lowBytes.asSlice(low)) >= 0)
                && (!pending || secondaryAndPrimaryKey.compareBytes(end().asSlice(high)) < 0);
    }

    @Override
    public void close() {
        searches.add(cursor.work(), cursor.layers());
        cursor.close();
    }
}
