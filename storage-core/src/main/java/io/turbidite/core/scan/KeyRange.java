package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

/**
 * A range of encoded keys: from {@code low} (included) to {@code high} (excluded); a missing bound is
 * open. <em>Immutable</em> (the slices are copies).
 *
 * <p>Encoded keys are self-delimiting, so "all keys whose first fields are v" is the range from
 * encode(v) to its successor.
 */
public final class KeyRange {
    private static final KeyRange ALL = new KeyRange(null, null);

    private final @Nullable Slice low;
    private final @Nullable Slice high;

    private KeyRange(@Nullable Slice low, @Nullable Slice high) {
        this.low = low;
        this.high = high;
    }

    public static KeyRange all() {
        return ALL;
    }

    /** From {@code low} included to {@code high} excluded; null is open. */
    public static KeyRange of(byte @Nullable [] low, byte @Nullable [] high) {
        return new KeyRange(
                low == null ? null : Slice.of(low), high == null ? null : Slice.of(high));
    }

    /** Everything that starts with {@code prefix}. */
    public static KeyRange startingWith(byte[] prefix) {
        return of(prefix, successor(prefix));
    }

    /**
     * From everything at or above {@code low} to everything that is at or below, or starts with, {@code
     * high}: the closed range of field values in a longer key.
     */
    public static KeyRange closed(byte @Nullable [] low, byte @Nullable [] high) {
        return of(low, high == null ? null : successor(high));
    }

    /** The smallest byte string above everything that starts with {@code prefix}; null if none is. */
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

    public boolean isAll() {
        return low == null && high == null;
    }

    public boolean contains(Slice key) {
        return (low == null || key.compareBytes(low) >= 0)
                && (high == null || key.compareBytes(high) < 0);
    }

    /** Whether some key between {@code min} and {@code max}, both included, may lie in this range. */
    public boolean overlaps(Slice min, Slice max) {
        return (low == null || max.compareBytes(low) >= 0)
                && (high == null || min.compareBytes(high) < 0);
    }

    @Override
    public String toString() {
        return "[" + (low == null ? "" : low) + ", " + (high == null ? "" : high) + ")";
    }
}
