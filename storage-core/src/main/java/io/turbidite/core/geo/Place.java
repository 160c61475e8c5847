package io.turbidite.core.geo;

import io.turbidite.core.InvalidRequestException;

/**
 * A place that neighbours are looked for around. <em>Immutable.</em>
 *
 * @param metric what measures
 * @param x finite; so is {@code y}
 */
public record Place(Metric metric, double x, double y) {
    public Place {
        if (!Double.isFinite(x) || !Double.isFinite(y)) {
            throw new InvalidRequestException("the place %s,%s is not finite".formatted(x, y));
        }
        LonLat.require(metric, x, y);
        x += 0.0;
        y += 0.0;
    }

    /** The distance to a value; 0 if the place is inside. */
    public double distance(Box value) {
        return metric.distance(x, y, value);
    }

    /** At most the distance to any value in a box. */
    public double least(Box box) {
        return metric.least(x, y, box.minX(), box.minY(), box.maxX(), box.maxY());
    }

    /** At least the distance to any value in a box. */
    public double most(Box box) {
        return metric.most(x, y, box.minX(), box.minY(), box.maxX(), box.maxY());
    }
}
