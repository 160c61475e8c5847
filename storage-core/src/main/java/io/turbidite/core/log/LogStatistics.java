package io.turbidite.core.log;

/**
 * What a log has done since it was opened. <em>Immutable.</em>
 *
 * @param recordCount records written, cancelled claims included
 * @param batchCount writes that carried them; records per batch is the group commit's gain
 * @param writtenBytes bytes of frames
 * @param syncCount syncs of segment files that hold records
 * @param waitCount times that a claim had to wait for room
 * @param preparedCount segments made by writing zeros
 * @param recycledCount segments made of truncated ones
 */
public record LogStatistics(
        long recordCount,
        long batchCount,
        long writtenBytes,
        long syncCount,
        long waitCount,
        long preparedCount,
        long recycledCount) {}
