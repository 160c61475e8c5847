package io.turbidite.hashlog.registry;

import io.turbidite.core.InvalidRequestException;

/**
 * Addresses over which a PSF is indexed, without a gap. <em>Immutable.</em>
 *
 * @param from the safe registration boundary, inclusive
 * @param to the safe deregistration boundary, exclusive; {@link #OPEN} while the PSF is registered
 */
public record Interval(long from, long to) {
    /** The end of an interval that goes on. */
    public static final long OPEN = Long.MAX_VALUE;

    public Interval {
        if (from < 0 || to < from) {
            throw new InvalidRequestException("interval from %d to %d".formatted(from, to));
        }
    }

    /** Whether it goes on: no end was set. */
    public boolean isOpen() {
        return to == OPEN;
    }

    /** Whether an address lies in it. */
    public boolean contains(long address) {
        return from <= address && address < to;
    }
}
