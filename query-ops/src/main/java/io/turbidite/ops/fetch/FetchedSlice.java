package io.turbidite.ops.fetch;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The records of a slice of a batch's keys, as a worker has found them. <em>Confined to one thread
 * at a time</em>; handed over by a release store.
 */
final class FetchedSlice {
    /**
     * Records of more bytes than this are not kept: whoever wants them fetches them again, one by
     * one.
     */
    static final int BYTES_MAX = 2 << 20;

    /** One with more room for records is not kept. */
    private static final int KEPT_BYTES_MAX = 512 << 10;

    /** Of queries that have ended. */
    private static final Pool<FetchedSlice> SPARE = new Pool<>(FetchedSlice::new);

    private final ByteSink bytes =
            new ByteSink(64 << 10, BYTES_MAX + Limits.KEY_BYTES_MAX + Limits.RECORD_BYTES_MAX);

    /** Where each key begins, and where its record does. */
    private int[] offsets = new int[128];

    private long[] timestamps = new long[64];
    private int count;
    private long visitedCount;
    private boolean overflown;
    private @Nullable RuntimeException failure;
    private FetchWork work = FetchWork.NONE;
    private LayerWork layers = LayerWork.NONE;

    private FetchedSlice() {}

    static FetchedSlice take() {
        return SPARE.take();
    }

    /** Gives back a slice that was taken, once; nobody may look at its records any more. */
    static void give(FetchedSlice used) {
        if (used.bytes.segment().byteSize() <= KEPT_BYTES_MAX) {
            SPARE.give(used);
        }
    }

    /** Takes what a stream gives, until it is too much, or until it fails. */
    void fill(RecordStream records) {
        bytes.clear();
        count = 0;
        overflown = false;
        failure = null;
        while (!overflown && records.next()) {
            if (2 * count + 2 >= offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * offsets.length);
                timestamps = Arrays.copyOf(timestamps, 2 * timestamps.length);
            }
            timestamps[count] = records.timestamp();
            offsets[2 * count] = bytes.length();
            bytes.putBytes(records.key());
            offsets[2 * count + 1] = bytes.length();
            bytes.putBytes(records.record());
            count++;
            offsets[2 * count] = bytes.length();
            overflown = bytes.length() > BYTES_MAX;
        }
        visitedCount = records.visitedCount();
        work = records.work();
        layers = records.layers();
    }

    void fail(RuntimeException e) {
        failure = e;
    }

    /**
     * Whether the records are all here.
     *
     * @throws RuntimeException what the fetch threw
     */
    boolean isWhole() {
        if (failure != null) {
            throw failure;
        }
        return !overflown;
    }

    int count() {
        return count;
    }

    FetchWork work() {
        return work;
    }

    LayerWork layers() {
        return layers;
    }

    long visitedCount() {
        return visitedCount;
    }

    long timestamp(int index) {
        return timestamps[index];
    }

    Slice key(int index, Slice slice) {
        return slice(2 * index, slice);
    }

    Slice record(int index, Slice slice) {
        return slice(2 * index + 1, slice);
    }

    private Slice slice(int at, Slice slice) {
        return slice.set(bytes.segment(), offsets[at], offsets[at + 1] - offsets[at]);
    }
}
