package io.turbidite.ops.search;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeyBatch;

/**
 * The primary keys of records that may match, of one partition, batch by batch. <em>Confined to one
 * thread.</em>
 */
public interface Candidates extends AutoCloseable {
    /**
     * Puts the next primary keys into {@code batch}, with the timestamps of their versions where
     * entries have them; false if there are no more.
     *
     * @param countMax most keys to put, at least 1, for a reader who may stop early
     */
    boolean fill(KeyBatch batch, long countMax);

    /** Whether records of the last batch may be in other batches too. */
    default boolean mayRepeat() {
        return false;
    }

    /**
     * Where records may repeat: whether this entry, secondary and primary key, belongs to the last
     * batch.
     */
    default boolean holds(Slice secondaryAndPrimaryKey) {
        return true;
    }

    @Override
    void close();
}
