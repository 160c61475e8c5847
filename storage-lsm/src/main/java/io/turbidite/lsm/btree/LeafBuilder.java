package io.turbidite.lsm.btree;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryHead;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Collects entries until a leaf page is full and lays them out as {@link LeafLayout} says.
 *
 * <p><em>Confined to one thread at a time.</em> Reused from page to page and from tree to tree;
 * allocates only to grow. The exact size of the page is known at every moment, so pages are filled
 * to the brim and never padded: a shorter shared prefix makes tails longer, and these are summed
 * again when it shrinks.
 *
 * <p>Where a page is cut into groups is decided as entries come, by what the groups take:
 *
 * <ol>
 *   <li>An entry whose key shares less with the open group than its keys share with one another may
 *       begin a group of its own. From there on two forms of the open group are counted: whole, and
 *       split there.
 *   <li>As soon as the split one is shorter, it is split.
 *   <li>If a further such entry comes before, and is as far or farther away, or makes the second
 *       part much wider, the older place is given up: it did not pay.
 * </ol>
 */
public final class LeafBuilder {
    /**
     * So many small entries are a group at most: a cursor takes a group out of its columns at
     * once, and twice as many would make each of them two bits wider, which is what a group costs.
     */
    private static final int GROUP_ENTRIES_MAX = Stretch.ENTRIES_MAX;

    /** Small entries have so many bytes in the mean: to search two groups of large ones is dear. */
    private static final int SMALL_BYTES = 16;

    /** A second part that is so much longer by each of its entries has been joined by another. */
    private static final int WIDENED_BYTES = 2;

    /** With so many entries the second part would have paid. */
    private static final int SECOND_COUNT_MAX = 24;

    /**
     * Columns are written from the first entry to the last by stores of eight bytes, of which the
     * next store, or what follows the column, takes back those too many.
     */
    public static final int SPARE_BYTES = Long.BYTES;

    /** A page, and the record that did not fit it. */
    private static final int ENTRIES_BYTES_MAX = 2 * Limits.RECORD_BYTES_MAX;

    private int pageBytesMax;
    private int form;

    /** All keys, whole, one behind the other. */
    private final ByteSink keys = new ByteSink(4 << 10, ENTRIES_BYTES_MAX);

    /** All values, one behind the other. */
    private final ByteSink values = new ByteSink(4 << 10, ENTRIES_BYTES_MAX);

    private int[] keyEnds = new int[256];
    private int[] valueEnds = new int[256];
    private long[] versions = new long[256];
    private int count;

    /** What all keys of the page share. */
    private int prefixBytes;

    /** The groups of the page but the open one; the first {@link #closedCount} count. */
    private final List<GroupShape> closed = new ArrayList<>();

    private int closedCount;

    /** The open group, whole. */
    private GroupShape open = new GroupShape();

    /** If it may be split: its two parts. */
    private final GroupShape firstPart = new GroupShape();

    private final GroupShape secondPart = new GroupShape();
    private boolean hasParts;

    /** What the first key of the second part shares with the one before it. */
    private int partsShare;

    /** What the open group would be with the entry that is being added. */
    private GroupShape draft = new GroupShape();

    private final Column.Writer column = new Column.Writer();

    /** Of all groups but the open one, without the page's prefix. */
    private long closedGroupBytes;

    /**
     * @param pageBytesMax most bytes of a page, envelope included; a page of one entry may be
     *     longer
     */
    public LeafBuilder(int pageBytesMax) {
        restart(pageBytesMax);
    }

    /** Forgets all entries, for pages of another tree. */
    public void restart(int newPageBytesMax) {
        pageBytesMax = newPageBytesMax;
        form = newPageBytesMax <= LeafLayout.NARROW_MAX
                ? LeafLayout.NARROW_FORM
                : LeafLayout.WIDE_FORM;
        clear();
    }

    public int entryCount() {
        return count;
    }

    /** Memory that it holds, on the heap and off it. */
    public long memoryBytes() {
        return keys.segment().byteSize() + values.segment().byteSize() + 16L * versions.length;
    }

    /**
     * Adds an entry that is above all others; false, and nothing is added, if the page is full. The
     * first entry of a page always finds room.
     *
     * @param sharedBytes how many first bytes the key shares with the key before it
     */
    public boolean add(EntryHead entry, int sharedBytes, Slice value) {
        int keyBytes = entry.keyBytes;
        if (count == 0) {
            prefixBytes = keyBytes;
            open.begin(0, keyBytes, entry.version(), value.length());
            append(entry, value);
            return true;
        }
        if (count == LeafLayout.NARROW_MAX) {
            return false;
        }
        boolean isFull =
                open.count >= GROUP_ENTRIES_MAX && open.bytes() < (long) open.count * SMALL_BYTES;
        if (isFull) {
            draft.begin(count, keyBytes, entry.version(), value.length());
        } else {
            draft.set(open);
            extend(draft, sharedBytes, entry, value);
        }
        int newPrefix = Math.min(prefixBytes, sharedBytes);
        long closedBytes = closedGroupBytes + (isFull ? open.bytes() : 0);
        int groups = closedCount + (isFull ? 2 : 1);
        if (pageBytes(groups, newPrefix, closedBytes + draft.bytes()) > pageBytesMax) {
            return splitAndAdd(entry, sharedBytes, value);
        }
        prefixBytes = newPrefix;
        if (isFull) {
            close(open);
            hasParts = false;
        } else {
            noteParts(sharedBytes, entry, value);
        }
        GroupShape added = draft;
        draft = open;
        open = added;
        append(entry, value);
        if (hasParts && isShorterSplit()) {
            split();
        }
        return true;
    }

    /** Adds an entry that finds room only where a group begins with it, if there is as much. */
    private boolean splitAndAdd(EntryHead entry, int sharedBytes, Slice value) {
        draft.begin(count, entry.keyBytes, entry.version(), value.length());
        int newPrefix = Math.min(prefixBytes, sharedBytes);
        long closedBytes = closedGroupBytes + open.bytes();
        if (pageBytes(closedCount + 2, newPrefix, closedBytes + draft.bytes()) > pageBytesMax) {
            return false;
        }
        prefixBytes = newPrefix;
        close(open);
        hasParts = false;
        open.set(draft);
        append(entry, value);
        return true;
    }

    /** Decides where the open group, which is about to get an entry, may be split. */
    private void noteParts(int sharedBytes, EntryHead entry, Slice value) {
        if (!hasParts) {
            if (sharedBytes < open.prefixBytes && open.count > 1) {
                beginSecondPart(sharedBytes, entry, value);
            }
            return;
        }
        long before = secondPart.bytes();
        boolean isFarther = sharedBytes <= partsShare;
        if (!isFarther) {
            int entries = secondPart.count;
            boolean isNarrower = sharedBytes < secondPart.prefixBytes;
            extend(secondPart, sharedBytes, entry, value);
            long widened = secondPart.bytes() - before;
            if (!isNarrower || entries == 1 || widened < (entries + 1L) * WIDENED_BYTES + 8) {
                hasParts = secondPart.count < SECOND_COUNT_MAX;
                return;
            }
        }
        beginSecondPart(sharedBytes, entry, value);
    }

    private void beginSecondPart(int sharedBytes, EntryHead entry, Slice value) {
        firstPart.set(open);
        secondPart.begin(count, entry.keyBytes, entry.version(), value.length());
        partsShare = sharedBytes;
        hasParts = true;
    }

    /** Whether two groups take less: each has a place in the directory, and the page's prefix. */
    private boolean isShorterSplit() {
        long one = open.bytes();
        long two = firstPart.bytes()
                + secondPart.bytes()
                + LeafLayout.directoryBytes(form)
                - prefixBytes;
        return two < one;
    }

    private void split() {
        close(firstPart);
        open.set(secondPart);
        hasParts = false;
    }

    /** Gives a group the entry that comes next, with which it may share less. */
    private void extend(GroupShape group, int sharedBytes, EntryHead entry, Slice value) {
        if (sharedBytes < group.prefixBytes) {
            int start = keyStart(group.firstEntry);
            long head = head(keys.segment(), start + sharedBytes, keyEnds[group.firstEntry]);
            group.shorten(sharedBytes, head, tails(group, sharedBytes));
        }
        group.add(entry.keyBytes, head(entry, group.prefixBytes), entry.version(), value.length());
    }

    /** The first eight bytes of an entry's key behind a prefix, as {@link Bytes#prefix}. */
    private static long head(EntryHead entry, int prefix) {
        if (entry.isLong()) {
            return Heads.of(entry.longKey(), prefix);
        }
        if (prefix < Long.BYTES) {
            // shifted twice: a shift by 64 is none
            int bits = Byte.SIZE * prefix;
            return entry.prefix << bits | entry.second >>> 1 >>> (Long.SIZE - 1 - bits);
        }
        return prefix < 2 * Long.BYTES ? entry.second << (Byte.SIZE * (prefix - Long.BYTES)) : 0;
    }

    /** Bytes of the page as it is now, envelope included. */
    public int pageBytes() {
        return Math.toIntExact(
                pageBytes(closedCount + 1, prefixBytes, closedGroupBytes + open.bytes()));
    }

    /**
     * Writes the page of {@link #pageBytes()} bytes, except for the envelope, and begins the next
     * one.
     *
     * @param target with {@link #SPARE_BYTES} behind the page, which are written over
     * @param firstOrdinal the place of the page's first entry among all entries
     */
    public void build(MemorySegment target, long offset, long firstOrdinal) {
        int groupCount = closedCount + 1;
        target.set(Bytes.I32, offset + LeafLayout.ENTRY_COUNT_OFFSET, count);
        target.set(Bytes.I32, offset + LeafLayout.GROUP_COUNT_OFFSET, groupCount);
        target.set(Bytes.I64, offset + LeafLayout.FIRST_ORDINAL_OFFSET, firstOrdinal);
        target.set(Bytes.I16, offset + LeafLayout.KEY_PREFIX_BYTES_OFFSET, (short) prefixBytes);
        target.set(Bytes.U8, offset + LeafLayout.FORM_OFFSET, (byte) form);
        target.asSlice(
                        offset + LeafLayout.ZERO_OFFSET,
                        LeafLayout.HEADS_OFFSET - (long) LeafLayout.ZERO_OFFSET)
                .fill((byte) 0);
        long heads = offset + LeafLayout.HEADS_OFFSET;
        long at = offset + LeafLayout.prefix(form, groupCount);
        MemorySegment.copy(keys.segment(), 0, target, at, prefixBytes);
        at += prefixBytes;
        for (int i = 0; i < groupCount; i++) {
            GroupShape group = i < closedCount ? closed.get(i) : open;
            int start = keyStart(group.firstEntry) + prefixBytes;
            int rest = keyEnds[group.firstEntry] - start;
            target.set(Bytes.I64, heads + 8L * i, Bytes.prefix(keys.segment(), start, rest));
            LeafLayout.writePlace(
                    target, offset, form, groupCount, i, (int) (at - offset), group.firstEntry);
            at = writeGroup(group, target, at);
        }
        clear();
    }

    private void close(GroupShape group) {
        if (closedCount == closed.size()) {
            closed.add(new GroupShape());
        }
        closed.get(closedCount++).set(group);
        closedGroupBytes += group.bytes();
    }

    private void append(EntryHead entry, Slice value) {
        if (count == versions.length) {
            keyEnds = Arrays.copyOf(keyEnds, count * 2);
            valueEnds = Arrays.copyOf(valueEnds, count * 2);
            versions = Arrays.copyOf(versions, count * 2);
        }
        entry.putKey(keys);
        if (value.length() > 0) {
            values.putBytes(value);
        }
        keyEnds[count] = keys.length();
        valueEnds[count] = values.length();
        versions[count] = entry.version();
        count++;
    }

    private void clear() {
        keys.clear();
        values.clear();
        count = 0;
        closedCount = 0;
        closedGroupBytes = 0;
        hasParts = false;
    }

    /** The sum of the tails of a group's keys at a prefix that may be shorter than its own. */
    private long tails(GroupShape group, int prefix) {
        if (group.tailsAreEven(prefix)) {
            return group.evenTails(prefix);
        }
        long sum = 0;
        for (int i = group.firstEntry; i < group.firstEntry + group.count; i++) {
            sum += GroupLayout.tailBytes(keyEnds[i] - keyStart(i) - prefix);
        }
        return sum;
    }

    /**
     * @param groupBytes of all groups, without the page's prefix, which each then saves
     */
    private long pageBytes(int groupCount, int prefixBytes, long groupBytes) {
        return LeafLayout.prefix(form, groupCount)
                + prefixBytes
                + groupBytes
                - (long) groupCount * prefixBytes;
    }

    private int keyStart(int index) {
        return index == 0 ? 0 : keyEnds[index - 1];
    }

    private int valueStart(int index) {
        return index == 0 ? 0 : valueEnds[index - 1];
    }

    private long writeGroup(GroupShape group, MemorySegment target, long offset) {
        long at = group.writeHeader(target, offset, prefixBytes);
        int first = keyStart(group.firstEntry);
        int own = group.prefixBytes - prefixBytes;
        MemorySegment.copy(keys.segment(), first + (long) prefixBytes, target, at, own);
        at += own;
        int headBytes = group.headBytes();
        long base = group.headBase();
        target.set(Bytes.I64_BE, at, base << (Long.SIZE - Byte.SIZE * headBytes));
        at = writeHeads(group, target, at + headBytes);
        at = writeVersions(group, target, at);
        at = writeLengths(group, target, at);
        at = writeEnds(group, target, at);
        return writeHeap(group, target, at);
    }

    private long writeHeads(GroupShape group, MemorySegment target, long offset) {
        int bits = group.headBits();
        if (bits == 0) {
            return offset;
        }
        int cut = Long.SIZE - Byte.SIZE * group.headBytes();
        long base = group.headBase();
        int prefix = group.prefixBytes;
        MemorySegment source = keys.segment();
        int end = group.firstEntry + group.count;
        int start = keyStart(group.firstEntry);
        column.begin(offset, bits);
        for (int i = group.firstEntry; i < end; i++) {
            int keyEnd = keyEnds[i];
            column.put(target, (head(source, start + prefix, keyEnd) >>> cut) - base);
            start = keyEnd;
        }
        return column.end();
    }

    /**
     * The first eight bytes of the suffix from {@code start} to {@code end}, as
     * {@link Bytes#prefix}.
     */
    private static long head(MemorySegment keys, int start, int end) {
        int bytes = end - start;
        if (bytes >= Long.BYTES) {
            return keys.get(Bytes.I64_BE, start);
        }
        if (bytes == 0 || end < Long.BYTES) {
            return Bytes.prefix(keys, start, bytes);
        }
        // the eight bytes that end there, those before the suffix shifted out: no loop over bytes
        return keys.get(Bytes.I64_BE, end - Long.BYTES) << (Long.SIZE - Byte.SIZE * bytes);
    }

    private long writeVersions(GroupShape group, MemorySegment target, long offset) {
        int bits = group.versionBits();
        if (bits == 0) {
            return offset;
        }
        long base = group.versionBase();
        int step = group.versionStep();
        int end = group.firstEntry + group.count;
        column.begin(offset, bits);
        for (int i = group.firstEntry; i < end; i++) {
            column.put(target, (versions[i] - base) >>> step);
        }
        return column.end();
    }

    private long writeLengths(GroupShape group, MemorySegment target, long offset) {
        int bits = group.lengthBits();
        if (bits == 0) {
            return offset;
        }
        int least = group.keyBytesMin();
        int end = group.firstEntry + group.count;
        column.begin(offset, bits);
        for (int i = group.firstEntry; i < end; i++) {
            column.put(target, keyEnds[i] - keyStart(i) - least);
        }
        return column.end();
    }

    private long writeEnds(GroupShape group, MemorySegment target, long offset) {
        int bits = group.endBits();
        if (bits == 0) {
            return offset;
        }
        int end = group.firstEntry + group.count;
        long heapEnd = 0;
        column.begin(offset, bits);
        for (int i = group.firstEntry; i < end; i++) {
            int suffixBytes = keyEnds[i] - keyStart(i) - group.prefixBytes;
            heapEnd += GroupLayout.tailBytes(suffixBytes) + valueEnds[i] - valueStart(i);
            column.put(target, heapEnd);
        }
        return column.end();
    }

    private long writeHeap(GroupShape group, MemorySegment target, long offset) {
        int last = group.firstEntry + group.count - 1;
        if (!group.hasTails()) {
            int start = valueStart(group.firstEntry);
            int bytes = valueEnds[last] - start;
            MemorySegment.copy(values.segment(), start, target, offset, bytes);
            return offset + bytes;
        }
        long at = offset;
        for (int i = group.firstEntry; i <= last; i++) {
            int tail = GroupLayout.tailBytes(keyEnds[i] - keyStart(i) - group.prefixBytes);
            Bytes.copyShort(keys.segment(), keyEnds[i] - (long) tail, target, at, tail);
            at += tail;
            int valueBytes = valueEnds[i] - valueStart(i);
            if (valueBytes > 0) {
                MemorySegment.copy(values.segment(), valueStart(i), target, at, valueBytes);
                at += valueBytes;
            }
        }
        return at;
    }
}
