package io.turbidite.core.geo;

/**
 * Classes of rectangles by their longer side. A window that looks for the rectangles of one class
 * that intersect it looks for their centres, and these are at most half a side away from it.
 */
final class SizeClass {
    /**
     * Sides below two to the power of this plus one are class 0: a few cells of the finest grid.
     */
    private static final int SMALLEST_EXPONENT = -22;

    /** Sides that are above the largest double: such a rectangle's centre tells nothing of it. */
    static final int OVERFLOWN = Double.MAX_EXPONENT - SMALLEST_EXPONENT + 1;

    private SizeClass() {}

    /** The class of a rectangle with these sides. */
    static int of(double width, double height) {
        double side = Math.max(width, height);
        if (side == Double.POSITIVE_INFINITY) {
            return OVERFLOWN;
        }
        return Math.max(0, Math.getExponent(side) - SMALLEST_EXPONENT);
    }

    /** What half of a side in this class is below. */
    static double halfSide(int sizeClass) {
        return sizeClass >= OVERFLOWN
                ? Double.POSITIVE_INFINITY
                : Math.scalb(1.0, SMALLEST_EXPONENT + sizeClass);
    }
}
