package io.turbidite.core.log;

import io.turbidite.core.file.Disk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

/**
 * Where a log lives and what it runs on. <em>Immutable.</em>
 *
 * @param directory the log's own directory on {@code disk}; created if missing
 * @param storeId mixed into every checksum, so that no other store's segment is ever taken for ours
 * @param beforeSegment called before a segment is made; it throws if the directory is no longer
 *     ours alone
 */
public record LogEnvironment(
        Disk disk,
        String directory,
        long storeId,
        Tasks tasks,
        Clock clock,
        Runnable beforeSegment) {
    /** Where nobody else comes. */
    public LogEnvironment(Disk disk, String directory, long storeId, Tasks tasks, Clock clock) {
        this(disk, directory, storeId, tasks, clock, () -> {});
    }
}
