package io.turbidite.pm.postings;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.Crc32c;
import io.turbidite.pm.cells.KeyList;
import io.turbidite.pm.region.DirtyLines;
import io.turbidite.pm.region.Pages;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Appends groups to pages, and collects what is left of lists. What it writes can't be seen before
 * its caller publishes a pointer.
 *
 * <p><em>Confined to the writer.</em> How far a page is filled is known here alone: a page of an
 * opened region counts as full (research 2.2), so what lies behind its reachable groups is never
 * written to.
 */
public final class PostingWriter {
    private static final int ENTRY_COUNT_MAX = 4_000;

    /** A query of few entries reads one group, which is to lie in two blocks at most. */
    private static final int SHARED_GROUP_BYTES = RegionMemory.BLOCK_BYTES - Group.ENTRIES_OFFSET;

    private final Region region;
    private final RegionMemory memory;
    private final DirtyLines dirty;
    private final Judge judge;
    private final int pageBytes;
    private final MemorySegment scratch;
    private final Crc32c crc = new Crc32c();
    private final PostingCursor cursor;

    /** Bytes that are used, of pages by chunk and number; 0 for one that counts as full. */
    private short[][] tails = new short[16][];

    private int[] groupStarts = new int[16];

    /** What was left out of copies, and is gone when these are published; 1 if it was marked. */
    private final KeyList garbage = new KeyList();

    private final Slice garbageKey = new Slice();
    private long collectedCount;

    public PostingWriter(Region region, Judge judge) {
        this.region = region;
        this.memory = region.memory();
        this.dirty = region.dirty();
        this.judge = judge;
        this.pageBytes = region.spec().pageBytes();
        this.scratch = MemorySegment.ofArray(new byte[pageBytes]);
        this.cursor = new PostingCursor(memory, pageBytes);
    }

    /** The page that a group lies in. */
    public long pageOf(long pointer) {
        return Group.pageOf(pointer, pageBytes);
    }

    /** The page of a list's newest group, if other keys may share it; else 0. */
    public long sharedPageOf(long pointer) {
        if (pointer == 0) {
            return 0;
        }
        long page = pageOf(pointer);
        return Group.isExclusive(memory, page) ? 0 : page;
    }

    /** Whether the entries can be appended to a page. */
    public boolean hasRoom(long page, EntryBuffer entries) {
        int tail = tail(page);
        return tail > 0 && tail + groupBytes(entries) <= pageBytes;
    }

    /** Bytes of the entries in groups of a shared page. */
    private static int groupBytes(EntryBuffer entries) {
        int groupCount = 0;
        for (int from = 0; from < entries.count(); from = groupEnd(entries, from)) {
            groupCount++;
        }
        return entries.byteCount() + groupCount * Group.ENTRIES_OFFSET;
    }

    /** Behind the last entry of a shared page's group that begins with {@code from}. */
    private static int groupEnd(EntryBuffer entries, int from) {
        int end = from + 1;
        while (end < entries.count()
                && entries.end(end + 1) - entries.end(from) <= SHARED_GROUP_BYTES) {
            end++;
        }
        return end;
    }

    /** Whether half of a page is used. */
    public boolean isHalfFull(long page) {
        int tail = tail(page);
        return tail == 0 || tail > pageBytes / 2;
    }

    /** Bytes of entries that one group in a page of its own can have. */
    private int exclusiveBytesMax() {
        return pageBytes - Group.PAGE_HEAD_BYTES - Group.ENTRIES_OFFSET;
    }

    private int tail(long page) {
        int chunk = (int) (page / Pages.CHUNK_BYTES);
        return chunk >= tails.length || tails[chunk] == null
                ? 0
                : tails[chunk][(int) (page % Pages.CHUNK_BYTES / pageBytes)] * 8;
    }

    private void setTail(long page, int tail) {
        int chunk = (int) (page / Pages.CHUNK_BYTES);
        if (chunk >= tails.length) {
            tails = Arrays.copyOf(tails, chunk * 2);
        }
        if (tails[chunk] == null) {
            tails[chunk] = new short[Pages.CHUNK_BYTES / pageBytes];
        }
        tails[chunk][(int) (page % Pages.CHUNK_BYTES / pageBytes)] = (short) (tail / 8);
    }

    /** A page without groups. */
    public long newPage(boolean isExclusive) {
        long page = region.pages().allocate(pageBytes);
        memory.putLong(page, Group.pageWord(page, isExclusive ? Group.EXCLUSIVE : Group.SHARED));
        dirty.add(page, Group.PAGE_HEAD_BYTES);
        setTail(page, Group.PAGE_HEAD_BYTES);
        return page;
    }

    /** Gives a page up: its groups were copied, or nobody leads to them any more. */
    public void retire(long page) {
        setTail(page, 0);
        region.pages().retire(page);
    }

    /**
     * Appends all entries to a page that has room, in groups of about a block; the newest one is as
     * full as it can be.
     *
     * @param older the list before
     * @return the pointer to the list with them
     */
    public long append(long page, long older, EntryBuffer entries) {
        int groupCount = 0;
        for (int from = 0; from < entries.count(); from = groupEnd(entries, from)) {
            if (groupCount == groupStarts.length) {
                groupStarts = Arrays.copyOf(groupStarts, groupCount * 2);
            }
            groupStarts[groupCount++] = from;
        }
        long list = older;
        int end = entries.count();
        for (int i = groupCount - 1; i >= 0; i--) {
            list = write(page, list, entries, groupStarts[i], end);
            end = groupStarts[i];
        }
        return list;
    }

    private long write(long page, long older, EntryBuffer entries, int from, int end) {
        int tail = tail(page);
        int start = entries.end(from);
        int bytes = entries.end(end) - start;
        long group = page + tail;
        long head = Group.head(older, end - from);
        MemorySegment.copy(entries.segment(), start, scratch, 0, bytes);
        int sum = Group.crc(crc, group, head, scratch, bytes);
        memory.putLong(group, head);
        memory.putLong(group + Group.SUM_OFFSET, Group.sum(bytes, sum));
        memory.putBytes(group + Group.ENTRIES_OFFSET, scratch, 0, bytes);
        dirty.add(group, Group.ENTRIES_OFFSET + bytes);
        setTail(page, tail + Group.ENTRIES_OFFSET + bytes);
        return group;
    }

    /**
     * Puts the oldest entries into exclusive pages, one group each, until the rest fits into a
     * shared one.
     *
     * @param older the list before
     * @return the list with what was put away; the buffer has the rest
     */
    public long peel(long older, EntryBuffer entries) {
        long list = older;
        while (groupBytes(entries) > pageBytes - Group.PAGE_HEAD_BYTES) {
            int end = entries.count();
            int from = end;
            while (from > 0
                    && end - from < ENTRY_COUNT_MAX
                    && entries.end(end) - entries.end(from - 1) <= exclusiveBytesMax()) {
                from--;
            }
            long page = newPage(true);
            list = write(page, list, entries, from, end);
            setTail(page, 0);
            entries.keep(from);
        }
        return list;
    }

    /**
     * Adds the entries of a list's groups in {@code page} to a buffer, but garbage; then those of
     * exclusive groups behind them, as long as more than half of one is garbage, or of all if
     * {@code whole}. Pages that are exclusive are given up.
     *
     * @param page 0 if none
     * @return the list behind what was added
     */
    public long collect(long pointer, long page, boolean whole, EntryBuffer target) {
        long list = pointer;
        while (list != 0 && pageOf(list) == page) {
            cursor.load(list);
            list = cursor.older();
            addLive(target);
        }
        while (list != 0) {
            cursor.load(list);
            long older = cursor.older();
            requireExclusive(list);
            if (!whole && garbageCount() * 2 <= cursor.count()) {
                break;
            }
            cursor.load(list);
            addLive(target);
            retire(pageOf(list));
            list = older;
        }
        return list;
    }

    private void requireExclusive(long group) {
        if (!Group.isExclusive(memory, pageOf(group))) {
            throw Group.damaged(memory, group, "older group", "in a page of its own", group);
        }
    }

    private int garbageCount() {
        int count = 0;
        while (cursor.nextInGroup()) {
            if (isGarbage()) {
                count++;
            }
        }
        return count;
    }

    private boolean isGarbage() {
        return cursor.isMarked() || judge.isGarbage(cursor.primaryKey(), cursor.timestamp());
    }

    private void addLive(EntryBuffer target) {
        while (cursor.nextInGroup()) {
            if (isGarbage()) {
                garbage.add(cursor.primaryKey(), cursor.isMarked() ? 1 : 0);
            } else {
                target.add(cursor.timestamp(), cursor.primaryKey());
            }
        }
    }

    /** What was left out is gone: whoever counts learns it. */
    public void publishGarbage() {
        collectedCount += garbage.count();
        for (int i = 0; i < garbage.count(); i++) {
            judge.collected(garbage.key(i, garbageKey), garbage.word(i) == 1);
        }
        garbage.clear();
    }

    /** How many entries were left out of copies so far. */
    public long collectedCount() {
        return collectedCount;
    }

    /** Whether more than half of a list's entries are garbage. */
    public boolean isMostlyGarbage(long pointer) {
        int garbageCount = 0;
        int count = 0;
        cursor.open(pointer);
        while (cursor.next()) {
            count++;
            garbageCount += isGarbage() ? 1 : 0;
        }
        return garbageCount * 2 > count;
    }

    /**
     * Whether a copy of what a list has in its shared page would be better to read: without
     * garbage, or in fewer groups.
     */
    public boolean isScattered(long pointer) {
        long page = sharedPageOf(pointer);
        int groupCount = 0;
        int byteCount = 0;
        int newestBytes = 0;
        for (long list = pointer; list != 0 && pageOf(list) == page; list = cursor.older()) {
            cursor.load(list);
            groupCount++;
            while (cursor.nextInGroup()) {
                if (isGarbage()) {
                    return true;
                }
                byteCount += Group.entryBytes(cursor.primaryKey().length());
            }
            newestBytes = groupCount == 1 ? byteCount : newestBytes;
        }
        return groupCount > 1 + byteCount / SHARED_GROUP_BYTES
                || (groupCount > 1 && newestBytes < SHARED_GROUP_BYTES * 2 / 3);
    }

    /** Marks the entries of a list that are garbage. */
    public void markGarbage(long pointer) {
        cursor.open(pointer);
        while (cursor.next()) {
            if (!cursor.isMarked() && judge.isGarbage(cursor.primaryKey(), cursor.timestamp())) {
                mark();
                judge.marked(cursor.primaryKey());
            }
        }
    }

    /**
     * Marks the entries of a list above a timestamp: those of an absorption that was cut. Their
     * counts stay until they are collected.
     */
    public void markAbove(long pointer, long timestamp) {
        cursor.open(pointer);
        while (cursor.next()) {
            if (!cursor.isMarked() && cursor.timestamp() > timestamp) {
                mark();
            }
        }
    }

    private void mark() {
        long at = cursor.entryOffset();
        memory.putLong(at, memory.getLong(at) | Group.MARK);
        dirty.add(at, Bytes.I64.byteSize());
    }

    /**
     * Checks all groups of a list, and claims the pages that are exclusive to it.
     *
     * @param page the shared page that its newest groups may lie in; 0 if none
     * @return how many entries it has
     */
    public long claim(long pointer, long page) {
        long entryCount = 0;
        long list = pointer;
        while (list != 0) {
            cursor.load(list);
            entryCount += cursor.count();
            long itsPage = pageOf(list);
            if (itsPage != page
                    && (!Group.isExclusive(memory, itsPage)
                            || !region.pages().claim(itsPage, pageBytes))) {
                throw Group.damaged(memory, list, "older group", "in a page of its own", itsPage);
            }
            list = cursor.older();
        }
        return entryCount;
    }
}
