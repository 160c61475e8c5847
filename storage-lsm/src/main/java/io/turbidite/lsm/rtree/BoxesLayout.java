package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Layout of the boxes of a component: one around each group of neighbouring entries, around each
 * leaf page, and around every sixteen of the level below, up to one root.
 *
 * <pre>
 * offset bytes field
 *      0    32 envelope         the block header of whoever stores the boxes
 *     32     4 pageCount        n
 *     36     4 groupEntries     entries of a group; the last group of a page may have fewer
 *     40     4 groupCount       g, on all pages
 *     44    20 zero
 *     64   16n page boxes       minX, minY, maxX, maxY as floats, rounded outwards
 *          16m upper boxes      likewise: of the level above the pages, then of the next one, up to
 *                               the root; none if there is one page at most
 *           4n first groups     the number of each page's first group, u32
 *           4g group boxes      minX, minY, maxX, maxY in 255ths of the page's box, rounded
 *                               outwards, u8
 * </pre>
 *
 * <p>All of it stays in memory: about a quarter of a byte for each entry, and no page is read that
 * has nothing inside. Boxes of groups as floats would be four times as much, and hardly smaller.
 * Where a page's box is wider than the largest double, its groups' boxes are as wide.
 */
final class BoxesLayout {
    static final int ENVELOPE_BYTES = 32;
    static final int PAGE_COUNT_OFFSET = ENVELOPE_BYTES;
    static final int GROUP_ENTRIES_OFFSET = PAGE_COUNT_OFFSET + 4;
    static final int GROUP_COUNT_OFFSET = GROUP_ENTRIES_OFFSET + 4;
    static final int ZERO_OFFSET = GROUP_COUNT_OFFSET + 4;
    static final int BOXES_OFFSET = ZERO_OFFSET + 20;

    static final int BOX_BYTES = 4 * Float.BYTES;
    static final int GROUP_BYTES = 4;

    /** Boxes that one of the level above is around. */
    static final int FAN_OUT = 16;

    static final int FAN_OUT_SHIFT = 4;

    /** A coordinate of a group's box goes from 0 to this across the page's. */
    static final int STEPS = 255;

    /** What part of a page's width each line is away from its border: a division each otherwise. */
    private static final double[] FRACTIONS = new double[STEPS];

    static {
        Arrays.setAll(FRACTIONS, step -> step / (double) STEPS);
    }

    /** Levels above the pages, for any number of pages. */
    static final int LEVELS_MAX = 9;

    private BoxesLayout() {}

    /** Boxes of the level {@code level} above the pages. */
    static int boxCount(int pageCount, int level) {
        int shift = FAN_OUT_SHIFT * level;
        return (int) ((pageCount + (1L << shift) - 1) >>> shift);
    }

    /** The level of the root. */
    static int rootLevel(int pageCount) {
        int level = 0;
        while (boxCount(pageCount, level) > 1) {
            level++;
        }
        return level;
    }

    /** Where the boxes of a level start. */
    static long level(int pageCount, int level) {
        long at = BOXES_OFFSET;
        for (int below = 0; below < level; below++) {
            at += (long) BOX_BYTES * boxCount(pageCount, below);
        }
        return at;
    }

    static long firstGroups(int pageCount) {
        return level(pageCount, rootLevel(pageCount) + 1);
    }

    static long groups(int pageCount) {
        return firstGroups(pageCount) + 4L * pageCount;
    }

    static long byteSize(int pageCount, int groupCount) {
        return groups(pageCount) + (long) GROUP_BYTES * groupCount;
    }

    /**
     * Where a group's box has its {@code step}-th line, from one border of the page's to the other.
     */
    static double line(float min, float max, int step) {
        double width = (double) max - min;
        // infinite: nothing can be told
        if (step == 0 || width == Double.POSITIVE_INFINITY) {
            return step == 0 ? min : max;
        }
        return step == STEPS ? max : min + width * FRACTIONS[step];
    }

    /** What is wrong with the bytes, but for their boxes; null if nothing is. */
    static @Nullable String problem(MemorySegment bytes) {
        if (bytes.byteSize() < BOXES_OFFSET) {
            return "%d bytes".formatted(bytes.byteSize());
        }
        int pages = bytes.get(Bytes.I32, PAGE_COUNT_OFFSET);
        int groupEntries = bytes.get(Bytes.I32, GROUP_ENTRIES_OFFSET);
        int groups = bytes.get(Bytes.I32, GROUP_COUNT_OFFSET);
        if (pages < 0 || groupEntries < 1 || groups < pages) {
            return "%d groups of %d entries on %d pages".formatted(groups, groupEntries, pages);
        }
        for (int i = ZERO_OFFSET; i < BOXES_OFFSET; i++) {
            if (bytes.get(Bytes.U8, i) != 0) {
                return "padding is not zero";
            }
        }
        if (bytes.byteSize() != byteSize(pages, groups)) {
            return "%d pages and %d groups in %d bytes".formatted(pages, groups, bytes.byteSize());
        }
        return null;
    }
}
