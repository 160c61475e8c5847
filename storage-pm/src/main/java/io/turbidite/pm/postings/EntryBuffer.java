package io.turbidite.pm.postings;

import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Entries that are to be written, newest first, as they will lie in a group.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
public final class EntryBuffer {
    private byte[] bytes = new byte[4_096];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int[] ends = new int[64];
    private int count;

    public void clear() {
        count = 0;
    }

    /** Adds an entry that is older than those before it, or of the same time. */
    public void add(long timestamp, Slice primaryKey) {
        int at = end(count);
        int needed = at + Group.entryBytes(primaryKey.length());
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
            segment = MemorySegment.ofArray(bytes);
        }
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, count * 2);
        }
        Group.writeEntry(
                segment,
                at,
                timestamp,
                primaryKey.segment(),
                primaryKey.offset(),
                primaryKey.length());
        ends[count++] = needed;
    }

    public int count() {
        return count;
    }

    /** Bytes of the first {@code entryCount} entries. */
    int end(int entryCount) {
        return entryCount == 0 ? 0 : ends[entryCount - 1];
    }

    /** Bytes of all entries. */
    public int byteCount() {
        return end(count);
    }

    MemorySegment segment() {
        return segment;
    }

    /** Forgets all entries but the first {@code entryCount}. */
    void keep(int entryCount) {
        count = entryCount;
    }
}
