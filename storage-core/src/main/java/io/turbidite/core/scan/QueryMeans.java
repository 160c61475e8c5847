package io.turbidite.core.scan;

import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.task.Tasks;

/**
 * What a source has for the queries of its records.
 *
 * @param memory what they hold together
 * @param disk where they may put what this does not hold
 * @param spillDirectory for that, on {@code disk}; made when first used
 * @param tasks where they may have workers
 */
public record QueryMeans(QueryMemory memory, Disk disk, String spillDirectory, Tasks tasks) {}
