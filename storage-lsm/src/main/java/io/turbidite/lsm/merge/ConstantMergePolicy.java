package io.turbidite.lsm.merge;

import io.turbidite.core.InvalidRequestException;

import java.util.List;
import java.util.Optional;

/**
 * Keeps at most {@code componentCountMax} components: one more, and all become one (ALS15 §3.2.4). Reads
 * are cheap, and each byte is written again once for every {@code componentCountMax} flushes.
 */
public record ConstantMergePolicy(int componentCountMax) implements MergePolicy {
    public ConstantMergePolicy {
        if (componentCountMax < 1) {
            throw new InvalidRequestException(
                    "componentCountMax: %d must be at least 1".formatted(componentCountMax));
        }
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return newestFirst.size() > componentCountMax
                ? FreeRuns.choose(newestFirst, run -> new MergeRange(0, run.size() - 1))
                : Optional.empty();
    }
}
