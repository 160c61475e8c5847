package io.turbidite.lsm;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.write.LogRecords;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Operations that happen together or not at all: one timestamp, one log record, across datasets and
 * partitions of one store. Reusable after {@link #clear()}.
 *
 * <p>Of several operations on one key the last one counts, and what each insert asks for holds as if they
 * came one after the other: there must be no record when its turn comes. So an insert after an operation
 * that left a record is a duplicate, and the first insert of a key needs it to be free whatever follows, a
 * delete too. Holds copies: what was handed in may be reused. A dataset of another store is refused.
 *
 * <p><em>For one thread at a time:</em> a call while another is under way, the write too, is refused.
 */
public final class WriteBatch {
    /** An operation: put whatever was there. */
    static final int UPSERT = 0;

    /** An operation: put if nothing is there. */
    static final int INSERT = 1;

    /** An operation: remove. */
    static final int DELETE = 2;

    /**
     * What becomes of an insert that a delete follows: nothing is left, if nothing was there. An insert asks
     * that of the other keys of its value too.
     */
    static final int INSERT_AND_DELETE = 3;

    /** Most operations in a batch: an index has to fit beside 44 bits of hash. */
    private static final int OPERATION_COUNT_MAX = 1 << 20;

    private static final long INDEX_MASK = OPERATION_COUNT_MAX - 1;

    private final OneAtATime calls = new OneAtATime("a batch");
    private final Store store;
    private final int bytesMax;
    private final ByteSink bytes;
    private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final Slice otherKey = new Slice();

    private int count;
    private int[] kinds = new int[16];

    /** What is to be done in the end, with what the earlier operations on the key ask for; per write. */
    private int[] outcomes = new int[16];

    private Dataset[] datasets = new Dataset[16];
    private int[] schemaVersions = new int[16];
    private int[] keyOffsets = new int[16];
    private int[] keyLengths = new int[16];
    private int[] recordLengths = new int[16];
    private long[] hashes = new long[16];
    private boolean[] superseded = new boolean[16];

    /** Put in beside another, for another key of its value. */
    private boolean[] isTwin = new boolean[16];

    /** Where the old record lies in the old bytes; -1 if there is none. */
    private int[] oldOffsets = new int[16];

    private int[] oldLengths = new int[16];
    private final ByteSink oldBytes;
    private long[] byHash = new long[0];

    /** Of the dataset that was asked for last: most batches are of one, and a pool costs each write. */
    private @Nullable Maintainer maintainer;

    private @Nullable Dataset maintained;
    private WritePath.@Nullable Scratch scratch;

    /**
     * @param store the only one that may write it
     * @param bytesMax most bytes of keys and records
     */
    WriteBatch(Store store, int bytesMax) {
        this.store = store;
        this.bytesMax = bytesMax;
        this.bytes = new ByteSink(1 << 10, bytesMax);
        this.oldBytes = new ByteSink(1 << 10, Integer.MAX_VALUE - 16);
    }

    /** Puts an encoded record, replacing the one with its primary key. */
    public WriteBatch upsert(Dataset dataset, Slice record) {
        return put(UPSERT, dataset, record);
    }

    /** Puts an encoded record whose primary key must be free. */
    public WriteBatch insert(Dataset dataset, Slice record) {
        return put(INSERT, dataset, record);
    }

    /**
     * Deletes the record with this encoded primary key, if there is one.
     *
     * @throws InvalidRequestException if it is longer than any key may be, so that no page could hold it
     */
    public WriteBatch delete(Dataset dataset, Slice primaryKey) {
        calls.enter();
        try {
            return deleteInside(dataset, primaryKey);
        } finally {
            calls.leave();
        }
    }

    private WriteBatch deleteInside(Dataset dataset, Slice primaryKey) {
        requireOwn(dataset);
        if (primaryKey.length() > Limits.KEY_BYTES_MAX) {
            throw Limits.keyTooLong("primary key of " + dataset.name(), primaryKey.length());
        }
        int before = count;
        putKey(DELETE, dataset, primaryKey);
        putTwins(DELETE, dataset, primaryKey, before);
        return this;
    }

    private void putKey(int kind, Dataset dataset, Slice primaryKey) {
        int at = reserve(dataset, kind, primaryKey, 0);
        keyOffsets[at] = bytes.length();
        bytes.putBytes(primaryKey);
    }

    /**
     * One value has one record, however its key was once encoded: what an operation asks of its key it asks of
     * the value's other keys too, under their stripes. They are operations of their own, so that each key's
     * come to the same, whichever of them was put in.
     *
     * @param before operations without this one: it goes whole or not at all
     */
    private void putTwins(int kind, Dataset dataset, Slice primaryKey, int before) {
        if (!dataset.primaryKeySpec().isAmbiguous()) {
            return;
        }
        boolean whole = false;
        try {
            for (Slice other : dataset.primaryKeySpec().alternatives(primaryKey)) {
                putKey(kind, dataset, other);
                isTwin[count - 1] = true;
            }
            whole = true;
        } finally {
            if (!whole) {
                bytes.truncate(keyOffsets[before]);
                count = before;
            }
        }
    }

    private void requireOwn(Dataset dataset) {
        store.checkReadable();
        if (dataset.store() != store) {
            store.requireOwn(dataset);
        }
    }

    private WriteBatch put(int kind, Dataset dataset, Slice record) {
        calls.enter();
        try {
            return putInside(kind, dataset, record);
        } finally {
            calls.leave();
        }
    }

    private WriteBatch putInside(int kind, Dataset dataset, Slice record) {
        requireOwn(dataset);
        if (record.length() > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("a record of %d bytes is larger than the limit of %d"
                    .formatted(record.length(), Limits.RECORD_BYTES_MAX));
        }
        Maintainer keys = maintainer(dataset);
        keys.appendKey(record, keyBytes, key);
        keys.check(key, record);
        int at = reserve(dataset, kind, key, record.length());
        keyOffsets[at] = bytes.length();
        bytes.putBytes(key).putBytes(record);
        putTwins(kind == INSERT ? INSERT_AND_DELETE : DELETE, dataset, key, at);
        return this;
    }

    private int reserve(Dataset dataset, int kind, Slice primaryKey, int recordLength) {
        long wanted = (long) bytes.length() + primaryKey.length() + recordLength;
        long logged = LogRecords.bytesMax(count + 1, wanted);
        if (logged > bytesMax) {
            throw new InvalidRequestException("a batch of %d bytes is larger than the limit of %d"
                    .formatted(logged, bytesMax));
        }
        if (count == OPERATION_COUNT_MAX) {
            throw new InvalidRequestException(
                    "a batch holds at most %d operations".formatted(OPERATION_COUNT_MAX));
        }
        if (count == kinds.length) {
            grow();
        }
        int at = count++;
        kinds[at] = kind;
        datasets[at] = dataset;
        schemaVersions[at] = dataset.schema().version();
        keyLengths[at] = primaryKey.length();
        recordLengths[at] = recordLength;
        hashes[at] = BloomFilter.hash(primaryKey);
        superseded[at] = false;
        isTwin[at] = false;
        oldOffsets[at] = -1;
        return at;
    }

    private void grow() {
        int larger = kinds.length * 2;
        kinds = Arrays.copyOf(kinds, larger);
        outcomes = Arrays.copyOf(outcomes, larger);
        datasets = Arrays.copyOf(datasets, larger);
        keyOffsets = Arrays.copyOf(keyOffsets, larger);
        keyLengths = Arrays.copyOf(keyLengths, larger);
        schemaVersions = Arrays.copyOf(schemaVersions, larger);
        recordLengths = Arrays.copyOf(recordLengths, larger);
        hashes = Arrays.copyOf(hashes, larger);
        superseded = Arrays.copyOf(superseded, larger);
        isTwin = Arrays.copyOf(isTwin, larger);
        oldOffsets = Arrays.copyOf(oldOffsets, larger);
        oldLengths = Arrays.copyOf(oldLengths, larger);
    }

    /** Forgets all operations; memory is kept for the next ones. */
    public WriteBatch clear() {
        calls.enter();
        try {
            count = 0;
            bytes.clear();
            oldBytes.clear();
            return this;
        } finally {
            calls.leave();
        }
    }

    /** The write of the batch begins; {@link #endWrite} ends it. */
    void beginWrite() {
        calls.enter();
    }

    void endWrite() {
        calls.leave();
    }

    /** Operations put in. */
    public int size() {
        return count;
    }

    /** Bytes of keys and records put in. */
    public int byteCount() {
        return bytes.length();
    }

    Store store() {
        return store;
    }

    /** What maintains a dataset as it is now; stays with the batch. */
    Maintainer maintainer(Dataset dataset) {
        Maintainer kept = maintainer;
        if (kept == null || !kept.isOf(dataset.schema())) {
            Dataset before = maintained;
            if (kept != null && before != null) {
                before.giveMaintainer(kept);
            }
            kept = dataset.takeMaintainer();
            maintainer = kept;
            maintained = dataset;
        }
        return kept;
    }

    /** What a write of the batch needs beside it. */
    WritePath.Scratch scratch() {
        WritePath.Scratch kept = scratch;
        if (kept == null) {
            kept = new WritePath.Scratch();
            scratch = kept;
        }
        return kept;
    }

    /** What is to be done for an operation that is not superseded; after {@link #resolveRepeats}. */
    int outcome(int at) {
        return outcomes[at];
    }

    /** Whether there is a record under the key when the operation is done. */
    boolean leavesRecord(int at) {
        return putsRecord(outcomes[at]);
    }

    private static boolean putsRecord(int kind) {
        return kind == UPSERT || kind == INSERT;
    }

    private static boolean needsFreeKey(int kind) {
        return kind == INSERT || kind == INSERT_AND_DELETE;
    }

    /** Which one of those that were put in from outside it is, from 0. */
    int number(int at) {
        int number = 0;
        for (int i = 0; i < at; i++) {
            number += isTwin[i] ? 0 : 1;
        }
        return number;
    }

    Dataset dataset(int at) {
        return datasets[at];
    }

    long hash(int at) {
        return hashes[at];
    }

    /** Whether it marks what it replaces in components. */
    boolean mayKill() {
        for (int i = 0; i < count; i++) {
            if (datasets[i].schema().maintenance() == Maintenance.MUTABLE_BITMAP) {
                return true;
            }
        }
        return false;
    }

    boolean isSuperseded(int at) {
        return superseded[at];
    }

    /** Leaves an operation out: there is nothing to do. */
    void skip(int at) {
        superseded[at] = true;
    }

    Slice key(int at, Slice slice) {
        return slice.set(bytes.segment(), keyOffsets[at], keyLengths[at]);
    }

    Slice record(int at, Slice slice) {
        return slice.set(
                bytes.segment(), keyOffsets[at] + (long) keyLengths[at], recordLengths[at]);
    }

    /** Remembers the record that an operation replaces. */
    void setOld(int at, ByteSink old) {
        oldOffsets[at] = oldBytes.length();
        oldLengths[at] = old.length();
        oldBytes.putBytes(old.segment(), 0, old.length());
    }

    /** The record that an operation replaces; empty if there is none. */
    Slice old(int at, Slice slice) {
        return oldOffsets[at] < 0
                ? slice.clear()
                : slice.set(oldBytes.segment(), oldOffsets[at], oldLengths[at]);
    }

    /**
     * Checks the records again whose dataset has changed since they were put in: their keys may be too long
     * for an index that is new.
     *
     * @throws InvalidRequestException naming the index
     */
    void recheckKeys() {
        for (int i = 0; i < count; i++) {
            if (schemaVersions[i] != datasets[i].schema().version() && putsRecord(kinds[i])) {
                maintainer(datasets[i]).check(key(i, key), record(i, otherKey));
            }
        }
    }

    /**
     * Marks operations that a later one on the same key makes void, and hands the later one what they ask
     * for. What was put in stays as it is, so that a batch which was refused can be written again.
     *
     * @throws DuplicateKeyException if an insert follows an operation that leaves a record
     */
    void resolveRepeats() {
        oldBytes.clear();
        Arrays.fill(superseded, 0, count, false);
        Arrays.fill(oldOffsets, 0, count, -1);
        System.arraycopy(kinds, 0, outcomes, 0, count);
        if (count < 2) {
            return;
        }
        // high bits of the hash, then the index: sorting brings equal keys together in adding order
        if (byHash.length < count) {
            byHash = new long[kinds.length];
        }
        for (int i = 0; i < count; i++) {
            byHash[i] = (hashes[i] & ~INDEX_MASK) | i;
        }
        Arrays.sort(byHash, 0, count);
        for (int i = 1; i < count; i++) {
            int later = (int) (byHash[i] & INDEX_MASK);
            long high = byHash[i] & ~INDEX_MASK;
            for (int j = i - 1; j >= 0 && (byHash[j] & ~INDEX_MASK) == high; j--) {
                int earlier = (int) (byHash[j] & INDEX_MASK);
                if (!superseded[earlier] && sameKey(earlier, later)) {
                    outcomes[later] = outcomeOf(earlier, later);
                    superseded[earlier] = true;
                }
            }
        }
    }

    /** What two operations on one key come to, of which {@code earlier} was put in before. */
    private int outcomeOf(int earlier, int later) {
        if (needsFreeKey(kinds[later]) && leavesRecord(earlier)) {
            throw datasets[later].duplicate(key(later, key));
        }
        boolean mustBeFree = needsFreeKey(outcomes[earlier]);
        if (putsRecord(kinds[later])) {
            return mustBeFree ? INSERT : UPSERT;
        }
        return mustBeFree ? INSERT_AND_DELETE : DELETE;
    }

    private boolean sameKey(int a, int b) {
        return datasets[a].equals(datasets[b]) && key(a, key).contentEquals(key(b, otherKey));
    }
}
