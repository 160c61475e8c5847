package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Rectangle;

/**
 * A grid of equal cells over the plane; a cell includes its lower borders only. <em>Immutable.</em>
 *
 * <p>A cell's key is its column and row as two big-endian longs with the sign bit flipped, so that
 * keys are ordered by column, then row; no cell is the empty key, which comes first.
 *
 * @param originX where column 0 begins
 * @param originY where row 0 begins
 * @param dx width of a cell
 * @param dy height of a cell
 */
public record CellGrid(double originX, double originY, double dx, double dy) {
    static final int KEY_BYTES = 16;

    /** Above this, neighbouring cell numbers are no longer different doubles. */
    private static final double INDEX_MAX = 1L << 52;

    /** Appends the key of the cell that holds the point. */
    public void append(double x, double y, ByteSink sink) {
        sink.putLongBigEndian(index(x, originX, dx) ^ Long.MIN_VALUE);
        sink.putLongBigEndian(index(y, originY, dy) ^ Long.MIN_VALUE);
    }

    /** The cell of a key; its borders are those that decided what it holds. */
    public Rectangle cell(Slice key) {
        long column = key.segment().get(Bytes.I64_BE, key.offset()) ^ Long.MIN_VALUE;
        long row = key.segment().get(Bytes.I64_BE, key.offset() + 8) ^ Long.MIN_VALUE;
        return new Rectangle(
                border(column, originX, dx),
                border(row, originY, dy),
                border(column + 1, originX, dx),
                border(row + 1, originY, dy));
    }

    private static long index(double coordinate, double origin, double step) {
        double quotient = Math.floor((coordinate - origin) / step);
        if (!(Math.abs(quotient) < INDEX_MAX)) {
            throw new InvalidRequestException(
                    "cells of %s from %s are too small to count for a coordinate of %s"
                            .formatted(step, origin, coordinate));
        }
        long index = (long) quotient;
        // the division rounds; the borders as they are printed decide
        if (coordinate < border(index, origin, step)) {
            return index - 1;
        }
        return coordinate >= border(index + 1, origin, step) ? index + 1 : index;
    }

    private static double border(long index, double origin, double step) {
        return origin + index * step;
    }
}
