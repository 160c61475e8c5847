package io.turbidite.lsm.merge.run;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.run.BitmapSave;
import io.turbidite.lsm.strategy.bitmap.run.BitmapTakeover;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.version.Version.MergedTree;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A merge of neighbouring components under way: it holds its inputs, is advanced step by step, and
 * installs the result of all its trees together at the end. Between two steps it holds files, read-ahead
 * buffers and the writer's page, but no version, so that a long merge keeps no memory layer alive.
 *
 * <p>The merged component covers the union of its inputs' IDs, never recomputed from its entries, and
 * its filter is the union of theirs (rule 2).
 *
 * <p><em>Confined to one thread at a time;</em> the workers hand it over by the run queue.
 */
public final class Merge implements RunQueue.Job, AutoCloseable {
    private final Partition partition;
    private final Substrate substrate;

    /** What the trees are; the partition's may have changed meanwhile. */
    private final DatasetSchema schema;

    private final List<Tree> trees;
    private final MergeHooks hooks;
    private final long inputBytes;
    private final List<ComponentHandle> merged = new ArrayList<>();
    private @Nullable VersionRetention readers;

    /** Is told of what is killed in the inputs of the primary meanwhile; null without live bitmaps. */
    private final @Nullable BuildConcurrency handover;

    private @Nullable Output output;
    private boolean installed;
    private long doneBytes;
    private long writtenBytes;
    private long busyNanos;

    /** As of the last step; read by others while a step goes on. */
    private volatile long remainingBytes;

    /** What is merged of one tree. */
    private record Tree(
            TreeId id,
            List<ComponentHandle> newestFirst,
            boolean includesOldest,
            boolean dropsAntimatter) {
        long bytes() {
            return newestFirst.stream()
                    .map(ComponentHandle::state)
                    .mapToLong(ComponentState::bytes)
                    .sum();
        }

        /** Entries of all inputs, dead ones included. */
        long entryCount() {
            return newestFirst.stream()
                    .mapToLong(input -> input.component().entryCount())
                    .sum();
        }
    }

    private Merge(
            Partition partition, DatasetSchema schema, List<Tree> trees, MergeHooks.Factory hooks) {
        this.partition = partition;
        this.substrate = partition.substrate();
        this.schema = schema;
        this.trees = trees;
        Map<TreeId, List<ComponentHandle>> inputs = new HashMap<>();
        trees.forEach(tree -> inputs.put(tree.id, tree.newestFirst));
        this.hooks = hooks.of(partition, schema, inputs);
        this.inputBytes = trees.stream().mapToLong(Tree::bytes).sum();
        this.remainingBytes = inputBytes;
        List<ComponentHandle> marked = marked(schema, trees);
        this.handover = marked.isEmpty()
                ? null
                : BuildConcurrency.ofComponents(
                        schema.bitmapHandover(),
                        BitmapTakeover.sources(marked),
                        substrate.handovers());
        if (handover != null) {
            BitmapTakeover.tell(partition, marked, handover);
        }
    }

    /** The inputs that have live bitmaps. */
    private static List<ComponentHandle> marked(DatasetSchema schema, List<Tree> trees) {
        return trees.stream()
                .filter(tree -> ComponentFiles.isLive(schema, tree.id))
                .flatMap(tree -> tree.newestFirst.stream())
                .toList();
    }

    /**
     * Starts a merge: claims its inputs.
     *
     * @param hooks what the maintenance strategies add to it
     * @return null if somebody else has claimed or replaced one of them since {@code pinned}
     */
    static @Nullable Merge start(
            Partition partition, Version pinned, MergePlan plan, MergeHooks.Factory hooks) {
        List<Tree> trees = new ArrayList<>();
        for (TreeId id : plan.trees()) {
            boolean oldest = pinned.includesOldest(id, plan.range().lastIndex());
            boolean drops = pinned.dropsAntimatter(id, plan.range().lastIndex());
            trees.add(new Tree(id, plan.inputs(pinned, id), oldest, drops));
        }
        List<ComponentHandle> claimed = new ArrayList<>();
        boolean got = true;
        for (Tree tree : trees) {
            for (ComponentHandle input : tree.newestFirst) {
                got = got && input.tryClaim();
                if (got) {
                    claimed.add(input);
                }
            }
            got = got && partition.holds(tree.id, tree.newestFirst);
        }
        if (!got) {
            claimed.forEach(ComponentHandle::unclaim);
            return null;
        }
        claimed.forEach(ComponentHandle::retain);
        return new Merge(partition, pinned.schema(), trees, hooks);
    }

    Partition partition() {
        return partition;
    }

    /** The input that a file belongs to; all of them if it is no input's. */
    List<ComponentHandle> inputsOf(@Nullable String file) {
        List<ComponentHandle> all =
                trees.stream().flatMap(tree -> tree.newestFirst.stream()).toList();
        List<ComponentHandle> its = file == null
                ? List.of()
                : all.stream().filter(input -> input.hasFile(file)).toList();
        return its.isEmpty() ? all : its;
    }

    /** Counted by what was written of the tree under way: too much where much is dropped. */
    @Override
    public long remainingBytes() {
        return remainingBytes;
    }

    /** Bytes written to files so far. */
    long writtenBytes() {
        Output current = output;
        return current == null ? writtenBytes : writtenBytes + current.writer.bytesWritten();
    }

    /**
     * Merges some more.
     *
     * @param stepBytes about as many bytes of entries
     * @param syncBytes what was written is synced when it is that much; 0 for never before the end
     * @return whether the merge is installed
     */
    boolean advance(long stepBytes, long syncBytes) {
        long startNanos = substrate.clock().monotonicNanos();
        long left = stepBytes;
        while (left > 0 && merged.size() < trees.size()) {
            Output current = output;
            if (current == null) {
                current = open(trees.get(merged.size()));
                output = current;
            }
            left -= current.copy(left);
            if (current.isComplete) {
                merged.add(current.finish());
                writtenBytes += current.writer.bytesWritten();
                doneBytes += current.tree.bytes();
                output = null;
                current.close();
            } else if (syncBytes > 0) {
                current.syncEvery(syncBytes);
            }
        }
        Output current = output;
        long underWay = current == null ? 0 : current.writer.bytesWritten();
        remainingBytes = Math.max(0, inputBytes - doneBytes - underWay);
        busyNanos += substrate.clock().monotonicNanos() - startNanos;
        if (merged.size() == trees.size()) {
            install();
        }
        return installed;
    }

    private void install() {
        substrate.disk().syncDirectory(StoreFiles.DATA);
        List<MergedTree> merges = new ArrayList<>();
        for (int i = 0; i < trees.size(); i++) {
            merges.add(new MergedTree(trees.get(i).id, trees.get(i).newestFirst, merged.get(i)));
        }
        try {
            edit(merges);
        } catch (StoreFailedException uncertain) {
            // the manifest that stands after reopening may name the new files: they must stay
            installed = true;
            throw uncertain;
        }
        installed = true;
        merges.forEach(merge -> substrate.events().merged(partition, schema, merge, busyNanos));
    }

    private void edit(List<MergedTree> merges) {
        if (handover == null) {
            substrate.edit(
                    state -> stateAfter(state, merges),
                    () -> partition.current().installMerged(merges, null));
            return;
        }
        MergedTree primary = merges.stream()
                .filter(merge -> merge.tree().isPrimary())
                .findFirst()
                .orElseThrow();
        BitmapTakeover takeover = new BitmapTakeover(handover, primary.output(), primary.inputs());
        BitmapSave.run(partition, new BitmapSave.Edit() {
            @Override
            public List<ComponentHandle> components(List<ComponentHandle> others) {
                // what a flush has saved of the inputs by now is saved of the output
                takeover.catchUp();
                return List.of(primary.output());
            }

            @Override
            public ManifestState change(ManifestState state) {
                return stateAfter(state, merges);
            }

            @Override
            public void install() {
                partition.current().installMerged(merges, takeover::finish);
            }
        });
    }

    /** Trees that the manifest does not know are being built, or were dropped meanwhile. */
    private ManifestState stateAfter(ManifestState state, List<MergedTree> merges) {
        if (partition.isDropped()) {
            return state;
        }
        PartitionState after = state.partition(schema.id(), partition.number());
        for (MergedTree merge : merges) {
            after = after.withMerged(
                    merge.tree(),
                    merge.inputs().stream().map(ComponentHandle::state).toList(),
                    merge.output().state());
        }
        DatasetCounts.Flushes merged = counts(merges);
        return state.withPartition(schema.id(), partition.number(), after)
                .withCounts(schema.id(), counts -> counts.plus(merged));
    }

    /** What was merged of the primary. */
    private static DatasetCounts.Flushes counts(List<MergedTree> merges) {
        long superseded = 0;
        long written = 0;
        for (MergedTree merge : merges) {
            if (merge.tree().isPrimary()) {
                for (ComponentHandle input : merge.inputs()) {
                    superseded += matter(input);
                }
                superseded -= matter(merge.output());
                written += merge.output().component().entryCount();
            }
        }
        return new DatasetCounts.Flushes(0, 0, superseded, written);
    }

    private static long matter(ComponentHandle handle) {
        return handle.component().entryCount() - handle.component().antimatterCount();
    }

    /** Lets everything go; what was not installed is deleted. */
    @Override
    public void close() {
        if (handover != null) {
            // before the bitmap of what was built goes
            BitmapTakeover.tell(partition, marked(schema, trees), null);
            handover.end();
        }
        try {
            if (output != null) {
                output.close();
                output = null;
            }
        } finally {
            try (hooks) {
                ComponentFiles.letGo(merged, installed);
                merged.clear();
                if (handover != null) {
                    handover.close();
                }
            } finally {
                for (Tree tree : trees) {
                    for (ComponentHandle input : tree.newestFirst) {
                        input.unclaim();
                        input.release();
                    }
                }
            }
        }
    }

    @Override
    public String toString() {
        return "merge of %d bytes in %s".formatted(inputBytes, partition);
    }

    private Output open(Tree tree) {
        long entries = 0;
        List<EntryCursor> cursors = new ArrayList<>();
        MergeHook hook = hooks.of(tree.id, tree.includesOldest);
        ComponentBuild build = ComponentBuild.of(partition, schema, tree.id);
        Output opened = null;
        try {
            for (ComponentHandle input : tree.newestFirst) {
                entries += input.livingCount();
                cursors.add(input.streamCursor(cursors.size()));
            }
            hook.addInputs(cursors);
            VersionRetention retention = readers().droppingAntimatter(tree.dropsAntimatter);
            EntryCursor versions = MergeCursor.of(cursors);
            Discards discards = hook.discards();
            EntryStream retained = discards == null
                    ? retention.retain(versions)
                    : retention.retain(versions, discards);
            EntryStream kept = hook.filter(retained, retention);
            if (ComponentFiles.isLive(schema, tree.id)) {
                var _ = build.withBitmap(tree.entryCount());
            }
            var _ = build.create(entries);
            opened = new Output(tree, build, versions, retained, kept, hook);
            if (opened.handover != null) {
                opened.handover.begin(Objects.requireNonNull(build.bitmap()));
            }
            return opened;
        } finally {
            if (opened == null) {
                try (hook;
                        build) {
                    cursors.forEach(EntryCursor::close);
                }
            }
        }
    }

    /**
     * What readers need, as of the first tree: what goes from one tree may be counted on in the next.
     */
    private VersionRetention readers() {
        VersionRetention asked = readers;
        if (asked == null) {
            asked = substrate.timestamps().retention(false);
            readers = asked;
        }
        return asked;
    }

    /** The merged component of one tree, being written. */
    private final class Output implements AutoCloseable {
        private final Tree tree;
        private final ComponentBuild build;
        private final ComponentWriter writer;
        private final EntryCursor versions;

        /** What the hook filters, standing on the entry that it lets through. */
        private final EntryStream retained;

        private final EntryStream kept;
        private final MergeHook hook;

        /** The merge's, if it is told of this tree. */
        private final @Nullable BuildConcurrency handover;

        private boolean isWritten;
        private boolean isComplete;
        private long syncedBytes;
        private final EntryHead entry = new EntryHead();
        private long ordinal;

        Output(
                Tree tree,
                ComponentBuild build,
                EntryCursor versions,
                EntryStream retained,
                EntryStream kept,
                MergeHook hook) {
            this.tree = tree;
            this.build = build;
            this.writer = build.writer();
            this.versions = versions;
            this.retained = retained;
            this.kept = kept;
            this.hook = hook;
            this.handover = build.bitmap() == null ? null : Merge.this.handover;
        }

        /** Copies entries until about {@code bytesMax} are done; returns how many were. */
        long copy(long bytesMax) {
            long bytes = 0;
            while (bytes < bytesMax) {
                if (isWritten) {
                    isComplete = hook.complete(bytesMax - bytes);
                    return isComplete ? bytes : bytesMax;
                }
                if (!kept.next(entry)) {
                    isWritten = true;
                    continue;
                }
                Slice value = kept.value();
                writer.add(entry, value);
                // the entry that is kept is the one that the versions stand on
                hook.written(kept, versions);
                if (handover != null) {
                    handover.copied(retained, ordinal);
                }
                ordinal++;
                bytes += entry.keyBytes + value.length() + Long.BYTES;
            }
            return bytes;
        }

        void syncEvery(long bytes) {
            long written = writer.bytesWritten();
            if (written - syncedBytes >= bytes) {
                writer.syncSoFar();
                syncedBytes = written;
            }
        }

        ComponentHandle finish() {
            ComponentFilter filter = tree.newestFirst.get(0).component().filter();
            long minTimestamp = Long.MAX_VALUE;
            long maxTimestamp = 0;
            long minMicros = Long.MAX_VALUE;
            long maxMicros = Long.MIN_VALUE;
            for (ComponentHandle input : tree.newestFirst) {
                filter = ComponentFilter.union(filter, input.component().filter());
                minMicros = Math.min(minMicros, input.component().minWallMicros());
                maxMicros = Math.max(maxMicros, input.component().maxWallMicros());
                minTimestamp = Math.min(minTimestamp, input.state().minTimestamp());
                maxTimestamp = Math.max(maxTimestamp, input.state().maxTimestamp());
            }
            build.finish(new ComponentId(minTimestamp, maxTimestamp), filter, minMicros, maxMicros);
            return build.openMerged(tree.newestFirst, hook.repaired());
        }

        @Override
        public void close() {
            // deleting what was written so far may fail: the rest is let go all the same
            try (hook;
                    build) {
                kept.close();
            }
        }
    }
}
