package io.turbidite.hashlog.recovery;

import io.turbidite.hashlog.log.DeletedRecords;
import io.turbidite.hashlog.table.HashTable;

import java.util.Map;

/**
 * What a checkpoint gave back. <em>The table is the reader's to close.</em>
 *
 * @param number of the checkpoint, 0 if there was none
 * @param table filled
 * @param from where the replay begins
 * @param end the log reaches at least to here, or the checkpoint is not of this log's life
 * @param deleted addresses of records that were deleted
 * @param sessions by name
 */
public record IndexCheckpoint(
        long number,
        HashTable table,
        long from,
        long end,
        DeletedRecords deleted,
        Map<String, SessionPoint> sessions) {

    /** No checkpoint: all of the log is replayed into {@code empty}. */
    public static IndexCheckpoint none(HashTable empty) {
        return new IndexCheckpoint(0, empty, 0, 0, new DeletedRecords(), Map.of());
    }
}
