package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryBatch;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A flyweight over a group of a leaf page ({@link GroupLayout}): decodes the group's header once,
 * then finds and reads entries in place. Its indexes count from the group's first entry.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing. Owned by a {@link Leaf}, which has checked
 * the page and hands it to each call (why: see {@link Heads}).
 */
final class Group {
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

    /**
     * The first eight bytes of what all keys of the group share, padded with zeros, and the next
     * eight.
     */
    private long shared;

    private long sharedSecond;

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
     * @return its index; else {@code -1 - i}, i being the first entry behind, which may be the
     *     count
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

    /**
     * Takes entries out of the columns.
     *
     * @param pagePrefixOffset where the page's prefix lies
     * @param from the first of them; the stretch says how many
     */
    void decode(MemorySegment page, long pagePrefixOffset, int from, Stretch stretch) {
        decodeVersions(page, from, stretch.versions, 0, stretch.count());
        findShared(page, pagePrefixOffset);
        decodePrefixes(page, from, stretch);
        boolean fitsWords = lengthBytes == 0 && prefixBytes + suffixBytes <= 2 * Long.BYTES;
        stretch.keyBytes = fitsWords ? prefixBytes + suffixBytes : -1;
        if (fitsWords) {
            decodeSeconds(page, from, stretch);
        }
        decodeValues(page, from, stretch);
    }

    /**
     * Takes the first eight bytes of keys, as {@link Stretch#prefixes}, and nothing else.
     *
     * @param to the place in {@code target} of the first of them
     */
    void decodePrefixes(
            MemorySegment page,
            long pagePrefixOffset,
            int from,
            int entries,
            long[] target,
            int to) {
        findShared(page, pagePrefixOffset);
        if (prefixBytes >= Heads.BYTES) {
            Arrays.fill(target, to, to + entries, shared);
            return;
        }
        int shift = Byte.SIZE * prefixBytes;
        for (int i = 0; i < entries; i++) {
            target[to + i] = shared | heads.whole(heads.at(page, from + i)) >>> shift;
        }
    }

    private void findShared(MemorySegment page, long pagePrefixOffset) {
        if (!sharedIsKnown) {
            shared = sharedWord(page, pagePrefixOffset, 0);
            sharedSecond = sharedWord(page, pagePrefixOffset, Heads.BYTES);
            sharedIsKnown = true;
        }
    }

    /**
     * Puts keys and versions of entries into a batch, as many as fit.
     *
     * @param pagePrefixOffset where the page's prefix lies
     * @param from the first of them
     * @param entriesMax most of them, of those there are
     */
    void take(
            MemorySegment page, long pagePrefixOffset, int from, int entriesMax, EntryBatch batch) {
        if (lengthBytes != 0) {
            takeOfManyLengths(page, pagePrefixOffset, from, entriesMax, batch);
            return;
        }
        int prefix = prefixBytes;
        int bytes = prefix + suffixBytes;
        int entries = Math.min(entriesMax, batch.room(bytes));
        decodeVersions(page, from, batch.versions(), batch.count(), entries);
        MemorySegment keys = batch.keys();
        int first = batch.usedBytes();
        copyPrefixes(page, pagePrefixOffset, keys, first);
        for (int i = 0; i < entries; i++) {
            int at = first + i * bytes;
            for (int done = 0; i > 0 && done < prefix; done += Long.BYTES) {
                keys.set(Bytes.I64, at + done, keys.get(Bytes.I64, first + done));
            }
            keys.set(Bytes.I64_BE, at + prefix, heads.whole(heads.at(page, from + i)));
        }
        int tail = suffixBytes - Heads.BYTES;
        for (int i = 0; tail > 0 && i < entries; i++) {
            long tailAt = heapStart(page, from + i);
            Bytes.copyShort(page, tailAt, keys, first + i * bytes + prefix + Heads.BYTES, tail);
        }
        batch.added(entries, bytes);
    }

    private void takeOfManyLengths(
            MemorySegment page, long pagePrefixOffset, int from, int entriesMax, EntryBatch batch) {
        int entries = Math.min(entriesMax, EntryBatch.ENTRIES_MAX - batch.count());
        decodeVersions(page, from, batch.versions(), batch.count(), entries);
        MemorySegment keys = batch.keys();
        int first = batch.usedBytes();
        copyPrefixes(page, pagePrefixOffset, keys, first);
        for (int i = 0; i < entries && !batch.isFull(); i++) {
            int at = batch.usedBytes();
            for (int done = 0; i > 0 && done < prefixBytes; done += Long.BYTES) {
                keys.set(Bytes.I64, at + done, keys.get(Bytes.I64, first + done));
            }
            keys.set(Bytes.I64_BE, at + prefixBytes, heads.whole(heads.at(page, from + i)));
            long start = heapStart(page, from + i);
            int suffix = storedLength(page, start);
            int tail = suffix - Heads.BYTES;
            if (tail > 0) {
                long tailAt = start + lengthBytes;
                Bytes.copyShort(page, tailAt, keys, at + prefixBytes + Heads.BYTES, tail);
            }
            batch.added(1, prefixBytes + suffix);
        }
    }

    /** Copies the page's prefix and the group's to {@code at}. */
    private void copyPrefixes(
            MemorySegment page, long pagePrefixOffset, MemorySegment keys, int at) {
        Bytes.copyShort(page, pagePrefixOffset, keys, at, pagePrefixBytes);
        int own = prefixBytes - pagePrefixBytes;
        Bytes.copyShort(page, prefixOffset, keys, at + pagePrefixBytes, own);
    }

    private void decodeVersions(
            MemorySegment page, int from, long[] versions, int to, int entries) {
        if (versionBytes == 0) {
            Arrays.fill(versions, to, to + entries, versionBase);
            return;
        }
        int bytes = versionBytes;
        int shift = versionShift;
        long base = versionBase;
        long at = versionsOffset + (long) (from + 1) * bytes - Long.BYTES;
        for (int i = 0; i < entries; i++) {
            versions[to + i] = base + (page.get(Bytes.I64, at + (long) i * bytes) >>> shift);
        }
    }

    private void decodePrefixes(MemorySegment page, int from, Stretch stretch) {
        if (prefixBytes >= Heads.BYTES) {
            Arrays.fill(stretch.prefixes, 0, stretch.count(), shared);
            return;
        }
        heads.decode(page, from, stretch.prefixes, stretch.count());
        or(stretch.prefixes, stretch.count(), shared, Byte.SIZE * prefixBytes);
    }

    private void decodeSeconds(MemorySegment page, int from, Stretch stretch) {
        long[] seconds = stretch.seconds;
        int entries = stretch.count();
        if (prefixBytes == 0) {
            Arrays.fill(seconds, 0, entries, 0);
        } else if (prefixBytes >= 2 * Long.BYTES) {
            Arrays.fill(seconds, 0, entries, sharedSecond);
        } else {
            decodeSecondHeads(page, from, stretch);
        }
        if (suffixBytes > Heads.BYTES) {
            addTails(page, from, stretch);
        }
    }

    private void decodeSecondHeads(MemorySegment page, int from, Stretch stretch) {
        long[] seconds = stretch.seconds;
        int entries = stretch.count();
        heads.decode(page, from, seconds, entries);
        if (prefixBytes >= Heads.BYTES) {
            or(seconds, entries, sharedSecond, Byte.SIZE * (prefixBytes - Heads.BYTES));
        } else {
            // what of a head does not fit behind the prefix in the first word
            int shift = Byte.SIZE * (Heads.BYTES - prefixBytes);
            for (int i = 0; i < entries; i++) {
                seconds[i] <<= shift;
            }
        }
    }

    /** Puts what of each key lies in the heap behind what of its head is in the second word. */
    private void addTails(MemorySegment page, int from, Stretch stretch) {
        long[] seconds = stretch.seconds;
        int entries = stretch.count();
        int tail = suffixBytes - Heads.BYTES;
        long mask = -1L >>> (Long.SIZE - Byte.SIZE * tail);
        int shift = Byte.SIZE * (2 * Long.BYTES - prefixBytes - suffixBytes);
        for (int i = 0; i < entries; i++) {
            // the eight bytes that end with the tail: there are always as many before it
            long end = heapStart(page, from + i) + tail;
            seconds[i] |= (page.get(Bytes.I64_BE, end - Long.BYTES) & mask) << shift;
        }
    }

    private static void or(long[] words, int count, long shared, int shift) {
        for (int i = 0; i < count; i++) {
            words[i] = shared | words[i] >>> shift;
        }
    }

    private void decodeValues(MemorySegment page, int from, Stretch stretch) {
        int[] offsets = stretch.valueOffsets;
        int[] bytes = stretch.valueBytes;
        int entries = stretch.count();
        long start = heapStart(page, from);
        for (int i = 0; i < entries; i++) {
            long end = heapEnd(page, from + i);
            long skipped = valueSkip(page, start);
            offsets[i] = (int) (start + skipped);
            bytes[i] = (int) (end - start - skipped);
            start = end;
        }
    }

    /**
     * Bytes of what all keys of the group share as a number, eight from {@code first} on, padded
     * with zeros.
     */
    private long sharedWord(MemorySegment page, long pagePrefixOffset, int first) {
        int end = Math.min(prefixBytes, first + Long.BYTES);
        long word = 0;
        for (int i = first; i < end; i++) {
            long at =
                    i < pagePrefixBytes ? pagePrefixOffset + i : prefixOffset + i - pagePrefixBytes;
            word |= (page.get(Bytes.U8, at) & 0xFFL) << (Byte.SIZE * (first + Long.BYTES - 1 - i));
        }
        return word;
    }

    int keyBytes(MemorySegment page, int index) {
        return prefixBytes + suffixBytes(page, index);
    }

    /** Copies the group's own prefix to behind the page's. */
    void copyPrefix(MemorySegment page, MemorySegment scratch) {
        int own = prefixBytes - pagePrefixBytes;
        MemorySegment.copy(page, prefixOffset, scratch, pagePrefixBytes, own);
    }

    /**
     * Copies the suffix of an entry's key to behind the prefixes; returns the length of the key.
     */
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
