package io.turbidite.lsm.merge;

import java.util.List;
import java.util.Optional;

/**
 * Decides which disk components of an index become one: a pure function of their sizes and ages.
 *
 * <p><em>Immutable.</em> It is asked after each flush and each merge, and whenever a store opens; it keeps
 * nothing between two questions. Whoever asks leaves out what must not be merged now, by handing in the
 * part of the list that is free. To let one index decide for all of its partition (ALS15's correlated
 * policies), ask for the primary and merge the chosen range everywhere: {@link
 * MergePolicySpec#isCorrelated}.
 */
public sealed interface MergePolicy
        permits NoMergePolicy, ConstantMergePolicy, PrefixMergePolicy, TieringMergePolicy {
    /**
     * The components to merge next, empty if the list is well as it is.
     *
     * @param newestFirst an index's disk components, or neighbours of them
     */
    Optional<MergeRange> choose(List<ComponentSize> newestFirst);
}
