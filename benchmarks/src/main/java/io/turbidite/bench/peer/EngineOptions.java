package io.turbidite.bench.peer;

import java.nio.file.Path;

/**
 * What every engine of a run is given.
 *
 * @param directory an empty one
 * @param writeMemoryBytes memory components of all indexes together; an engine that counts by index
 *     may hold more, and says so
 * @param cacheBytes the buffer cache
 * @param secondaryCount how many of the tweets' attributes have a secondary index, 1 to 4
 * @param directIo read and write components past the page cache
 */
public record EngineOptions(
        Path directory,
        long writeMemoryBytes,
        long cacheBytes,
        int secondaryCount,
        boolean directIo) {
    public EngineOptions {
        if (secondaryCount < 1 || secondaryCount > Tweet.ATTRIBUTE_COUNT) {
            throw new IllegalArgumentException("%d secondary indexes, but 1 to %d are possible"
                    .formatted(secondaryCount, Tweet.ATTRIBUTE_COUNT));
        }
    }
}
