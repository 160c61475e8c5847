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
    private static final long VERSION_BASE_MASK =
            -1L >>> (Long.SIZE - Byte.SIZE * GroupLayout.HEAD_BITS_OFFSET);

    private final Heads heads = new Heads();
    private final Column versions = new Column();

    /** Of the key suffixes, above {@link #suffixBytes}; empty in the old form. */
    private final Column lengths = new Column();

    private final Column ends = new Column();

    /** What is taken out of the columns on the way to a batch. */
    private final long[] words = new long[EntryBatch.ENTRIES_MAX];

    private final long[] keyBytes = new long[EntryBatch.ENTRIES_MAX];
    private int count;

    /** What all keys of the page share, and of those of the group. */
    private int pagePrefixBytes;

    private int prefixBytes;

    /** Of the shortest key suffix, and whether others are longer. */
    private int suffixBytes;

    private boolean lengthsDiffer;

    /** In the old form, of a suffix length, which then lies in the heap; else 0. */
    private int lengthBytes;

    private int headBytes;
    private long versionBase;
    private int versionStep;
    private int stride;
    private boolean isOld;
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
        lengthBytes = 0;
        isOld = false;
        // a header is read at each search: as two numbers
        long first = page.get(Bytes.I64, offset);
        long shape = page.get(Bytes.I64, offset + GroupLayout.SHAPE_OFFSET);
        int own = GroupLayout.keyPrefixBytes(shape);
        prefixBytes = sharedBytes + own;
        suffixBytes = GroupLayout.suffixBytesMin(shape);
        headBytes = GroupLayout.headBytes(shape);
        int lengthBits = GroupLayout.lengthBits(shape);
        lengthsDiffer = lengthBits != 0;
        versionBase = first & VERSION_BASE_MASK;
        versionStep = GroupLayout.versionStep(shape);
        stride = GroupLayout.stride(shape);
        prefixOffset = offset + GroupLayout.PREFIX_OFFSET;
        // the eight bytes that end with the base: there are always as many before it
        long headsOffset = prefixOffset + own + headBytes;
        long base = page.get(Bytes.I64_BE, headsOffset - Long.BYTES)
                & (-1L >>> (Long.SIZE - Byte.SIZE * headBytes));
        int headBits = (int) (first >>> (Byte.SIZE * GroupLayout.HEAD_BITS_OFFSET)) & 0xFF;
        int versionBits = (int) (first >>> (Byte.SIZE * GroupLayout.VERSION_BITS_OFFSET)) & 0xFF;
        long at = heads.wrap(headsOffset, headBits, newCount, headBytes, base);
        at = versions.wrap(at, versionBits, newCount);
        at = lengths.wrap(at, lengthBits, newCount);
        heapOffset = ends.wrap(at, GroupLayout.endBits(shape), newCount);
    }

    /** Moves to a group in the form before version 5 ({@link OldGroupLayout}). */
    void wrapOld(MemorySegment page, long offset, int newCount, int sharedBytes) {
        count = newCount;
        sharedIsKnown = false;
        pagePrefixBytes = sharedBytes;
        // the fields up to versionBase at once: a header is read at each search
        long fields = page.get(Bytes.I64, offset + OldGroupLayout.KEY_PREFIX_BYTES_OFFSET);
        int own = field(fields, OldGroupLayout.KEY_PREFIX_BYTES_OFFSET, 0xFFFF);
        prefixBytes = sharedBytes + own;
        suffixBytes = field(fields, OldGroupLayout.KEY_SUFFIX_BYTES_OFFSET, 0xFFFF);
        headBytes = field(fields, OldGroupLayout.HEAD_BYTES_OFFSET, 0xFF);
        int versionBytes = field(fields, OldGroupLayout.VERSION_BYTES_OFFSET, 0xFF);
        int endBytes = field(fields, OldGroupLayout.END_BYTES_OFFSET, 0xFF);
        lengthBytes = field(fields, OldGroupLayout.LENGTH_BYTES_OFFSET, 0xFF);
        lengthsDiffer = lengthBytes != 0;
        versionBase = page.get(Bytes.I64, offset + OldGroupLayout.VERSION_BASE_OFFSET);
        versionStep = 0;
        isOld = true;
        stride = page.get(Bytes.I32, offset + OldGroupLayout.HEAP_STRIDE_OFFSET);
        long at = offset + OldGroupLayout.HEADS_OFFSET;
        at = heads.wrap(at, Byte.SIZE * headBytes, newCount, headBytes, 0);
        at = versions.wrap(at, Byte.SIZE * versionBytes, newCount);
        prefixOffset = ends.wrap(at, Byte.SIZE * endBytes, newCount);
        heapOffset = prefixOffset + own;
    }

    private static int field(long fields, int offset, int mask) {
        return (int) (fields >>> (Byte.SIZE * offset)) & mask;
    }

    long version(MemorySegment page, int index) {
        return versionBase + (versions.at(page, index) << versionStep);
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
        if (first + 1 == count || heads.at(page, first + 1) != head) {
            // the only one with this head, as nearly always
            int rest = compareRest(page, first, key);
            boolean isBefore = rest < 0 || (rest == 0 && version(page, first) >>> 1 > timestamp);
            return isBefore ? -2 - first : rest == 0 ? first : -1 - first;
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
        long skipped = valueSkip(page, index, start);
        return slice.set(page, start + skipped, (int) (heapEnd(page, index) - start - skipped));
    }

    void copyValue(MemorySegment page, int index, ByteSink sink) {
        long start = heapStart(page, index);
        long skipped = valueSkip(page, index, start);
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
        boolean fitsWords = !lengthsDiffer && prefixBytes + suffixBytes <= 2 * Long.BYTES;
        stretch.keyBytes = fitsWords ? prefixBytes + suffixBytes : -1;
        decodeWords(page, from, fitsWords, stretch);
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
        heads.decode(page, from, words, entries);
        int shift = Byte.SIZE * prefixBytes;
        long sharedPart = shared;
        for (int i = 0; i < entries; i++) {
            target[to + i] = sharedPart | words[i] >>> shift;
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
            takeOfStoredLengths(page, pagePrefixOffset, from, entriesMax, batch);
            return;
        }
        int bytesMin = prefixBytes + suffixBytes;
        int bytesMax = lengthsDiffer ? bytesMin + lengths.numberMax() : bytesMin;
        int entries = Math.min(entriesMax, batch.room(bytesMax));
        decodeVersions(page, from, batch.versions(), batch.count(), entries);
        heads.decode(page, from, words, entries);
        int first = batch.usedBytes();
        if (lengthsDiffer) {
            lengths.decode(page, from, keyBytes, 0, entries, bytesMin, 0);
            batch.added(entries, keyBytes);
        } else {
            Arrays.fill(keyBytes, 0, entries, bytesMin);
            batch.added(entries, bytesMin);
        }
        MemorySegment keys = batch.keys();
        if (prefixBytes <= 2 * Long.BYTES) {
            findShared(page, pagePrefixOffset);
            writeShort(keys, first, entries);
        } else {
            copyPrefixes(page, pagePrefixOffset, keys, first);
            writeLong(keys, first, entries);
        }
        if (bytesMax > prefixBytes + Heads.BYTES) {
            writeTails(page, from, keys, first, entries);
        }
    }

    /** Writes keys, except for tails, whose prefix two words hold. */
    private void writeShort(MemorySegment keys, int first, int entries) {
        int prefix = prefixBytes;
        long word = shared;
        long secondWord = sharedSecond;
        boolean needsSecond = prefix > Long.BYTES;
        long at = first;
        for (int i = 0; i < entries; i++) {
            keys.set(Bytes.I64_BE, at, word);
            if (needsSecond) {
                keys.set(Bytes.I64_BE, at + Long.BYTES, secondWord);
            }
            keys.set(Bytes.I64_BE, at + prefix, words[i]);
            at += keyBytes[i];
        }
    }

    /** Writes keys, except for tails, behind a prefix that stands where the first of them goes. */
    private void writeLong(MemorySegment keys, int first, int entries) {
        int prefix = prefixBytes;
        long at = first;
        for (int i = 0; i < entries; i++) {
            for (int done = 0; i > 0 && done < prefix; done += Long.BYTES) {
                keys.set(Bytes.I64, at + done, keys.get(Bytes.I64, first + done));
            }
            keys.set(Bytes.I64_BE, at + prefix, words[i]);
            at += keyBytes[i];
        }
    }

    private void writeTails(
            MemorySegment page, int from, MemorySegment keys, int first, int entries) {
        int inFront = prefixBytes + Heads.BYTES;
        long tails = 0;
        for (int i = 0; i < entries; i++) {
            tails += Math.max(0, keyBytes[i] - inFront);
        }
        long tailAt = heapStart(page, from);
        // entries without values have nothing but their tails there
        boolean isDense = heapEnd(page, from + entries - 1) - tailAt == tails;
        long at = first;
        for (int i = 0; i < entries; i++) {
            int bytes = (int) keyBytes[i];
            int tail = bytes - inFront;
            if (tail > 0) {
                copyTail(
                        page,
                        isDense ? tailAt : heapStart(page, from + i),
                        keys,
                        at + inFront,
                        tail);
                tailAt += tail;
            }
            at += bytes;
        }
    }

    /** Copies a few bytes to where there are eight; those behind stay. */
    private static void copyTail(
            MemorySegment page, long from, MemorySegment target, long to, int bytes) {
        if (bytes <= Long.BYTES) {
            // the eight bytes that end with them: there are always as many before them
            long word = page.get(Bytes.I64, from + bytes - Long.BYTES);
            int unused = Long.SIZE - Byte.SIZE * bytes;
            long kept = target.get(Bytes.I64, to) & ~(-1L >>> unused);
            target.set(Bytes.I64, to, kept | (word >>> unused));
        } else {
            Bytes.copyShort(page, from, target, to, bytes);
        }
    }

    /** As {@link #take}, in the old form. */
    private void takeOfStoredLengths(
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
            int suffix = suffixBytes(page, from + i);
            int tail = suffix - Heads.BYTES;
            if (tail > 0) {
                long tailAt = tailOffset(page, from + i);
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

    private void decodeVersions(MemorySegment page, int from, long[] target, int to, int entries) {
        versions.decode(page, from, target, to, entries, versionBase, versionStep);
    }

    /** Puts together the first eight bytes of each key, and the second eight if they are wanted. */
    private void decodeWords(MemorySegment page, int from, boolean bothWords, Stretch stretch) {
        long[] prefixes = stretch.prefixes;
        long[] seconds = stretch.seconds;
        int entries = stretch.count();
        if (prefixBytes >= Heads.BYTES) {
            Arrays.fill(prefixes, 0, entries, shared);
            if (!bothWords) {
                return;
            }
            if (prefixBytes >= 2 * Heads.BYTES) {
                Arrays.fill(seconds, 0, entries, sharedSecond);
                return;
            }
            heads.decode(page, from, seconds, entries);
            long sharedPart = sharedSecond;
            int shift = Byte.SIZE * (prefixBytes - Heads.BYTES);
            for (int i = 0; i < entries; i++) {
                seconds[i] = sharedPart | seconds[i] >>> shift;
            }
        } else {
            heads.decode(page, from, seconds, entries);
            long sharedPart = shared;
            int shift = Byte.SIZE * prefixBytes;
            for (int i = 0; i < entries; i++) {
                long head = seconds[i];
                prefixes[i] = sharedPart | head >>> shift;
                // what does not fit behind the prefix; shifted twice: a shift by 64 is none
                seconds[i] = head << (Long.SIZE - 1 - shift) << 1;
            }
        }
        if (bothWords && suffixBytes > Heads.BYTES) {
            addTails(page, from, stretch);
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

    private void decodeValues(MemorySegment page, int from, Stretch stretch) {
        int[] offsets = stretch.valueOffsets;
        int[] bytes = stretch.valueBytes;
        int entries = stretch.count();
        long start = heapStart(page, from);
        for (int i = 0; i < entries; i++) {
            long end = heapEnd(page, from + i);
            long skipped = valueSkip(page, from + i, start);
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
        int own = prefixBytes - pagePrefixBytes;
        int ownFirst = first - pagePrefixBytes;
        if (ownFirst >= 0) {
            return word(page, prefixOffset, own, ownFirst);
        }
        long word = word(page, pagePrefixOffset, pagePrefixBytes, first);
        return ownFirst <= -Long.BYTES
                ? word
                : word | word(page, prefixOffset, own, 0) >>> (Byte.SIZE * -ownFirst);
    }

    /** Of {@code bytes} bytes at {@code offset} the eight from {@code first} on, likewise. */
    private static long word(MemorySegment page, long offset, int bytes, int first) {
        int left = Math.min(bytes - first, Long.BYTES);
        if (left <= 0) {
            return 0;
        }
        // the eight bytes that end there: there are always as many before it
        long end = offset + first + left;
        return page.get(Bytes.I64_BE, end - Long.BYTES) << (Byte.SIZE * (Long.BYTES - left));
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
        if (!isOld && !heads.beginsAtBase(page)) {
            return "the first head is not the base";
        }
        for (int i = 0; i < count; i++) {
            long bytes = heapEnd(page, i) - heapStart(page, i);
            if (heapEnd(page, i) > end) {
                return "entry %d ends at %d of %d".formatted(i, heapEnd(page, i), end);
            }
            if (bytes < lengthBytes || bytes < valueSkip(page, i, heapStart(page, i))) {
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
        if (!lengthsDiffer) {
            return suffixBytes;
        }
        return lengthBytes == 0
                ? suffixBytes + (int) lengths.at(page, index)
                : storedLength(page, heapStart(page, index));
    }

    /** In the old form, the suffix length of the heap entry that starts at {@code start}. */
    private int storedLength(MemorySegment page, long start) {
        return lengthBytes == 1
                ? page.get(Bytes.U8, start) & 0xFF
                : page.get(Bytes.I16, start) & 0xFFFF;
    }

    private long tailOffset(MemorySegment page, int index) {
        return heapStart(page, index) + lengthBytes;
    }

    /** Bytes of an entry that starts at {@code start} in front of its value. */
    private long valueSkip(MemorySegment page, int index, long start) {
        if (lengthBytes == 0) {
            return GroupLayout.tailBytes(suffixBytes(page, index));
        }
        return (long) lengthBytes + GroupLayout.tailBytes(storedLength(page, start));
    }

    private long heapStart(MemorySegment page, int index) {
        return index == 0 ? heapOffset : heapEnd(page, index - 1);
    }

    private long heapEnd(MemorySegment page, int index) {
        return heapOffset + (ends.bits == 0 ? (index + 1L) * stride : ends.at(page, index));
    }
}
