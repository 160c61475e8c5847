package io.turbidite.core.index;

import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.time.Clock;

import java.util.Map;

/**
 * Whose a region is, and what it may use. <em>Immutable.</em>
 *
 * @param disk the store's
 * @param directory of the disk, there already, where regions lie that have no place of their own
 * @param storeId the store's random number
 * @param regionId the region's number, which no other has: random, in copies of a store too; of
 *     releases before it is one that the store counted
 * @param sessions of the store: what the region is to be of, and will be of
 * @param name for people: dataset, partition, index
 * @param parameters as {@link IndexKind#define} gave them
 * @param clock for whoever measures
 * @param account for memory besides the region's own
 */
public record RegionPlace(
        Disk disk,
        String directory,
        long storeId,
        long regionId,
        RegionSessions sessions,
        String name,
        Map<String, String> parameters,
        Clock clock,
        MemoryBudget.Account account) {
    public RegionPlace {
        parameters = Map.copyOf(parameters);
    }

    /** Its file, if it has one in the store: {@code regions/5f0a1c93d27b4e68.region}. */
    public String file() {
        return "%s/%s".formatted(directory, fileName(regionId));
    }

    /** The plain name of a region's file: 12 to 16 hexadecimal digits, and a suffix. */
    public static String fileName(long regionId) {
        return "%012x.region".formatted(regionId);
    }
}
