package io.turbidite.core.scan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;
import java.util.Objects;

/**
 * The answers to a {@link KeyBatch}: for each key, in the order of adding, its record, or that
 * there is none. Reusable; holds copies.
 *
 * <em>Confined to one thread at a time.</em>
 */
public final class RecordBatch {
    private static final int ABSENT = -1;

    private final ByteSink bytes;
    private int count;
    private int[] offsets = new int[64];
    private int[] lengths = new int[64];

    /**
     * @param bytesMax most bytes of records held
     */
    public RecordBatch(int bytesMax) {
        this.bytes = new ByteSink(Math.min(bytesMax, 64 << 10), bytesMax);
    }

    /** Forgets all answers; after this {@code keyCount} keys have no record. */
    public void clear(int keyCount) {
        bytes.clear();
        count = keyCount;
        if (lengths.length < keyCount) {
            int larger = Math.max(keyCount, 2 * lengths.length);
            offsets = new int[larger];
            lengths = new int[larger];
        }
        Arrays.fill(lengths, 0, keyCount, ABSENT);
    }

    /**
     * Gives the key with number {@code index} of adding its record, as a copy.
     *
     * @throws io.turbidite.core.InvalidRequestException if the batch can't hold the record
     */
    public void set(int index, Slice record) {
        offsets[index] = bytes.length();
        bytes.putBytes(record);
        lengths[index] = record.length();
    }

    /** The number of keys. */
    public int size() {
        return count;
    }

    /** Whether the key with number {@code index} of adding has a record. */
    public boolean isPresent(int index) {
        Objects.checkIndex(index, count);
        return lengths[index] != ABSENT;
    }

    /**
     * Moves {@code slice} to the encoded record of a key; valid until the next {@link #clear}.
     *
     * @throws IllegalStateException if the key has no record
     */
    public Slice record(int index, Slice slice) {
        if (!isPresent(index)) {
            throw new IllegalStateException("key %d has no record".formatted(index));
        }
        return slice.set(bytes.segment(), offsets[index], lengths[index]);
    }
}
