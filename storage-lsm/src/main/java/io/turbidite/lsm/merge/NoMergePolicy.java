package io.turbidite.lsm.merge;

import java.util.List;
import java.util.Optional;

/**
 * Never merges: filters prune best, and point searches visit every component (ALS15 §3.2.4). For
 * experiments, and for data that is loaded once.
 */
public record NoMergePolicy() implements MergePolicy {
    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return Optional.empty();
    }

    @Override
    public boolean isBounded() {
        return true;
    }
}
