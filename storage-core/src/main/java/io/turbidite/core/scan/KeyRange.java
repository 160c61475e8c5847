package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * A range of encoded keys: from {@code low} (included) to {@code high} (excluded); a missing bound
 * is open. <em>Immutable</em> (the slices are copies).
 *
 * <p>Encoded keys are self-delimiting, so "all keys whose first fields are v" is the range from
 * encode(v) to its successor. As a search of an index it asks for the entries whose keys, primary
 * key included, are in the range.
 */
public final class KeyRange implements IndexSearch {
    private static final KeyRange ALL = new KeyRange(null, null);

    /** The empty range: no key is below the empty one. */
    private static final KeyRange EMPTY = of(null, new byte[0]);

    private final @Nullable Slice low;
    private final @Nullable Slice high;

    private KeyRange(@Nullable Slice low, @Nullable Slice high) {
        this.low = low;
        this.high = high;
    }

    /** The range of all keys. */
    public static KeyRange all() {
        return ALL;
    }

    /** From {@code low} included to {@code high} excluded; null is open. */
    public static KeyRange of(byte @Nullable [] low, byte @Nullable [] high) {
        return new KeyRange(
                low == null ? null : Slice.of(low), high == null ? null : Slice.of(high));
    }

    /** All keys that start with {@code prefix}. */
    public static KeyRange startingWith(byte[] prefix) {
        return of(prefix, successor(prefix));
    }

    /**
     * All keys at or above {@code low}, up to those that are at or below {@code high} or start with
     * it: the closed range of field values in a longer key.
     */
    public static KeyRange closed(byte @Nullable [] low, byte @Nullable [] high) {
        return of(low, high == null ? null : successor(high));
    }

    /**
     * From {@code low} to {@code high}, each included or not. A bound stands for all keys that
     * start with it: the values of the first fields of a longer key.
     *
     * @param low null is open; then it does not matter whether it is included. The same holds for
     *     {@code high}
     */
    public static KeyRange between(
            byte @Nullable [] low,
            boolean lowIncluded,
            byte @Nullable [] high,
            boolean highIncluded) {
        byte[] from = low;
        if (low != null && !lowIncluded) {
            from = successor(low);
            if (from == null) {
                return EMPTY;
            }
        }
        return of(from, high != null && highIncluded ? successor(high) : high);
    }

    /**
     * The smallest byte string above everything that starts with {@code prefix}; null if there is
     * none.
     */
    public static byte @Nullable [] successor(byte[] prefix) {
        for (int i = prefix.length - 1; i >= 0; i--) {
            if (prefix[i] != (byte) 0xFF) {
                byte[] next = java.util.Arrays.copyOf(prefix, i + 1);
                next[i]++;
                return next;
            }
        }
        return null;
    }

    /** The lower bound, included; null if open. */
    public @Nullable Slice low() {
        return low;
    }

    /** The upper bound, excluded; null if open. */
    public @Nullable Slice high() {
        return high;
    }

    /** Whether it has no bound on either side. */
    public boolean isAll() {
        return low == null && high == null;
    }

    @Override
    public boolean contains(Slice key) {
        return (low == null || key.compareBytes(low) >= 0)
                && (high == null || key.compareBytes(high) < 0);
    }

    /**
     * Whether some key between {@code min} and {@code max}, both included, may be in this range.
     */
    public boolean overlaps(Slice min, Slice max) {
        return (low == null || max.compareBytes(low) >= 0)
                && (high == null || min.compareBytes(high) < 0);
    }

    /** Whether it has the same bounds. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KeyRange range
                && isSame(low, range.low)
                && isSame(high, range.high);
    }

    private static boolean isSame(@Nullable Slice bound, @Nullable Slice other) {
        return (bound == null || other == null) ? bound == other : bound.contentEquals(other);
    }

    @Override
    public int hashCode() {
        return 31 * hash(low) + hash(high);
    }

    private static int hash(@Nullable Slice bound) {
        return bound == null ? 0 : Arrays.hashCode(bound.toByteArray());
    }

    @Override
    public String toString() {
        return "[" + (low == null ? "" : low) + ", " + (high == null ? "" : high) + ")";
    }
}
