package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import java.util.Arrays;
import java.util.BitSet;

/**
 * A bounded list of entries that a secondary index returned; {@link ReadView#validate} finds out
 * which of them are valid. Holds primary keys to sort, and for each its secondary key, its
 * timestamp and how far it has been checked already.
 *
 * <p>An entry's name is the number of its adding, from 0. <em>Confined to one thread.</em>
 */
public final class CandidateBatch {
    /** About half a megabyte of arrays. */
    private static final int KEPT_COUNT_MAX = 8 << 10;

    private final KeyBatch primaryKeys;
    private final KeyBatch secondaryKeys;
    private final Slice primaryKey = new Slice();
    private final Slice secondaryKey = new Slice();
    private final BitSet valid = new BitSet();
    private long[] timestamps = new long[128];
    private long[] checkedUntil = new long[128];
    private int count;

    /**
     * @param bytesMax most bytes of primary keys held, and most of secondary keys; at least one
     *     longest key
     */
    public CandidateBatch(int bytesMax) {
        primaryKeys = new KeyBatch(bytesMax);
        secondaryKeys = new KeyBatch(bytesMax);
    }

    /** Whether it is small enough to be kept for another search. */
    boolean isWorthKeeping() {
        return timestamps.length <= KEPT_COUNT_MAX;
    }

    /** Forgets all candidates; the memory stays for the next ones. */
    public void clear() {
        primaryKeys.clear();
        secondaryKeys.clear();
        valid.clear();
        count = 0;
    }

    /**
     * Adds the entry at which the cursor stands. False if the batch is full; then it adds nothing.
     */
    public boolean add(IndexCursor entry) {
        return add(
                entry.primaryKey(), entry.secondaryKey(), entry.timestamp(), entry.checkedUntil());
    }

    /**
     * Adds an entry that a cursor shows. False if the batch is full; then it adds nothing.
     *
     * @param entry its number
     */
    public boolean add(IndexEntries entries, int entry) {
        return add(
                entries.primaryKey(entry, primaryKey),
                entries.secondaryKey(entry, secondaryKey),
                entries.timestamp(entry),
                entries.checkedUntil(entry));
    }

    /**
     * Adds an entry. False if the batch is full; then it adds nothing.
     *
     * @param secondaryKey empty where nobody asks for it
     * @param checked up to where the entry is certainly current ({@link IndexCursor#checkedUntil})
     */
    public boolean add(Slice primaryKey, Slice secondaryKey, long timestamp, long checked) {
        if (!primaryKeys.fits(primaryKey) || !secondaryKeys.add(secondaryKey)) {
            return false;
        }
        primaryKeys.add(primaryKey);
        if (count == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, count * 2);
            checkedUntil = Arrays.copyOf(checkedUntil, count * 2);
        }
        timestamps[count] = timestamp;
        checkedUntil[count] = checked;
        count++;
        return true;
    }

    /** How many candidates it holds. */
    public int size() {
        return count;
    }

    /** The primary keys; the caller may sort them, but neither add keys nor clear them. */
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

    /** The timestamp up to which an entry certainly has no successor; see {@link IndexCursor}. */
    public long checkedUntil(int added) {
        return checkedUntil[added];
    }

    /** Notes that a candidate is valid, by its place in the order of adding, from 0. */
    public void markValid(int added) {
        valid.set(added);
    }

    /** Whether a candidate was marked, by its place in the order of adding, from 0. */
    public boolean isValid(int added) {
        return valid.get(added);
    }
}
