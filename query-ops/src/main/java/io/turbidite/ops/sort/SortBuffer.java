package io.turbidite.ops.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeySort;
import io.turbidite.ops.run.OperatorMemory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Entries of key and payload in an operator's memory, sorted in place by moving 8-byte prefixes and
 * indexes only. <em>Confined to one thread at a time.</em>
 *
 * <p>An entry is {@code u32 key bytes, u32 payload bytes, key, payload}.
 */
public final class SortBuffer implements AutoCloseable {
    static final int ENTRY_HEADER_BYTES = 8;

    /**
     * Heap bytes for each entry: address, prefix and place in the order, and as much again for prefix
     * and place while sorting.
     */
    private static final int HEAP_BYTES_PER_ENTRY = 8 + 8 + 4 + 8 + 4;

    private static final int ENTRIES_FIRST = 256;

    private final OperatorMemory memory;
    private final KeySort sorter = new KeySort();
    private final Slice left = new Slice();
    private final Slice right = new Slice();
    private long[] addresses = new long[ENTRIES_FIRST];
    private long[] prefixes = new long[ENTRIES_FIRST];
    private int[] order = new int[0];
    private int count;

    public SortBuffer(OperatorMemory memory) {
        this.memory = memory;
    }

    /** Entries held. */
    public int count() {
        return count;
    }

    /** Adds a copy; false, and nothing is added, where the memory is used up. */
    public boolean add(Slice key, Slice payload) {
        if (count == addresses.length && !grow()) {
            return false;
        }
        long bytes = (long) ENTRY_HEADER_BYTES + key.length() + payload.length();
        long address = bytes > Integer.MAX_VALUE ? -1 : memory.allocate((int) bytes);
        if (address < 0) {
            return false;
        }
        MemorySegment segment = memory.segment(address);
        long at = OperatorMemory.offset(address);
        segment.set(Bytes.I32, at, key.length());
        segment.set(Bytes.I32, at + 4, payload.length());
        at += ENTRY_HEADER_BYTES;
        MemorySegment.copy(key.segment(), key.offset(), segment, at, key.length());
        MemorySegment.copy(
                payload.segment(), payload.offset(), segment, at + key.length(), payload.length());
        addresses[count] = address;
        prefixes[count] = Bytes.prefix(key.segment(), key.offset(), key.length());
        count++;
        return true;
    }

    /** Moves {@code slice} to the key of entry {@code index}, in adding order. */
    public Slice key(int index, Slice slice) {
        long address = addresses[index];
        MemorySegment segment = memory.segment(address);
        long at = OperatorMemory.offset(address);
        return slice.set(segment, at + ENTRY_HEADER_BYTES, segment.get(Bytes.I32, at));
    }

    /** Moves {@code slice} to the payload of entry {@code index}, in adding order. */
    public Slice payload(int index, Slice slice) {
        long address = addresses[index];
        MemorySegment segment = memory.segment(address);
        long at = OperatorMemory.offset(address);
        int keyBytes = segment.get(Bytes.I32, at);
        return slice.set(
                segment, at + ENTRY_HEADER_BYTES + keyBytes, segment.get(Bytes.I32, at + 4));
    }

    /** The first eight bytes of the key of entry {@code index}, in adding order. */
    public long prefix(int index) {
        return prefixes[index];
    }

    /**
     * Sorts by key; entries with equal keys stay in adding order. Nothing may be added until cleared.
     *
     * @return index in adding order by place; longer than the count
     */
    public int[] sort() {
        if (order.length < count) {
            order = new int[addresses.length];
        }
        for (int i = 0; i < count; i++) {
            order[i] = i;
            // the signed order of these is the unsigned order of the bytes
            prefixes[i] ^= Long.MIN_VALUE;
        }
        sorter.sort(prefixes, order, count, this::compare);
        return order;
    }

    /** Forgets all entries. */
    public void clear() {
        count = 0;
        memory.clear();
    }

    @Override
    public void close() {
        count = 0;
        memory.close();
    }

    private boolean grow() {
        int larger = (int) Math.min(Integer.MAX_VALUE - 8L, addresses.length * 2L);
        if (larger == addresses.length || !memory.charge((long) larger * HEAP_BYTES_PER_ENTRY)) {
            return false;
        }
        addresses = Arrays.copyOf(addresses, larger);
        prefixes = Arrays.copyOf(prefixes, larger);
        return true;
    }

    private int compare(int a, int b) {
        return key(a, left).compareBytes(key(b, right));
    }
}
