package io.turbidite.lsm.sort;

import io.turbidite.core.file.Disk;
import io.turbidite.core.meter.Counter;
import io.turbidite.lsm.memory.ChunkSource;

import java.util.function.LongSupplier;

/**
 * Where a sort takes place. Immutable.
 *
 * @param disk for run files, which lie among the components
 * @param chunks all memory that a sort takes: what it sorts in, and a buffer for each run
 * @param storeId stands in the runs' headers
 * @param newFileId numbers that no other file has
 * @param spilledBytes counts what is written to runs
 */
public record SortSite(
        Disk disk,
        ChunkSource chunks,
        long storeId,
        LongSupplier newFileId,
        Counter spilledBytes) {}
