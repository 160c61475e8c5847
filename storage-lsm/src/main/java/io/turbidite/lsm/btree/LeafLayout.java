package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Layout of a leaf page: groups of neighbouring entries ({@link GroupLayout}), each with a key
 * prefix and column widths of its own, behind a directory of the groups.
 *
 * <pre>
 * offset bytes field
 *      0    32 envelope         the block header of whoever stores the page
 *     32     4 entryCount       1 or more
 *     36     4 groupCount       m; 1 to entryCount
 *     40     8 firstOrdinal     of the page's first entry in the tree
 *     48     2 keyPrefixBytes   that all keys of the page share
 *     50     1 form             of groups and places: 2 as below; 1 with places of u32; 0 so too,
 *                               and groups as {@link OldGroupLayout}: before version 5
 *     51    13 zero
 *     64    8m heads            first eight bytes behind the prefix of each group's first key
 *           4m places           of each group: its offset from the start of the page, u16; the
 *                               index on the page of its first entry, u16; groups follow one
 *                               another without gaps
 *            p key prefix       p = keyPrefixBytes
 *              groups           to the end of the page
 * </pre>
 *
 * <p>Why groups and not restart points: entries of a secondary index come in runs (all flights of
 * one aircraft), and within a run only the primary key's last bytes differ. A page is cut into
 * groups at such runs, so that what they share is stored once, and still is searched by its column
 * of heads and read at any index, forwards and backwards; behind a restart point each key would
 * have to be put together from all keys before it. The heads start at a cache line if the page
 * does. Places are narrow on pages of up to 64 KiB, as most are.
 */
final class LeafLayout {
    static final int ENVELOPE_BYTES = 32;
    static final int ENTRY_COUNT_OFFSET = ENVELOPE_BYTES;
    static final int GROUP_COUNT_OFFSET = ENTRY_COUNT_OFFSET + 4;
    static final int FIRST_ORDINAL_OFFSET = GROUP_COUNT_OFFSET + 4;
    static final int KEY_PREFIX_BYTES_OFFSET = FIRST_ORDINAL_OFFSET + 8;
    static final int FORM_OFFSET = KEY_PREFIX_BYTES_OFFSET + 2;
    static final int ZERO_OFFSET = FORM_OFFSET + 1;
    static final int HEADS_OFFSET = ZERO_OFFSET + 13;

    static final int OLD_FORM = 0;
    static final int WIDE_FORM = 1;
    static final int NARROW_FORM = 2;

    /** Most bytes and entries of a page in the narrow form. */
    static final int NARROW_MAX = 0xFFFF;

    private LeafLayout() {}

    /** Bytes of a group's place. */
    static int placeBytes(int form) {
        return form == NARROW_FORM ? 4 : 8;
    }

    /** Bytes of a group's share of the directory. */
    static int directoryBytes(int form) {
        return Heads.BYTES + placeBytes(form);
    }

    /** Where the place of a group stands. */
    private static long place(int form, int groupCount, int index) {
        return HEADS_OFFSET + (long) groupCount * Heads.BYTES + (long) placeBytes(form) * index;
    }

    /** Where a group starts on its page. */
    static int groupOffset(MemorySegment page, int form, int groupCount, int index) {
        long place = place(form, groupCount, index);
        return form == NARROW_FORM
                ? page.get(Bytes.I16, place) & 0xFFFF
                : page.get(Bytes.I32, place);
    }

    /** The index on its page of a group's first entry. */
    static int firstEntry(MemorySegment page, int form, int groupCount, int index) {
        long place = place(form, groupCount, index);
        return form == NARROW_FORM
                ? page.get(Bytes.I16, place + 2) & 0xFFFF
                : page.get(Bytes.I32, place + 4);
    }

    /**
     * Writes a group's place.
     *
     * @param page where the page starts in {@code target}
     */
    static void writePlace(
            MemorySegment target,
            long page,
            int form,
            int groupCount,
            int index,
            int groupOffset,
            int firstEntry) {
        long place = page + place(form, groupCount, index);
        if (form == NARROW_FORM) {
            target.set(Bytes.I16, place, (short) groupOffset);
            target.set(Bytes.I16, place + 2, (short) firstEntry);
        } else {
            target.set(Bytes.I32, place, groupOffset);
            target.set(Bytes.I32, place + 4, firstEntry);
        }
    }

    /** Where the key prefix is. */
    static long prefix(int form, int groupCount) {
        return HEADS_OFFSET + (long) groupCount * directoryBytes(form);
    }

    /**
     * Checks what can be checked without walking over the entries: that every group and every
     * column lies in the page.
     *
     * @return what is wrong, or null
     */
    static @Nullable String problem(MemorySegment page) {
        long pageBytes = page.byteSize();
        if (pageBytes < HEADS_OFFSET) {
            return "page of %d bytes".formatted(pageBytes);
        }
        int count = page.get(Bytes.I32, ENTRY_COUNT_OFFSET);
        int groups = page.get(Bytes.I32, GROUP_COUNT_OFFSET);
        int form = page.get(Bytes.U8, FORM_OFFSET);
        if (groups < 1 || count < groups) {
            return "%d entries in %d groups".formatted(count, groups);
        }
        if (form < OLD_FORM || form > NARROW_FORM) {
            return "form %d".formatted(form);
        }
        for (int i = ZERO_OFFSET; i < HEADS_OFFSET; i++) {
            if (page.get(Bytes.U8, i) != 0) {
                return "padding is not zero";
            }
        }
        long start = prefix(form, groups) + (page.get(Bytes.I16, KEY_PREFIX_BYTES_OFFSET) & 0xFFFF);
        if (start > pageBytes) {
            return "%d groups in %d bytes".formatted(groups, pageBytes);
        }
        return groupsProblem(page, count, groups, start);
    }

    private static @Nullable String groupsProblem(
            MemorySegment page, int count, int groups, long groupsStart) {
        int form = page.get(Bytes.U8, FORM_OFFSET);
        long start = groupsStart;
        int first = 0;
        for (int i = 0; i < groups; i++) {
            boolean last = i + 1 == groups;
            long end = last ? page.byteSize() : groupOffset(page, form, groups, i + 1);
            int next = last ? count : firstEntry(page, form, groups, i + 1);
            if (groupOffset(page, form, groups, i) != start
                    || firstEntry(page, form, groups, i) != first
                    || next <= first
                    || end > page.byteSize()) {
                return "group %d does not begin where the one before it ends".formatted(i);
            }
            String problem = form == OLD_FORM
                    ? OldGroupLayout.problem(page, start, end, next - first)
                    : GroupLayout.problem(page, start, end, next - first);
            if (problem != null) {
                return "group %d: %s".formatted(i, problem);
            }
            start = end;
            first = next;
        }
        return null;
    }
}
