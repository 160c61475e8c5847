package io.turbidite.lsm.merge.run;

import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.GarbageRange;
import io.turbidite.lsm.merge.MergePolicy;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.partition.GarbageEstimate;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What to merge in one go: the same number of neighbours in one tree and its deleted-key tree or,
 * correlated, in all trees of a partition (ALS15: the primary decides). <em>Immutable.</em>
 *
 * <p>Components that are taken are being replaced already: the policy sees them marked, so merges
 * of disjoint ranges run at once.
 *
 * @param trees ids of their indexes
 */
record MergePlan(List<TreeId> trees, MergeRange range) {
    /**
     * What the policy wants, at most one merge for each tree that decides; none of what is held
     * back.
     */
    static List<MergePlan> wanted(Version pinned, HeldInputs held) {
        MergePolicySpec spec = pinned.schema().mergePolicy();
        List<MergePlan> plans = new ArrayList<>();
        groups(pinned.schema()).forEach(trees -> add(plans, spec.policy(), pinned, trees, held));
        return plans;
    }

    /** The trees that are merged together, the one that decides first. */
    static List<List<TreeId>> groups(DatasetSchema schema) {
        if (schema.mergePolicy().isCorrelated()) {
            return List.of(schema.treeIds());
        }
        List<List<TreeId>> groups = new ArrayList<>();
        groups.add(List.of(TreeId.PRIMARY));
        schema.indexes().stream()
                .map(IndexSchema::treeIds)
                .filter(trees -> !trees.isEmpty())
                .forEach(groups::add);
        return groups;
    }

    private static void add(
            List<MergePlan> plans,
            MergePolicy policy,
            Version pinned,
            List<TreeId> trees,
            HeldInputs held) {
        // what is not aligned can't be merged with the others (rule 9)
        int free = pinned.mergeableCount(trees.getFirst());
        List<ComponentHandle> handles = pinned.tree(trees.getFirst());
        for (MergeRange run : soundRuns(pinned, trees)) {
            List<ComponentSize> sizes = new ArrayList<>();
            for (int i = run.firstIndex(); i <= run.lastIndex(); i++) {
                boolean isTaken =
                        handles.get(i).isTaken() || i >= free || of(trees, i).isHeld(pinned, held);
                sizes.add(size(handles.get(i), isTaken));
            }
            Optional<MergeRange> chosen = policy.choose(sizes);
            if (chosen.isPresent()) {
                plans.add(new MergePlan(trees, within(run, chosen.get())));
                return;
            }
        }
    }

    private static MergePlan of(List<TreeId> trees, int index) {
        return new MergePlan(trees, new MergeRange(index, index));
    }

    private static MergeRange within(MergeRange run, MergeRange chosen) {
        return new MergeRange(
                run.firstIndex() + chosen.firstIndex(), run.firstIndex() + chosen.lastIndex());
    }

    /**
     * The components of trees that are merged together, cut where one of them is in quarantine: no
     * merge goes across it, so that what it may hold keeps its place in time. A policy takes each
     * piece for the whole list.
     */
    static List<MergeRange> soundRuns(Version pinned, List<TreeId> trees) {
        int count = pinned.tree(trees.getFirst()).size();
        List<MergeRange> runs = new ArrayList<>();
        int first = 0;
        for (int i = 0; i <= count; i++) {
            if (i == count || !isSound(pinned, trees, i)) {
                if (i > first) {
                    runs.add(new MergeRange(first, i - 1));
                }
                first = i + 1;
            }
        }
        return runs;
    }

    private static boolean isSound(Version pinned, List<TreeId> trees, int index) {
        return trees.stream()
                .map(pinned::tree)
                .noneMatch(tree -> index < tree.size() && tree.get(index).isQuarantined());
    }

    /**
     * All components of a tree, or of all trees if they are aligned; null if what they hold up to
     * {@code maxTimestamp} is in one already. Under an index that is being built, what a correlated
     * policy has not got yet waits for it.
     */
    static @Nullable MergePlan all(Version pinned, long maxTimestamp) {
        List<TreeId> trees = pinned.schema().treeIds();
        int count = pinned.tree(TreeId.PRIMARY).size();
        boolean together = trees.stream()
                .allMatch(tree ->
                        pinned.tree(tree).size() == count && pinned.mergeableCount(tree) == count);
        if (together || pinned.schema().mergePolicy().isCorrelated()) {
            int free = pinned.mergeableCount(TreeId.PRIMARY);
            int most = Math.min(free, count - leavingCount(pinned));
            return all(pinned, trees, most, maxTimestamp);
        }
        for (List<TreeId> group : groups(pinned.schema())) {
            int free = pinned.mergeableCount(group.getFirst());
            MergePlan plan = all(pinned, group, free, maxTimestamp);
            if (plan != null) {
                return plan;
            }
        }
        return null;
    }

    /**
     * What to merge though no policy wants it, so that no more than half of the garbage that is too
     * much stays in deferred indexes; null if that can't be had now: something is being merged, or
     * retention will drop what is old, which a merge with something young would keep.
     */
    static @Nullable MergePlan ofGarbage(Version pinned) {
        DatasetSchema schema = pinned.schema();
        int free = pinned.mergeableCount(TreeId.PRIMARY);
        List<ComponentHandle> primary = pinned.tree(TreeId.PRIMARY).subList(0, free);
        if (schema.retention() != null
                || hasQuarantined(pinned)
                || !schema.mergePolicy().isCorrelated()
                || primary.stream().anyMatch(ComponentHandle::isTaken)) {
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

    private static boolean hasQuarantined(Version pinned) {
        return pinned.schema().treeIds().stream()
                .anyMatch(tree ->
                        pinned.tree(tree).stream().anyMatch(ComponentHandle::isQuarantined));
    }

    /** The files of invalid entries of all components of secondaries. */
    static Set<Long> bitmapFiles(Version pinned) {
        Set<Long> fileIds = new HashSet<>();
        for (IndexSchema index : pinned.schema().indexes()) {
            for (ComponentHandle handle : pinned.tree(index.tree())) {
                fileIds.add(handle.state().bitmapFileId());
            }
        }
        return fileIds;
    }

    /**
     * One component of a secondary by itself, without its invalid entries; its ID stays what it is,
     * so that indexes stay aligned.
     *
     * @param bitmapFiles of components that are meant
     * @return null if none of them is left
     */
    static @Nullable MergePlan rewriting(Version pinned, Set<Long> bitmapFiles) {
        for (IndexSchema index : pinned.schema().indexes()) {
            List<ComponentHandle> handles = pinned.tree(index.tree());
            for (int i = 0; i < handles.size(); i++) {
                ComponentHandle handle = handles.get(i);
                if (handle.invalidEntries() != null
                        && bitmapFiles.contains(handle.state().bitmapFileId())
                        && !handle.isObsolete()
                        && isSound(pinned, index.treeIds(), i)) {
                    return of(index.treeIds(), i);
                }
            }
        }
        return null;
    }

    /**
     * A component of an older format by itself, with what is merged together with its tree, so that
     * it is written in today's.
     *
     * @return null if there is none that can be merged
     */
    static @Nullable MergePlan renewing(Version pinned) {
        for (List<TreeId> trees : groups(pinned.schema())) {
            int free = pinned.mergeableCount(trees.getFirst());
            for (int i = 0; i < free; i++) {
                int index = i;
                boolean isOld = trees.stream()
                        .map(pinned::tree)
                        .filter(tree -> index < tree.size())
                        .map(tree -> tree.get(index))
                        .anyMatch(
                                handle -> handle.component().isOutdated() && !handle.isObsolete());
                if (isOld && isSound(pinned, trees, i)) {
                    return of(trees, i);
                }
            }
        }
        return null;
    }

    /**
     * A component by itself, with what is merged together with its tree, to make a new one of what
     * can be read of it.
     *
     * @return null if it can't be merged now
     */
    static @Nullable MergePlan remaking(Version pinned, long fileId) {
        for (List<TreeId> trees : groups(pinned.schema())) {
            int free = pinned.mergeableCount(trees.getFirst());
            for (int i = 0; i < free; i++) {
                int index = i;
                boolean isIt = trees.stream()
                        .map(pinned::tree)
                        .anyMatch(tree ->
                                index < tree.size() && tree.get(index).state().fileId() == fileId);
                if (isIt && isSound(pinned, trees, i)) {
                    return of(trees, i);
                }
            }
        }
        return null;
    }

    /** How many of the oldest are named by no manifest, because retention has dropped them. */
    private static int leavingCount(Version pinned) {
        int count = 0;
        for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY).reversed()) {
            if (!handle.isObsolete()) {
                break;
            }
            count++;
        }
        return count;
    }

    private static @Nullable MergePlan all(
            Version pinned, List<TreeId> trees, int count, long maxTimestamp) {
        for (MergeRange run : soundRuns(pinned, trees)) {
            int end = Math.min(count, run.lastIndex() + 1);
            int first = run.firstIndex();
            long old = first >= end
                    ? 0
                    : trees.stream()
                            .mapToLong(tree -> pinned.tree(tree).subList(first, end).stream()
                                    .filter(handle -> handle.state().minTimestamp() <= maxTimestamp)
                                    .count())
                            .max()
                            .orElseThrow();
            if (old > 1) {
                return new MergePlan(trees, new MergeRange(first, end - 1));
            }
        }
        return null;
    }

    /** The components to merge of a tree. */
    List<ComponentHandle> inputs(Version pinned, TreeId tree) {
        return List.copyOf(pinned.tree(tree).subList(range.firstIndex(), range.lastIndex() + 1));
    }

    /** The components to merge of all trees. */
    List<ComponentHandle> inputs(Version pinned) {
        return trees.stream().flatMap(tree -> inputs(pinned, tree).stream()).toList();
    }

    /** Whether one of them is held back; trees that have fewer components have none. */
    boolean isHeld(Version pinned, HeldInputs held) {
        if (held.isEmpty()) {
            return false;
        }
        return trees.stream()
                .map(pinned::tree)
                .flatMap(tree -> tree
                        .subList(
                                Math.min(range.firstIndex(), tree.size()),
                                Math.min(range.lastIndex() + 1, tree.size()))
                        .stream())
                .anyMatch(held::isHeld);
    }

    /** Bytes of all components to merge. */
    long inputBytes(Version pinned) {
        return inputs(pinned).stream().mapToLong(input -> input.state().bytes()).sum();
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
