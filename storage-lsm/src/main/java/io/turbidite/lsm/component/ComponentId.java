package io.turbidite.lsm.component;

import io.turbidite.core.Limits;

/**
 * The timestamps that a component covers, both included: the union of its inputs', never recomputed
 * from its entries. IDs of one index never overlap, so they order its components, and they order
 * components of different indexes of a partition too. <em>Immutable.</em>
 */
public record ComponentId(long minTimestamp, long maxTimestamp) {
    public ComponentId {
        if (minTimestamp < 0
                || maxTimestamp < minTimestamp
                || maxTimestamp > Limits.TIMESTAMP_MAX) {
            throw new IllegalArgumentException(
                    "component id %d-%d".formatted(minTimestamp, maxTimestamp));
        }
    }

    /** Whether the operation of that number lies in it, if it is anywhere. */
    public boolean covers(long timestamp) {
        return minTimestamp <= timestamp && timestamp <= maxTimestamp;
    }

    /** Whether everything the other covers is covered. */
    public boolean covers(ComponentId other) {
        return minTimestamp <= other.minTimestamp && other.maxTimestamp <= maxTimestamp;
    }

    /** Whether both cover an operation. */
    public boolean overlaps(ComponentId other) {
        return minTimestamp <= other.maxTimestamp && other.minTimestamp <= maxTimestamp;
    }

    /** The smallest ID that covers both: that of their merge. */
    public ComponentId union(ComponentId other) {
        return new ComponentId(
                Math.min(minTimestamp, other.minTimestamp),
                Math.max(maxTimestamp, other.maxTimestamp));
    }

    @Override
    public String toString() {
        return minTimestamp + "-" + maxTimestamp;
    }
}
