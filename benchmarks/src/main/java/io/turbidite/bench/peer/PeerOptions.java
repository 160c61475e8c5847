package io.turbidite.bench.peer;

import io.turbidite.core.log.Durability;

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
 * @param durability {@link Durability#PROCESS}, which is what RocksDB's default is, or {@link
 *     Durability#BUFFERED}, for which RocksDB's log is flushed every millisecond
 */
public record PeerOptions(
        Path directory,
        long writeMemoryBytes,
        long cacheBytes,
        int secondaryCount,
        boolean directIo,
        Durability durability) {
    public PeerOptions {
        if (secondaryCount < 1 || secondaryCount > Tweet.ATTRIBUTE_COUNT) {
            throw new IllegalArgumentException("%d secondary indexes, but 1 to %d are possible"
                    .formatted(secondaryCount, Tweet.ATTRIBUTE_COUNT));
        }
        if (durability != Durability.PROCESS && durability != Durability.BUFFERED) {
            throw new IllegalArgumentException("not every engine has " + durability);
        }
    }

    /** Whose upserts return when the operating system has them. */
    public PeerOptions(
            Path directory,
            long writeMemoryBytes,
            long cacheBytes,
            int secondaryCount,
            boolean directIo) {
        this(directory, writeMemoryBytes, cacheBytes, secondaryCount, directIo, Durability.PROCESS);
    }
}
