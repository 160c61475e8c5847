package io.turbidite.lsm.backup;

import java.util.List;

/**
 * What a backup consists of.
 *
 * @param timestamp the last operation that is in it
 * @param wallMicros when that was, microseconds since 1970
 * @param linked component files that are shared with the store
 * @param copied component files that were copied and checked
 * @param written component files that hold what was in memory
 * @param bytes of all component files together
 * @param leftOut names of components in quarantine, which are not in it: what they held is missing
 */
public record BackupReport(
        long timestamp,
        long wallMicros,
        int linked,
        int copied,
        int written,
        long bytes,
        List<String> leftOut) {
    public BackupReport {
        leftOut = List.copyOf(leftOut);
    }
}
