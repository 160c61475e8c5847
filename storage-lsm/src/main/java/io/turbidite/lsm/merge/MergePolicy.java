package io.turbidite.lsm.merge;

import java.util.List;
import java.util.Optional;

/**
 * Decides which disk components of an index become one: a pure function of their sizes and ages.
 *
 * <p><em>Immutable.</em> It is asked after each flush and each merge, and whenever a store opens;
 * it keeps nothing between two questions. To let one index decide for all of its partition (ALS15's
 * correlated policies), ask for the primary and merge the chosen range everywhere:
 * {@link MergePolicySpec#isCorrelated}.
 *
 * <p><b>Several merges at a time.</b> Whoever runs merges marks the inputs of those that run or
 * wait ({@link ComponentSize#isMerging}) and asks again: each answer is one more merge that may run
 * beside the others, until there is none.
 *
 * <ol>
 *   <li>A range never holds a marked component, so ranges chosen one after the other are disjoint,
 *       and their merges may end in any order.
 *   <li>A policy comes to an end: if each answer is merged, or marked, answers run out.
 *   <li>Marks only take answers away: a list that the policy left as it is stays so when some of it
 *       is marked.
 * </ol>
 */
public sealed interface MergePolicy
        permits NoMergePolicy,
                ConstantMergePolicy,
                PrefixMergePolicy,
                TieringMergePolicy,
                LevelingMergePolicy,
                LazyLevelingMergePolicy,
                ConcurrentMergePolicy {
    /**
     * The components to merge next; empty if the list needs no merge.
     *
     * @param newestFirst all disk components of an index; those in a merge are marked
     */
    Optional<MergeRange> choose(List<ComponentSize> newestFirst);

    /**
     * How many components the policy keeps side by side, whatever the data; 0 if that depends on
     * the data.
     */
    default int keptCount() {
        return 0;
    }

    /**
     * Whether the policy leaves components above some size alone. This bounds the age of a
     * component's contents too, which retention needs.
     */
    default boolean isBounded() {
        return false;
    }
}
