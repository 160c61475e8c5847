package io.turbidite.lsm.partition;

import io.turbidite.core.StoreFailedException;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.merge.MergePolicy;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

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
    private record Choice(int firstTree, int treeCount, MergeRange range) {}

    /** Merges once; false if the policy wants nothing. */
    boolean run() {
        return run(this::choose);
    }

    /** Merges all components of a tree, or of all trees if they are aligned; false if all are merged. */
    boolean runFull() {
        return run(Merge::chooseAll);
    }

    private boolean run(Function<Version, Optional<Choice>> chooser) {
        Version pinned = partition.pin();
        List<ComponentHandle> merged = new ArrayList<>();
        boolean installed = false;
        try {
            Optional<Choice> choice = chooser.apply(pinned);
            installed = choice.isPresent() && merge(pinned, choice.get(), merged);
        } catch (StoreFailedException uncertain) {
            // the manifest that stands after reopening may name the new files: they must stay
            installed = true;
            throw uncertain;
        } finally {
            ComponentFiles.letGo(merged, installed);
            pinned.unpin();
        }
        return installed;
    }

    private static Optional<Choice> chooseAll(Version pinned) {
        int count = pinned.tree(0).size();
        boolean aligned = true;
        for (int tree = 0; tree < pinned.treeCount(); tree++) {
            aligned &= pinned.tree(tree).size() == count;
        }
        if (aligned) {
            return count > 1
                    ? Optional.of(new Choice(0, pinned.treeCount(), new MergeRange(0, count - 1)))
                    : Optional.empty();
        }
        for (int tree = 0; tree < pinned.treeCount(); tree++) {
            int size = pinned.tree(tree).size();
            if (size > 1) {
                return Optional.of(new Choice(tree, 1, new MergeRange(0, size - 1)));
            }
        }
        return Optional.empty();
    }

    private Optional<Choice> choose(Version pinned) {
        MergePolicy policy = schema.mergePolicy().policy();
        if (schema.mergePolicy().isCorrelated()) {
            return policy.choose(sizes(pinned.tree(0)))
                    .map(range -> new Choice(0, pinned.treeCount(), range));
        }
        for (int tree = 0; tree < pinned.treeCount(); tree++) {
            Optional<MergeRange> range = policy.choose(sizes(pinned.tree(tree)));
            if (range.isPresent()) {
                return Optional.of(new Choice(tree, 1, range.get()));
            }
        }
        return Optional.empty();
    }

    private static List<ComponentSize> sizes(List<ComponentHandle> newestFirst) {
        return newestFirst.stream()
                .map(ComponentHandle::state)
                .map(state -> new ComponentSize(
                        state.bytes(),
                        state.minTimestamp(),
                        state.maxTimestamp(),
                        state.generation(),
                        false))
                .toList();
    }

    private boolean merge(Version pinned, Choice choice, List<ComponentHandle> merged) {
        long startNanos = substrate.clock().monotonicNanos();
        List<List<ComponentHandle>> inputs = new ArrayList<>();
        for (int i = 0; i < choice.treeCount(); i++) {
            int tree = choice.firstTree() + i;
            List<ComponentHandle> range = pinned.tree(tree)
                    .subList(choice.range().firstIndex(), choice.range().lastIndex() + 1);
            boolean includesOldest =
                    choice.range().lastIndex() == pinned.tree(tree).size() - 1;
            ComponentHandle output = write(tree, range, includesOldest);
            if (output == null) {
                return false;
            }
            merged.add(output);
            inputs.add(List.copyOf(range));
        }
        substrate.disk().syncDirectory(StoreFiles.DATA);
        substrate
                .manifest()
                .edit(
                        state -> state.withPartition(
                                schema.id(),
                                partition.number(),
                                replaced(
                                        state.partition(schema.id(), partition.number()),
                                        choice,
                                        inputs,
                                        merged)),
                        () -> install(choice, inputs, merged));
        long nanos = substrate.clock().monotonicNanos() - startNanos;
        for (int i = 0; i < inputs.size(); i++) {
            substrate
                    .events()
                    .merged(partition, choice.firstTree() + i, inputs.get(i), merged.get(i), nanos);
        }
        return true;
    }

    private void install(
            Choice choice, List<List<ComponentHandle>> inputs, List<ComponentHandle> merged) {
        partition.swap(before -> {
            Version after = before;
            for (int i = 0; i < inputs.size(); i++) {
                Version next =
                        after.withMerged(choice.firstTree() + i, inputs.get(i), merged.get(i));
                if (i > 0) {
                    after.unpin();
                }
                after = next;
            }
            return after;
        });
        for (List<ComponentHandle> range : inputs) {
            range.forEach(ComponentHandle::markObsolete);
        }
    }

    private static PartitionState replaced(
            PartitionState before,
            Choice choice,
            List<List<ComponentHandle>> inputs,
            List<ComponentHandle> merged) {
        List<List<ComponentState>> trees = new ArrayList<>(before.trees());
        for (int i = 0; i < inputs.size(); i++) {
            int tree = choice.firstTree() + i;
            List<ComponentState> components = new ArrayList<>(trees.get(tree));
            int first = components.indexOf(inputs.get(i).get(0).state());
            components.subList(first, first + inputs.get(i).size()).clear();
            components.add(first, merged.get(i).state());
            trees.set(tree, components);
        }
        return new PartitionState(before.flushedTimestamp(), trees);
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
