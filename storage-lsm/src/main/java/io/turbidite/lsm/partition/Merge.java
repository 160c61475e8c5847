package io.turbidite.lsm.partition;

import io.turbidite.core.StoreFailedException;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.version.Version.MergedTree;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Merges neighbouring components of a partition's trees as its policy says. Correlated: the primary
 * decides and every tree merges the same range, installed together (ALS15). Otherwise each tree decides
 * for itself, and one tree is merged at a time.
 *
 * <p>The merged component covers the union of its inputs' IDs, never recomputed from its entries, and
 * its filter is the union of theirs (rule 2).
 */
final class Merge {
    /** Entries between two looks at whether the store is closing. */
    private static final int CHECK_INTERVAL = 4_096;

    private final Partition partition;
    private final Substrate substrate;
    private final DatasetSchema schema;

    Merge(Partition partition) {
        this.partition = partition;
        this.substrate = partition.substrate();
        this.schema = partition.schema();
    }

    /** What to merge in one go: the same number of neighbours in each of some trees. */
    private record Choice(List<Integer> trees, MergeRange range) {}

    /** Merges once; false if the policy wants nothing. */
    boolean run() {
        return run(Merge::choose);
    }

    /** Merges all components of a tree, or of all trees if they are aligned; false if all are merged. */
    boolean runFull() {
        return run(Merge::chooseAll);
    }

    private boolean run(Function<Version, Optional<Choice>> chooser) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return false;
        }
        List<MergedTree> merged = new ArrayList<>();
        boolean installed = false;
        try {
            Optional<Choice> choice = chooser.apply(pinned);
            installed = choice.isPresent() && merge(pinned, choice.get(), merged);
        } catch (StoreFailedException uncertain) {
            // the manifest that stands after reopening may name the new files: they must stay
            installed = true;
            throw uncertain;
        } finally {
            ComponentFiles.letGo(merged.stream().map(MergedTree::output).toList(), installed);
            pinned.unpin();
        }
        return installed;
    }

    private static Optional<Choice> chooseAll(Version pinned) {
        int count = pinned.tree(IndexSchema.PRIMARY_ID).size();
        List<Integer> trees = pinned.schema().treeIds();
        if (trees.stream().allMatch(tree -> pinned.tree(tree).size() == count)) {
            return count > 1
                    ? Optional.of(new Choice(trees, new MergeRange(0, count - 1)))
                    : Optional.empty();
        }
        if (pinned.schema().mergePolicy().isCorrelated()) {
            // under an index that is being built: what it has not got yet waits for it
            int aligned = pinned.alignedCount();
            return aligned > 1
                    ? Optional.of(new Choice(trees, new MergeRange(0, aligned - 1)))
                    : Optional.empty();
        }
        for (int tree : trees) {
            int size = pinned.tree(tree).size();
            if (size > 1) {
                return Optional.of(new Choice(List.of(tree), new MergeRange(0, size - 1)));
            }
        }
        return Optional.empty();
    }

    private static Optional<Choice> choose(Version pinned) {
        MergePolicySpec spec = pinned.schema().mergePolicy();
        List<Integer> trees = pinned.schema().treeIds();
        if (spec.isCorrelated()) {
            List<ComponentHandle> primary = pinned.tree(IndexSchema.PRIMARY_ID);
            return spec.policy()
                    .choose(sizes(primary, pinned.alignedCount()))
                    .map(range -> new Choice(trees, range));
        }
        for (int tree : trees) {
            Optional<MergeRange> range = spec.policy()
                    .choose(sizes(pinned.tree(tree), pinned.tree(tree).size()));
            if (range.isPresent()) {
                return Optional.of(new Choice(List.of(tree), range.get()));
            }
        }
        return Optional.empty();
    }

    /** What a policy sees, with those marked that lie behind the first {@code freeCount}. */
    private static List<ComponentSize> sizes(List<ComponentHandle> newestFirst, int freeCount) {
        List<ComponentSize> sizes = new ArrayList<>();
        for (ComponentHandle handle : newestFirst) {
            ComponentState state = handle.state();
            sizes.add(new ComponentSize(
                    state.bytes(),
                    state.minTimestamp(),
                    state.maxTimestamp(),
                    state.generation(),
                    sizes.size() >= freeCount));
        }
        return sizes;
    }

    private boolean merge(Version pinned, Choice choice, List<MergedTree> merged) {
        long startNanos = substrate.clock().monotonicNanos();
        int last = choice.range().lastIndex();
        for (int tree : choice.trees()) {
            List<ComponentHandle> inputs =
                    pinned.tree(tree).subList(choice.range().firstIndex(), last + 1);
            ComponentHandle output = write(tree, inputs, pinned.includesOldest(tree, last));
            if (output == null) {
                return false;
            }
            merged.add(new MergedTree(tree, inputs, output));
        }
        substrate.disk().syncDirectory(StoreFiles.DATA);
        substrate
                .manifest()
                .edit(state -> stateAfter(state, merged), () -> partition.installMerged(merged));
        long nanos = substrate.clock().monotonicNanos() - startNanos;
        merged.forEach(merge -> substrate.events().merged(partition, schema, merge, nanos));
        return true;
    }

    /** Trees that the manifest does not know are being built, or were dropped meanwhile. */
    private ManifestState stateAfter(ManifestState state, List<MergedTree> merged) {
        if (partition.isDropped()) {
            return state;
        }
        PartitionState after = state.partition(schema.id(), partition.number());
        for (MergedTree merge : merged) {
            after = after.withMerged(
                    merge.indexId(),
                    merge.inputs().stream().map(ComponentHandle::state).toList(),
                    merge.output().state());
        }
        return state.withPartition(schema.id(), partition.number(), after);
    }

    /** Writes one merged component; null if the store began to close meanwhile. */
    private @Nullable ComponentHandle write(
            int tree, List<ComponentHandle> newestFirst, boolean includesOldest) {
        VersionRetention retention = substrate.timestamps().retention(includesOldest);
        List<EntryCursor> cursors = new ArrayList<>();
        ComponentFilter filter = newestFirst.get(0).component().filter();
        long entries = 0;
        long minTimestamp = Long.MAX_VALUE;
        long maxTimestamp = 0;
        long minMicros = Long.MAX_VALUE;
        long maxMicros = Long.MIN_VALUE;
        for (ComponentHandle input : newestFirst) {
            cursors.add(input.component().streamCursor());
            filter = ComponentFilter.union(filter, input.component().filter());
            entries += input.component().entryCount();
            minMicros = Math.min(minMicros, input.component().minWallMicros());
            maxMicros = Math.max(maxMicros, input.component().maxWallMicros());
            minTimestamp = Math.min(minTimestamp, input.state().minTimestamp());
            maxTimestamp = Math.max(maxTimestamp, input.state().maxTimestamp());
        }
        long fileId = substrate.manifest().newFileId();
        try (EntryStream kept = retention.retain(MergeCursor.of(cursors));
                ComponentWriter writer = ComponentFiles.create(
                        substrate, schema, partition.number(), tree, fileId, entries)) {
            int untilCheck = CHECK_INTERVAL;
            while (kept.next()) {
                writer.add(kept.key(), kept.timestamp(), kept.isAntimatter(), kept.value());
                if (--untilCheck == 0) {
                    if (substrate.health().isClosing()) {
                        return null;
                    }
                    untilCheck = CHECK_INTERVAL;
                }
            }
            writer.finish(
                    new ComponentId(minTimestamp, maxTimestamp), filter, minMicros, maxMicros);
        }
        return ComponentFiles.openMerged(
                substrate, schema, partition.number(), tree, fileId, newestFirst);
    }
}
