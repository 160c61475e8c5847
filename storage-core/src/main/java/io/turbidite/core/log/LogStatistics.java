package io.turbidite.core.log;

/**
 * What a log has done since it was opened. <em>Immutable.</em>
 *
 * @param recordCount records written, cancelled claims included
 * @param batchCount writes that carried them; records per batch is the group commit's gain
 * @param writtenBytes bytes of frames
 * @param syncCount syncs of segment files that hold records
 * @param waitCount times that a claim had to wait for room
 * @param createdCount segment files made anew
 * @param recycledCount segments made of truncated ones
 * @param zeroBytes written to have space before it is needed
 * @param reserveUseCount times that a full disk sent the log on into space kept for that
 */
public record LogStatistics(
        long recordCount,
        long batchCount,
        long writtenBytes,
        long syncCount,
        long waitCount,
        long createdCount,
        long recycledCount,
        long zeroBytes,
        long reserveUseCount) {}
