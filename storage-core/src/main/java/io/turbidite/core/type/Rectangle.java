package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;

/** An axis-parallel rectangle, borders included; finite, with min at most max; -0.0 is 0.0. */
public record Rectangle(double minX, double minY, double maxX, double maxY) {
    public Rectangle {
        boolean finite = Double.isFinite(minX)
                && Double.isFinite(minY)
                && Double.isFinite(maxX)
                && Double.isFinite(maxY);
        if (!finite || minX > maxX || minY > maxY) {
            throw new InvalidRequestException(
                    "rectangle(%s, %s, %s, %s) must be finite with min at most max"
                            .formatted(minX, minY, maxX, maxY));
        }
        minX += 0.0;
        minY += 0.0;
        maxX += 0.0;
        maxY += 0.0;
    }
}
