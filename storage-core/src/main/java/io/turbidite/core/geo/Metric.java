package io.turbidite.core.geo;

import io.turbidite.core.type.TypeKind;

/**
 * How far two places are from one another. Static functions without state or garbage.
 *
 * <p>Invariants: a distance is the same wherever it is computed, so a scan and an index agree to
 * the last bit; and {@link #least} of a box is never more than the distance of a value in it, nor
 * {@link #most} less.
 */
public enum Metric {
    /** Of the plane, as coordinates are. */
    PLANE {
        @Override
        public double distance(double x, double y, Box value) {
            return least(x, y, value.minX(), value.minY(), value.maxX(), value.maxY());
        }

        @Override
        public double least(
                double x, double y, double minX, double minY, double maxX, double maxY) {
            return diagonal(beside(x, minX, maxX), beside(y, minY, maxY));
        }

        @Override
        public double most(double x, double y, double minX, double minY, double maxX, double maxY) {
            return diagonal(
                    Math.max(Math.abs(x - minX), Math.abs(maxX - x)),
                    Math.max(Math.abs(y - minY), Math.abs(maxY - y)));
        }
    },

    /** Of the sphere, in metres; coordinates are longitude and latitude, values are points. */
    SPHERE {
        @Override
        public double distance(double x, double y, Box value) {
            return LonLat.distance(x, y, value.minX(), value.minY());
        }

        @Override
        public double least(
                double x, double y, double minX, double minY, double maxX, double maxY) {
            return LonLat.least(x, y, minX, minY, maxX, maxY);
        }

        @Override
        public double most(double x, double y, double minX, double minY, double maxX, double maxY) {
            return LonLat.most(x, y, minX, minY, maxX, maxY);
        }
    };

    /** What measures between values of a kind. */
    public static Metric of(TypeKind kind) {
        assert kind.isSpatial() : kind;
        return kind == TypeKind.LONLAT ? SPHERE : PLANE;
    }

    /** Sides from here on have squares that lose nothing. */
    private static final double SMALL_SIDE = Math.scalb(1.0, -400);

    /** Sides up to here have squares whose sum is finite. */
    private static final double LARGE_SIDE = Math.scalb(1.0, 500);

    /**
     * The distance of a place to a value: to its nearest place, 0 if it has the place inside. May
     * be infinite between the ends of the plane.
     */
    public abstract double distance(double x, double y, Box value);

    /** At most the distance to any value in a box. */
    public abstract double least(
            double x, double y, double minX, double minY, double maxX, double maxY);

    /** At least the distance to any value in a box. */
    public abstract double most(
            double x, double y, double minX, double minY, double maxX, double maxY);

    /** How far a coordinate is beside an interval. */
    static double beside(double value, double min, double max) {
        return value < min ? min - value : value > max ? value - max : 0;
    }

    /**
     * The root of the sum of both squares, rounded as if exponents had no bounds. So it never falls
     * where a side grows, and the search by boxes can trust it: {@link Math#hypot}, which is nearer
     * to the true value by half a unit, takes ten times as long.
     */
    static double diagonal(double a, double b) {
        double larger = Math.max(a, b);
        if (larger >= SMALL_SIDE && larger <= LARGE_SIDE) {
            return Math.sqrt(a * a + b * b);
        }
        if (larger == 0 || larger == Double.POSITIVE_INFINITY) {
            return larger;
        }
        int exponent = Math.getExponent(larger);
        double x = Math.scalb(a, -exponent);
        double y = Math.scalb(b, -exponent);
        return Math.scalb(Math.sqrt(x * x + y * y), exponent);
    }
}
