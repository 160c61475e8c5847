package io.turbidite.hashlog.history;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Pairs of hash and address that become a run. <em>Confined to one thread,</em> which closes it.
 *
 * <p>They come in the order of their addresses, so a stable sort by hash is all it takes: a radix
 * sort by bytes, lowest first, that skips bytes in which all hashes agree.
 */
public final class RunEntries implements AutoCloseable {
    static final int HASH_OFFSET = 0;
    static final int ADDRESS_OFFSET = HASH_OFFSET + 8;
    static final int ENTRY_BYTES = ADDRESS_OFFSET + 8;
    private static final int RADIX = 256;

    private final MemoryBudget.Account account;
    private final Arena arena;
    private final int countMax;
    private MemorySegment entries;
    private MemorySegment other;
    private int count;

    /**
     * @param account charged with 32 bytes for each entry
     * @param countMax most entries
     * @throws InvalidRequestException if the budget does not suffice
     */
    public RunEntries(MemoryBudget.Account account, int countMax) {
        long bytes = (long) countMax * ENTRY_BYTES;
        if (!account.reserve(2 * bytes)) {
            throw new InvalidRequestException(
                    "%d bytes to sort entries do not fit the memory budget: %s"
                            .formatted(2 * bytes, account));
        }
        this.account = account;
        this.countMax = countMax;
        try (Undo undo = Undo.of(() -> account.release(2 * bytes))) {
            this.arena = NativeMemory.shared("a run of a hash log's history");
            try (Undo undoArena = Undo.of(arena::close)) {
                entries = NativeMemory.allocate(arena, bytes, ENTRY_BYTES);
                other = NativeMemory.allocate(arena, bytes, ENTRY_BYTES);
                undoArena.keep();
            }
            undo.keep();
        }
    }

    /** Adds an entry, whose address is not below those before; false if there is no room. */
    public boolean add(long hash, long address) {
        if (count == countMax) {
            return false;
        }
        long at = (long) count * ENTRY_BYTES;
        entries.set(Bytes.I64, at + HASH_OFFSET, hash);
        entries.set(Bytes.I64, at + ADDRESS_OFFSET, address);
        count++;
        return true;
    }

    public int count() {
        return count;
    }

    public void clear() {
        count = 0;
    }

    long hash(int index) {
        return entries.get(Bytes.I64, (long) index * ENTRY_BYTES + HASH_OFFSET);
    }

    long address(int index) {
        return entries.get(Bytes.I64, (long) index * ENTRY_BYTES + ADDRESS_OFFSET);
    }

    /** Sorts by hash, unsigned, and then by address. */
    void sort() {
        int[] starts = new int[RADIX + 1];
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            java.util.Arrays.fill(starts, 0);
            for (int i = 0; i < count; i++) {
                starts[digit(i, shift) + 1]++;
            }
            if (count == 0 || starts[digit(0, shift) + 1] == count) {
                continue;
            }
            for (int d = 0; d < RADIX; d++) {
                starts[d + 1] += starts[d];
            }
            for (int i = 0; i < count; i++) {
                long to = (long) starts[digit(i, shift)]++ * ENTRY_BYTES;
                other.set(Bytes.I64, to + HASH_OFFSET, hash(i));
                other.set(Bytes.I64, to + ADDRESS_OFFSET, address(i));
            }
            MemorySegment sorted = other;
            other = entries;
            entries = sorted;
        }
    }

    private int digit(int index, int shift) {
        return (int) (hash(index) >>> shift) & (RADIX - 1);
    }

    @Override
    public void close() {
        arena.close();
        account.release(2L * countMax * ENTRY_BYTES);
    }
}
