package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A flyweight over a group of a leaf page ({@link GroupLayout}): decodes the group's header once, then
 * finds and reads entries in place. Its indexes count from the group's first entry.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing. Owned by a {@link Leaf}, which has checked the
 * page and hands it to each call (why: see {@link Heads}).
 */
final class Group {
    private static final int LINE_BYTES = 64;

    private final Heads heads = new Heads();
    private int count;

    /** What all keys of the page share, and of those of the group. */
    private int pagePrefixBytes;

    private int prefixBytes;
    private int suffixBytes;
    private int headBytes;
    private long versionBase;
    private int versionBytes;
    private int versionShift;
    private int endBytes;
    private int lengthBytes;
    private int stride;
    private long versionsOffset;
    private long endsOffset;
    private long prefixOffset;
    private long heapOffset;

    /** The first eight bytes of what all keys of the group share, padded with zeros. */
    private long shared;

    private boolean sharedIsKnown;

    /**
     * Moves to a group.
     *
     * @param sharedBytes the page's prefix
     */
    void wrap(MemorySegment page, long offset, int newCount, int sharedBytes) {
        count = newCount;
        sharedIsKnown = false;
        pagePrefixBytes = sharedBytes;
        // the fields up to versionBase at once: a header is read at each search
        long fields = page.get(Bytes.I64, offset + GroupLayout.KEY_PREFIX_BYTES_OFFSET);
        int own = field(fields, GroupLayout.KEY_PREFIX_BYTES_OFFSET, 0xFFFF);
        prefixBytes = sharedBytes + own;
        suffixBytes = field(fields, GroupLayout.KEY_SUFFIX_BYTES_OFFSET, 0xFFFF);
        headBytes = field(fields, GroupLayout.HEAD_BYTES_OFFSET, 0xFF);
        versionBytes = field(fields, GroupLayout.VERSION_BYTES_OFFSET, 0xFF);
        versionShift = Long.SIZE - Byte.SIZE * versionBytes;
        endBytes = field(fields, GroupLayout.END_BYTES_OFFSET, 0xFF);
        lengthBytes = field(fields, GroupLayout.LENGTH_BYTES_OFFSET, 0xFF);
        versionBase = page.get(Bytes.I64, offset + GroupLayout.VERSION_BASE_OFFSET);
        stride = page.get(Bytes.I32, offset + GroupLayout.HEAP_STRIDE_OFFSET);
        long headsOffset = offset + GroupLayout.HEADS_OFFSET;
        heads.wrap(headsOffset, headBytes, newCount);
        versionsOffset = headsOffset + (long) newCount * headBytes;
        endsOffset = versionsOffset + (long) newCount * versionBytes;
        prefixOffset = endsOffset + (long) newCount * endBytes;
        heapOffset = prefixOffset + own;
    }

    private static int field(long fields, int offset, int mask) {
        return (int) (fields >>> (Byte.SIZE * offset)) & mask;
    }

    long version(MemorySegment page, int index) {
        if (versionBytes == 0) {
            return versionBase;
        }
        // the eight bytes that end where the version ends, its own on top: there are always eight
        // bytes before that end, and not always behind its start
        long at = versionsOffset + (long) (index + 1) * versionBytes - Long.BYTES;
        return versionBase + (page.get(Bytes.I64, at) >>> versionShift);
    }

    /**
     * The first entry at or behind (key, timestamp), if it is a version of that key.
     *
     * @param key starts with the page's prefix
     * @param hint where to start looking, 0 to count; negative to guess
     * @return its index; else {@code -1 - i}, i being the first entry behind, which may be the count
     */
    int find(MemorySegment page, Slice key, long timestamp, int hint) {
        int order = comparePrefix(page, key);
        if (order != 0) {
            return order < 0 ? -1 : -1 - count;
        }
        long head = heads.cut(Heads.of(key, prefixBytes));
        int first = heads.lowerBound(page, head, hint);
        if (first == count || heads.at(page, first) != head) {
            return -1 - first;
        }
        int low = first;
        int high = heads.runEnd(page, first);
        while (low < high) {
            int middle = (low + high) >>> 1;
            int rest = compareRest(page, middle, key);
            if (rest < 0 || (rest == 0 && version(page, middle) >>> 1 > timestamp)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        boolean same =
                low < count && heads.at(page, low) == head && compareRest(page, low, key) == 0;
        return same ? low : -1 - low;
    }

    /** Order of the first entry's key against {@code key}, which starts with the page's prefix. */
    int compareFirst(MemorySegment page, Slice key) {
        int order = comparePrefix(page, key);
        if (order != 0) {
            return -order;
        }
        long head = heads.cut(Heads.of(key, prefixBytes));
        order = Long.compareUnsigned(heads.at(page, 0), head);
        return order != 0 ? order : compareRest(page, 0, key);
    }

    /** Moves {@code slice} to the value of an entry. */
    Slice value(MemorySegment page, int index, Slice slice) {
        long start = heapStart(page, index);
        long skipped = valueSkip(page, start);
        return slice.set(page, start + skipped, (int) (heapEnd(page, index) - start - skipped));
    }

    void copyValue(MemorySegment page, int index, ByteSink sink) {
        long start = heapStart(page, index);
        long skipped = valueSkip(page, start);
        sink.putBytes(page, start + skipped, (int) (heapEnd(page, index) - start - skipped));
    }

    /** Reads a byte of the first two cache lines of each heap entry; their sum means nothing. */
    int touchHeap(MemorySegment page) {
        long last = page.byteSize() - 1;
        int sum = 0;
        for (int i = 0; i < count; i++) {
            long start = heapStart(page, i);
            sum += page.get(Bytes.U8, Math.min(start, last));
            sum += page.get(Bytes.U8, Math.min(start + LINE_BYTES, last));
        }
        return sum;
    }

    /**
     * The first eight bytes of a key, padded with zeros, as a number.
     *
     * @param pagePrefixOffset where the page's prefix lies
     */
    long keyPrefix(MemorySegment page, long pagePrefixOffset, int index) {
        if (!sharedIsKnown) {
            shared = sharedPrefix(page, pagePrefixOffset);
            sharedIsKnown = true;
        }
        return prefixBytes >= Heads.BYTES
                ? shared
                : shared | heads.whole(heads.at(page, index)) >>> (Byte.SIZE * prefixBytes);
    }

    private long sharedPrefix(MemorySegment page, long pagePrefixOffset) {
        long first = Bytes.prefix(page, pagePrefixOffset, pagePrefixBytes);
        if (pagePrefixBytes >= Heads.BYTES) {
            return first;
        }
        long second = Bytes.prefix(page, prefixOffset, prefixBytes - pagePrefixBytes);
        return first | second >>> (Byte.SIZE * pagePrefixBytes);
    }

    int keyBytes(MemorySegment page, int index) {
        return prefixBytes + suffixBytes(page, index);
    }

    /** Copies the group's own prefix to behind the page's. */
    void copyPrefix(MemorySegment page, MemorySegment scratch) {
        int own = prefixBytes - pagePrefixBytes;
        MemorySegment.copy(page, prefixOffset, scratch, pagePrefixBytes, own);
    }

    /** Copies the suffix of an entry's key to behind the prefixes; returns the length of the key. */
    int copySuffix(MemorySegment page, int index, MemorySegment scratch) {
        long head = heads.whole(heads.at(page, index));
        scratch.set(Bytes.I64_BE, prefixBytes, head);
        int suffix = suffixBytes(page, index);
        int tail = suffix - Heads.BYTES;
        if (tail > 0) {
            MemorySegment.copy(
                    page, tailOffset(page, index), scratch, prefixBytes + (long) Heads.BYTES, tail);
        }
        return prefixBytes + suffix;
    }

    /**
     * Checks what {@link GroupLayout#problem} does not, because it has to look at every entry.
     *
     * @param end of the group on the page
     * @return what is wrong, or null
     */
    @Nullable
    String entriesProblem(MemorySegment page, long end) {
        for (int i = 0; i < count; i++) {
            long bytes = heapEnd(page, i) - heapStart(page, i);
            if (heapEnd(page, i) > end) {
                return "entry %d ends at %d of %d".formatted(i, heapEnd(page, i), end);
            }
            if (bytes < lengthBytes || bytes < valueSkip(page, heapStart(page, i))) {
                return "entry %d has %d bytes".formatted(i, bytes);
            }
            int suffix = suffixBytes(page, i);
            if (headBytes < Heads.BYTES && suffix > headBytes) {
                return "entry %d: a suffix of %d bytes behind heads of %d"
                        .formatted(i, suffix, headBytes);
            }
            long head = heads.whole(heads.at(page, i));
            boolean padded = suffix < Heads.BYTES;
            if (padded && head << (Byte.SIZE * suffix) != 0) {
                return "entry %d: padding behind a key suffix of %d bytes is not zero"
                        .formatted(i, suffix);
            }
        }
        return null;
    }

    /** Order of {@code key} against the group's prefix; 0 if it starts with it. */
    private int comparePrefix(MemorySegment page, Slice key) {
        if (prefixBytes == pagePrefixBytes) {
            return 0;
        }
        // a key shorter than the prefix that agrees so far is below: compare says so by length
        return Bytes.compare(
                key.segment(),
                key.offset() + pagePrefixBytes,
                Math.min(prefixBytes, key.length()) - pagePrefixBytes,
                page,
                prefixOffset,
                prefixBytes - pagePrefixBytes);
    }

    /** Order of an entry's key against {@code key}, prefix and heads being equal. */
    private int compareRest(MemorySegment page, int index, Slice key) {
        int mine = suffixBytes(page, index);
        int theirs = key.length() - prefixBytes;
        // a suffix that fits its head has zeros behind it there: equal heads leave the lengths
        if (mine <= Heads.BYTES || theirs <= Heads.BYTES) {
            return Integer.compare(mine, theirs);
        }
        return Bytes.compare(
                page,
                tailOffset(page, index),
                mine - Heads.BYTES,
                key.segment(),
                key.offset() + prefixBytes + Heads.BYTES,
                theirs - Heads.BYTES);
    }

    private int suffixBytes(MemorySegment page, int index) {
        return lengthBytes == 0 ? suffixBytes : storedLength(page, heapStart(page, index));
    }

    /** The suffix length of the heap entry that starts at {@code start}. */
    private int storedLength(MemorySegment page, long start) {
        return lengthBytes == 1
                ? page.get(Bytes.U8, start) & 0xFF
                : page.get(Bytes.I16, start) & 0xFFFF;
    }

    private long tailOffset(MemorySegment page, int index) {
        return heapStart(page, index) + lengthBytes;
    }

    /** Bytes of an entry that starts at {@code start} in front of its value. */
    private long valueSkip(MemorySegment page, long start) {
        return lengthBytes == 0
                ? GroupLayout.tailBytes(suffixBytes)
                : lengthBytes + GroupLayout.tailBytes(storedLength(page, start));
    }

    private long heapStart(MemorySegment page, int index) {
        return index == 0 ? heapOffset : heapEnd(page, index - 1);
    }

    private long heapEnd(MemorySegment page, int index) {
        return heapOffset
                + switch (endBytes) {
                    case 0 -> (index + 1L) * stride;
                    case 2 -> page.get(Bytes.I16, endsOffset + index * 2L) & 0xFFFF;
                    default -> page.get(Bytes.I32, endsOffset + index * 4L);
                };
    }
}
