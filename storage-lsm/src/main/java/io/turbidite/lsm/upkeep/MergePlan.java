package io.turbidite.lsm.upkeep;

import io.turbidite.lsm.maintain.GarbageEstimate;
import io.turbidite.lsm.maintain.GarbageRange;
import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.MergePolicy;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What to merge in one go: the same number of neighbours in one tree and its companion or, correlated, in
 * all trees of a partition (ALS15: the primary decides). <em>Immutable.</em>
 *
 * <p>Components that are claimed are being replaced already: the policy sees them marked, so merges of
 * disjoint ranges run at once.
 *
 * @param trees ids of their indexes
 */
record MergePlan(List<Integer> trees, MergeRange range) {
    /** What the policy wants, at most one merge for each tree that decides. */
    static List<MergePlan> wanted(Version pinned) {
        MergePolicySpec spec = pinned.schema().mergePolicy();
        List<MergePlan> plans = new ArrayList<>();
        groups(pinned.schema()).forEach(trees -> add(plans, spec.policy(), pinned, trees));
        return plans;
    }

    /** The trees that are merged together, the one that decides first. */
    static List<List<Integer>> groups(DatasetSchema schema) {
        if (schema.mergePolicy().isCorrelated()) {
            return List.of(schema.treeIds());
        }
        List<List<Integer>> groups = new ArrayList<>();
        groups.add(List.of(IndexSchema.PRIMARY_ID));
        schema.indexes().forEach(index -> groups.add(index.treeIds()));
        return groups;
    }

    private static void add(
            List<MergePlan> plans, MergePolicy policy, Version pinned, List<Integer> trees) {
        // what is not aligned can't be merged with the others (rule 9)
        int free = pinned.mergeableCount(trees.getFirst());
        List<ComponentSize> sizes = new ArrayList<>();
        for (ComponentHandle handle : pinned.tree(trees.getFirst())) {
            sizes.add(size(handle, handle.isClaimed() || sizes.size() >= free));
        }
        policy.choose(sizes).ifPresent(range -> plans.add(new MergePlan(trees, range)));
    }

    /**
     * All components of a tree, or of all trees if they are aligned; null if what they hold up to {@code
     * maxTimestamp} is in one already. Under an index that is being built, what a correlated policy has
     * not got yet waits for it.
     */
    static @Nullable MergePlan all(Version pinned, long maxTimestamp) {
        List<Integer> trees = pinned.schema().treeIds();
        int count = pinned.tree(IndexSchema.PRIMARY_ID).size();
        boolean together = trees.stream()
                .allMatch(tree ->
                        pinned.tree(tree).size() == count && pinned.mergeableCount(tree) == count);
        if (together || pinned.schema().mergePolicy().isCorrelated()) {
            int free = pinned.mergeableCount(IndexSchema.PRIMARY_ID);
            return all(pinned, trees, Math.min(free, count - leavingCount(pinned)), maxTimestamp);
        }
        for (List<Integer> group : groups(pinned.schema())) {
            int free = pinned.mergeableCount(group.getFirst());
            MergePlan plan = all(pinned, group, free, maxTimestamp);
            if (plan != null) {
                return plan;
            }
        }
        return null;
    }

    /**
     * What to merge though no policy wants it, so that no more than half of the garbage that is too much stays in
     * deferred indexes; null if that can't be had now: something is being merged, or retention will drop what is
     * old, which a merge with something young would keep.
     */
    static @Nullable MergePlan ofGarbage(Version pinned) {
        DatasetSchema schema = pinned.schema();
        int free = pinned.mergeableCount(IndexSchema.PRIMARY_ID);
        List<ComponentHandle> primary = pinned.tree(IndexSchema.PRIMARY_ID).subList(0, free);
        if (schema.retention() != null
                || !schema.mergePolicy().isCorrelated()
                || primary.stream().anyMatch(ComponentHandle::isClaimed)) {
            return null;
        }
        long[] bytes =
                primary.stream().mapToLong(handle -> handle.state().bytes()).toArray();
        long entries = primary.stream()
                .mapToLong(handle -> handle.component().entryCount())
                .sum();
        MergeRange range = GarbageRange.cheapest(
                GarbageEstimate.pairs(primary), bytes, GarbageEstimate.URGENT_SHARE / 2 * entries);
        return range == null ? null : new MergePlan(schema.treeIds(), range);
    }

    /** The files of dead entries of all components of secondaries. */
    static Set<Long> deadFiles(Version pinned) {
        Set<Long> fileIds = new HashSet<>();
        for (IndexSchema index : pinned.schema().indexes()) {
            for (ComponentHandle handle : pinned.tree(index.id())) {
                fileIds.add(handle.state().deadFileId());
            }
        }
        return fileIds;
    }

    /**
     * One component of a secondary by itself, without its dead entries; its ID stays what it is, so that
     * indexes stay aligned.
     *
     * @param deadFiles of components that are meant
     * @return null if none of them is left
     */
    static @Nullable MergePlan rewriting(Version pinned, Set<Long> deadFiles) {
        for (IndexSchema index : pinned.schema().indexes()) {
            List<ComponentHandle> handles = pinned.tree(index.id());
            for (int i = 0; i < handles.size(); i++) {
                ComponentHandle handle = handles.get(i);
                if (handle.dead() != null
                        && deadFiles.contains(handle.state().deadFileId())
                        && !handle.isObsolete()) {
                    return new MergePlan(index.treeIds(), new MergeRange(i, i));
                }
            }
        }
        return null;
    }

    /** How many of the oldest are named by no manifest, because retention has dropped them. */
    private static int leavingCount(Version pinned) {
        int count = 0;
        for (ComponentHandle handle : pinned.tree(IndexSchema.PRIMARY_ID).reversed()) {
            if (!handle.isObsolete()) {
                break;
            }
            count++;
        }
        return count;
    }

    private static @Nullable MergePlan all(
            Version pinned, List<Integer> trees, int count, long maxTimestamp) {
        long old = trees.stream()
                .mapToLong(tree -> pinned.tree(tree).subList(0, count).stream()
                        .filter(handle -> handle.state().minTimestamp() <= maxTimestamp)
                        .count())
                .max()
                .orElseThrow();
        return old > 1 ? new MergePlan(trees, new MergeRange(0, count - 1)) : null;
    }

    /** The components to merge of a tree. */
    List<ComponentHandle> inputs(Version pinned, int tree) {
        return List.copyOf(pinned.tree(tree).subList(range.firstIndex(), range.lastIndex() + 1));
    }

    /** Bytes of all components to merge. */
    long inputBytes(Version pinned) {
        return trees.stream()
                .flatMap(tree -> inputs(pinned, tree).stream())
                .mapToLong(input -> input.state().bytes())
                .sum();
    }

    /** What a policy sees of a component. */
    static ComponentSize size(ComponentHandle handle, boolean isMerging) {
        ComponentState state = handle.state();
        return new ComponentSize(
                state.bytes(),
                state.minTimestamp(),
                state.maxTimestamp(),
                state.generation(),
                isMerging);
    }
}
