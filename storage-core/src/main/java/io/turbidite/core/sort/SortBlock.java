package io.turbidite.core.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * Entries in one piece of memory: the entries ({@link EntryFormat}) from its start on in the order
 * in which they came, and from its end backwards four bytes for each: the places of the entries,
 * which are what is sorted.
 *
 * <p>Sorting compares eight bytes behind what all keys have in common, which lie in an array for
 * the time being, and whole keys only where these are equal. So neither long common prefixes nor
 * counting numbers are slow.
 *
 * <p><em>Confined to one thread at a time.</em> The memory is the owner's.
 */
final class SortBlock {
    /** For each entry, at the end of the memory. */
    static final int PLACE_BYTES = 4;

    private final MemorySegment memory;
    private final Slice firstKey = new Slice();
    private int count;
    private int entriesEnd;
    private int sharedBytes;
    private boolean sorted = true;

    SortBlock(MemorySegment memory) {
        this.memory = memory;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Adds an entry and returns its place; -1 if there is no room. */
    int add(Slice key, long number, Slice payload, long entryBytes) {
        long places = (count + 1L) * PLACE_BYTES;
        if (entriesEnd + entryBytes + places > memory.byteSize()) {
            return -1;
        }
        int place = entriesEnd;
        EntryFormat.write(key, number, payload, memory, place);
        if (count == 0) {
            EntryFormat.key(memory, place, firstKey);
            sharedBytes = key.length();
        } else {
            // mostly none, once keys differ in the first byte
            sharedBytes = EntryFormat.sharedBytes(firstKey, key, sharedBytes);
        }
        setPlace(count, place);
        count++;
        entriesEnd += (int) entryBytes;
        sorted = false;
        return place;
    }

    /** The place of the entry that was added behind that at {@code place}; -1 if there is none. */
    int placeBehind(int place) {
        int behind = place
                + EntryFormat.KEY_OFFSET
                + EntryFormat.keyBytes(memory, place)
                + EntryFormat.payloadBytes(memory, place);
        return behind < entriesEnd ? behind : -1;
    }

    /** Puts the entries in order: key, number, the earliest first. */
    void sort(Scratch scratch) {
        if (sorted) {
            return;
        }
        scratch.ensure(count);
        for (int i = 0; i < count; i++) {
            int place = place(i);
            scratch.places[i] = place;
            scratch.prefixes[i] = prefix(place);
        }
        scratch.sort.sort(scratch.prefixes, scratch.places, count, this::compare);
        for (int i = 0; i < count; i++) {
            setPlace(i, scratch.places[i]);
        }
        sorted = true;
    }

    /** As a signed number, which the sort compares. */
    private long prefix(int place) {
        int rest = EntryFormat.keyBytes(memory, place) - sharedBytes;
        long at = (long) place + EntryFormat.KEY_OFFSET + sharedBytes;
        return Bytes.prefix(memory, at, rest) ^ Long.MIN_VALUE;
    }

    private int compare(int a, int b) {
        int order = Bytes.compare(
                memory,
                (long) a + EntryFormat.KEY_OFFSET + sharedBytes,
                EntryFormat.keyBytes(memory, a) - sharedBytes,
                memory,
                (long) b + EntryFormat.KEY_OFFSET + sharedBytes,
                EntryFormat.keyBytes(memory, b) - sharedBytes);
        return order != 0
                ? order
                : Long.compare(EntryFormat.number(memory, a), EntryFormat.number(memory, b));
    }

    private int place(int index) {
        return memory.get(Bytes.I32, placeOffset(index));
    }

    private void setPlace(int index, int place) {
        memory.set(Bytes.I32, placeOffset(index), place);
    }

    private long placeOffset(int index) {
        return memory.byteSize() - (index + 1L) * PLACE_BYTES;
    }

    /** The entries in the order that they are in. */
    SortedInput input() {
        return new Input(this);
    }

    /** <em>Confined to one thread.</em> The memory stays the block's. */
    private static final class Input implements SortedInput {
        private final SortBlock block;
        private final MemorySegment memory;
        private final Slice key = new Slice();
        private final Slice payload = new Slice();
        private int index = -1;
        private int place;

        Input(SortBlock block) {
            this.block = block;
            this.memory = block.memory;
        }

        @Override
        public boolean next() {
            if (index + 1 >= block.count) {
                return false;
            }
            index++;
            place = block.place(index);
            EntryFormat.key(memory, place, key);
            return true;
        }

        @Override
        public Slice key() {
            return key;
        }

        @Override
        public long number() {
            return EntryFormat.number(memory, place);
        }

        @Override
        public Slice payload() {
            return EntryFormat.payload(memory, place, payload);
        }

        @Override
        public int sharedBytes() {
            return block.sharedBytes;
        }

        @Override
        public void close() {}
    }

    /**
     * What one block after the other is sorted with: 24 bytes on the heap for each entry of a
     * block. <em>Confined to one thread at a time.</em>
     */
    static final class Scratch {
        private final KeySort sort = new KeySort();
        private long[] prefixes = new long[0];
        private int[] places = new int[0];

        private void ensure(int count) {
            if (places.length < count) {
                prefixes = new long[count];
                places = new int[count];
            }
        }
    }
}
