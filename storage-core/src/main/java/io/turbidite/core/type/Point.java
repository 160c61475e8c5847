package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;

/** A point in the plane; both coordinates are finite, and -0.0 is 0.0. */
public record Point(double x, double y) {
    public Point {
        if (!Double.isFinite(x) || !Double.isFinite(y)) {
            throw new InvalidRequestException("point(%s, %s) is not finite".formatted(x, y));
        }
        x += 0.0;
        y += 0.0;
    }

    /**
     * Refuses what is no place on the sphere.
     *
     * @param x the longitude
     * @param y the latitude
     */
    public static void requireLonLat(double x, double y) {
        if (!(Math.abs(x) <= 180 && Math.abs(y) <= 90)) {
            throw new InvalidRequestException(
                    "point(%s, %s) is no longitude of -180 to 180 and latitude of -90 to 90"
                            .formatted(x, y));
        }
    }
}
