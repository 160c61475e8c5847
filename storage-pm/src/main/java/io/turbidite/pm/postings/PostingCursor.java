package io.turbidite.pm.postings;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.Crc32c;
import io.turbidite.pm.region.Pages;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * Reads a list, newest first. Each group is copied, and its checksum compared, before anything of
 * it is believed.
 *
 * <p><em>Confined to one thread</em>, which is inside an epoch from the time it took the pointer;
 * reused, it allocates nothing.
 */
public final class PostingCursor {
    private final RegionMemory memory;
    private final int pageBytes;
    private final MemorySegment copy;
    private final Crc32c crc = new Crc32c();
    private final BitSet marks = new BitSet();
    private final Slice key = new Slice();
    private long group;
    private long older;
    private int count;
    private int index;
    private int at;
    private int nextAt;
    private long groupsRead;
    private long blocksRead;

    public PostingCursor(RegionMemory memory, int pageBytes) {
        this.memory = memory;
        this.pageBytes = pageBytes;
        this.copy = MemorySegment.ofArray(new byte[pageBytes]);
    }

    /** Goes before the first entry of the list that {@code pointer} leads to; 0 is an empty one. */
    public void open(long pointer) {
        older = pointer;
        group = 0;
        count = 0;
        index = 0;
    }

    /**
     * Goes to the next entry, marked ones too.
     *
     * @return whether there is one
     * @throws io.turbidite.core.CorruptionException if its group is damaged
     */
    public boolean next() {
        while (index == count) {
            if (older == 0) {
                return false;
            }
            load(older);
        }
        step();
        return true;
    }

    /** Goes to the next entry of this group alone. */
    boolean nextInGroup() {
        if (index == count) {
            return false;
        }
        step();
        return true;
    }

    private void step() {
        index++;
        at = nextAt;
        nextAt = at + Group.entryBytes(Group.keyBytes(copy.get(Bytes.I64, at)));
    }

    /** Copies a group and stands before its first entry. */
    void load(long pointer) {
        long page = Group.pageOf(pointer, pageBytes);
        long inPage = pointer - page;
        long room = pageBytes - inPage - Group.ENTRIES_OFFSET;
        if (pointer < Pages.CHUNK_BYTES
                || pointer + Group.ENTRIES_OFFSET > memory.byteSize()
                || inPage < Group.PAGE_HEAD_BYTES
                || room < Group.ENTRY_HEAD_BYTES) {
            throw Group.damaged(memory, pointer, "pointer to a group", "inside a page", pointer);
        }
        long head = memory.getLong(pointer);
        long sum = memory.getLong(pointer + Group.SUM_OFFSET);
        long length = Group.entryBytes(sum);
        if (length < Group.ENTRY_HEAD_BYTES || length > room) {
            throw Group.damaged(memory, pointer, "length of a group", "inside its page", sum);
        }
        int bytes = (int) length;
        memory.getBytes(pointer + Group.ENTRIES_OFFSET, copy, 0, bytes);
        group = pointer;
        count = Group.count(head);
        index = 0;
        nextAt = 0;
        takeMarks(bytes);
        int found = Group.crc(crc, pointer, head, copy, bytes);
        if (found != (int) (sum >>> 32)) {
            throw Group.damaged(
                    memory, pointer, "checksum of a group", Integer.toHexString(found), sum);
        }
        older = Group.older(head);
        groupsRead++;
        long last = (pointer + Group.ENTRIES_OFFSET + bytes - 1) / RegionMemory.BLOCK_BYTES;
        blocksRead += last - pointer / RegionMemory.BLOCK_BYTES + 1;
    }

    /** Marks are not in the checksum: they are taken out of the copy. */
    private void takeMarks(int bytes) {
        marks.clear();
        int entryAt = 0;
        for (int i = 0; i < count; i++) {
            if (entryAt + Group.ENTRY_HEAD_BYTES > bytes) {
                throw Group.damaged(memory, group, "entries of a group", "inside it", count);
            }
            long head = copy.get(Bytes.I64, entryAt);
            long mark = head & Group.MARK;
            if (mark != 0) {
                if (mark != Group.MARK) {
                    throw Group.damaged(memory, group, "mark of an entry", "all or nothing", head);
                }
                copy.set(Bytes.I64, entryAt, head & ~Group.MARK);
                marks.set(i);
            }
            entryAt += Group.entryBytes(Group.keyBytes(head));
        }
        if (entryAt != bytes) {
            throw Group.damaged(memory, group, "entries of a group", bytes + " bytes", entryAt);
        }
    }

    public long timestamp() {
        return Group.timestamp(copy.get(Bytes.I64, at));
    }

    /** The primary key; valid until the next call. */
    public Slice primaryKey() {
        return key.set(copy, at + Group.ENTRY_HEAD_BYTES, Group.keyBytes(copy.get(Bytes.I64, at)));
    }

    /** Whether the entry was marked stale: it is nobody's answer. */
    public boolean isMarked() {
        return marks.get(index - 1);
    }

    /** The group that the entry is in. */
    long group() {
        return group;
    }

    /** The group behind this one. */
    long older() {
        return older;
    }

    /** Entries of the group. */
    int count() {
        return count;
    }

    /** Where the entry's head is in the region. */
    long entryOffset() {
        return group + Group.ENTRIES_OFFSET + at;
    }

    /** Groups read so far. */
    public long groupsRead() {
        return groupsRead;
    }

    /** Blocks of the medium read so far, those of each group. */
    public long blocksRead() {
        return blocksRead;
    }
}
