package io.turbidite.core.geo;

/**
 * The Hilbert curve through a square of 2^32 by 2^32 cells: the number of a cell, and the cell of a
 * number. Static functions without state or garbage.
 *
 * <p>A cell's coordinates are signed integers of 32 bits; the curve starts in the corner where both
 * are smallest. Numbers are unsigned integers of 64 bits. Two bits of a number, one of each
 * coordinate, are one level: they name a quarter of the square that the bits before them name.
 *
 * <p>How a quarter is walked through depends on those before it: whether the two coordinates have
 * changed places, and whether both have changed direction. These four states are a table's first
 * index, and four levels are looked up at once.
 */
public final class Hilbert {
    /** Levels of the curve. */
    static final int LEVELS = 32;

    private static final int SWAPPED = 1;
    private static final int FLIPPED = 2;
    private static final int STATES = 4;

    /** In both tables: state, then the eight bits; out come eight bits and the next state. */
    private static final short[] NUMBERS = new short[STATES << 8];

    private static final short[] CELLS = new short[STATES << 8];

    /** Of one level: state, then the two bits of a quarter (x, y); its digit and its state. */
    private static final byte[] DIGITS = new byte[STATES << 2];

    /** Of one level: state, then a digit; the two bits of the quarter and its state. */
    private static final byte[] QUARTERS = new byte[STATES << 2];

    static {
        for (int state = 0; state < STATES; state++) {
            for (int quarter = 0; quarter < 4; quarter++) {
                fillQuarter(state, quarter);
            }
        }
        for (int state = 0; state < STATES; state++) {
            for (int cell = 0; cell < 256; cell++) {
                fillCell(state, cell);
            }
        }
    }

    private Hilbert() {}

    private static void fillQuarter(int state, int quarter) {
        int flipped = (state & FLIPPED) == 0 ? quarter : quarter ^ 3;
        int x = (state & SWAPPED) == 0 ? flipped >> 1 : flipped & 1;
        int y = (state & SWAPPED) == 0 ? flipped & 1 : flipped >> 1;
        int digit = 3 * x ^ y;
        // the first and the last quarter are walked through along the other axis, the last
        // backwards
        int next = state;
        if (y == 0) {
            next ^= SWAPPED;
            if (x == 1) {
                next ^= FLIPPED;
            }
        }
        DIGITS[state << 2 | quarter] = (byte) (next << 2 | digit);
        QUARTERS[state << 2 | digit] = (byte) (next << 2 | quarter);
    }

    private static void fillCell(int state, int cell) {
        int now = state;
        int number = 0;
        for (int level = 3; level >= 0; level--) {
            int quarter = (cell >> (4 + level) & 1) << 1 | (cell >> level & 1);
            int found = DIGITS[now << 2 | quarter];
            number = number << 2 | (found & 3);
            now = found >> 2;
        }
        NUMBERS[state << 8 | cell] = (short) (now << 8 | number);
        CELLS[state << 8 | number] = (short) (now << 8 | cell);
    }

    /** The number of a cell. */
    public static long number(int x, int y) {
        int fromX = x ^ Integer.MIN_VALUE;
        int fromY = y ^ Integer.MIN_VALUE;
        long number = 0;
        int state = 0;
        for (int shift = 28; shift >= 0; shift -= 4) {
            int cell = (fromX >>> shift & 0xF) << 4 | (fromY >>> shift & 0xF);
            int found = NUMBERS[state | cell];
            number = number << 8 | (found & 0xFF);
            state = found & 0x300;
        }
        return number;
    }

    /** The cell of a number: x in the upper half, y in the lower. */
    public static long cell(long number) {
        int x = 0;
        int y = 0;
        int state = 0;
        for (int shift = 56; shift >= 0; shift -= 8) {
            int found = CELLS[state | (int) (number >>> shift & 0xFF)];
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = found & 0x300;
        }
        return join(x ^ Integer.MIN_VALUE, y ^ Integer.MIN_VALUE);
    }

    /**
     * A cell in the square of a number, so small a square that the first bit of both magnitudes is
     * the same in all of it. It mostly takes two looks at the table, and not eight.
     */
    static long beginning(long number) {
        int x = 0;
        int y = 0;
        int state = 0;
        for (int shift = 56; ; shift -= 8) {
            int found = CELLS[state | (int) (number >>> shift & 0xFF)];
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = found & 0x300;
            int unknown = shift / 2;
            int cellX = x << unknown ^ Integer.MIN_VALUE;
            int cellY = y << unknown ^ Integer.MIN_VALUE;
            if (shift == 0 || (hasBegun(cellX, unknown) && hasBegun(cellY, unknown))) {
                return join(cellX, cellY);
            }
        }
    }

    /** How many low bits of a number {@link #beginning} does not look at. */
    static int bitsBehindBeginning(long number) {
        int x = 0;
        int y = 0;
        int state = 0;
        for (int shift = 56; ; shift -= 8) {
            int found = CELLS[state | (int) (number >>> shift & 0xFF)];
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = found & 0x300;
            int unknown = shift / 2;
            if (shift == 0
                    || (hasBegun(x << unknown ^ Integer.MIN_VALUE, unknown)
                            && hasBegun(y << unknown ^ Integer.MIN_VALUE, unknown))) {
                return shift;
            }
        }
    }

    private static boolean hasBegun(int cell, int unknown) {
        return (cell ^ cell >> 31) >>> unknown != 0;
    }

    /**
     * Four levels of a number at once.
     *
     * @param state 0 for the first four levels, then {@link #stateOf} what was found before
     * @return four bits of x, four of y, and the state
     */
    static int look(int state, int digits) {
        return CELLS[state | digits];
    }

    /** The state behind four levels. */
    static int stateOf(int found) {
        return found & 0x300;
    }

    /**
     * The square of cells whose numbers start with the same 28 levels as {@code number}: its corner
     * with the smallest coordinates. Sixteen cells wide.
     */
    static long coarseCell(long number) {
        int x = 0;
        int y = 0;
        int state = 0;
        for (int shift = 56; shift >= Byte.SIZE; shift -= 8) {
            int found = CELLS[state | (int) (number >>> shift & 0xFF)];
            x = x << 4 | (found >> 4 & 0xF);
            y = y << 4 | (found & 0xF);
            state = found & 0x300;
        }
        return join(x << 4 ^ Integer.MIN_VALUE, y << 4 ^ Integer.MIN_VALUE);
    }

    private static long join(int x, int y) {
        return (long) x << 32 | (y & 0xFFFF_FFFFL);
    }

    static int x(long cell) {
        return (int) (cell >> 32);
    }

    static int y(long cell) {
        return (int) cell;
    }

    /** The digit that comes {@code place}-th along the curve in a square of this state. */
    static int quarter(int state, int digit) {
        return QUARTERS[state << 2 | digit] & 3;
    }

    /** The state of the quarter that comes {@code digit}-th in a square of this state. */
    static int next(int state, int digit) {
        return QUARTERS[state << 2 | digit] >> 2;
    }
}
