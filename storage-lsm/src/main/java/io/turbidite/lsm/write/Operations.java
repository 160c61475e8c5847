package io.turbidite.lsm.write;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.Maintainer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Operations as they were put into a batch, in columns; what a write makes of them is a {@link
 * WriteSet}. They stay as they are, so that a batch which was refused can be written again. Holds
 * copies: what was handed in may be reused.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class Operations {
    /** An operation: put whatever was there. */
    static final int UPSERT = 0;

    /** An operation: put if nothing is there. */
    static final int INSERT = 1;

    /** An operation: remove. */
    static final int DELETE = 2;

    /**
     * What becomes of an insert that a delete follows: nothing is left, if nothing was there. An
     * insert asks that of the other keys of its value too.
     */
    static final int INSERT_AND_DELETE = 3;

    /** Most operations in a batch: an index has to fit beside 44 bits of hash. */
    static final int COUNT_MAX = 1 << 20;

    /** As the expected version: whatever is there. */
    private static final long ANY_VERSION = -1;

    /** As the expected version: no record. */
    public static final long NO_VERSION = 0;

    private final int bytesMax;
    private final ByteSink bytes;
    private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final Slice recordSlice = new Slice();

    /** Entry keys of the records in multi-valued indexes; memory is used where there are some. */
    private final ByteSink madeBytes = new ByteSink(16, Integer.MAX_VALUE - 16);

    private int count;
    private long expectedVersion = ANY_VERSION;

    /** The operation put in last, with its twins, begins here. */
    private int lastBegin;

    /** The operations that {@link #expectedVersion} speaks of. */
    private int expectedBegin;

    private int expectedEnd;

    /** The moment since when no record may have changed; {@link #ANY_VERSION}: any may. */
    private long unchangedSince = ANY_VERSION;

    /** Bytes of keys that the operations put into secondary indexes, about. */
    private long entryByteCount;

    private int[] kinds = new int[16];

    private OpenDataset[] datasets = new OpenDataset[16];
    private int[] schemaVersions = new int[16];
    private int[] keyOffsets = new int[16];
    private int[] keyLengths = new int[16];
    private int[] recordLengths = new int[16];
    private long[] hashes = new long[16];

    /** Where an operation's entry keys begin in {@link #madeBytes}. */
    private int[] madeOffsets = new int[16];

    private int[] madeLengths = new int[16];

    /** Put in beside another, for another key of its value. */
    private boolean[] isTwin = new boolean[16];

    /**
     * Of the dataset that was asked for last: most batches are of one, and a pool costs each write.
     */
    private @Nullable Maintainer maintainer;

    private @Nullable OpenDataset maintained;

    /**
     * @param bytesMax most bytes of their log record
     */
    Operations(int bytesMax) {
        this.bytesMax = bytesMax;
        this.bytes = new ByteSink(1 << 10, bytesMax);
    }

    /** Puts an encoded record, replacing the one with its primary key. */
    public Operations upsert(OpenDataset dataset, Slice record) {
        return put(UPSERT, dataset, record);
    }

    /** Puts an encoded record whose primary key must be free. */
    public Operations insert(OpenDataset dataset, Slice record) {
        return put(INSERT, dataset, record);
    }

    /**
     * Deletes the record with this encoded primary key, if there is one.
     *
     * @throws InvalidRequestException if it is longer than any key may be, so that no page could
     *     hold it
     */
    public Operations delete(OpenDataset dataset, Slice primaryKey) {
        if (primaryKey.length() > Limits.KEY_BYTES_MAX) {
            throw Limits.keyTooLong("primary key of " + dataset.name(), primaryKey.length());
        }
        int before = count;
        putKey(DELETE, dataset, primaryKey);
        putTwins(DELETE, dataset, primaryKey, before);
        lastBegin = before;
        return this;
    }

    /**
     * Makes all operations depend on what is there under the key of the one that was put in last.
     * No other operation may have that key.
     *
     * @param version timestamp of the record that must be there; {@link #NO_VERSION} if there must
     *     be none
     */
    public Operations onlyIf(long version) {
        if (version < NO_VERSION) {
            throw new InvalidRequestException("%d is no version of a record".formatted(version));
        }
        if (count == 0 || isConditional()) {
            throw new InvalidRequestException(
                    count == 0
                            ? "there is no operation that could depend on a version"
                            : "the batch depends on a version already");
        }
        expectedVersion = version;
        expectedBegin = lastBegin;
        expectedEnd = count;
        return this;
    }

    /**
     * Makes all operations depend on it that each of their keys has a record, which was written at
     * that moment or before. Such a batch has no insert.
     */
    public Operations onlyIfUnchangedSince(long timestamp) {
        if (timestamp < NO_VERSION) {
            throw new InvalidRequestException("%d is no moment of a store".formatted(timestamp));
        }
        unchangedSince = timestamp;
        return this;
    }

    /** Whether the operations depend on it that no record has changed. */
    boolean hasToBeUnchanged() {
        return unchangedSince != ANY_VERSION;
    }

    /** Whether a record of that version was there at the moment that was asked for. */
    boolean isUnchanged(long version) {
        return version > NO_VERSION && version <= unchangedSince;
    }

    /** Whether an operation was put in beside the one before it, for another key of its value. */
    boolean isTwin(int at) {
        return isTwin[at];
    }

    /** Whether the operations are done only if a certain version, or none, is there. */
    boolean isConditional() {
        return expectedVersion != ANY_VERSION;
    }

    /** Of conditional operations. */
    long expectedVersion() {
        return expectedVersion;
    }

    /** Whether the expected version is that of the key of operation {@code at}. */
    boolean isExpected(int at) {
        return at >= expectedBegin && at < expectedEnd;
    }

    private void putKey(int kind, OpenDataset dataset, Slice primaryKey) {
        int at = reserve(dataset, kind, primaryKey, 0);
        keyOffsets[at] = bytes.length();
        bytes.putBytes(primaryKey);
    }

    /**
     * One value has one record, however its key was once encoded: what an operation asks of its key
     * it asks of the value's other keys too, under their stripes. They are operations of their own,
     * so that each key's come to the same, whichever of them was put in.
     *
     * @param before operations without this one: it goes whole or not at all
     */
    private void putTwins(int kind, OpenDataset dataset, Slice primaryKey, int before) {
        if (!dataset.schema().primaryKey().isAmbiguous()) {
            return;
        }
        boolean whole = false;
        try {
            for (Slice other : dataset.schema().primaryKey().alternatives(primaryKey)) {
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

    private Operations put(int kind, OpenDataset dataset, Slice record) {
        if (record.length() > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("a record of %d bytes is larger than the limit of %d"
                    .formatted(record.length(), Limits.RECORD_BYTES_MAX));
        }
        Maintainer keys = maintainer(dataset);
        keys.appendKey(record, keyBytes, key);
        int entryBytes = keys.check(key, record);
        int at = reserve(dataset, kind, key, record.length());
        keyOffsets[at] = bytes.length();
        bytes.putBytes(key).putBytes(record);
        entryByteCount += entryBytes;
        if (keys.makesAhead()) {
            make(at, keys, key, record);
        }
        putTwins(kind == INSERT ? INSERT_AND_DELETE : DELETE, dataset, key, at);
        lastBegin = at;
        return this;
    }

    private void make(int at, Maintainer keys, Slice primaryKey, Slice record) {
        madeOffsets[at] = madeBytes.length();
        keys.makeAhead(primaryKey, record, madeBytes);
        madeLengths[at] = madeBytes.length() - madeOffsets[at];
    }

    private int reserve(OpenDataset dataset, int kind, Slice primaryKey, int recordLength) {
        long wanted = (long) bytes.length() + primaryKey.length() + recordLength;
        long logged = LogRecords.bytesMax(count + 1, wanted);
        if (logged > bytesMax) {
            throw new InvalidRequestException("a batch of %d bytes is larger than the limit of %d"
                    .formatted(logged, bytesMax));
        }
        if (count == COUNT_MAX) {
            throw new InvalidRequestException(
                    "a batch holds at most %d operations".formatted(COUNT_MAX));
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
        isTwin[at] = false;
        madeLengths[at] = 0;
        return at;
    }

    private void grow() {
        int larger = kinds.length * 2;
        kinds = Arrays.copyOf(kinds, larger);
        datasets = Arrays.copyOf(datasets, larger);
        keyOffsets = Arrays.copyOf(keyOffsets, larger);
        keyLengths = Arrays.copyOf(keyLengths, larger);
        schemaVersions = Arrays.copyOf(schemaVersions, larger);
        recordLengths = Arrays.copyOf(recordLengths, larger);
        hashes = Arrays.copyOf(hashes, larger);
        isTwin = Arrays.copyOf(isTwin, larger);
        madeOffsets = Arrays.copyOf(madeOffsets, larger);
        madeLengths = Arrays.copyOf(madeLengths, larger);
    }

    /** Forgets all operations; memory is kept for the next ones. */
    public Operations clear() {
        count = 0;
        expectedVersion = ANY_VERSION;
        unchangedSince = ANY_VERSION;
        entryByteCount = 0;
        bytes.clear();
        madeBytes.clear();
        return this;
    }

    /** Operations put in. */
    public int size() {
        return count;
    }

    /** Bytes of keys and records put in. */
    public int byteCount() {
        return bytes.length();
    }

    /** About how many bytes the operations put into all trees: {@link #byteCount} and entries. */
    long putByteCount() {
        return bytes.length() + entryByteCount;
    }

    /** What maintains a dataset as it is now; stays with the batch. */
    Maintainer maintainer(OpenDataset dataset) {
        Maintainer kept = maintainer;
        if (kept == null || !kept.isOf(dataset.schema())) {
            OpenDataset before = maintained;
            if (kept != null && before != null) {
                before.giveMaintainer(kept);
            }
            kept = dataset.takeMaintainer();
            maintainer = kept;
            maintained = dataset;
        }
        return kept;
    }

    /** Whether there is a record under the key when an operation of that kind is done. */
    static boolean putsRecord(int kind) {
        return kind == UPSERT || kind == INSERT;
    }

    /** Whether an operation of that kind asks for a key without a record. */
    static boolean needsFreeKey(int kind) {
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

    OpenDataset dataset(int at) {
        return datasets[at];
    }

    long hash(int at) {
        return hashes[at];
    }

    /** Whether it marks what it replaces in components. */
    boolean mayInvalidate() {
        for (int i = 0; i < count; i++) {
            if (datasets[i].schema().maintenance() == Maintenance.MUTABLE_BITMAP) {
                return true;
            }
        }
        return false;
    }

    Slice key(int at, Slice slice) {
        return slice.set(bytes.segment(), keyOffsets[at], keyLengths[at]);
    }

    Slice record(int at, Slice slice) {
        return slice.set(
                bytes.segment(), keyOffsets[at] + (long) keyLengths[at], recordLengths[at]);
    }

    /** Moves a slice to the entry keys that were made of its record; empty if none were. */
    Slice made(int at, Slice slice) {
        return madeLengths[at] == 0
                ? slice.clear()
                : slice.set(madeBytes.segment(), madeOffsets[at], madeLengths[at]);
    }

    int kind(int at) {
        return kinds[at];
    }

    /** Bytes of its key and record. */
    int byteCount(int at) {
        return keyLengths[at] + recordLengths[at];
    }

    /**
     * Checks that the datasets take writes, and checks the records again whose dataset has changed
     * since they were put in: their keys may be too long for an index that is new. Entry keys are
     * made again.
     *
     * @throws InvalidRequestException naming the dataset or the index
     */
    void checkTaken() {
        for (int i = 0; i < count; i++) {
            datasets[i].admission().checkTakesWrites();
        }
        for (int i = 0; i < count; i++) {
            if (schemaVersions[i] != datasets[i].schema().version() && putsRecord(kinds[i])) {
                Maintainer now = maintainer(datasets[i]);
                var _ = now.check(key(i, key), record(i, recordSlice));
                madeLengths[i] = 0;
                if (now.makesAhead()) {
                    make(i, now, key, recordSlice);
                }
            }
        }
    }
}
