package io.turbidite.core.geo;

import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;

import java.util.List;

/**
 * Longitudes and latitudes, in degrees: the windows that they are in, and distances on the sphere,
 * in metres. Static functions without state or garbage.
 *
 * <p>A distance is that of the haversine (Sinnott), which is exact for near places. Its root has a
 * relative error of some units, wherever the places are: differences of degrees are taken before
 * they are made radians, and the cosine near a pole is the sine of what is left to it. So bounds
 * for boxes are kept on the safe side by a factor just below one.
 */
public final class LonLat {
    /** The earth's mean radius (IUGG), in metres. */
    static final double RADIUS = 6_371_008.8;

    static final double LON_MAX = 180;
    static final double LAT_MAX = 90;

    /** What a bound is made smaller by, relatively, and absolutely: a millimetre's hundredth. */
    private static final double SAFE = 1 - Math.scalb(1.0, -40);

    private static final double SAFE_STEP = 1e-28;

    /** What the complement of a bound may be off by. */
    private static final double COMPLEMENT_STEP = 1e-14;

    private LonLat() {}

    /** The windows of longitudes that a window is: two if it crosses the antimeridian. */
    public static List<Rectangle> windows(double minX, double minY, double maxX, double maxY) {
        Point.requireLonLat(minX, minY);
        Point.requireLonLat(maxX, maxY);
        if (minX > maxX) {
            return List.of(
                    new Rectangle(minX, minY, LON_MAX, maxY),
                    new Rectangle(-LON_MAX, minY, maxX, maxY));
        }
        Rectangle window = new Rectangle(minX, minY, maxX, maxY);
        boolean isWest = minX == -LON_MAX;
        if (isWest == (maxX == LON_MAX)) {
            return List.of(window);
        }
        // the other name of the same meridian
        double same = isWest ? LON_MAX : -LON_MAX;
        return List.of(window, new Rectangle(same, minY, same, maxY));
    }

    /** Windows that have no place in common and hold all within a distance. */
    static List<Rectangle> around(double lon, double lat, double metres) {
        double angle = metres / RADIUS;
        // far more than what is rounded, far less than anybody sees
        double degrees = Math.toDegrees(angle) * (1 + 1e-9) + 1e-9;
        double minY = Math.max(-LAT_MAX, lat - degrees);
        double maxY = Math.min(LAT_MAX, lat + degrees);
        double width = LON_MAX;
        if (minY > -LAT_MAX && maxY < LAT_MAX) {
            double ratio = Math.sin(angle) / cosine(lat);
            width = ratio < 1 ? Math.toDegrees(Math.asin(ratio)) + 1e-5 : LON_MAX;
        }
        if (width >= LON_MAX - 1) {
            return List.of(new Rectangle(-LON_MAX, minY, LON_MAX, maxY));
        }
        double minX = lon - width;
        double maxX = lon + width;
        if (minX >= -LON_MAX && maxX <= LON_MAX) {
            return List.of(new Rectangle(minX, minY, maxX, maxY));
        }
        double west = minX < -LON_MAX ? minX + 2 * LON_MAX : minX;
        double east = maxX > LON_MAX ? maxX - 2 * LON_MAX : maxX;
        return List.of(
                new Rectangle(west, minY, LON_MAX, maxY),
                new Rectangle(-LON_MAX, minY, east, maxY));
    }

    /** The distance of two places, in metres. */
    static double distance(double lon, double lat, double otherLon, double otherLat) {
        return metres(haversine(lon, lat, otherLon, otherLat));
    }

    /** At most the distance to any place in a box. */
    static double least(
            double lon, double lat, double minX, double minY, double maxX, double maxY) {
        return metres(leastHaversine(lon, lat, minX, minY, maxX, maxY));
    }

    /** At least the distance to any place in a box: that much less than half round the earth. */
    static double most(double lon, double lat, double minX, double minY, double maxX, double maxY) {
        double behind = lon > 0 ? lon - LON_MAX : lon + LON_MAX;
        double least = leastHaversine(behind, -lat, minX, minY, maxX, maxY);
        return metres(Math.min(1, 1 - least + COMPLEMENT_STEP));
    }

    /** Never falls where its argument grows. */
    private static double metres(double haversine) {
        return 2 * RADIUS * StrictMath.asin(Math.min(1, Math.sqrt(haversine)));
    }

    private static double haversine(double lon, double lat, double otherLon, double otherLat) {
        double ofLat = StrictMath.sin(Math.toRadians(otherLat - lat) / 2);
        double ofLon = StrictMath.sin(Math.toRadians(gap(lon, otherLon)) / 2);
        return ofLat * ofLat + cosine(lat) * cosine(otherLat) * ofLon * ofLon;
    }

    private static double leastHaversine(
            double lon, double lat, double minX, double minY, double maxX, double maxY) {
        double low = Math.max(-LAT_MAX, minY);
        double high = Math.min(LAT_MAX, maxY);
        double west = Math.max(-LON_MAX, minX);
        double east = Math.min(LON_MAX, maxX);
        if (low > high || west > east) {
            return 1; // no place is there
        }
        double gap = lon >= west && lon <= east ? 0 : Math.min(gap(lon, west), gap(lon, east));
        double nearest = Math.clamp(lat, low, high);
        double least = haversine(0, lat, gap, nearest);
        if (gap > 0) {
            least = Math.min(least, haversine(0, lat, gap, low));
            least = Math.min(least, haversine(0, lat, gap, high));
            // where the great circle that meets the meridian at a right angle does so
            double foot = Math.toDegrees(Math.atan2(
                    Math.sin(Math.toRadians(lat)), cosine(lat) * Math.cos(Math.toRadians(gap))));
            if (foot > low && foot < high) {
                least = Math.min(least, haversine(0, lat, gap, foot));
            }
        }
        return Math.max(0, least * SAFE - SAFE_STEP);
    }

    /** Degrees between two meridians, the shorter way. */
    private static double gap(double lon, double other) {
        double degrees = Math.abs(lon - other);
        return degrees <= LON_MAX
                ? degrees
                : (LON_MAX - Math.abs(lon)) + (LON_MAX - Math.abs(other));
    }

    /** Near a pole the degrees to it are exact, and so the cosine. */
    private static double cosine(double lat) {
        double magnitude = Math.abs(lat);
        return magnitude > LAT_MAX / 2
                ? StrictMath.sin(Math.toRadians(LAT_MAX - magnitude))
                : StrictMath.cos(Math.toRadians(magnitude));
    }

    /** Refuses a place that is not on the sphere, if it should be. */
    static void require(Metric metric, double x, double y) {
        if (metric == Metric.SPHERE) {
            Point.requireLonLat(x, y);
        }
    }
}
