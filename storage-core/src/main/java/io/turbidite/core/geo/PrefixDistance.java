package io.turbidite.core.geo;

import org.jspecify.annotations.Nullable;

/**
 * How far points of the plane are at least from a place, by the first eight bytes of their keys:
 * these tell a square of sixteen cells, which is so small that hardly any point has to be looked at
 * more closely before it is its turn. <em>Immutable.</em> Makes no garbage.
 */
public final class PrefixDistance {
    /** The square that a prefix tells is so many cells wide. */
    private static final long WIDTH = 16;

    private final double x;
    private final double y;

    private PrefixDistance(Place place) {
        this.x = place.x();
        this.y = place.y();
    }

    /**
     * Of keys of a kind to a place; null where it tells nothing, or costs as much as the distance.
     */
    public static @Nullable PrefixDistance of(SpatialKind kind, Place place) {
        return kind == SpatialKind.POINT && place.metric() == Metric.PLANE
                ? new PrefixDistance(place)
                : null;
    }

    /**
     * At most the distance to any point whose key begins so.
     *
     * @param prefix the first eight bytes of a key, as a number
     */
    public double least(long prefix) {
        long corner = Hilbert.coarseCell(prefix << Byte.SIZE);
        double width = Grid.cellWidth((int) (prefix >>> 56));
        long left = Hilbert.x(corner);
        long bottom = Hilbert.y(corner);
        return Metric.PLANE.least(
                x,
                y,
                left * width,
                bottom * width,
                (left + WIDTH) * width,
                (bottom + WIDTH) * width);
    }
}
