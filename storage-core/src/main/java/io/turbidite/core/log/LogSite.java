package io.turbidite.core.log;

import io.turbidite.core.file.Disk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

/**
 * Where a log lives and what it runs on. <em>Immutable.</em>
 *
 * @param directory the log's own directory on {@code disk}; created if missing
 * @param storeId mixed into every checksum, so that no other store's segment is ever taken for ours
 */
public record LogSite(Disk disk, String directory, long storeId, Tasks tasks, Clock clock) {}
