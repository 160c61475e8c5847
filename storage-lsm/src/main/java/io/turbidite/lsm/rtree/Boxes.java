package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Zone;
import io.turbidite.lsm.btree.Fences;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The boxes of a component, whole and in memory: which pages, and which groups of their entries,
 * may have something in a window. See {@code BoxesLayout}.
 *
 * <p><em>Immutable; thread-safe.</em> A view of memory that the component owns.
 */
public final class Boxes {
    private final MemorySegment bytes;
    private final int pageCount;
    private final int groupEntries;
    private final int groupCount;
    private final int rootLevel;
    private final long firstGroups;
    private final long groups;

    /**
     * The boxes of all levels, four coordinates each, once more on the heap: a search looks at some
     * dozens in each component, and a read of an array has one check. They are of pages, so few.
     */
    private final float[] boxes;

    /** Which box is the first of each level. */
    private final int[] levels;

    private Boxes(MemorySegment bytes) {
        this.bytes = bytes;
        this.pageCount = bytes.get(Bytes.I32, BoxesLayout.PAGE_COUNT_OFFSET);
        this.groupEntries = bytes.get(Bytes.I32, BoxesLayout.GROUP_ENTRIES_OFFSET);
        this.groupCount = bytes.get(Bytes.I32, BoxesLayout.GROUP_COUNT_OFFSET);
        this.rootLevel = BoxesLayout.rootLevel(pageCount);
        this.firstGroups = BoxesLayout.firstGroups(pageCount);
        this.groups = BoxesLayout.groups(pageCount);
        this.levels = new int[rootLevel + 1];
        int count = 0;
        for (int level = 0; level <= rootLevel; level++) {
            levels[level] = count;
            count += BoxesLayout.boxCount(pageCount, level);
        }
        this.boxes = new float[4 * count];
        for (int i = 0; i < boxes.length; i++) {
            boxes[i] = coordinate(bytes, BoxesLayout.BOXES_OFFSET + (long) Float.BYTES * i);
        }
    }

    /** What is wrong with bytes read from a file, which say to be of these pages; or null. */
    public static @Nullable String problem(MemorySegment bytes, Fences fences) {
        String problem = BoxesLayout.problem(bytes);
        if (problem != null) {
            return problem;
        }
        Boxes boxes = new Boxes(bytes);
        if (boxes.pageCount != fences.pageCount()) {
            return "%d pages, %d expected".formatted(boxes.pageCount, fences.pageCount());
        }
        long group = 0;
        for (int page = 0; page < boxes.pageCount; page++) {
            if (boxes.firstGroup(page) != group) {
                return "page %d begins at group %d, %d expected"
                        .formatted(page, boxes.firstGroup(page), group);
            }
            long entries = fences.firstOrdinal(page + 1) - fences.firstOrdinal(page);
            group += (entries + boxes.groupEntries - 1) / boxes.groupEntries;
        }
        return group == boxes.groupCount
                ? null
                : "%d groups, %d expected".formatted(boxes.groupCount, group);
    }

    /** A view of bytes that have no {@link #problem}. */
    public static Boxes over(MemorySegment bytes) {
        return new Boxes(bytes);
    }

    public int pageCount() {
        return pageCount;
    }

    /** Entries of a group. */
    int groupEntries() {
        return groupEntries;
    }

    /** Bytes of the boxes themselves, on the heap and off it. */
    public long byteSize() {
        return bytes.byteSize() + (long) Float.BYTES * boxes.length;
    }

    /** Whether any entry may be in the window. */
    public boolean meets(Zone zone) {
        return pageCount > 0 && relation(rootLevel, 0, zone) != Zone.OUTSIDE;
    }

    /**
     * About how many entries are in the window: all of the groups in it, and of those that it cuts
     * the share of their boxes that it has. Reads no page.
     */
    public long estimate(Zone zone, Fences fences) {
        double sum = 0;
        Box box = new Box();
        for (int page = nextPage(0, zone); page >= 0; page = nextPage(page + 1, zone)) {
            long entries = fences.firstOrdinal(page + 1) - fences.firstOrdinal(page);
            if (relation(0, page, zone) == Zone.INSIDE) {
                sum += entries;
                continue;
            }
            int count = groupCount(page);
            for (int group = 0; group < count; group++) {
                long inGroup = Math.min(groupEntries, entries - (long) group * groupEntries);
                sum += inGroup * zone.share(groupBox(page, group, box));
            }
        }
        return Math.round(sum);
    }

    /** The first page from {@code from} on that may have something in the window; -1 if none. */
    int nextPage(int from, Zone zone) {
        return nextPage(from, rootLevel, zone);
    }

    /** As {@link #nextPage}, behind a page that may have something. */
    int pageBehind(int page, Zone zone) {
        // boxes that both are in were met
        return nextPage(page + 1, topLevel(page + 1), zone);
    }

    private int nextPage(int from, int top, Zone zone) {
        int page = from;
        while (page < pageCount) {
            int level = from == page ? top : topLevel(page);
            while (level >= 0 && meets(level, page, zone)) {
                level--;
            }
            if (level < 0) {
                return page;
            }
            long next = (long) (page >>> (BoxesLayout.FAN_OUT_SHIFT * level)) + 1;
            page = (int) Math.min(pageCount, next << (BoxesLayout.FAN_OUT_SHIFT * level));
        }
        return -1;
    }

    /** The last page up to {@code from} that may have something in the window; -1 if none. */
    int previousPage(int from, Zone zone) {
        int page = from;
        while (page >= 0) {
            int level = rootLevel;
            while (level >= 0 && meets(level, page, zone)) {
                level--;
            }
            if (level < 0) {
                return page;
            }
            int shift = BoxesLayout.FAN_OUT_SHIFT * level;
            page = (page >>> shift << shift) - 1;
        }
        return -1;
    }

    /** The highest level that has a box which begins at this page. */
    private int topLevel(int page) {
        return Math.min(rootLevel, Integer.numberOfTrailingZeros(page) / BoxesLayout.FAN_OUT_SHIFT);
    }

    private boolean meets(int level, int page, Zone zone) {
        return relation(level, page >>> (BoxesLayout.FAN_OUT_SHIFT * level), zone) != Zone.OUTSIDE;
    }

    /** How the {@code index}-th box of a level lies to the window. */
    private int relation(int level, int index, Zone zone) {
        int at = 4 * (levels[level] + index);
        return zone.relation(boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]);
    }

    /** How the box of a page lies to the window. */
    int pageRelation(int page, Zone zone) {
        return relation(0, page, zone);
    }

    /** Groups of a page. */
    int groupCount(int page) {
        return (page + 1 == pageCount ? groupCount : firstGroup(page + 1)) - firstGroup(page);
    }

    /** The number of a page's first group. */
    int firstGroup(int page) {
        return bytes.get(Bytes.I32, firstGroups + 4L * page);
    }

    /** How the box of a page's group lies to the window. */
    int groupRelation(int page, int group, Zone zone) {
        int at = 4 * page;
        float minX = boxes[at];
        float minY = boxes[at + 1];
        float maxX = boxes[at + 2];
        float maxY = boxes[at + 3];
        int steps = steps(page, group);
        return zone.relation(
                BoxesLayout.line(minX, maxX, steps & 0xFF),
                BoxesLayout.line(minY, maxY, steps >>> 8 & 0xFF),
                BoxesLayout.line(minX, maxX, steps >>> 16 & 0xFF),
                BoxesLayout.line(minY, maxY, steps >>> 24));
    }

    private int steps(int page, int group) {
        return steps(firstGroup(page) + group);
    }

    /** The box of a group, by its number among those of all pages, as its layout has it. */
    int steps(int group) {
        return bytes.get(Bytes.I32, groups + (long) BoxesLayout.GROUP_BYTES * group);
    }

    /** The level of the one box around all pages, which are level 0. */
    int rootLevel() {
        return rootLevel;
    }

    /** Boxes of a level. */
    int boxCount(int level) {
        return BoxesLayout.boxCount(pageCount, level);
    }

    /** Moves {@code box} to the {@code index}-th of a level. */
    Box levelBox(int level, int index, Box box) {
        int at = 4 * (levels[level] + index);
        return box.set(boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]);
    }

    /** Moves {@code box} to that of a page's group. */
    Box groupBox(int page, int group, Box box) {
        int at = 4 * page;
        float minX = boxes[at];
        float minY = boxes[at + 1];
        float maxX = boxes[at + 2];
        float maxY = boxes[at + 3];
        int steps = steps(page, group);
        return box.set(
                BoxesLayout.line(minX, maxX, steps & 0xFF),
                BoxesLayout.line(minY, maxY, steps >>> 8 & 0xFF),
                BoxesLayout.line(minX, maxX, steps >>> 16 & 0xFF),
                BoxesLayout.line(minY, maxY, steps >>> 24));
    }

    static Box box(MemorySegment bytes, long at, Box box) {
        return box.set(
                coordinate(bytes, at),
                coordinate(bytes, at + 4),
                coordinate(bytes, at + 8),
                coordinate(bytes, at + 12));
    }

    private static float coordinate(MemorySegment bytes, long at) {
        return Float.intBitsToFloat(bytes.get(Bytes.I32, at));
    }

    /**
     * What is wrong with a box that should be around an entry; null if nothing is. A page's box is
     * in those of the levels above it, or it is wrong too.
     */
    public @Nullable String problemOf(int page, long indexOnPage, Box value) {
        Box box = new Box();
        for (int level = 0; level <= rootLevel; level++) {
            int index = page >>> (BoxesLayout.FAN_OUT_SHIFT * level);
            levelBox(level, index, box);
            if (!box.contains(value)) {
                return "%s is not in box %d of level %d, %s".formatted(value, index, level, box);
            }
        }
        int group = (int) (indexOnPage / groupEntries);
        groupBox(page, group, box);
        return box.contains(value)
                ? null
                : "%s is not in the box of group %d, %s".formatted(value, group, box);
    }
}
