package io.turbidite.core.scan;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.List;

/**
 * A source at one moment: everything up to {@link #timestamp()} and nothing after (D3).
 *
 * <p><em>Thread-safe</em>, so that partitions can be read in parallel; its cursors are each confined to
 * one thread. Closing it while cursors are open is allowed: their next use throws {@link
 * io.turbidite.core.ClosedException}.
 */
public interface ReadView extends AutoCloseable {
    Source source();

    long timestamp();

    int partitionCount();

    /**
     * The indexes that this view can search. Plan with these rather than with {@link Source#indexes}:
     * an index may come or go between the two, and another of its name may be there by then.
     */
    default List<IndexDescription> indexes() {
        return source().indexes();
    }

    /** Copies the record with this encoded primary key into {@code record}; false if there is none. */
    boolean get(Slice primaryKey, ByteSink record);

    /**
     * Gets the records of many encoded primary keys, of all partitions, at once: {@code records} tells for
     * each key, in the order of adding, its record or that there is none.
     *
     * @param keys sorted by this call; repeated keys are answered each
     * @throws io.turbidite.core.InvalidRequestException if the records are more than {@code records} holds
     */
    default void get(KeyBatch keys, RecordBatch records) {
        keys.sort();
        records.clear(keys.size());
        Slice slice = new Slice();
        ByteSink record = new ByteSink(256, Limits.RECORD_BYTES_MAX);
        for (int i = 0; i < keys.size(); i++) {
            record.clear();
            if (get(keys.key(i, slice), record)) {
                records.set(keys.addedIndex(i), record.asSlice(slice));
            }
        }
    }

    /** The live records of a partition in primary key order, from either end. */
    RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter);

    /**
     * As {@link #scan}, but in no order, for those who count, filter or aggregate: a source that needs to compare its
     * layers for the order alone reads them one after the other.
     */
    default RecordStream scanUnordered(
            int partition, KeyRange primaryKeys, FilterPredicate filter) {
        return scan(partition, primaryKeys, filter);
    }

    /**
     * The entries of a B+-tree index in {@code range}, in index order, from either end. For an index that
     * is not {@code alwaysValid} these are candidates: fetch the records and check them again, or {@link
     * #validate} them ({@link ValidSearch} does). With a filter, entries of an {@code alwaysValid} index are
     * candidates too where {@link IndexCursor#checkedUntil} says so: a layer was passed over that may hide
     * them. What is outside the filter may be shown or not; what is inside is shown.
     *
     * @throws io.turbidite.core.InvalidRequestException if there is no such index; from the cursor too, if
     *     it is dropped meanwhile
     */
    IndexCursor search(int partition, String index, KeyRange range, FilterPredicate filter);

    /**
     * Marks those candidates as valid that are current at this moment: the newest version of their primary
     * key is a record, and has exactly their timestamp. For indexes whose entries have the timestamps of
     * their records: all that are not {@code alwaysValid}.
     *
     * @param candidates of this partition; their primary keys are sorted by this call
     */
    default void validate(int partition, CandidateBatch candidates) {
        KeyBatch keys = candidates.primaryKeys();
        keys.sort();
        KeyBatch distinct = new KeyBatch(Math.max(Limits.KEY_BYTES_MAX, keys.byteCount()));
        Slice key = new Slice();
        for (int i = 0; i < keys.size(); i++) {
            distinct.add(keys.key(i, key));
        }
        distinct.sortDistinct();
        try (RecordStream records = fetch(partition, distinct)) {
            int at = 0;
            while (records.next()) {
                int order = -1;
                while (at < keys.size()
                        && (order = keys.key(at, key).compareBytes(records.key())) < 0) {
                    at++;
                }
                while (order == 0) {
                    int added = keys.addedIndex(at++);
                    if (candidates.timestamp(added) == records.timestamp()) {
                        candidates.markValid(added);
                    }
                    order = at < keys.size() ? keys.key(at, key).compareBytes(records.key()) : 1;
                }
            }
        }
    }

    /**
     * As {@link #validate(int, CandidateBatch)}, for the entries of any index: where it is {@code
     * alwaysValid} its entries keep the timestamps of the writes that last changed them, so the records are
     * fetched and their keys compared, but for entries that are known to be valid.
     *
     * @param index that the candidates were found in
     * @param candidates of this partition; their primary keys are sorted by this call
     */
    default void validate(int partition, IndexDescription index, CandidateBatch candidates) {
        if (index.alwaysValid()) {
            RecordValidation.run(this, partition, index, candidates);
        } else {
            validate(partition, candidates);
        }
    }

    /**
     * The live records with the given keys, in key order; keys without a record are passed over.
     *
     * @param sortedKeys ascending and distinct, of this partition; not changed while the cursor is open
     */
    RecordStream fetch(int partition, KeyBatch sortedKeys);

    /**
     * As {@link #fetch(int, KeyBatch)}, in the way that {@code options} say: in key order only if they do
     * ({@link FetchOptions#isOrdered}).
     *
     * @throws io.turbidite.core.InvalidRequestException if layers are to be left out by timestamps that the
     *     keys don't have
     */
    default RecordStream fetch(int partition, KeyBatch sortedKeys, FetchOptions options) {
        return fetch(partition, sortedKeys);
    }

    /** About how many records a scan would visit, all partitions together; from metadata alone. */
    long estimateScan(KeyRange primaryKeys, FilterPredicate filter);

    /** About how many entries a search would return, all partitions together; reads few pages. */
    long estimateSearch(String index, KeyRange range, FilterPredicate filter);

    @Override
    void close();
}
