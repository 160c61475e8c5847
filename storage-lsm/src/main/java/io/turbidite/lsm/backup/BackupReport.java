package io.turbidite.lsm.backup;

import java.util.List;

/**
 * The contents of a backup.
 *
 * @param timestamp the last operation in the backup
 * @param wallMicros the time of that operation, microseconds since 1970
 * @param linked component files that the backup shares with the store
 * @param copied component files that were copied and checked
 * @param written component files with the contents of memory
 * @param bytes of all component files together
 * @param leftOut names of components in quarantine, which the backup lacks: their contents are
 *     missing
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
