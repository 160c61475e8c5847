package io.turbidite.core.geo;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Rectangle;

import java.util.List;

/**
 * All within a distance of a place, those just so far too. <em>Immutable.</em>
 *
 * @param metric what measures
 * @param x of the middle; so is {@code y}
 * @param radius the distance, above 0
 */
public record Circle(Metric metric, double x, double y, double radius) {
    public Circle {
        if (!Double.isFinite(x) || !Double.isFinite(y)) {
            throw new InvalidRequestException("the place %s,%s is not finite".formatted(x, y));
        }
        if (!(radius > 0 && Double.isFinite(radius))) {
            throw new InvalidRequestException(
                    "the distance %s is not finite and above 0".formatted(radius));
        }
        LonLat.require(metric, x, y);
        x += 0.0;
        y += 0.0;
    }

    /** Whether a value is within the distance. */
    public boolean holds(Box value) {
        return metric.distance(x, y, value) <= radius;
    }

    /** How a box around values lies to it, as {@link Zone#relation}. */
    int relation(double minX, double minY, double maxX, double maxY) {
        if (metric.least(x, y, minX, minY, maxX, maxY) > radius) {
            return Zone.OUTSIDE;
        }
        return metric.most(x, y, minX, minY, maxX, maxY) <= radius ? Zone.INSIDE : Zone.CUT;
    }

    /** Windows around it that have no place in common, each with its part of the circle. */
    public List<Zone> zones() {
        return windows().stream().map(window -> Zone.of(this, window)).toList();
    }

    /** Windows that have no place in common and hold all of it. */
    public List<Rectangle> windows() {
        if (metric == Metric.SPHERE) {
            return LonLat.around(x, y, radius);
        }
        // a difference of coordinates is rounded too: one that is a bit more than the radius counts
        double reach = Math.nextUp(Math.nextUp(radius));
        return List.of(new Rectangle(
                Math.max(-Double.MAX_VALUE, Math.nextDown(x - reach)),
                Math.max(-Double.MAX_VALUE, Math.nextDown(y - reach)),
                Math.min(Double.MAX_VALUE, Math.nextUp(x + reach)),
                Math.min(Double.MAX_VALUE, Math.nextUp(y + reach))));
    }
}
