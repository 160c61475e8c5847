package io.turbidite.core.geo;

import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;

/**
 * What a search looks for in one stretch of the plane: the values that meet a window, or those of
 * them that a circle reaches too. Borders belong to it. <em>Immutable.</em>
 */
public final class Zone {
    /** Of a box: none of its values is in the zone. */
    public static final int OUTSIDE = 0;

    /** All of them are. */
    public static final int INSIDE = 1;

    /** Some may be. */
    public static final int CUT = 2;

    private final Box window;
    private final @Nullable Circle circle;

    private Zone(Rectangle window, @Nullable Circle circle) {
        this.window = new Box().set(window);
        this.circle = circle;
    }

    /** A window. */
    public static Zone of(Rectangle window) {
        return new Zone(window, null);
    }

    /** What a circle has of one of its windows. */
    public static Zone of(Circle circle, Rectangle window) {
        return new Zone(window, circle);
    }

    /** The window; not to be moved. */
    public Box window() {
        return window;
    }

    /** Whether the window alone decides. */
    public boolean isWindow() {
        return circle == null;
    }

    /** Whether a value, as a key gives it, is in the zone. */
    public boolean holds(Box value) {
        return window.intersects(value) && (circle == null || circle.holds(value));
    }

    /** How a box around values lies to the zone. */
    public int relation(double minX, double minY, double maxX, double maxY) {
        if (minX > window.maxX()
                || maxX < window.minX()
                || minY > window.maxY()
                || maxY < window.minY()) {
            return OUTSIDE;
        }
        boolean isInside = minX >= window.minX()
                && maxX <= window.maxX()
                && minY >= window.minY()
                && maxY <= window.maxY();
        if (circle == null) {
            return isInside ? INSIDE : CUT;
        }
        int relation = circle.relation(minX, minY, maxX, maxY);
        return relation == INSIDE && !isInside ? CUT : relation;
    }

    /**
     * About which part of a box that it cuts is in the zone, from 0 to 1; of a circle, as if it
     * filled its window as well everywhere.
     */
    public double share(Box box) {
        if (relation(box.minX(), box.minY(), box.maxX(), box.maxY()) == OUTSIDE) {
            return 0;
        }
        double part = share(box.minX(), box.maxX(), window.minX(), window.maxX())
                * share(box.minY(), box.maxY(), window.minY(), window.maxY());
        return circle == null ? part : part * (Math.PI / 4);
    }

    private static double share(double min, double max, double low, double high) {
        double width = max - min;
        double part = Math.min(max, high) - Math.max(min, low);
        // also what is infinite: nothing better is known
        return part >= width || !(width < Double.POSITIVE_INFINITY) ? 1 : part / width;
    }
}
