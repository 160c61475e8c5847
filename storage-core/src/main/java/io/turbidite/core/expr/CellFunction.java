package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Point;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** Cells of a grid that begins at 0,0. Static, without state. */
final class CellFunction {
    /** Above this, neighbouring cell numbers are no longer different doubles. */
    private static final double INDEX_MAX = 1L << 52;

    private CellFunction() {}

    /** The lower left corner of a point's cell: {@code (p, dx, dy)}. */
    static @Nullable Object corner(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object place = arguments.get(0).evaluate(row);
        Object dx = arguments.get(1).evaluate(row);
        Object dy = arguments.get(2).evaluate(row);
        if (place == null || dx == null || dy == null) {
            return null;
        }
        if (!(place instanceof Point point)) {
            throw new InvalidRequestException("cells have points, not '%s'".formatted(place));
        }
        return new Point(
                border(point.x(), Values.number(dx)), border(point.y(), Values.number(dy)));
    }

    /** The border at or below a coordinate, as it is printed: a quotient is rounded. */
    private static double border(double coordinate, double step) {
        if (!(step > 0 && Double.isFinite(step))) {
            throw new InvalidRequestException(
                    "a cell of %s: its width and height are finite and above 0".formatted(step));
        }
        double index = Math.floor(coordinate / step);
        if (!(Math.abs(index) < INDEX_MAX)) {
            throw new InvalidRequestException(
                    "cells of %s are too small to count for a coordinate of %s"
                            .formatted(step, coordinate));
        }
        if (coordinate < index * step) {
            index--;
        } else if (coordinate >= (index + 1) * step) {
            index++;
        }
        return index * step + 0.0; // no -0.0: groups tell it from 0
    }
}
