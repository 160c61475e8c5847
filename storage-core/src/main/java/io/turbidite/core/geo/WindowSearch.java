package io.turbidite.core.geo;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;

/**
 * What a search for the points in a window, or for the rectangles that meet it, asks of sorted
 * keys: whether one is found, and where the next one may be. Borders belong to the window. Of a
 * {@link Zone} with a circle, keys in its window are looked at one by one.
 *
 * <p><em>Confined to one thread.</em> Makes no garbage. Keys may have more behind them. No answer
 * depends on the keys that it was asked about before: cursors of one thread may share it.
 */
public final class WindowSearch {
    /** Of {@link #test}: the key is not in the window. */
    public static final int OUTSIDE = 0;

    /** It is. */
    public static final int INSIDE = 1;

    /** The whole key has to be looked at, by {@link #holds}. */
    public static final int UNDECIDED = 2;

    /** Where the way goes on from a key that is outside. */
    public enum Way {
        /** The key beside it may be inside. */
        STEP,
        /** All up to another place are outside. */
        SEEK,
        /** All others are. */
        END
    }

    /** A prefix tells so many levels of a number less than all. */
    private static final int LEVELS_UNTOLD = 4;

    private final SpatialKind kind;
    private final Zone zone;
    private final Box window;
    private final Box value = new Box();

    /** Made when the first place is looked for: a search by boxes never does. */
    private @Nullable CurveWindow curve;

    /** Of the size class that the fields below are for; -1 for none yet. Points have one. */
    private int sizeClass = -1;

    /** Where the centres of what meets the window can be. */
    private double minX;

    private double minY;
    private double maxX;
    private double maxY;

    /** The classes of the grid that these are in. */
    private int firstClass;

    private int lastClass;

    /** Of the class of the grid that the cells are for; -1 for none yet. */
    private int gridClass = -1;

    private int lowX;
    private int lowY;
    private int highX;
    private int highY;

    /**
     * Squares of this level and above are mostly cut by the window: they are not looked at. One
     * above all if there are none.
     */
    private int wideEnd = Hilbert.LEVELS;

    /**
     * The last of these squares that a key was in, with the class: where it is, and how the curve
     * goes on there. Neighbours are mostly in the same.
     */
    private long wideNumber = -1;

    private int wideX;
    private int wideY;
    private int wideState;

    /** Searches what meets a rectangle. */
    public WindowSearch(SpatialKind kind, Rectangle window) {
        this(kind, Zone.of(window));
    }

    /** Searches what meets a zone, which may be several rectangles. */
    public WindowSearch(SpatialKind kind, Zone zone) {
        this.kind = kind;
        this.zone = zone;
        this.window = zone.window();
    }

    /** What is searched: points or rectangles. */
    public SpatialKind kind() {
        return kind;
    }

    /** What is searched. */
    public Zone zone() {
        return zone;
    }

    /**
     * Tells from a key's first eight bytes, as a number, what can be told: of nearly every point,
     * and of no rectangle.
     */
    public int test(long prefix) {
        if (kind != SpatialKind.POINT) {
            return UNDECIDED;
        }
        enter(0, (int) (prefix >>> 56));
        int x = 0;
        int y = 0;
        int state = 0;
        if (wideEnd < Hilbert.LEVELS) {
            if (prefix >>> (2 * wideEnd - Byte.SIZE) != wideNumber) {
                goDownWide(prefix);
            }
            x = wideX;
            y = wideY;
            state = wideState;
        }
        for (int level = wideEnd - 4; ; level -= 4) {
            // the number begins behind the class; four levels are eight bits
            int found = Hilbert.look(state, (int) (prefix >>> (2 * level - Byte.SIZE)) & 0xFF);
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = Hilbert.stateOf(found);
            int last = (1 << level) - 1;
            int cornerX = x << level ^ Integer.MIN_VALUE;
            int cornerY = y << level ^ Integer.MIN_VALUE;
            if (cornerX > highX
                    || cornerX + last < lowX
                    || cornerY > highY
                    || cornerY + last < lowY) {
                return OUTSIDE;
            }
            // the outermost cells are cut by the borders
            boolean isInside = cornerX > lowX
                    && cornerX + last < highX
                    && cornerY > lowY
                    && cornerY + last < highY;
            if (isInside || level == LEVELS_UNTOLD) {
                return isInside && zone.isWindow() ? INSIDE : UNDECIDED;
            }
        }
    }

    /** Down to the last of the squares that are too wide to be looked at. */
    private void goDownWide(long prefix) {
        int x = 0;
        int y = 0;
        int state = 0;
        for (int level = Hilbert.LEVELS - 4; level >= wideEnd; level -= 4) {
            int found = Hilbert.look(state, (int) (prefix >>> (2 * level - Byte.SIZE)) & 0xFF);
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = Hilbert.stateOf(found);
        }
        wideX = x;
        wideY = y;
        wideState = state;
        wideNumber = prefix >>> (2 * wideEnd - Byte.SIZE);
    }

    /** Whether the value of a key is inside. */
    public boolean holds(Slice key) {
        kind.decode(key, 0, value);
        return zone.holds(value);
    }

    /**
     * Where to look for the next key inside, above one that is outside or below it.
     *
     * @param target filled if the answer is {@link Way#SEEK}: upwards, the first bytes of the
     *     smallest key that may be inside; downwards, they are above the largest and all below it
     */
    public Way beside(Slice key, boolean upwards, ByteSink target) {
        int head = kind == SpatialKind.POINT ? 0 : 2;
        int size = head == 0 ? 0 : key.byteAt(0) << 8 | key.byteAt(1);
        int grid = key.byteAt(head);
        long number = SpatialKind.numberAt(key, head + 1);
        enter(size, grid);
        if (grid < firstClass) {
            return upwards ? found(size, firstClass, 0, true, target) : beforeSize(size, target);
        }
        if (grid > lastClass) {
            return upwards ? behindSize(size, target) : found(size, lastClass, -1L, false, target);
        }
        CurveWindow cells = curve();
        if (cells.find(number, upwards)) {
            return cells.found() == number ? Way.STEP : put(cells.found(), upwards, target);
        }
        if (upwards) {
            return grid < lastClass
                    ? found(size, grid + 1, 0, true, target)
                    : behindSize(size, target);
        }
        return grid > firstClass
                ? found(size, grid - 1, -1L, false, target)
                : beforeSize(size, target);
    }

    /** Puts the first bytes of the smallest key that may be inside. */
    public void first(ByteSink target) {
        enter(0, -1);
        found(0, firstClass, 0, true, target);
    }

    /** Puts bytes that are above the largest key that may be inside. */
    public void last(ByteSink target) {
        int size = kind == SpatialKind.POINT ? 0 : SizeClass.OVERFLOWN;
        enter(size, -1);
        found(size, lastClass, -1L, false, target);
    }

    private Way behindSize(int size, ByteSink target) {
        if (kind == SpatialKind.POINT || size >= SizeClass.OVERFLOWN) {
            return Way.END;
        }
        enter(size + 1, -1);
        return found(size + 1, firstClass, 0, true, target);
    }

    private Way beforeSize(int size, ByteSink target) {
        if (size == 0) {
            return Way.END;
        }
        enter(size - 1, -1);
        return found(size - 1, lastClass, -1L, false, target);
    }

    /** The first or last cell of a class that the window has cells of. */
    private Way found(int size, int grid, long from, boolean upwards, ByteSink target) {
        enter(size, grid);
        CurveWindow cells = curve();
        boolean isThere = cells.find(from, upwards);
        assert isThere : grid;
        return put(cells.found(), upwards, target);
    }

    /** The cells of the class that was entered. */
    private CurveWindow curve() {
        CurveWindow made = curve;
        if (made == null) {
            made = new CurveWindow();
            made.set(lowX, lowY, highX, highY);
            curve = made;
        }
        return made;
    }

    private Way put(long number, boolean upwards, ByteSink target) {
        target.clear();
        if (kind != SpatialKind.POINT) {
            target.putByte(sizeClass >>> 8).putByte(sizeClass);
        }
        if (upwards) {
            target.putByte(gridClass).putLongBigEndian(number);
        } else if (number != -1L) {
            target.putByte(gridClass).putLongBigEndian(number + 1);
        } else {
            // no class is 255
            target.putByte(gridClass + 1);
        }
        return Way.SEEK;
    }

    /**
     * Makes the cells those of a class.
     *
     * @param newGridClass -1 for none: the classes alone are asked for
     */
    private void enter(int newSizeClass, int newGridClass) {
        if (newSizeClass != sizeClass) {
            enterSize(newSizeClass);
        }
        if (newGridClass != gridClass && newGridClass >= 0) {
            gridClass = newGridClass;
            lowX = Grid.cell(minX, gridClass);
            lowY = Grid.cell(minY, gridClass);
            highX = Grid.cell(maxX, gridClass);
            highY = Grid.cell(maxY, gridClass);
            long wide = Math.max((long) highX - lowX, (long) highY - lowY);
            int level = Math.max(LEVELS_UNTOLD, Long.SIZE - Long.numberOfLeadingZeros(wide));
            // four levels at a time
            wideEnd = Math.min(Hilbert.LEVELS, (level / 4 + 1) * 4);
            wideNumber = -1;
            CurveWindow made = curve;
            if (made != null) {
                made.set(lowX, lowY, highX, highY);
            }
        }
    }

    private void enterSize(int newSizeClass) {
        sizeClass = newSizeClass;
        gridClass = -1;
        minX = window.minX();
        minY = window.minY();
        maxX = window.maxX();
        maxY = window.maxY();
        if (kind != SpatialKind.POINT) {
            double half = SizeClass.halfSide(newSizeClass);
            minX = Math.nextDown(minX - half);
            minY = Math.nextDown(minY - half);
            maxX = Math.nextUp(maxX + half);
            maxY = Math.nextUp(maxY + half);
        }
        firstClass = Grid.classOf(nearest(minX, maxX), nearest(minY, maxY));
        lastClass = Grid.classOf(farthest(minX, maxX), farthest(minY, maxY));
    }

    private static double nearest(double min, double max) {
        return min <= 0 && max >= 0 ? 0 : Math.min(Math.abs(min), Math.abs(max));
    }

    private static double farthest(double min, double max) {
        return Math.max(Math.abs(min), Math.abs(max));
    }
}
