package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryBatch;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A flyweight over a leaf page ({@link LeafLayout}): finds entries, and reads them by their index
 * on the page. It stands on one group at a time; neighbours, before and behind, are mostly in the
 * same one.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing. The page must have passed {@link
 * LeafLayout#problem}; its bytes must stay until the flyweight is moved.
 */
final class Leaf {
    /** Values are apart if they are two cache lines long on average. */
    private static final int APART_BYTES = 128;

    /** A cache line. */
    private static final int TOUCH_BYTES = 64;

    private static final long FENCES_OFFSET = LeafLayout.HEADS_OFFSET + (long) Heads.BYTES;

    private final Group group = new Group();

    /** The directory of all groups but the first: what comes before the second is on the first. */
    private final Heads fences = new Heads();

    private MemorySegment page = MemorySegment.NULL;
    private int count;
    private int groupCount;
    private int form;
    private int prefixBytes;
    private long firstOrdinal;

    /** The group it stands on, -1 if on none, and which entries of the page are the group's. */
    private int groupIndex = -1;

    private int groupFirst;
    private int groupEntries;

    /** The group whose prefix {@link #copyKey} has copied; -1 if none. */
    private int copiedGroup = -1;

    /** Never read: so that the compiler does not leave reads out that are only to touch. */
    @SuppressWarnings("unused")
    private int touched;

    Leaf wrap(MemorySegment newPage) {
        page = newPage;
        count = newPage.get(Bytes.I32, LeafLayout.ENTRY_COUNT_OFFSET);
        groupCount = newPage.get(Bytes.I32, LeafLayout.GROUP_COUNT_OFFSET);
        prefixBytes = newPage.get(Bytes.I16, LeafLayout.KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        form = newPage.get(Bytes.U8, LeafLayout.FORM_OFFSET);
        firstOrdinal = newPage.get(Bytes.I64, LeafLayout.FIRST_ORDINAL_OFFSET);
        groupIndex = -1;
        groupFirst = 0;
        groupEntries = 0;
        copiedGroup = -1;
        return this;
    }

    void clear() {
        page = MemorySegment.NULL;
        count = 0;
        groupEntries = 0;
    }

    int count() {
        return count;
    }

    long firstOrdinal() {
        return firstOrdinal;
    }

    /** The timestamp times two, plus one for anti-matter. */
    long version(int index) {
        return group.version(page, inGroup(index));
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
     * @return its index; else {@code -1 - i}, i being the first entry behind (key, timestamp),
     *     which may be the count
     */
    int find(Slice key, long timestamp, int hint) {
        int order = comparePrefix(key);
        if (order != 0) {
            return order < 0 ? -1 : -1 - count;
        }
        if (hint >= groupFirst && hint <= groupFirst + groupEntries && groupEntries > 0) {
            int found = group.find(page, key, timestamp, hint - groupFirst);
            int place = found < 0 ? -1 - found : found;
            // between two of its entries, or where no other group is: no other can be meant
            if ((place > 0 || groupIndex == 0)
                    && (place < groupEntries || groupIndex == groupCount - 1)) {
                return found >= 0 ? groupFirst + found : found - groupFirst;
            }
        }
        int target = groupCount == 1 ? 0 : groupOf(key, timestamp);
        if (target != groupIndex) {
            move(target);
        }
        int found = group.find(page, key, timestamp, -1);
        if (found == -1 - groupEntries && target + 1 < groupCount) {
            // behind all of the group: the next one's first entry may be a version of this very key
            move(target + 1);
            found = group.find(page, key, timestamp, 0);
        }
        return found >= 0 ? groupFirst + found : found - groupFirst;
    }

    /** The first entry at or behind (key, timestamp); the count if there is none. */
    int lowerBound(Slice key, long timestamp, int hint) {
        int index = find(key, timestamp, hint);
        return index < 0 ? -1 - index : index;
    }

    /**
     * Asks for the cache lines of the first {@code bytes} of the page at once, for a search: it
     * would meet header, heads, versions and ends one after the other, and wait for memory at each.
     */
    void touchColumns(long bytes) {
        int sum = 0;
        for (long at = 0; at < bytes; at += TOUCH_BYTES) {
            sum += page.get(Bytes.U8, at);
        }
        touched = sum;
    }

    /**
     * Takes {@code entry} and its neighbours in its group out of the page, as many as there are in
     * the direction in which a cursor goes, and {@code entriesMax} at most.
     *
     * <p>The first cache lines of their values are asked for, if these lie apart: one after the
     * other, each first touch of a record would wait for memory on its own; here ten are under way
     * at a time. Short values lie close enough for the processor to fetch them ahead by itself.
     */
    void decode(int entry, boolean forward, int entriesMax, Stretch stretch) {
        int at = inGroup(entry);
        int from = forward ? at : Math.max(0, at + 1 - entriesMax);
        int end = forward ? Math.min(groupEntries, at + entriesMax) : at + 1;
        stretch.begin(groupFirst + from, end - from);
        group.decode(page, LeafLayout.prefix(form, groupCount), from, stretch);
        if (page.byteSize() >= (long) count * APART_BYTES) {
            touchValues(stretch);
        }
    }

    /**
     * Puts the first eight bytes of each of these entries' keys, padded with zeros, as numbers: of
     * entries that may not be wanted when these are known.
     */
    void decodePrefixes(int first, int entries, long[] target) {
        int done = 0;
        while (done < entries) {
            int at = inGroup(first + done);
            int there = Math.min(groupEntries - at, entries - done);
            group.decodePrefixes(
                    page, LeafLayout.prefix(form, groupCount), at, there, target, done);
            done += there;
        }
    }

    /**
     * Puts the keys and versions of {@code entry} and of those behind it into a batch: as many as
     * there are and as fit, {@code entriesMax} at most.
     *
     * @return how many
     */
    int take(int entry, int entriesMax, EntryBatch batch) {
        int before = batch.count();
        int end = Math.min(count, entry + entriesMax);
        int next = entry;
        while (next < end && !batch.isFull()) {
            int at = inGroup(next);
            int entries = Math.min(groupEntries - at, end - next);
            group.take(page, LeafLayout.prefix(form, groupCount), at, entries, batch);
            next = entry + batch.count() - before;
        }
        return next - entry;
    }

    private void touchValues(Stretch stretch) {
        long last = page.byteSize() - 1;
        int sum = 0;
        for (int i = 0; i < stretch.count(); i++) {
            long start = stretch.valueOffsets[i];
            sum += page.get(Bytes.U8, Math.min(start, last));
            sum += page.get(Bytes.U8, Math.min(start + TOUCH_BYTES, last));
        }
        touched = sum;
    }

    /** Moves {@code slice} to the value at a place of a stretch of this page. */
    Slice value(Stretch stretch, int place, Slice slice) {
        return slice.set(page, stretch.valueOffsets[place], stretch.valueBytes[place]);
    }

    /** Moves {@code slice} to the value of an entry. */
    Slice value(int index, Slice slice) {
        return group.value(page, inGroup(index), slice);
    }

    void copyValue(int index, ByteSink sink) {
        group.copyValue(page, inGroup(index), sink);
    }

    int keyBytes(int index) {
        return group.keyBytes(page, inGroup(index));
    }

    /**
     * Puts the key of an entry together in {@code scratch}.
     *
     * @param scratch a longest key and eight bytes more; its first {@link #keyBytes} bytes are
     *     written, the rest may be
     * @param withPrefix false if the copy before this one was of the same page and to the same
     *     scratch
     */
    int copyKey(int index, MemorySegment scratch, boolean withPrefix) {
        int at = inGroup(index);
        if (withPrefix) {
            MemorySegment.copy(page, LeafLayout.prefix(form, groupCount), scratch, 0, prefixBytes);
        }
        if (withPrefix || copiedGroup != groupIndex) {
            group.copyPrefix(page, scratch);
            copiedGroup = groupIndex;
        }
        return group.copySuffix(page, at, scratch);
    }

    /**
     * Checks what {@link LeafLayout#problem} does not, because it has to look at every entry.
     *
     * @param scratch as for {@link #copyKey}
     * @return what is wrong, or null
     */
    @Nullable
    String entriesProblem(MemorySegment scratch) {
        for (int i = 0; i < groupCount; i++) {
            move(i);
            long end = i + 1 < groupCount ? groupOffset(i + 1) : page.byteSize();
            String problem = group.entriesProblem(page, end);
            if (problem != null) {
                return "group %d: %s".formatted(i, problem);
            }
            int keyBytes = keyBytes(groupFirst);
            if (keyBytes + Heads.BYTES > scratch.byteSize()) {
                return "group %d: key of %d bytes".formatted(i, keyBytes);
            }
            var _ = copyKey(groupFirst, scratch, true);
            long head = Bytes.prefix(scratch, prefixBytes, keyBytes - prefixBytes);
            if (head != page.get(Bytes.I64, LeafLayout.HEADS_OFFSET + 8L * i)) {
                return "group %d: its head in the directory is another".formatted(i);
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
                LeafLayout.prefix(form, groupCount),
                prefixBytes);
    }

    /** The last group that begins before (key, timestamp); 0 if none does. */
    private int groupOf(Slice key, long timestamp) {
        long head = Heads.of(key, prefixBytes);
        int fenceCount = groupCount - 1;
        // halved and not guessed: the first bytes of words, say, don't grow evenly
        int low = 0;
        int end = fenceCount;
        while (low < end) {
            int middle = (low + end) >>> 1;
            if (Long.compareUnsigned(fence(middle), head) < 0) {
                low = middle + 1;
            } else {
                end = middle;
            }
        }
        if (low < fenceCount && fence(low) == head) {
            fences.wrap(FENCES_OFFSET, Heads.BYTES, fenceCount);
            int high = fences.runEnd(page, low);
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (beginsBefore(middle + 1, key, timestamp)) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
        }
        return low;
    }

    /** The first bytes of the first entry of a group but the first. */
    private long fence(int index) {
        return page.get(Bytes.I64, FENCES_OFFSET + (long) Heads.BYTES * index);
    }

    private boolean beginsBefore(int index, Slice key, long timestamp) {
        move(index);
        int order = group.compareFirst(page, key);
        return order < 0 || (order == 0 && group.version(page, 0) >>> 1 > timestamp);
    }

    /** The index in its group of an entry of the page; moves to that group. */
    private int inGroup(int index) {
        int at = index - groupFirst;
        if (Integer.compareUnsigned(at, groupEntries) < 0) {
            return at;
        }
        move(groupOfEntry(index));
        return index - groupFirst;
    }

    private int groupOfEntry(int index) {
        if (groupIndex >= 0 && index == groupFirst + groupEntries) {
            return groupIndex + 1; // one step forward
        }
        int low = 0;
        int high = groupCount - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (firstEntry(middle) <= index) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    private void move(int index) {
        groupIndex = index;
        if (groupCount == 1) {
            // as on most pages of records: no need to wait for the directory
            groupEntries = count;
            wrapGroup(LeafLayout.prefix(form, 1) + prefixBytes);
            return;
        }
        groupFirst = firstEntry(index);
        groupEntries = (index + 1 < groupCount ? firstEntry(index + 1) : count) - groupFirst;
        wrapGroup(groupOffset(index));
    }

    private void wrapGroup(long offset) {
        if (form == LeafLayout.OLD_FORM) {
            group.wrapOld(page, offset, groupEntries, prefixBytes);
        } else {
            group.wrap(page, offset, groupEntries, prefixBytes);
        }
    }

    private int firstEntry(int index) {
        return LeafLayout.firstEntry(page, form, groupCount, index);
    }

    private long groupOffset(int index) {
        return LeafLayout.groupOffset(page, form, groupCount, index);
    }
}
