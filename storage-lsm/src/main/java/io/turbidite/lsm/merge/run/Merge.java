package io.turbidite.lsm.merge.run;

import io.turbidite.core.Cleanup;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.MergeHooks;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.run.BitmapSave;
import io.turbidite.lsm.strategy.bitmap.run.BitmapSwitch;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.version.Version.MergedTree;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A merge of neighbouring components under way: it holds its inputs, is advanced step by step, and
 * installs the result of all its trees together at the end. Between two steps it holds files,
 * read-ahead buffers and the writer's page, but no version, so that a long merge keeps no memory
 * layer alive.
 *
 * <p>The merged component covers the union of its inputs' IDs, never recomputed from its entries,
 * and its filter is the union of theirs (rule 2).
 *
 * <p><em>Confined to one thread at a time;</em> the workers hand it over by the run queue.
 */
public final class Merge implements RunQueue.Job, AutoCloseable {
    private final Partition partition;
    private final StoreCore core;

    /** What the trees are; the partition's may have changed meanwhile. */
    private final DatasetSchema schema;

    private final List<TreeInputs> trees;
    private final MergeHooks hooks;
    private final long inputBytes;
    private final List<ComponentHandle> merged = new ArrayList<>();
    private @Nullable VersionRetention readers;

    /**
     * Is told of what is invalidated in the inputs of the primary meanwhile; null without live
     * bitmaps.
     */
    private final @Nullable BuildConcurrency concurrency;

    private @Nullable MergeOutput output;
    private final Installation installation = new Installation();
    private long doneBytes;
    private long writtenBytes;
    private long busyNanos;

    /** As of the last step; read by others while a step goes on. */
    private volatile long remainingBytes;

    private Merge(
            Partition partition,
            DatasetSchema schema,
            List<TreeInputs> trees,
            MergeHooks.Factory hooks) {
        this.partition = partition;
        this.core = partition.core();
        this.schema = schema;
        this.trees = trees;
        Map<TreeId, List<ComponentHandle>> inputs = new HashMap<>();
        trees.forEach(tree -> inputs.put(tree.id(), tree.newestFirst()));
        this.hooks = hooks.of(partition, schema, inputs);
        this.inputBytes = trees.stream().mapToLong(TreeInputs::bytes).sum();
        this.remainingBytes = inputBytes;
        List<ComponentHandle> marked = marked(schema, trees);
        this.concurrency = marked.isEmpty()
                ? null
                : BuildConcurrency.ofComponents(
                        schema.bitmapHandover().isByLocks(),
                        BitmapSwitch.sources(marked),
                        core.builds());
        if (concurrency != null) {
            BitmapSwitch.tell(partition, marked, concurrency);
        }
    }

    /** The inputs that have live bitmaps. */
    private static List<ComponentHandle> marked(DatasetSchema schema, List<TreeInputs> trees) {
        return trees.stream()
                .filter(tree -> ComponentFiles.isLive(schema, tree.id()))
                .flatMap(tree -> tree.newestFirst().stream())
                .toList();
    }

    /**
     * Starts a merge: takes its inputs.
     *
     * @param hooks what the maintenance strategies add to it
     * @return null if somebody else has taken or replaced one of them since {@code pinned}
     */
    static @Nullable Merge start(
            Partition partition, Version pinned, MergePlan plan, MergeHooks.Factory hooks) {
        List<TreeInputs> trees = new ArrayList<>();
        for (TreeId id : plan.trees()) {
            boolean oldest = pinned.includesOldest(id, plan.range().lastIndex());
            boolean drops = pinned.dropsAntimatter(id, plan.range().lastIndex());
            trees.add(new TreeInputs(id, plan.inputs(pinned, id), oldest, drops));
        }
        List<ComponentHandle> taken = new ArrayList<>();
        boolean got = true;
        for (TreeInputs tree : trees) {
            for (ComponentHandle input : tree.newestFirst()) {
                got = got && input.tryTake();
                if (got) {
                    taken.add(input);
                }
            }
            got = got && partition.holds(tree.id(), tree.newestFirst());
        }
        if (!got) {
            taken.forEach(ComponentHandle::giveBack);
            return null;
        }
        taken.forEach(ComponentHandle::retain);
        Merge started = null;
        try {
            started = new Merge(partition, pinned.schema(), trees, hooks);
            return started;
        } finally {
            if (started == null) {
                taken.forEach(ComponentHandle::giveBack);
                taken.forEach(ComponentHandle::release);
            }
        }
    }

    Partition partition() {
        return partition;
    }

    /** The input that a file belongs to; all of them if it is no input's. */
    List<ComponentHandle> inputsOf(@Nullable String file) {
        List<ComponentHandle> all =
                trees.stream().flatMap(tree -> tree.newestFirst().stream()).toList();
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
        MergeOutput current = output;
        return current == null ? writtenBytes : writtenBytes + current.bytesWritten();
    }

    /**
     * Merges some more.
     *
     * @param stepBytes about as many bytes of entries
     * @param syncBytes what was written is synced when it is that much; 0 for never before the end
     * @return whether the merge is installed
     */
    boolean advance(long stepBytes, long syncBytes) {
        long startNanos = core.clock().monotonicNanos();
        long left = stepBytes;
        while (left > 0 && merged.size() < trees.size()) {
            MergeOutput current = output;
            if (current == null) {
                current = open(trees.get(merged.size()));
                output = current;
            }
            left -= current.copy(left);
            if (current.isComplete()) {
                merged.add(current.finish());
                writtenBytes += current.bytesWritten();
                doneBytes += current.tree().bytes();
                output = null;
                current.close();
            } else if (syncBytes > 0) {
                current.syncEvery(syncBytes);
            }
        }
        MergeOutput current = output;
        long underWay = current == null ? 0 : current.bytesWritten();
        remainingBytes = Math.max(0, inputBytes - doneBytes - underWay);
        busyNanos += core.clock().monotonicNanos() - startNanos;
        if (merged.size() == trees.size()) {
            install();
            return true;
        }
        return false;
    }

    private void install() {
        core.disk().syncDirectory(StoreFiles.DATA);
        List<MergedTree> merges = new ArrayList<>();
        for (int i = 0; i < trees.size(); i++) {
            merges.add(
                    new MergedTree(trees.get(i).id(), trees.get(i).newestFirst(), merged.get(i)));
        }
        installation.run(() -> edit(merges));
        MergeMeter meter = MergeMeter.of(core.meters());
        for (MergedTree merge : merges) {
            meter.bytesRead().add(merge.bytesRead());
            meter.bytesWritten().add(merge.output().state().bytes());
            meter.time().record(busyNanos);
            core.events().merged(partition.number(), schema, merge, busyNanos);
        }
    }

    private void edit(List<MergedTree> merges) {
        if (concurrency == null) {
            core.edit(
                    state -> stateAfter(state, merges),
                    () -> partition.current().installMerged(merges, null));
            return;
        }
        MergedTree primary = merges.stream()
                .filter(merge -> merge.tree().isPrimary())
                .findFirst()
                .orElseThrow();
        BitmapSwitch bitmaps = new BitmapSwitch(concurrency, primary.output(), primary.inputs());
        BitmapSave.run(partition, new BitmapSave.Edit() {
            @Override
            public List<ComponentHandle> components(List<ComponentHandle> others) {
                // what a flush has saved of the inputs by now is saved of the output
                bitmaps.catchUp();
                return List.of(primary.output());
            }

            @Override
            public ManifestState change(ManifestState state) {
                return stateAfter(state, merges);
            }

            @Override
            public void install() {
                partition.current().installMerged(merges, bitmaps::finish);
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
        if (concurrency != null) {
            // before the bitmap of what was built goes
            BitmapSwitch.tell(partition, marked(schema, trees), null);
            concurrency.end();
        }
        Cleanup all = new Cleanup();
        if (output != null) {
            all.add(output::close);
            output = null;
        }
        all.add(() -> ComponentFiles.letGo(merged, installation.mayStand()));
        if (concurrency != null) {
            all.add(concurrency::close);
        }
        all.add(hooks::close);
        for (TreeInputs tree : trees) {
            all.addAll(tree.newestFirst(), ComponentHandle::giveBack);
            all.addAll(tree.newestFirst(), ComponentHandle::release);
        }
        all.add(merged::clear).run();
    }

    @Override
    public String toString() {
        return "merge of %d bytes in %s".formatted(inputBytes, partition);
    }

    private MergeOutput open(TreeInputs tree) {
        VersionRetention needed = readers();
        return MergeOutput.open(
                tree,
                ComponentBuild.of(partition, schema, tree.id()),
                hooks.of(tree.id(), tree.includesOldest()),
                needed,
                ComponentFiles.isLive(schema, tree.id()) ? concurrency : null);
    }

    /**
     * What readers need, as of the first tree: what goes from one tree may be counted on in the
     * next.
     */
    private VersionRetention readers() {
        VersionRetention asked = readers;
        if (asked == null) {
            asked = core.timestamps().retention(false);
            readers = asked;
        }
        return asked;
    }
}
