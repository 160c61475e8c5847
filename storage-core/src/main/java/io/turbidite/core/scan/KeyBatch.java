package io.turbidite.core.scan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.KeySort;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntBinaryOperator;

/**
 * A bounded list of encoded keys: collect, sort and read them back. One off-heap buffer holds the
 * keys; sorting moves only 8-byte prefixes and indexes. For pruning, a key may come with the
 * timestamp of the index entry that named it, and up to where that entry was checked. Then all keys
 * must.
 *
 * <em>Confined to one thread</em> while it changes. Many threads may do what does not change it.
 */
public final class KeyBatch {
    private static final long[] NONE = {};

    /** Many batches hold a few keys. */
    private static final int COUNT_FIRST = 16;

    private static final int BYTES_FIRST = 512;

    /** As much as a sink holds at most. */
    static final int BYTES_MAX = Integer.MAX_VALUE - 8;

    /** Of a batch that is kept for another query: 44 bytes of arrays for each key. */
    private static final int KEPT_COUNT_MAX = 512 << 10;

    private static final int KEPT_BYTES_MAX = 8 << 20;

    private final ByteSink bytes;
    private int bytesMax;
    private int[] offsets;
    private int[] order;
    private int count;

    /** By number of adding, if keys come with timestamps. */
    private long[] timestamps = NONE;

    private long[] checkedUntil = NONE;

    private boolean timed;

    /** Where a part begins in the order of the whole batch. */
    private final int first;

    /** For sorting: of a whole batch. */
    private long[] prefixes = NONE;

    private final IntBinaryOperator comparison = this::compare;

    private final @Nullable KeySort sorter;
    private final Slice left;
    private final Slice right;

    /**
     * @param bytesMax most key bytes held, at least one longest key
     */
    public KeyBatch(int bytesMax) {
        this.bytesMax = bytesMax;
        this.bytes = new ByteSink(Math.min(bytesMax, BYTES_FIRST), bytesMax);
        this.offsets = new int[COUNT_FIRST];
        this.order = new int[COUNT_FIRST];
        this.first = 0;
        this.sorter = new KeySort();
        this.left = new Slice();
        this.right = new Slice();
    }

    private KeyBatch(KeyBatch whole, int from, int to) {
        this.bytesMax = 0; // nothing can be added
        this.bytes = whole.bytes;
        this.offsets = whole.offsets;
        this.order = whole.order;
        this.timestamps = whole.timestamps;
        this.checkedUntil = whole.checkedUntil;
        this.timed = whole.timed;
        this.first = whole.first + from;
        this.count = to - from;
        this.sorter = null; // it is sorted
        this.left = whole.left;
        this.right = whole.right;
    }

    /** Makes it as new, for another query. */
    void reuse(int newBytesMax) {
        bytesMax = newBytesMax;
        clear();
    }

    /** Whether it is small enough to be kept for another query. */
    boolean isWorthKeeping() {
        return offsets.length <= KEPT_COUNT_MAX && bytes.segment().byteSize() <= KEPT_BYTES_MAX;
    }

    /** Forgets all keys; memory for the next ones stays, within bounds. */
    public void clear() {
        checkWhole();
        bytes.clear();
        count = 0;
        timed = false;
    }

    /**
     * The keys from {@code from} to below {@code to}, for reading only, and until this batch
     * changes.
     *
     * @throws IndexOutOfBoundsException if the batch does not have these keys
     */
    public KeyBatch part(int from, int to) {
        Objects.checkFromToIndex(from, to, count);
        return new KeyBatch(this, from, to);
    }

    private void checkWhole() {
        if (sorter == null) {
            throw partChanged();
        }
    }

    private static IllegalStateException partChanged() {
        return new IllegalStateException("a part of a batch can't be changed");
    }

    /** How many keys it holds. */
    public int size() {
        return count;
    }

    /** The number of key bytes held. */
    public int byteCount() {
        return bytes.length();
    }

    /** Whether {@code key} can be added. */
    public boolean fits(Slice key) {
        return bytes.length() + key.length() <= bytesMax;
    }

    /** Adds a copy of {@code key}. False if the batch is full; then it adds nothing. */
    public boolean add(Slice key) {
        checkWhole();
        if (!fits(key)) {
            return false;
        }
        if (count + 1 >= offsets.length) {
            offsets = Arrays.copyOf(offsets, offsets.length * 2);
            order = Arrays.copyOf(order, order.length * 2);
        }
        offsets[count] = bytes.length();
        order[count] = count;
        bytes.putBytes(key);
        count++;
        offsets[count] = bytes.length();
        return true;
    }

    /**
     * As {@link #add(Slice)}, with the timestamp of the entry that named the key; nothing more is
     * known of the entry.
     */
    public boolean add(Slice key, long timestamp) {
        return add(key, timestamp, 0);
    }

    /**
     * As {@link #add(Slice)}, with the timestamp of the entry that named the key.
     *
     * @param checked up to where the entry is certainly current ({@link IndexCursor#checkedUntil})
     */
    public boolean add(Slice key, long timestamp, long checked) {
        assert count == 0 || timed : "keys without a timestamp came before";
        if (!add(key)) {
            return false;
        }
        timed = true;
        if (timestamps.length < count) {
            timestamps = Arrays.copyOf(timestamps, offsets.length);
            checkedUntil = Arrays.copyOf(checkedUntil, offsets.length);
        }
        timestamps[count - 1] = timestamp;
        checkedUntil[count - 1] = checked;
        return true;
    }

    /** Whether keys were added with timestamps. */
    public boolean hasTimestamps() {
        return timed;
    }

    /**
     * The timestamp that came with the key at {@code index}. If the key came several times and
     * {@link #sortDistinct} left one, the largest.
     */
    public long timestamp(int index) {
        return timestamps[order[first + index]];
    }

    /** Up to where the entry with that {@link #timestamp} was checked; 0 if nothing is known. */
    public long checkedUntil(int index) {
        return checkedUntil[order[first + index]];
    }

    /** Moves {@code slice} to the key at {@code index}: in adding order, or sorted after a sort. */
    public Slice key(int index, Slice slice) {
        int at = order[first + index];
        return slice.set(bytes.segment(), offsets[at], offsets[at + 1] - offsets[at]);
    }

    /** Moves {@code slice} to the key with this number of adding, from 0, sorted or not. */
    public Slice addedKey(int added, Slice slice) {
        return slice.set(bytes.segment(), offsets[added], offsets[added + 1] - offsets[added]);
    }

    /** The number of adding of the key at {@code index}, from 0. */
    public int addedIndex(int index) {
        return order[first + index];
    }

    /** Sorts ascending and drops repeated keys. */
    public void sortDistinct() {
        sort();
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (kept == 0 || compare(order[kept - 1], order[i]) != 0) {
                order[kept++] = order[i];
            } else if (timed) {
                takeNewer(order[kept - 1], order[i]);
            }
        }
        count = kept;
    }

    private void takeNewer(int kept, int same) {
        if (timestamps[same] > timestamps[kept]) {
            timestamps[kept] = timestamps[same];
            checkedUntil[kept] = checkedUntil[same];
        }
    }

    /** Sorts ascending; repeated keys stay. */
    public void sort() {
        KeySort sorting = sorter;
        if (sorting == null) {
            throw partChanged();
        }
        if (prefixes.length < count) {
            prefixes = new long[order.length];
        }
        for (int i = 0; i < count; i++) {
            int at = order[i];
            // flipping the sign bit makes the signed order of the sort the unsigned order of the
            // bytes
            prefixes[i] = Bytes.prefix(bytes.segment(), offsets[at], offsets[at + 1] - offsets[at])
                    ^ Long.MIN_VALUE;
        }
        sorting.sort(prefixes, order, count, comparison);
    }

    private int compare(int a, int b) {
        left.set(bytes.segment(), offsets[a], offsets[a + 1] - offsets[a]);
        right.set(bytes.segment(), offsets[b], offsets[b + 1] - offsets[b]);
        return left.compareBytes(right);
    }
}
