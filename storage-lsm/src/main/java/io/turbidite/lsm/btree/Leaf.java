package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A flyweight over a leaf page ({@link LeafLayout}): decodes the page's header once, then finds and reads
 * entries in place.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing. The page must have passed {@link
 * LeafLayout#problem}; its bytes must stay until the flyweight is moved.
 */
final class Leaf {
    private MemorySegment page = MemorySegment.NULL;
    private int count;
    private int prefixBytes;
    private int suffixBytes;
    private long firstOrdinal;
    private long versionBase;
    private int versionBytes;
    private int versionShift;
    private int endBytes;
    private int stride;
    private long versionsOffset;
    private long endsOffset;
    private long prefixOffset;
    private long heapOffset;

    Leaf wrap(MemorySegment newPage) {
        page = newPage;
        count = newPage.get(Bytes.I32, LeafLayout.ENTRY_COUNT_OFFSET);
        prefixBytes = newPage.get(Bytes.I16, LeafLayout.KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        suffixBytes = newPage.get(Bytes.I16, LeafLayout.KEY_SUFFIX_BYTES_OFFSET) & 0xFFFF;
        firstOrdinal = newPage.get(Bytes.I64, LeafLayout.FIRST_ORDINAL_OFFSET);
        versionBase = newPage.get(Bytes.I64, LeafLayout.VERSION_BASE_OFFSET);
        versionBytes = newPage.get(Bytes.U8, LeafLayout.VERSION_BYTES_OFFSET);
        versionShift = Long.SIZE - Byte.SIZE * versionBytes;
        endBytes = newPage.get(Bytes.U8, LeafLayout.END_BYTES_OFFSET);
        stride = newPage.get(Bytes.I32, LeafLayout.HEAP_STRIDE_OFFSET);
        versionsOffset = LeafLayout.HEADS_OFFSET + (long) count * Heads.BYTES;
        endsOffset = versionsOffset + (long) count * versionBytes;
        prefixOffset = endsOffset + (long) count * endBytes;
        heapOffset = prefixOffset + prefixBytes;
        return this;
    }

    void clear() {
        page = MemorySegment.NULL;
        count = 0;
    }

    int count() {
        return count;
    }

    long firstOrdinal() {
        return firstOrdinal;
    }

    /** The timestamp times two, plus one for anti-matter. */
    long version(int index) {
        if (versionBytes == 0) {
            return versionBase;
        }
        // the eight bytes that end where the version ends, its own on top: there are always eight
        // bytes before that end, and not always behind its start
        long at = versionsOffset + (long) (index + 1) * versionBytes - Long.BYTES;
        return versionBase + (page.get(Bytes.I64, at) >>> versionShift);
    }

    long timestamp(int index) {
        return version(index) >>> 1;
    }

    boolean isAntimatter(int index) {
        return (version(index) & 1) != 0;
    }

    /**
     * The newest version of {@code key} at or below {@code timestamp}.
     *
     * @param hint where to start looking, 0 to count; negative to guess
     * @return its index; else {@code -1 - i}, i being the first entry behind (key, timestamp), which
     *     may be the count
     */
    int find(Slice key, long timestamp, int hint) {
        int order = comparePrefix(key);
        if (order != 0) {
            return order < 0 ? -1 : -1 - count;
        }
        long head = Heads.of(key, prefixBytes);
        int first = hint < 0
                ? Heads.lowerBound(page, LeafLayout.HEADS_OFFSET, count, head)
                : Heads.lowerBound(page, LeafLayout.HEADS_OFFSET, count, head, hint);
        if (first == count || Heads.at(page, LeafLayout.HEADS_OFFSET, first) != head) {
            return -1 - first;
        }
        int low = first;
        int high = Heads.runEnd(page, LeafLayout.HEADS_OFFSET, count, first);
        while (low < high) {
            int middle = (low + high) >>> 1;
            int rest = compareRest(middle, key);
            if (rest < 0 || (rest == 0 && timestamp(middle) > timestamp)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        boolean same = low < count
                && Heads.at(page, LeafLayout.HEADS_OFFSET, low) == head
                && compareRest(low, key) == 0;
        return same ? low : -1 - low;
    }

    /** The first entry at or behind (key, timestamp); the count if there is none. */
    int lowerBound(Slice key, long timestamp, int hint) {
        int index = find(key, timestamp, hint);
        return index < 0 ? -1 - index : index;
    }

    /** Moves {@code slice} to the value of an entry. */
    Slice value(int index, Slice slice) {
        long start = heapStart(index);
        long skipped = valueSkip(start);
        return slice.set(page, start + skipped, (int) (heapEnd(index) - start - skipped));
    }

    void copyValue(int index, ByteSink sink) {
        long start = heapStart(index);
        long skipped = valueSkip(start);
        sink.putBytes(page, start + skipped, (int) (heapEnd(index) - start - skipped));
    }

    int keyBytes(int index) {
        return prefixBytes + suffixBytes(index);
    }

    /**
     * Puts the key of an entry together in {@code scratch}.
     *
     * @param scratch a longest key and eight bytes more; its first {@link #keyBytes} bytes are written,
     *     the rest may be
     */
    int copyKey(int index, MemorySegment scratch, boolean withPrefix) {
        if (withPrefix) {
            MemorySegment.copy(page, prefixOffset, scratch, 0, prefixBytes);
        }
        scratch.set(Bytes.I64_BE, prefixBytes, Heads.at(page, LeafLayout.HEADS_OFFSET, index));
        int suffix = suffixBytes(index);
        int tail = suffix - Heads.BYTES;
        if (tail > 0) {
            MemorySegment.copy(
                    page, tailOffset(index), scratch, prefixBytes + (long) Heads.BYTES, tail);
        }
        return prefixBytes + suffix;
    }

    /**
     * Checks what {@link LeafLayout#problem} does not, because it has to look at every entry.
     *
     * @return what is wrong, or null
     */
    @Nullable
    String entriesProblem() {
        for (int i = 0; i < count; i++) {
            long bytes = heapEnd(i) - heapStart(i);
            if (heapEnd(i) > page.byteSize()) {
                return "entry %d ends at %d of %d".formatted(i, heapEnd(i), page.byteSize());
            }
            boolean differ = suffixBytes == LeafLayout.SUFFIX_BYTES_DIFFER;
            if (bytes < (differ ? 2 : 0) || bytes < valueSkip(heapStart(i))) {
                return "entry %d has %d bytes".formatted(i, bytes);
            }
            int suffix = suffixBytes(i);
            long head = Heads.at(page, LeafLayout.HEADS_OFFSET, i);
            boolean padded = suffix < Heads.BYTES;
            if (padded && head << (Byte.SIZE * suffix) != 0) {
                return "entry %d: padding behind a key suffix of %d bytes is not zero"
                        .formatted(i, suffix);
            }
        }
        return null;
    }

    /** Order of {@code key}'s first bytes against the page's prefix; 0 if it starts with it. */
    private int comparePrefix(Slice key) {
        // a key shorter than the prefix that agrees so far is below: compare says so by length
        return Bytes.compare(
                key.segment(),
                key.offset(),
                Math.min(prefixBytes, key.length()),
                page,
                prefixOffset,
                prefixBytes);
    }

    /** Order of an entry's key against {@code key}, prefix and heads being equal. */
    private int compareRest(int index, Slice key) {
        int mine = suffixBytes(index);
        int theirs = key.length() - prefixBytes;
        if (mine <= Heads.BYTES || theirs <= Heads.BYTES) {
            return Integer.compare(mine, theirs);
        }
        return Bytes.compare(
                page,
                tailOffset(index),
                mine - Heads.BYTES,
                key.segment(),
                key.offset() + prefixBytes + Heads.BYTES,
                theirs - Heads.BYTES);
    }

    private int suffixBytes(int index) {
        return suffixBytes == LeafLayout.SUFFIX_BYTES_DIFFER
                ? page.get(Bytes.I16, heapStart(index)) & 0xFFFF
                : suffixBytes;
    }

    private long tailOffset(int index) {
        return heapStart(index) + (suffixBytes == LeafLayout.SUFFIX_BYTES_DIFFER ? 2 : 0);
    }

    /** Bytes of an entry that starts at {@code start} in front of its value. */
    private long valueSkip(long start) {
        return suffixBytes == LeafLayout.SUFFIX_BYTES_DIFFER
                ? 2 + LeafLayout.tailBytes(page.get(Bytes.I16, start) & 0xFFFF)
                : LeafLayout.tailBytes(suffixBytes);
    }

    private long heapStart(int index) {
        return index == 0 ? heapOffset : heapEnd(index - 1);
    }

    private long heapEnd(int index) {
        return heapOffset
                + switch (endBytes) {
                    case 0 -> (index + 1L) * stride;
                    case 2 -> page.get(Bytes.I16, endsOffset + index * 2L) & 0xFFFF;
                    default -> page.get(Bytes.I32, endsOffset + index * 4L);
                };
    }
}
