package io.turbidite.lsm.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeySort;

import java.lang.foreign.MemorySegment;

/**
 * Entries in one piece of memory: the entries ({@link RunFormat}) from its start on in the order in which
 * they came, and from its end backwards four bytes for each: the places of the entries, which are what is
 * sorted.
 *
 * <p>Sorting compares eight bytes behind what all keys have in common, which lie in an array for the time
 * being, and whole keys only where these are equal. So neither long common prefixes nor counting numbers are
 * slow.
 *
 * <p><em>Confined to one thread at a time.</em> The memory is the owner's.
 */
final class SortBlock {
    /** For each entry, at the end of the memory. */
    static final int PLACE_BYTES = 4;

    private final MemorySegment memory;
    private int count;
    private int entriesEnd;

    /** Bytes that all keys begin with. */
    private int commonBytes;

    private boolean sorted = true;

    /**
     * @param memory below 2 GiB
     */
    SortBlock(MemorySegment memory) {
        this.memory = memory;
    }

    MemorySegment memory() {
        return memory;
    }

    int count() {
        return count;
    }

    boolean hasRoom(int entryBytes) {
        long places = (count + 1L) * PLACE_BYTES;
        return entriesEnd + (long) entryBytes + places <= memory.byteSize();
    }

    /** Adds an entry, for which there is room. */
    void add(Slice key, long version, Slice value, int entryBytes) {
        int place = entriesEnd;
        RunEntry.write(key, version, value, memory, place);
        commonBytes = count == 0 ? key.length() : commonWithFirst(key);
        setPlace(count, place);
        count++;
        entriesEnd += entryBytes;
        sorted = false;
    }

    /** How many of the common bytes a further key has: mostly none, once keys differ in the first. */
    private int commonWithFirst(Slice key) {
        int bytes = Math.min(commonBytes, key.length());
        int same = 0;
        while (same < bytes
                && memory.get(Bytes.U8, (long) RunFormat.KEY_OFFSET + same)
                        == key.segment().get(Bytes.U8, key.offset() + same)) {
            same++;
        }
        return same;
    }

    /** Puts the entries in order: key ascending, timestamp descending, matter first, the latest first. */
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
        int rest = RunEntry.keyBytes(memory, place) - commonBytes;
        long at = (long) place + RunFormat.KEY_OFFSET + commonBytes;
        return Bytes.prefix(memory, at, rest) ^ Long.MIN_VALUE;
    }

    /** The order of two entries at their places; never 0. */
    private int compare(int a, int b) {
        int order = Bytes.compare(
                memory,
                (long) a + RunFormat.KEY_OFFSET + commonBytes,
                RunEntry.keyBytes(memory, a) - commonBytes,
                memory,
                (long) b + RunFormat.KEY_OFFSET + commonBytes,
                RunEntry.keyBytes(memory, b) - commonBytes);
        if (order != 0) {
            return order;
        }
        long aVersion = RunEntry.version(memory, a);
        long bVersion = RunEntry.version(memory, b);
        if (aVersion >>> 1 != bVersion >>> 1) {
            return Long.compare(bVersion, aVersion);
        }
        return aVersion != bVersion ? Long.compare(aVersion, bVersion) : Integer.compare(b, a);
    }

    /** Where the entry of this number begins: in order, once sorted. */
    int place(int index) {
        return memory.get(Bytes.I32, placeOffset(index));
    }

    private void setPlace(int index, int place) {
        memory.set(Bytes.I32, placeOffset(index), place);
    }

    private long placeOffset(int index) {
        return memory.byteSize() - (index + 1L) * PLACE_BYTES;
    }

    /**
     * What one block after the other is sorted with: 24 bytes on the heap for each entry of a block.
     * <em>Confined to one thread at a time.</em>
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
