package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.lsm.entry.EntryHead;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Collects the boxes of a component while its pages are written: {@link #add} each entry, {@link
 * #endPage} behind the last of each page. <em>Confined to one thread at a time.</em>
 */
public final class BoxesBuilder {
    /**
     * Entries of a group. With more, a search looks at more entries that it does not show; with
     * fewer, boxes take more memory, and there are more of them to look at.
     */
    public static final int GROUP_ENTRIES = 16;

    private static final int BOXES_BYTES_MAX = Integer.MAX_VALUE - 64;

    private final SpatialKind kind;
    private final int groupEntries;
    private final ByteSink pages = new ByteSink(1 << 10, BOXES_BYTES_MAX);
    private final ByteSink firstGroups = new ByteSink(1 << 8, BOXES_BYTES_MAX);
    private final ByteSink groups = new ByteSink(1 << 10, BOXES_BYTES_MAX);
    private int pageCount;
    private int groupCount;

    /** Of the page's groups that are full, four coordinates each. */
    private double[] pageGroups = new double[4 * 64];

    private int pageGroupCount;
    private final Box group = new Box();
    private int entriesOfGroup;

    private final Box value = new Box();
    private final ByteSink key = new ByteSink(64, 64);
    private final Slice keySlice = new Slice();

    public BoxesBuilder(SpatialKind kind) {
        this(kind, GROUP_ENTRIES);
    }

    BoxesBuilder(SpatialKind kind, int groupEntries) {
        this.kind = kind;
        this.groupEntries = groupEntries;
    }

    /** Grows the box of the open group around an entry. */
    public void add(EntryHead entry) {
        if (entry.isLong()) {
            kind.decode(entry.longKey(), 0, value);
        } else {
            entry.putKey(key.clear());
            kind.decode(key.asSlice(keySlice), 0, value);
        }
        if (entriesOfGroup == groupEntries) {
            endGroup();
        }
        group.add(value);
        entriesOfGroup++;
    }

    private void endGroup() {
        int at = 4 * pageGroupCount;
        if (at == pageGroups.length) {
            pageGroups = Arrays.copyOf(pageGroups, 2 * at);
        }
        pageGroups[at] = group.minX();
        pageGroups[at + 1] = group.minY();
        pageGroups[at + 2] = group.maxX();
        pageGroups[at + 3] = group.maxY();
        pageGroupCount++;
        group.clear();
        entriesOfGroup = 0;
    }

    /** Ends a page, which has entries. */
    public void endPage() {
        endGroup();
        Box page = value.clear();
        Box one = new Box();
        for (int i = 0; i < 4 * pageGroupCount; i += 4) {
            page.add(one.set(
                    pageGroups[i], pageGroups[i + 1], pageGroups[i + 2], pageGroups[i + 3]));
        }
        float minX = Box.floatBelow(page.minX());
        float minY = Box.floatBelow(page.minY());
        float maxX = Box.floatAbove(page.maxX());
        float maxY = Box.floatAbove(page.maxY());
        pages.putInt(Float.floatToRawIntBits(minX)).putInt(Float.floatToRawIntBits(minY));
        pages.putInt(Float.floatToRawIntBits(maxX)).putInt(Float.floatToRawIntBits(maxY));
        firstGroups.putInt(groupCount);
        for (int i = 0; i < 4 * pageGroupCount; i += 4) {
            groups.putByte(stepBelow(minX, maxX, pageGroups[i]))
                    .putByte(stepBelow(minY, maxY, pageGroups[i + 1]))
                    .putByte(stepAbove(minX, maxX, pageGroups[i + 2]))
                    .putByte(stepAbove(minY, maxY, pageGroups[i + 3]));
        }
        groupCount += pageGroupCount;
        pageGroupCount = 0;
        pageCount++;
    }

    /** The last line at or below a coordinate. */
    static int stepBelow(float min, float max, double coordinate) {
        int step = guess(min, max, coordinate);
        while (step > 0 && BoxesLayout.line(min, max, step) > coordinate) {
            step--;
        }
        return step;
    }

    /** The first line at or above a coordinate. */
    static int stepAbove(float min, float max, double coordinate) {
        int step = guess(min, max, coordinate);
        while (step < BoxesLayout.STEPS && BoxesLayout.line(min, max, step) < coordinate) {
            step++;
        }
        return step;
    }

    /** A step or so beside the right one; what is not a number is 0. */
    private static int guess(float min, float max, double coordinate) {
        double width = (double) max - min;
        return Math.clamp(
                (int) ((coordinate - min) / width * BoxesLayout.STEPS), 0, BoxesLayout.STEPS);
    }

    /** Memory that it holds off the heap. */
    public long memoryBytes() {
        return pages.segment().byteSize()
                + firstGroups.segment().byteSize()
                + groups.segment().byteSize();
    }

    /** The finished boxes in memory of {@code arena}, except for the envelope. */
    public MemorySegment build(Arena arena) {
        int n = pageCount;
        MemorySegment target = arena.allocate(BoxesLayout.byteSize(n, groupCount), 64);
        target.set(Bytes.I32, BoxesLayout.PAGE_COUNT_OFFSET, n);
        target.set(Bytes.I32, BoxesLayout.GROUP_ENTRIES_OFFSET, groupEntries);
        target.set(Bytes.I32, BoxesLayout.GROUP_COUNT_OFFSET, groupCount);
        copy(pages, target, BoxesLayout.level(n, 0));
        int root = BoxesLayout.rootLevel(n);
        for (int level = 1; level <= root; level++) {
            buildLevel(target, level);
        }
        copy(firstGroups, target, BoxesLayout.firstGroups(n));
        copy(groups, target, BoxesLayout.groups(n));
        return target;
    }

    private void buildLevel(MemorySegment target, int level) {
        long below = BoxesLayout.level(pageCount, level - 1);
        int belowCount = BoxesLayout.boxCount(pageCount, level - 1);
        long to = BoxesLayout.level(pageCount, level);
        Box box = new Box();
        for (int i = 0; i < belowCount; i++) {
            box.add(Boxes.box(target, below + (long) BoxesLayout.BOX_BYTES * i, value));
            boolean isLast = i + 1 == belowCount || (i + 1) % BoxesLayout.FAN_OUT == 0;
            if (isLast) {
                // they are floats already
                target.set(Bytes.I32, to, Float.floatToRawIntBits((float) box.minX()));
                target.set(Bytes.I32, to + 4, Float.floatToRawIntBits((float) box.minY()));
                target.set(Bytes.I32, to + 8, Float.floatToRawIntBits((float) box.maxX()));
                target.set(Bytes.I32, to + 12, Float.floatToRawIntBits((float) box.maxY()));
                to += BoxesLayout.BOX_BYTES;
                box.clear();
            }
        }
    }

    private static void copy(ByteSink source, MemorySegment target, long to) {
        MemorySegment.copy(source.segment(), 0, target, to, source.length());
    }
}
