package io.turbidite.core.geo;

import io.turbidite.core.bytes.Slice;

/**
 * How long the spatial keys are that stand in front of others, for one who asks about neighbours:
 * the length of a point's key is the same all over a square of the grid, mostly a wide one, so it
 * remembers the square. <em>Confined to one thread.</em>
 */
public final class KeyLengths {
    private final SpatialKind kind;

    /** A number on the curve, and the bits of it that all numbers of its square have. */
    private long known;

    private long mask;

    /** Of keys in the square; too many for any key before there is one. */
    private int bytes = Integer.MAX_VALUE;

    /** Lengths of keys of that kind. */
    public KeyLengths(SpatialKind kind) {
        this.kind = kind;
    }

    /** As {@link SpatialKind#length} of the key that starts at the beginning. */
    public int of(Slice key) {
        if (kind != SpatialKind.POINT) {
            return kind.length(key, 0);
        }
        if (bytes <= key.length() && ((SpatialKind.numberAt(key, 1) ^ known) & mask) == 0) {
            return bytes;
        }
        int length = kind.length(key, 0);
        known = SpatialKind.numberAt(key, 1);
        mask = -1L << Hilbert.bitsBehindBeginning(known);
        bytes = length;
        return length;
    }
}
