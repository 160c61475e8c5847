package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import java.util.Arrays;
import java.util.BitSet;

/**
 * A bounded list of entries that a secondary index returned, to be told which of them are valid
 * ({@link ReadView#validate}): primary keys to be sorted, and beside each its secondary key, its timestamp
 * and how far it has been checked already.
 *
 * <p>Entries are named by the number in which they were added, from 0. <em>Confined to one thread.</em>
 */
public final class CandidateBatch {
    private final KeyBatch primaryKeys;
    private final KeyBatch secondaryKeys;
    private final BitSet valid = new BitSet();
    private long[] timestamps = new long[128];
    private long[] checkedUntil = new long[128];
    private int count;

    /**
     * @param bytesMax most bytes of primary keys held, and most of secondary keys; at least one longest key
     */
    public CandidateBatch(int bytesMax) {
        primaryKeys = new KeyBatch(bytesMax);
        secondaryKeys = new KeyBatch(bytesMax);
    }

    public void clear() {
        primaryKeys.clear();
        secondaryKeys.clear();
        valid.clear();
        count = 0;
    }

    /** Adds the entry that the cursor stands on; false, and nothing is added, if the batch is full. */
    public boolean add(IndexCursor entry) {
        Slice primaryKey = entry.primaryKey();
        if (!primaryKeys.fits(primaryKey) || !secondaryKeys.add(entry.secondaryKey())) {
            return false;
        }
        primaryKeys.add(primaryKey);
        if (count == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, count * 2);
            checkedUntil = Arrays.copyOf(checkedUntil, count * 2);
        }
        timestamps[count] = entry.timestamp();
        checkedUntil[count] = entry.checkedUntil();
        count++;
        return true;
    }

    public int size() {
        return count;
    }

    /** The primary keys; may be sorted, but neither added to nor cleared. */
    public KeyBatch primaryKeys() {
        return primaryKeys;
    }

    /** Moves {@code slice} to the primary key of an entry. */
    public Slice primaryKey(int added, Slice slice) {
        return primaryKeys.addedKey(added, slice);
    }

    /** Moves {@code slice} to the secondary key of an entry. */
    public Slice secondaryKey(int added, Slice slice) {
        return secondaryKeys.addedKey(added, slice);
    }

    /** The timestamp of an entry. */
    public long timestamp(int added) {
        return timestamps[added];
    }

    /** Up to which timestamp an entry is known to have no successor; see {@link IndexCursor}. */
    public long checkedUntil(int added) {
        return checkedUntil[added];
    }

    public void markValid(int added) {
        valid.set(added);
    }

    public boolean isValid(int added) {
        return valid.get(added);
    }
}
