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
 * <p>A group ends where the next key would shorten its prefix by so much that a group more saves a
 * good part of its bytes (see {@link #isCutBefore}), and nowhere else.
 */
public final class LeafBuilder {
    /**
     * A cut has to save an eighth of the group. Random numbers as keys stay in one group that way:
     * a byte less of eight would cost each point search a second search, which made it a quarter
     * slower.
     */
    private static final int WORTHWHILE_SHARE = 8;

    /**
     * Columns are written from the first entry to the last by stores of eight bytes, of which the
     * next store, or what follows the column, takes back those too many.
     */
    public static final int SPARE_BYTES = Long.BYTES;

    /** A page, and the record that did not fit it. */
    private static final int ENTRIES_BYTES_MAX = 2 * Limits.RECORD_BYTES_MAX;

    private int pageBytesMax;

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

    /**
     * The groups of the page, of which the first {@link #groupCount} count, the last being open.
     */
    private final List<GroupShape> groups = new ArrayList<>();

    private int groupCount;

    /** What the open group would be with the entry that is being added. */
    private GroupShape draft = new GroupShape();

    /** Of all groups but the open one, without the page's prefix. */
    private long closedGroupBytes;

    /**
     * @param pageBytesMax most bytes of a page, envelope included; a page of one entry may be
     *     longer
     */
    public LeafBuilder(int pageBytesMax) {
        this.pageBytesMax = pageBytesMax;
    }

    /** Forgets all entries, for pages of another tree. */
    public void restart(int newPageBytesMax) {
        pageBytesMax = newPageBytesMax;
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
        long version = entry.version();
        if (count == 0) {
            prefixBytes = keyBytes;
            draft.begin(0, keyBytes, version, value.length());
            openGroup();
            append(entry, version, value);
            return true;
        }
        GroupShape open = groups.get(groupCount - 1);
        if (sharedBytes >= open.prefixBytes) {
            // as mostly: the next entry of a group changes no prefix
            long groupBytesMax =
                    pageBytesMax - pageBytes(groupCount, prefixBytes, closedGroupBytes);
            if (!open.grow(groupBytesMax, keyBytes, version, value.length())) {
                return false;
            }
            append(entry, version, value);
            return true;
        }
        int newPrefix = Math.min(prefixBytes, sharedBytes);
        boolean cut = isCutBefore(open, sharedBytes, newPrefix);
        if (cut) {
            draft.begin(count, keyBytes, version, value.length());
        } else {
            int groupPrefix = Math.min(open.prefixBytes, sharedBytes);
            draft.extend(open, groupPrefix, tails(open, groupPrefix), keyBytes, value.length());
            draft.addVersion(version);
        }
        long closed = closedGroupBytes + (cut ? open.bytes() : 0);
        long wanted =
                pageBytes(cut ? groupCount + 1 : groupCount, newPrefix, closed + draft.bytes());
        if (wanted > pageBytesMax) {
            return false;
        }
        prefixBytes = newPrefix;
        closedGroupBytes = closed;
        if (cut) {
            openGroup();
        } else {
            groups.set(groupCount - 1, draft);
            draft = open;
        }
        append(entry, version, value);
        return true;
    }

    /** Bytes of the page as it is now, envelope included. */
    public int pageBytes() {
        long groupBytes = closedGroupBytes + groups.get(groupCount - 1).bytes();
        return Math.toIntExact(pageBytes(groupCount, prefixBytes, groupBytes));
    }

    /**
     * Writes the page of {@link #pageBytes()} bytes, except for the envelope, and begins the next
     * one.
     *
     * @param target with {@link #SPARE_BYTES} behind the page, which are written over
     * @param firstOrdinal the place of the page's first entry among all entries
     */
    public void build(MemorySegment target, long offset, long firstOrdinal) {
        target.set(Bytes.I32, offset + LeafLayout.ENTRY_COUNT_OFFSET, count);
        target.set(Bytes.I32, offset + LeafLayout.GROUP_COUNT_OFFSET, groupCount);
        target.set(Bytes.I64, offset + LeafLayout.FIRST_ORDINAL_OFFSET, firstOrdinal);
        target.set(Bytes.I16, offset + LeafLayout.KEY_PREFIX_BYTES_OFFSET, (short) prefixBytes);
        target.asSlice(
                        offset + LeafLayout.ZERO_OFFSET,
                        LeafLayout.HEADS_OFFSET - (long) LeafLayout.ZERO_OFFSET)
                .fill((byte) 0);
        long heads = offset + LeafLayout.HEADS_OFFSET;
        long at = offset + LeafLayout.prefix(groupCount);
        MemorySegment.copy(keys.segment(), 0, target, at, prefixBytes);
        at += prefixBytes;
        for (int i = 0; i < groupCount; i++) {
            GroupShape group = groups.get(i);
            int start = keyStart(group.firstEntry) + prefixBytes;
            int rest = keyEnds[group.firstEntry] - start;
            target.set(Bytes.I64, heads + 8L * i, Bytes.prefix(keys.segment(), start, rest));
            long place = offset + LeafLayout.place(groupCount, i);
            target.set(Bytes.I32, place, (int) (at - offset));
            target.set(Bytes.I32, place + LeafLayout.FIRST_ENTRY_OFFSET, group.firstEntry);
            at = writeGroup(group, target, at);
        }
        clear();
    }

    /**
     * Whether a group more is worth it: all entries but one would get their share of the prefix
     * back as suffix; a group costs its header, its place in the directory and its own prefix, and
     * a step of each search. One that holds a single entry has nothing to lose.
     */
    private static boolean isCutBefore(GroupShape open, int sharedBytes, int pagePrefixBytes) {
        int lost = open.prefixBytes - sharedBytes;
        if (lost <= 0 || open.count == 1) {
            return false;
        }
        long saved = (open.count - 1L) * lost
                - GroupLayout.HEADS_OFFSET
                - LeafLayout.DIRECTORY_BYTES
                - (sharedBytes - pagePrefixBytes);
        return saved > 0 && saved > open.bytes() / WORTHWHILE_SHARE;
    }

    private void openGroup() {
        if (groupCount == groups.size()) {
            groups.add(draft);
            draft = new GroupShape();
        } else {
            draft = groups.set(groupCount, draft);
        }
        groupCount++;
    }

    private void append(EntryHead entry, long version, Slice value) {
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
        versions[count] = version;
        count++;
    }

    private void clear() {
        keys.clear();
        values.clear();
        count = 0;
        groupCount = 0;
        closedGroupBytes = 0;
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
    private static long pageBytes(int groupCount, int prefixBytes, long groupBytes) {
        return LeafLayout.prefix(groupCount)
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
        at = writeHeads(group, target, at);
        at = writeVersions(group, target, at);
        long ends = at;
        at += (long) group.count * group.endBytes();
        int own = group.prefixBytes - prefixBytes;
        MemorySegment.copy(
                keys.segment(), keyStart(group.firstEntry) + (long) prefixBytes, target, at, own);
        return writeHeap(group, target, at + own, ends);
    }

    private long writeHeads(GroupShape group, MemorySegment target, long offset) {
        int width = group.headBytes();
        int cut = Long.SIZE - Byte.SIZE * width;
        int prefix = group.prefixBytes;
        MemorySegment source = keys.segment();
        int end = group.firstEntry + group.count;
        int start = keyStart(group.firstEntry);
        long at = offset;
        for (int i = group.firstEntry; i < end; i++) {
            int keyEnd = keyEnds[i];
            target.set(Bytes.I64, at, head(source, start + prefix, keyEnd) >>> cut);
            at += width;
            start = keyEnd;
        }
        return at;
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
        int width = group.versionBytes();
        if (width == 0) {
            return offset;
        }
        long base = group.versionBase();
        int end = group.firstEntry + group.count;
        long at = offset;
        for (int i = group.firstEntry; i < end; i++) {
            target.set(Bytes.I64, at, versions[i] - base);
            at += width;
        }
        return at;
    }

    private long writeHeap(GroupShape group, MemorySegment target, long offset, long ends) {
        int endBytes = group.endBytes();
        int lengthBytes = group.lengthBytes();
        int last = group.firstEntry + group.count - 1;
        if (group.sameKeyBytes() && !group.hasTails()) {
            int start = valueStart(group.firstEntry);
            int bytes = valueEnds[last] - start;
            MemorySegment.copy(values.segment(), start, target, offset, bytes);
            for (int i = 0; endBytes > 0 && i < group.count; i++) {
                writeEnd(target, ends, endBytes, i, valueEnds[group.firstEntry + i] - start);
            }
            return offset + bytes;
        }
        long at = offset;
        for (int i = group.firstEntry; i <= last; i++) {
            int suffixBytes = keyEnds[i] - keyStart(i) - group.prefixBytes;
            if (lengthBytes == 1) {
                target.set(Bytes.U8, at, (byte) suffixBytes);
            } else if (lengthBytes == 2) {
                target.set(Bytes.I16, at, (short) suffixBytes);
            }
            at += lengthBytes;
            int tail = GroupLayout.tailBytes(suffixBytes);
            Bytes.copyShort(keys.segment(), keyEnds[i] - (long) tail, target, at, tail);
            at += tail;
            int valueBytes = valueEnds[i] - valueStart(i);
            if (valueBytes > 0) {
                MemorySegment.copy(values.segment(), valueStart(i), target, at, valueBytes);
                at += valueBytes;
            }
            writeEnd(target, ends, endBytes, i - group.firstEntry, at - offset);
        }
        return at;
    }

    private static void writeEnd(
            MemorySegment target, long ends, int endBytes, int index, long end) {
        if (endBytes == 2) {
            target.set(Bytes.I16, ends + index * 2L, (short) end);
        } else if (endBytes == 4) {
            target.set(Bytes.I32, ends + index * 4L, (int) end);
        }
    }
}
