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
 *     50    14 zero
 *     64    8m heads            first eight bytes behind the prefix of each group's first key
 *           8m places           of each group: its offset from the start of the page, u32; the index on
 *                               the page of its first entry, u32; groups follow one another without gaps
 *            p key prefix       p = keyPrefixBytes
 *              groups           to the end of the page
 * </pre>
 *
 * <p>Why groups and not restart points: entries of a secondary index come in runs (all flights of
 * one aircraft), and within a run only the primary key's last bytes differ. A page is cut into
 * groups at such runs, so that what they share is stored once, and still is searched by its column
 * of heads and read at any index, forwards and backwards; behind a restart point each key would
 * have to be put together from all keys before it. The heads start at a cache line if the page
 * does.
 */
final class LeafLayout {
    static final int ENVELOPE_BYTES = 32;
    static final int ENTRY_COUNT_OFFSET = ENVELOPE_BYTES;
    static final int GROUP_COUNT_OFFSET = ENTRY_COUNT_OFFSET + 4;
    static final int FIRST_ORDINAL_OFFSET = GROUP_COUNT_OFFSET + 4;
    static final int KEY_PREFIX_BYTES_OFFSET = FIRST_ORDINAL_OFFSET + 8;
    static final int ZERO_OFFSET = KEY_PREFIX_BYTES_OFFSET + 2;
    static final int HEADS_OFFSET = ZERO_OFFSET + 14;

    /** Bytes of a group's share of the directory. */
    static final int DIRECTORY_BYTES = Heads.BYTES + 8;

    /** In a group's place. */
    static final int FIRST_ENTRY_OFFSET = 4;

    private LeafLayout() {}

    /** Where the place of a group stands. */
    static long place(int groupCount, int index) {
        return HEADS_OFFSET + (long) groupCount * Heads.BYTES + 8L * index;
    }

    static long prefix(int groupCount) {
        return HEADS_OFFSET + (long) groupCount * DIRECTORY_BYTES;
    }

    /**
     * Checks what can be checked without walking over the entries: that every group and every
     * column lies in the page.
     *
     * @return what is wrong, or null
     */
    static @Nullable String problem(MemorySegment page) {
        long pageBytes = page.byteSize();
        if (pageBytes < HEADS_OFFSET + DIRECTORY_BYTES + GroupLayout.HEADS_OFFSET) {
            return "page of %d bytes".formatted(pageBytes);
        }
        int count = page.get(Bytes.I32, ENTRY_COUNT_OFFSET);
        int groups = page.get(Bytes.I32, GROUP_COUNT_OFFSET);
        if (groups < 1 || count < groups) {
            return "%d entries in %d groups".formatted(count, groups);
        }
        for (int i = ZERO_OFFSET; i < HEADS_OFFSET; i++) {
            if (page.get(Bytes.U8, i) != 0) {
                return "padding is not zero";
            }
        }
        long start = prefix(groups) + (page.get(Bytes.I16, KEY_PREFIX_BYTES_OFFSET) & 0xFFFF);
        if (start > pageBytes) {
            return "%d groups in %d bytes".formatted(groups, pageBytes);
        }
        return groupsProblem(page, count, groups, start);
    }

    private static @Nullable String groupsProblem(
            MemorySegment page, int count, int groups, long groupsStart) {
        long start = groupsStart;
        int first = 0;
        for (int i = 0; i < groups; i++) {
            boolean last = i + 1 == groups;
            long end = last ? page.byteSize() : page.get(Bytes.I32, place(groups, i + 1));
            int next =
                    last ? count : page.get(Bytes.I32, place(groups, i + 1) + FIRST_ENTRY_OFFSET);
            if (page.get(Bytes.I32, place(groups, i)) != start
                    || page.get(Bytes.I32, place(groups, i) + FIRST_ENTRY_OFFSET) != first
                    || next <= first
                    || end > page.byteSize()) {
                return "group %d does not begin where the one before it ends".formatted(i);
            }
            String problem = GroupLayout.problem(page, start, end, next - first);
            if (problem != null) {
                return "group %d: %s".formatted(i, problem);
            }
            start = end;
            first = next;
        }
        return null;
    }
}
