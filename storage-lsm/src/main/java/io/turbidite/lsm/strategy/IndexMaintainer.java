package io.turbidite.lsm.strategy;

import io.turbidite.lsm.schema.IndexSchema;

/**
 * How one secondary index follows one write: a maintenance strategy of the index's axis (design
 * §4). A new strategy is a class that implements this and a line in {@link #of}.
 *
 * <p><em>Stateless.</em>
 */
public interface IndexMaintainer {
    /** The strategy that the index names. */
    static IndexMaintainer of(IndexSchema index, boolean keepsUnchanged) {
        return switch (index.maintenance()) {
            case EAGER -> new EagerIndex(keepsUnchanged);
            case VALIDATION, DEFERRED, AUTO -> new BlindIndex();
            case DELETED_KEY -> new DeletedKeyIndex();
            case MUTABLE_BITMAP ->
                throw new IllegalArgumentException("index %s is maintained by %s"
                        .formatted(index.name(), index.maintenance().label()));
        };
    }

    /** What it must know of the old record. */
    OldRecord reads();

    /** A record was put. */
    void put(IndexWrite write);

    /** A record was deleted. */
    void remove(IndexWrite write);
}
