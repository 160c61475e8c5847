package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;

import java.util.Arrays;

/**
 * Groups by key: a hash table with open addressing over the entries of a sort buffer, so that it
 * can be read in key order in the end. Where groups are counted, the counts are the entries'
 * numbers. Where they have states, those are the entries' payloads, and an entry may have given its
 * place to a later one of its key. <em>Confined to one thread at a time.</em>
 */
final class GroupTable implements AutoCloseable {
    private static final int SLOTS_FIRST = 256;

    /** Pieces of memory up to 2^16 are more than an operator has. */
    private static final int ADDRESS_BITS = 48;

    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;
    private static final Slice NO_PAYLOAD = Slice.of(new byte[0]);

    /** The number of an entry that has given its place away: below all others. */
    private static final long REPLACED = -1;

    private final OperatorMemory memory;
    private final SortBuffer entries;
    private final Slice entryKey = new Slice();
    /**
     * Address of an entry plus one, and above it the highest bits of its key's hash; 0 is free. A
     * power of two long, at most half full.
     */
    private long[] slots = new long[SLOTS_FIRST];

    /** What is charged for the slots, which have grown. */
    private long slotsBytes;

    private long besideBytes;

    /** Where {@link #find} has looked last. */
    private long foundHash;

    private int foundSlot;

    /** Bounded by {@code memoryBytes}, slots and entries together. */
    GroupTable(RunOptions options, long memoryBytes, OperatorMeter meter) {
        memory = OperatorMemory.of(options, memoryBytes, meter);
        entries = new SortBuffer(memory);
    }

    /**
     * Counts one.
     *
     * @return the entry; {@link SortBuffer#FULL}, and nothing is counted, where the key is new and
     *     the memory used up
     */
    long count(Slice key) {
        long entry = find(key);
        if (entry == SortBuffer.NONE) {
            return add(key, 1, NO_PAYLOAD);
        }
        count(entry, 1);
        return entry;
    }

    /**
     * Sets how much memory what belongs to the table has beside it; false, and nothing changes,
     * where there is not so much.
     */
    boolean chargeBeside(long bytes) {
        boolean is = memory.charge(slotsBytes + bytes);
        if (is) {
            besideBytes = bytes;
        }
        return is;
    }

    /** There is no more than that beside the table any more. */
    void lowerBeside(long bytes) {
        besideBytes = bytes;
        memory.lowerCharge(slotsBytes + bytes);
    }

    /** Adds a key that {@link #find} has just not found, with a count of 0; as the others. */
    long addCount(Slice newKey) {
        return add(newKey, 0, NO_PAYLOAD);
    }

    /** The number of an entry that {@link #find} has found. */
    long number(long entry) {
        return entries.number(entry);
    }

    /** Sets the number of an entry, 0 or more. */
    void setNumber(long entry, long number) {
        entries.setNumber(entry, number);
    }

    /** Adds to the number of an entry. */
    void count(long entry, long more) {
        entries.setNumber(entry, entries.number(entry) + more);
    }

    /** Adds a key that may be there; false where it is new and the memory used up. */
    boolean contain(Slice key) {
        return find(key) != SortBuffer.NONE || add(key, 0, NO_PAYLOAD) != SortBuffer.FULL;
    }

    /** The entry of a key; {@link SortBuffer#NONE} if it has none. */
    long find(Slice key) {
        long hash = ByteHash.of(key);
        int slot = (int) hash & (slots.length - 1);
        for (; slots[slot] != 0; slot = (slot + 1) & (slots.length - 1)) {
            if ((slots[slot] ^ hash) >>> ADDRESS_BITS == 0) {
                long entry = (slots[slot] & ADDRESS_MASK) - 1;
                if (entries.key(entry, entryKey).contentEquals(key)) {
                    foundHash = hash;
                    foundSlot = slot;
                    return entry;
                }
            }
        }
        foundHash = hash;
        foundSlot = slot;
        return SortBuffer.NONE;
    }

    /** Moves {@code slice} to the states of an entry. */
    Slice states(long entry, Slice slice) {
        return entries.payload(entry, slice);
    }

    /**
     * Adds an entry for the key that {@link #find} has just not found; {@link SortBuffer#FULL}, and
     * nothing is added, where the memory is used up.
     */
    long add(Slice key, Slice states) {
        return add(key, 0, states);
    }

    /**
     * Adds an entry that takes the place of the one that {@link #find} has just found, which is
     * read beside it in the end; as {@link #add(Slice, Slice)}.
     */
    long replace(Slice key, long entry, Slice states) {
        long next = entries.add(key, 0, states);
        if (next != SortBuffer.FULL) {
            entries.setNumber(entry, REPLACED);
            slots[foundSlot] = slotOf(foundHash, next);
        }
        return next;
    }

    /** The entries; sorting or clearing them is the end of this table until {@link #clear()}. */
    SortBuffer entries() {
        return entries;
    }

    long groupCount() {
        return entries.count();
    }

    void clear() {
        entries.clear();
        Arrays.fill(slots, 0);
    }

    @Override
    public void close() {
        entries.close();
    }

    /** As {@link #add(Slice, Slice)}, with a number of the entry, 0 or more. */
    long add(Slice key, long number, Slice states) {
        if ((entries.count() + 1) * 2 > slots.length) {
            if (!grow()) {
                return SortBuffer.FULL;
            }
            foundSlot = freeSlot(foundHash);
        }
        long entry = entries.add(key, number, states);
        if (entry != SortBuffer.FULL) {
            slots[foundSlot] = slotOf(foundHash, entry);
        }
        return entry;
    }

    private boolean grow() {
        // old and new are both there while the new one is filled
        long bytes = slots.length * 3L * Long.BYTES;
        if (slots.length > 1 << 29 || !memory.charge(bytes + besideBytes)) {
            return false;
        }
        slotsBytes = bytes;
        slots = new long[slots.length * 2];
        // in the order of the memory, which is read sooner than that of the slots
        long entry = SortBuffer.FIRST;
        while (entry != SortBuffer.NONE) {
            if (entries.number(entry) != REPLACED) {
                long hash = ByteHash.of(entries.key(entry, entryKey));
                slots[freeSlot(hash)] = slotOf(hash, entry);
            }
            entry = entries.addressBehind(entry);
        }
        return true;
    }

    private static long slotOf(long hash, long entry) {
        assert entry < ADDRESS_MASK : entry;
        return (hash & ~ADDRESS_MASK) | (entry + 1);
    }

    private int freeSlot(long hash) {
        int slot = (int) hash & (slots.length - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slots.length - 1);
        }
        return slot;
    }
}
