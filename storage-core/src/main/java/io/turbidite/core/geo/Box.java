package io.turbidite.core.geo;

import io.turbidite.core.type.Rectangle;

/**
 * A rectangle that moves: what a key is decoded into, and what grows around many. Borders belong to
 * it. <em>Confined to one thread.</em> Starts empty.
 */
public final class Box {
    private double minX;
    private double minY;
    private double maxX;
    private double maxY;

    /** An empty box. */
    public Box() {
        clear();
    }

    /** Nothing is inside. */
    public Box clear() {
        return set(
                Double.POSITIVE_INFINITY,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Double.NEGATIVE_INFINITY);
    }

    /**
     * Makes it these bounds.
     *
     * @return this
     */
    public Box set(double newMinX, double newMinY, double newMaxX, double newMaxY) {
        minX = newMinX;
        minY = newMinY;
        maxX = newMaxX;
        maxY = newMaxY;
        return this;
    }

    /**
     * Makes it the rectangle.
     *
     * @return this
     */
    public Box set(Rectangle rectangle) {
        return set(rectangle.minX(), rectangle.minY(), rectangle.maxX(), rectangle.maxY());
    }

    /** Grows around {@code other} too. */
    public Box add(Box other) {
        return set(
                Math.min(minX, other.minX),
                Math.min(minY, other.minY),
                Math.max(maxX, other.maxX),
                Math.max(maxY, other.maxY));
    }

    /** Whether nothing is inside. */
    public boolean isEmpty() {
        return minX > maxX;
    }

    /** The least x; of no meaning while it is empty. */
    public double minX() {
        return minX;
    }

    /** The least y; of no meaning while it is empty. */
    public double minY() {
        return minY;
    }

    /** The greatest x; of no meaning while it is empty. */
    public double maxX() {
        return maxX;
    }

    /** The greatest y; of no meaning while it is empty. */
    public double maxY() {
        return maxY;
    }

    /** Whether the two have a place in common. */
    public boolean intersects(Box other) {
        return minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY;
    }

    /** Whether all of {@code other} is inside. */
    public boolean contains(Box other) {
        return minX <= other.minX && other.maxX <= maxX && minY <= other.minY && other.maxY <= maxY;
    }

    /** The largest float at or below. */
    public static float floatBelow(double value) {
        float near = (float) value;
        return near > value ? Math.nextDown(near) : near;
    }

    /** The smallest float at or above. */
    public static float floatAbove(double value) {
        float near = (float) value;
        return near < value ? Math.nextUp(near) : near;
    }

    @Override
    public String toString() {
        return isEmpty() ? "empty" : "[%s,%s,%s,%s]".formatted(minX, minY, maxX, maxY);
    }
}
