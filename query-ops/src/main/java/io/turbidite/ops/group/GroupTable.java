package io.turbidite.ops.group;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.sort.SortBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Counts by key: a hash table with open addressing over the entries of a sort buffer, so that it can be
 * read in key order in the end. Payloads are the counts, eight bytes. <em>Confined to one thread at a
 * time.</em>
 */
final class GroupTable implements AutoCloseable {
    private static final int SLOTS_FIRST = 256;

    private final SortBuffer entries;
    private final OperatorMemory slotMemory;
    private final Slice entryKey = new Slice();
    private final Slice entryCount = new Slice();
    private final Slice one = new Slice();
    /** Index of an entry plus one; 0 is free. A power of two long, at most half full. */
    private int[] slots = new int[SLOTS_FIRST];

    /**
     * Bounded by {@code memoryBytes}, a quarter of it for the slots: 8 to 24 bytes for each entry (a
     * doubling holds old and new), where an entry with its heap part has 50 and more.
     */
    GroupTable(long memoryBytes) {
        entries = new SortBuffer(OperatorMemory.of(memoryBytes - memoryBytes / 4));
        slotMemory = OperatorMemory.of(memoryBytes / 4);
        MemorySegment segment = Arena.ofAuto().allocate(Long.BYTES);
        segment.set(Bytes.I64, 0, 1);
        one.set(segment, 0, Long.BYTES);
    }

    /** Counts one; false, and nothing is counted, where the key is new and the memory used up. */
    boolean count(Slice key) {
        long prefix = Bytes.prefix(key.segment(), key.offset(), key.length());
        int slot = hash(key, prefix) & (slots.length - 1);
        for (; slots[slot] != 0; slot = (slot + 1) & (slots.length - 1)) {
            int entry = slots[slot] - 1;
            if (entries.prefix(entry) == prefix && sameKey(entry, key)) {
                entries.payload(entry, entryCount);
                MemorySegment segment = entryCount.segment();
                long at = entryCount.offset();
                segment.set(Bytes.I64, at, segment.get(Bytes.I64, at) + 1);
                return true;
            }
        }
        return add(key, slot);
    }

    /** The entries; sorting or clearing them is the end of this table until {@link #clear()}. */
    SortBuffer entries() {
        return entries;
    }

    int groupCount() {
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

    private boolean add(Slice key, int slot) {
        int at = slot;
        if ((entries.count() + 1) * 2 > slots.length) {
            if (!grow()) {
                return false;
            }
            at = freeSlot(key);
        }
        if (!entries.add(key, one)) {
            return false;
        }
        slots[at] = entries.count();
        return true;
    }

    private boolean grow() {
        // old and new are both there while the new one is filled
        if (slots.length > 1 << 29 || !slotMemory.charge(slots.length * 3L * Integer.BYTES)) {
            return false;
        }
        int count = entries.count();
        slots = new int[slots.length * 2];
        for (int entry = 0; entry < count; entry++) {
            slots[freeSlot(entries.key(entry, entryKey))] = entry + 1;
        }
        return true;
    }

    private int freeSlot(Slice key) {
        long prefix = Bytes.prefix(key.segment(), key.offset(), key.length());
        int slot = hash(key, prefix) & (slots.length - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slots.length - 1);
        }
        return slot;
    }

    private boolean sameKey(int entry, Slice key) {
        entries.key(entry, entryKey);
        return entryKey.length() == key.length()
                && (key.length() <= Long.BYTES || entryKey.compareBytes(key) == 0);
    }

    /** Folds eight bytes at a time by multiplication, the high half mixed back in (wyhash's step). */
    private static int hash(Slice key, long prefix) {
        long hash = mix(prefix ^ key.length());
        int at = Long.BYTES;
        for (; at + Long.BYTES <= key.length(); at += Long.BYTES) {
            hash = mix(hash ^ key.segment().get(Bytes.I64, key.offset() + at));
        }
        if (at < key.length()) {
            hash = mix(hash ^ Bytes.prefix(key.segment(), key.offset() + at, key.length() - at));
        }
        return (int) hash;
    }

    private static long mix(long value) {
        long multiplier = 0x9E3779B97F4A7C15L;
        return value * multiplier ^ Math.multiplyHigh(value, multiplier);
    }
}
