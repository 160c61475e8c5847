package io.turbidite.lsm.merge;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;

/**
 * The tiering policy of LUO19 §6.1: a sequence of components up to the newest is merged when the younger
 * ones together are {@code sizeRatio} times as large as the oldest of the sequence.
 *
 * <p>Of all such sequences the longest is taken, so that one merge does the work of several. A component
 * of {@code mergeableBytesMax} or more ends the list: it and all that are older stay as they are.
 *
 * <p>With equal flushes and ratio 1.2, three of them are merged at a time, and a component of n flushes
 * is written again when about 1.2 n more have gathered: each byte is written about log2 of the data in
 * flushes times.
 *
 * @param sizeRatio more than 0; LUO19 and HBase use 1.2
 * @param mergeCountMin the fewest components that are worth a merge, at least 2
 * @param mergeableBytesMax size from which a component is left alone; LUO19 uses 1 GiB
 */
public record TieringMergePolicy(double sizeRatio, int mergeCountMin, long mergeableBytesMax)
        implements MergePolicy {
    public TieringMergePolicy {
        if (!(sizeRatio > 0 && sizeRatio <= 1_000)) {
            throw new InvalidRequestException(
                    "sizeRatio: %s must be above 0 and at most 1000".formatted(sizeRatio));
        }
        if (mergeCountMin < 2) {
            throw new InvalidRequestException(
                    "mergeCountMin: %d must be at least 2, as one component can't be merged"
                            .formatted(mergeCountMin));
        }
        if (mergeableBytesMax < 1) {
            throw new InvalidRequestException(
                    "mergeableBytesMax: %d must be at least 1 byte".formatted(mergeableBytesMax));
        }
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return FreeRuns.choose(newestFirst, this::inRun);
    }

    private @Nullable MergeRange inRun(List<ComponentSize> run) {
        long youngerBytes = 0;
        int lastIndex = -1;
        for (int oldest = 0; oldest < run.size(); oldest++) {
            long bytes = run.get(oldest).bytes();
            if (bytes >= mergeableBytesMax) {
                break;
            }
            if (oldest + 1 >= mergeCountMin && youngerBytes >= sizeRatio * bytes) {
                lastIndex = oldest;
            }
            youngerBytes += bytes;
        }
        return lastIndex < 0 ? null : new MergeRange(0, lastIndex);
    }
}
