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
}
