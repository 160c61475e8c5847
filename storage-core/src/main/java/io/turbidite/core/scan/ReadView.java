package io.turbidite.core.scan;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.List;
import java.util.OptionalLong;

/**
 * A source at one moment: everything up to {@link #timestamp()} and nothing after (D3).
 *
 * <em>Thread-safe</em>, so threads can read partitions in parallel; each cursor is confined to one
 * thread. You may close the view while cursors are open: their next use throws {@link
 * io.turbidite.core.ClosedException}.
 */
public interface ReadView extends AutoCloseable {
    /**
     * The estimate of a search that would fail, more than there can be: whoever has another way
     * takes that.
     */
    long UNREADABLE = 1L << 40;

    /** What is read. */
    Source source();

    /** The moment that it shows, as the number of the last operation that it sees. */
    long timestamp();

    /** How many partitions there are; they are numbered from 0. */
    int partitionCount();

    /**
     * The indexes that this view can search. Plan with these rather than with {@link
     * Source#indexes}: between the two calls an index may come or go, and another index may have
     * taken its name.
     */
    default List<IndexDescription> indexes() {
        return source().indexes();
    }

    /**
     * Copies the record with this encoded primary key into {@code record}; false if there is no
     * such record.
     */
    boolean get(Slice primaryKey, ByteSink record);

    /**
     * Gets the records of many encoded primary keys, of all partitions, at once. For each key, in
     * the order of adding, {@code records} holds its record or says that there is none.
     *
     * @param keys sorted by this call; a repeated key gets an answer each time
     * @throws io.turbidite.core.InvalidRequestException if {@code records} can't hold all records
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

    /** The records of all partitions within a range, in primary key order, as maps too. */
    default RecordScan records(KeyRange primaryKeys) {
        return RecordScan.of(this, primaryKeys);
    }

    /**
     * As {@link #scan}, but in no order, for callers that count, filter or aggregate. A source that
     * compares its layers only for the order reads them one after the other instead.
     */
    default RecordStream scanUnordered(
            int partition, KeyRange primaryKeys, FilterPredicate filter) {
        return scan(partition, primaryKeys, filter);
    }

    /**
     * The entries of an index that a search asks for, in index order, from either end. For an
     * index that is not {@code alwaysValid} these are candidates: fetch the records and check them
     * again, or {@link #validate} the candidates ({@link ValidSearch} does). With a filter, entries
     * of an {@code alwaysValid} index may be candidates too, and {@link IndexCursor#checkedUntil}
     * says which: the search skipped a layer that may hide them. The search shows all entries
     * inside the filter, and may show entries outside.
     *
     * @throws io.turbidite.core.InvalidRequestException if there is no such index, or its kind does
     *     not answer such a search; from the cursor too, if the index is dropped meanwhile
     */
    IndexCursor search(int partition, String index, IndexSearch search, FilterPredicate filter);

    /**
     * Marks those candidates as valid that are current at this moment: the newest version of their
     * primary key is a record and has exactly their timestamp. For indexes whose entries have the
     * timestamps of their records: all that are not {@code alwaysValid}.
     *
     * @param candidates of this partition; this call sorts their primary keys
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
     * As {@link #validate(int, CandidateBatch)}, for the entries of any index. Entries of an {@code
     * alwaysValid} index keep the timestamps of the writes that last changed them. So for such an
     * index this fetches the records and compares their keys, except for entries that are certainly
     * valid.
     *
     * @param index in which the candidates were found
     * @param search by which they were found
     * @param candidates of this partition; this call sorts their primary keys
     */
    default void validate(
            int partition, IndexDescription index, IndexSearch search, CandidateBatch candidates) {
        if (index.alwaysValid()) {
            RecordValidation.run(this, partition, index, search, candidates);
        } else {
            validate(partition, candidates);
        }
    }

    /**
     * The live records with the given keys, in key order; skips keys without a record.
     *
     * @param sortedKeys ascending and distinct, of this partition; not changed while the cursor is
     *     open
     */
    RecordStream fetch(int partition, KeyBatch sortedKeys);

    /**
     * As {@link #fetch(int, KeyBatch)}, in the way of {@code options}: in key order only if they
     * say so ({@link FetchOptions#isOrdered}).
     *
     * @throws io.turbidite.core.InvalidRequestException if the options leave out layers by
     *     timestamps that the keys don't have
     */
    default RecordStream fetch(int partition, KeyBatch sortedKeys, FetchOptions options) {
        return fetch(partition, sortedKeys);
    }

    /**
     * Of the leaf pages that the last fetches wanted, the share that the cache lacked, 0 to 1,
     * about. Whoever could fetch by several threads asks this: with all pages at hand others would
     * be woken for nothing.
     */
    default double missShare() {
        return 0;
    }

    /**
     * How many records there are, all partitions together; exact. Empty if only a scan can tell.
     * Reads few pages, if any: what components know of themselves, and the keys of small ones.
     *
     * @param checkNotStopped called now and then; throws if the caller is to stop
     */
    default OptionalLong countRecords(Runnable checkNotStopped) {
        return OptionalLong.empty();
    }

    /** Whether {@link #countRecords} would tell now; from metadata alone. */
    default boolean tellsRecordCount() {
        return false;
    }

    /** About how many records a scan would visit, all partitions together; from metadata alone. */
    long estimateScan(KeyRange primaryKeys, FilterPredicate filter);

    /**
     * Records that stand for all, for estimates. It is at hand, but for the first time after
     * components have come: these have a part of it that is read then.
     */
    default RecordSample sample() {
        return RecordSample.none();
    }

    /**
     * About how many entries a search would return, all partitions together; reads few pages.
     *
     * @return {@link #UNREADABLE} or more if a part of the index can't be read
     */
    long estimateSearch(String index, IndexSearch search, FilterPredicate filter);

    @Override
    void close();
}
