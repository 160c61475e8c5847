package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Records of a source that stand for all: each is as likely to be among them as any other. For
 * estimates alone: it may lack the newest writes, and show what they have replaced.
 *
 * <em>Immutable.</em>
 */
public interface RecordSample {
    /** How many records there are; 0 if the source has no sample, or none that stands for all. */
    int size();

    /**
     * Moves {@code target} to a record.
     *
     * @param index from 0 to {@link #size}, exclusive
     * @return {@code target}
     */
    Slice record(int index, Slice target);

    /**
     * The share of entries that are the newest of their key and no deletion, 0 to 1: by it the
     * entries that {@link ReadView#estimateScan} counts are turned into records.
     */
    double liveShare();

    /** No sample. */
    static RecordSample none() {
        return NoSample.NONE;
    }
}
