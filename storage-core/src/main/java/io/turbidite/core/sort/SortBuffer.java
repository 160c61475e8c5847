package io.turbidite.core.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The entries that a sort has in memory: piece by piece, each a {@link SortBlock} that is sorted on
 * its own when it is full, while the caches of the processor still have it. Reading merges the
 * blocks.
 *
 * <pre>{@code
 * if (buffer.add(key, number, payload) == SortBuffer.FULL) {
 *     try (SortedInput entries = buffer.sorted()) {
 *         runs.add(entries, Long.MAX_VALUE);
 *     }
 *     buffer.clear();
 *     ...
 * }
 * }</pre>
 *
 * <p><em>Confined to one thread at a time.</em> Owns its memory.
 */
public final class SortBuffer implements AutoCloseable {
    /** The address of an entry for which there was no memory. */
    public static final long FULL = -1;

    /** The address behind the last entry. */
    public static final long NONE = -1;

    /** The address of the first entry. */
    public static final long FIRST = 0;

    private static final int BLOCK_SHIFT = Integer.SIZE;

    private final SortMemory memory;
    private final List<SortBlock> blocks = new ArrayList<>();

    /** That of each block: tables look at entries in no order, each by its address. */
    private MemorySegment[] memories = new MemorySegment[4];

    private final SortBlock.Scratch scratch = new SortBlock.Scratch();
    private long count;

    public SortBuffer(SortMemory memory) {
        this.memory = memory;
    }

    /** Entries held. */
    public long count() {
        return count;
    }

    /**
     * Adds a copy of an entry.
     *
     * @return its address until this is cleared; {@link #FULL}, and nothing is added, where the
     *     memory is used up
     */
    public long add(Slice key, long number, Slice payload) {
        long entryBytes = EntryFormat.bytes(key, payload);
        int place = blocks.isEmpty() ? -1 : blocks.getLast().add(key, number, payload, entryBytes);
        if (place < 0) {
            if (!addBlock(entryBytes + SortBlock.PLACE_BYTES)) {
                return FULL;
            }
            place = blocks.getLast().add(key, number, payload, entryBytes);
            assert place == 0 : place;
        }
        count++;
        return (blocks.size() - 1L) << BLOCK_SHIFT | place;
    }

    private boolean addBlock(long bytesMin) {
        if (!blocks.isEmpty()) {
            blocks.getLast().sort(scratch);
        }
        MemorySegment piece = bytesMin > Integer.MAX_VALUE ? null : memory.take(bytesMin);
        if (piece == null) {
            return false;
        }
        int block = blocks.size();
        if (block == memories.length) {
            memories = Arrays.copyOf(memories, 2 * block);
        }
        memories[block] = piece;
        blocks.add(new SortBlock(piece));
        return true;
    }

    /** Where an entry lies in its block. */
    private static long placeOf(long address) {
        return address & ((1L << BLOCK_SHIFT) - 1);
    }

    /** Moves {@code slice} to the key of an entry. */
    public Slice key(long address, Slice slice) {
        return EntryFormat.key(memoryOf(address), placeOf(address), slice);
    }

    /** Moves {@code slice} to the payload of an entry, which may be changed there. */
    public Slice payload(long address, Slice slice) {
        return EntryFormat.payload(memoryOf(address), placeOf(address), slice);
    }

    public long number(long address) {
        return EntryFormat.number(memoryOf(address), placeOf(address));
    }

    /** Changes the number of an entry, of which there is no other with its key. */
    public void setNumber(long address, long number) {
        memoryOf(address).set(Bytes.I64, placeOf(address) + EntryFormat.NUMBER_OFFSET, number);
    }

    /**
     * The address of the entry that was added behind that at {@code address}; {@link #NONE} behind
     * the last.
     */
    public long addressBehind(long address) {
        long block = address >>> BLOCK_SHIFT;
        int place = blocks.get((int) block).placeBehind((int) address);
        if (place >= 0) {
            return block << BLOCK_SHIFT | place;
        }
        return block + 1 < blocks.size() ? (block + 1) << BLOCK_SHIFT : NONE;
    }

    private MemorySegment memoryOf(long address) {
        return memories[(int) (address >>> BLOCK_SHIFT)];
    }

    /**
     * The entries in order, of equal ones the earliest first. Nothing may be added while it is
     * read; afterwards that is allowed again.
     */
    public SortedInput sorted() {
        List<SortedInput> inputs = new ArrayList<>();
        for (SortBlock block : blocks) {
            block.sort(scratch);
            inputs.add(block.input());
        }
        return SortedMerge.of(inputs);
    }

    /** Forgets all entries and gives their memory back. */
    public void clear() {
        blocks.forEach(block -> memory.give(block.memory()));
        Arrays.fill(memories, 0, blocks.size(), MemorySegment.NULL);
        blocks.clear();
        count = 0;
    }

    @Override
    public void close() {
        clear();
        memory.close();
    }
}
