package io.turbidite.core.geo;

/**
 * A rectangle of cells on the Hilbert curve: which of its cells comes next, from wherever one is on
 * the curve. <em>Confined to one thread.</em> Makes no garbage.
 *
 * <p>It goes down the squares that the place lies in for as long as they have cells of the
 * rectangle, then back to the lowest of them of which a later quarter has some, and there down to
 * the first: at most 32 levels each.
 */
final class CurveWindow {
    /** The rectangle, borders included; counted from the corner where the curve starts. */
    private long lowX;

    private long lowY;
    private long highX;
    private long highY;

    /** Of the squares that were gone into: state and corner of the one whose quarters are here. */
    private final int[] states = new int[Hilbert.LEVELS];

    private final long[] cornersX = new long[Hilbert.LEVELS];
    private final long[] cornersY = new long[Hilbert.LEVELS];

    private int state;
    private long cornerX;
    private long cornerY;
    private long found;

    /** Moves it to these cells. */
    void set(int newLowX, int newLowY, int newHighX, int newHighY) {
        lowX = fromStart(newLowX);
        lowY = fromStart(newLowY);
        highX = fromStart(newHighX);
        highY = fromStart(newHighY);
    }

    private static long fromStart(int cell) {
        return (long) cell - Integer.MIN_VALUE;
    }

    /** The number that {@link #find} has found. */
    long found() {
        return found;
    }

    /**
     * Finds the first cell of the rectangle at or behind {@code from}; or the last one at or before
     * it.
     *
     * @return whether there is one
     */
    boolean find(long from, boolean forward) {
        int level = goAlong(from);
        if (level < 0) {
            found = from;
            return true;
        }
        int step = forward ? 1 : -1;
        for (; level < Hilbert.LEVELS; level++) {
            int digit = digit(from, level) + step;
            for (; digit >= 0 && digit <= 3; digit += step) {
                if (enter(level, digit)) {
                    long before = level == Hilbert.LEVELS - 1
                            ? 0
                            : from >>> (2 * (level + 1)) << (2 * (level + 1));
                    goDown(before | (long) digit << (2 * level), level, forward);
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Goes down to the cell of {@code from}.
     *
     * @return the level whose quarter, on this way, has no cell of the rectangle; -1 if the cell is
     *     in it
     */
    private int goAlong(long from) {
        state = 0;
        cornerX = 0;
        cornerY = 0;
        for (int level = Hilbert.LEVELS - 1; level >= 0; level--) {
            states[level] = state;
            cornersX[level] = cornerX;
            cornersY[level] = cornerY;
            if (!enter(level, digit(from, level))) {
                return level;
            }
            if (isInside(level)) {
                return -1;
            }
        }
        return -1;
    }

    /** Goes down from a square that has cells of the rectangle to the first, or last, of them. */
    private void goDown(long to, int from, boolean forward) {
        long number = to;
        int step = forward ? 1 : -1;
        int level = from;
        while (!isInside(level)) {
            level--;
            states[level] = state;
            cornersX[level] = cornerX;
            cornersY[level] = cornerY;
            int digit = forward ? 0 : 3;
            while (!enter(level, digit)) {
                digit += step;
            }
            number |= (long) digit << (2 * level);
        }
        found = forward ? number : number | (1L << (2 * level)) - 1;
    }

    /** Moves to a quarter of the square noted at this level; whether it has cells. */
    private boolean enter(int level, int digit) {
        int parent = states[level];
        int quarter = Hilbert.quarter(parent, digit);
        state = Hilbert.next(parent, digit);
        cornerX = cornersX[level] | (long) (quarter >> 1) << level;
        cornerY = cornersY[level] | (long) (quarter & 1) << level;
        long last = (1L << level) - 1;
        return cornerX <= highX
                && cornerX + last >= lowX
                && cornerY <= highY
                && cornerY + last >= lowY;
    }

    /** Whether the square, which has two to the power of {@code level} cells a side, is all in. */
    private boolean isInside(int level) {
        long last = (1L << level) - 1;
        return cornerX >= lowX
                && cornerX + last <= highX
                && cornerY >= lowY
                && cornerY + last <= highY;
    }

    private static int digit(long number, int level) {
        return (int) (number >>> (2 * level)) & 3;
    }
}
