package io.turbidite.core.geo;

/**
 * The linear grids that coordinates are put on: what cell a number falls into, and what the cell
 * does not tell of it. Static functions without state or garbage.
 *
 * <p>Class 0 has the points both of whose coordinates are below 512 in magnitude, on a grid of 2^32
 * by 2^32 cells, 2^-22 wide: degrees need no more. Each class above goes sixteen times as far with
 * cells sixteen times as wide; class 254 has the largest doubles. Linear, because the upper bits of
 * doubles warp space near zero: a window around London looks at 1,474 entries for 100 that it
 * finds, and not at 262.
 *
 * <p>A cell is the integer part of the magnitude in cells, with the sign: 0.5 is in cell 0, -0.5 in
 * cell -1. So cells are ordered as the numbers are. The integer part has the first bits of the
 * number's significand, and the rest of them are what rounding lost; how many these are is told by
 * the integer part. Where it is 0, all bits are the rest.
 */
final class Grid {
    /** The highest class; one byte holds them. */
    static final int CLASS_MAX = 254;

    /** The power of two below which a magnitude is of class 0. */
    private static final int FIRST_EXPONENT = 9;

    /** What a class's exponent is more than that of the class before it. */
    private static final int CLASS_EXPONENTS = 4;

    /** A cell of class 0 is as wide as two to this power. */
    private static final int FIRST_CELL_EXPONENT = FIRST_EXPONENT - 31;

    private static final int FRACTION_BITS = 52;
    private static final long FRACTION = (1L << FRACTION_BITS) - 1;
    private static final int BIAS = 1_023;

    private Grid() {}

    /** The class of a point with these coordinates. */
    static int classOf(double x, double y) {
        long largest = Math.max(magnitude(x), magnitude(y));
        int exponent = (int) (largest >>> FRACTION_BITS) - BIAS;
        return exponent < FIRST_EXPONENT ? 0 : (exponent - FIRST_EXPONENT) / CLASS_EXPONENTS + 1;
    }

    /** The magnitude that all of a class are below; infinite for the last. */
    static double limit(int gridClass) {
        int exponent = FIRST_EXPONENT + CLASS_EXPONENTS * gridClass;
        return exponent > Double.MAX_EXPONENT
                ? Double.POSITIVE_INFINITY
                : Math.scalb(1.0, exponent);
    }

    /** The cell of a coordinate below the class's limit, in magnitude; of others the outermost. */
    static int cell(double value, int gridClass) {
        long bits = magnitude(value);
        int level = level(bits, gridClass);
        int whole = level < 0 ? 0 : level > 30 ? Integer.MAX_VALUE : whole(bits, level);
        return value < 0 ? -1 - whole : whole;
    }

    /** Bits of what the cell of a number does not tell of it: by the cell's first bit alone. */
    static int restBits(int cell) {
        int whole = cell < 0 ? -1 - cell : cell;
        return whole == 0 ? Long.SIZE : FRACTION_BITS - (31 - Integer.numberOfLeadingZeros(whole));
    }

    /** What the cell does not tell, in {@link #restBits} bits. */
    static long rest(double value, int gridClass) {
        long bits = magnitude(value);
        int level = level(bits, gridClass);
        return level < 0 ? bits : bits & ((1L << (FRACTION_BITS - level)) - 1);
    }

    /** The number of a cell and a rest. */
    static double value(int cell, long rest, int gridClass) {
        int whole = cell < 0 ? -1 - cell : cell;
        long bits;
        if (whole == 0) {
            bits = rest;
        } else {
            int level = 31 - Integer.numberOfLeadingZeros(whole);
            long significand = ((long) whole << (FRACTION_BITS - level)) | rest;
            long exponent = (long) level + cellExponent(gridClass) + BIAS;
            bits = (exponent << FRACTION_BITS) | (significand & FRACTION);
        }
        return Double.longBitsToDouble(cell < 0 ? bits | Long.MIN_VALUE : bits);
    }

    /** The power of two of the magnitude, in cells; negative if it is less than one cell. */
    private static int level(long bits, int gridClass) {
        return (int) (bits >>> FRACTION_BITS) - BIAS - cellExponent(gridClass);
    }

    private static int whole(long bits, int level) {
        return (int) (((bits & FRACTION) | (1L << FRACTION_BITS)) >>> (FRACTION_BITS - level));
    }

    /** Where a cell begins, and the one below it ends; infinite beyond the largest double. */
    static double border(long cell, int gridClass) {
        return Math.scalb((double) cell, cellExponent(gridClass));
    }

    /** How wide a cell is. */
    static double cellWidth(int gridClass) {
        return Double.longBitsToDouble((long) (cellExponent(gridClass) + BIAS) << FRACTION_BITS);
    }

    private static int cellExponent(int gridClass) {
        return FIRST_CELL_EXPONENT + CLASS_EXPONENTS * gridClass;
    }

    private static long magnitude(double value) {
        return Double.doubleToRawLongBits(value) & Long.MAX_VALUE;
    }
}
