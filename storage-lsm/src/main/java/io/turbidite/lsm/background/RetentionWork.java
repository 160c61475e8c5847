package io.turbidite.lsm.background;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.partition.DirectoryWatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Drops components whose records are all older than their dataset keeps them (design §4 rule 10):
 * the oldest ones of a partition, the same ID range in every index.
 *
 * <ol>
 *   <li>From the oldest component of the primary upwards: expired are those whose filter has
 *       nothing young enough and no record without a value. The first that is not ends the row, so
 *       that no older version can come back to life. What is young enough goes by the wall clock,
 *       but by no later time than the dataset's own records and the running time since tell
 *       ({@link DataTime}): a clock that jumps drops nothing.
 *   <li>Take their like in every index, so that nobody merges them.
 *   <li>One manifest edit without them: after a crash they are gone.
 *   <li>At a moment when no snapshot is registered: the version without them. Until then they are
 *       read as before, so that no view changes what it shows. Why in this order:
 *       {@code docs/decisions/0007}.
 * </ol>
 *
 * <p><em>Confined to its worker.</em>
 */
final class RetentionWork implements AutoCloseable {
    /** Records get old without a word. */
    private static final long IDLE_MICROS = 1_000_000;

    /** While what is dropped is still read, or a try is to come. */
    private static final long WAITING_MICROS = 100_000;

    private static final long PAUSE_NANOS_FIRST = 100_000_000;
    private static final long PAUSE_NANOS_MAX = 10_000_000_000L;

    /**
     * So much a clock may be ahead of a dataset's records, and hold something back, without an
     * event.
     */
    private static final long AHEAD_MICROS = 3_600_000_000L;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final Counter expiredCount;
    private final Backoff backoff;

    /** By dataset. */
    private final Map<Integer, DataTime> times = new HashMap<>();

    /** Datasets of which it was said that something is held back. */
    private final Set<Integer> heldBack = new HashSet<>();

    private final Tasks.Worker worker;

    /** Taken, and named by no manifest, but still read. */
    private final Map<Partition, Set<ComponentHandle>> leaving = new HashMap<>();

    RetentionWork(PartitionRegistry partitions) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.expiredCount = core.meters().counter("retention.components");
        this.backoff = new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
        this.worker = core.start("retain", this::idleMicros, this::step);
    }

    private long idleMicros() {
        return leaving.isEmpty() && !backoff.isFailing() ? IDLE_MICROS : WAITING_MICROS;
    }

    private boolean step() {
        if (core.health().firstFailure() != null
                || core.health().isClosing()
                || !backoff.mayTry()) {
            return false;
        }
        try {
            partitions.all().forEach(this::observe);
            for (Partition partition : partitions.all()) {
                retain(partition);
            }
            if (backoff.succeed()) {
                core.events().resumed("retention");
            }
        } catch (StorageException failure) {
            if (FailureRule.of(failure) == FailureRule.STORE) {
                core.health().fail(failure);
                core.tasks().signal();
                return false;
            }
            if (failure instanceof StorageIoException) {
                DirectoryWatch.makeRoom(core);
            }
            core.pause("retention", failure, backoff.fail());
        }
        return false;
    }

    /** Sees the newest value of a partition's records. */
    private void observe(Partition partition) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            DatasetSchema schema = pinned.schema();
            if (schema.retention() == null) {
                return;
            }
            DataTime time = times.computeIfAbsent(
                    schema.id(), id -> new DataTime(schema.filter().getFirst()));
            long now = core.clock().monotonicNanos();
            time.observe(pinned.current().filter().max(0), now);
            MemoryLayer frozen = pinned.frozen();
            if (frozen != null) {
                time.observe(frozen.filter().max(0), now);
            }
            for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
                if (!handle.isQuarantined()) {
                    time.observe(handle.component().filter().max(0), now);
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    private void retain(Partition partition) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            leaving.remove(partition);
            return;
        }
        try {
            Retention retention = pinned.schema().retention();
            if (retention != null && !isBeingBuilt(pinned.schema())) {
                expire(partition, pinned, retention);
            }
        } finally {
            pinned.unpin();
        }
        Set<ComponentHandle> gone = leaving.get(partition);
        if (gone != null && partition.current().dropWhenUnwatched(gone)) {
            leaving.remove(partition);
            gone.forEach(ComponentHandle::giveBack);
            heldBack.remove(partition.schema().id());
            expiredCount.add(gone.size());
            core.events().expired(partition.name(), gone);
        }
    }

    /** What is being built would get the like of what is dropped. */
    private static boolean isBeingBuilt(DatasetSchema schema) {
        return schema.indexes().stream()
                .anyMatch(index -> index.state() == IndexSchema.State.BUILDING);
    }

    private void expire(Partition partition, Version pinned, Retention retention) {
        long upTo = expiredTimestamp(pinned, retention);
        Set<ComponentHandle> before = leaving.getOrDefault(partition, Set.of());
        List<ComponentHandle> found = new ArrayList<>();
        for (TreeId tree : pinned.schema().treeIds()) {
            for (ComponentHandle handle : pinned.tree(tree)) {
                if (handle.isQuarantined() && handle.state().minTimestamp() <= upTo) {
                    return; // what is set aside is not deleted, and its like waits for it
                }
                if (handle.state().maxTimestamp() <= upTo && !before.contains(handle)) {
                    found.add(handle);
                } else if (handle.state().minTimestamp() <= upTo && !before.contains(handle)) {
                    return; // not aligned: merged with younger ones, it waits for them
                }
            }
        }
        if (!found.isEmpty() && take(partition, pinned, found)) {
            forget(partition, found);
        }
    }

    /** The last timestamp that the expired components of the primary cover; 0 if there are none. */
    private long expiredTimestamp(Version pinned, Retention retention) {
        DatasetSchema schema = pinned.schema();
        long wallMicros = core.clock().wallMicros();
        DataTime time = Objects.requireNonNull(times.get(schema.id()));
        long dataMicros = time.wallMicros(core.clock().monotonicNanos());
        if (dataMicros >= wallMicros) {
            return expiredTimestamp(pinned, retention, wallMicros);
        }
        long upTo = expiredTimestamp(pinned, retention, dataMicros);
        if (wallMicros - dataMicros > AHEAD_MICROS
                && expiredTimestamp(pinned, retention, wallMicros) > upTo
                && heldBack.add(schema.id())) {
            core.events().retentionHeldBack(schema.name(), dataMicros);
        }
        return upTo;
    }

    private static long expiredTimestamp(Version pinned, Retention retention, long nowMicros) {
        byte[] limit = retention.limit(pinned.schema().filter().getFirst(), nowMicros);
        long upTo = 0;
        for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY).reversed()) {
            if (handle.isQuarantined() || !isExpired(handle.component().filter(), limit)) {
                break;
            }
            upTo = handle.state().maxTimestamp();
        }
        return upTo;
    }

    private static boolean isExpired(ComponentFilter filter, byte[] limit) {
        byte[] max = filter.max(0);
        return !filter.hasAbsent(0)
                && (max == null || Slice.of(max).compareBytes(Slice.of(limit)) < 0);
    }

    private static boolean take(
            Partition partition, Version pinned, List<ComponentHandle> components) {
        List<ComponentHandle> taken = new ArrayList<>();
        for (ComponentHandle handle : components) {
            if (handle.tryTake()) {
                taken.add(handle);
            }
        }
        boolean all = taken.size() == components.size();
        Set<ComponentHandle> wanted = new HashSet<>(components);
        for (TreeId tree : pinned.schema().treeIds()) {
            List<ComponentHandle> ours =
                    pinned.tree(tree).stream().filter(wanted::contains).toList();
            all &= partition.holds(tree, ours);
        }
        if (!all) {
            taken.forEach(ComponentHandle::giveBack);
        }
        return all;
    }

    private void forget(Partition partition, List<ComponentHandle> components) {
        Set<Long> fileIds = components.stream()
                .map(handle -> handle.state().fileId())
                .collect(Collectors.toSet());
        try (Undo undo = Undo.of(() -> components.forEach(ComponentHandle::giveBack))) {
            core.edit(
                    state -> stateAfter(state, partition, fileIds),
                    () -> components.forEach(ComponentHandle::markObsolete));
            undo.keep();
        }
        leaving.computeIfAbsent(partition, key -> new LinkedHashSet<>()).addAll(components);
    }

    private static ManifestState stateAfter(
            ManifestState state, Partition partition, Set<Long> fileIds) {
        if (partition.isDropped()) {
            return state;
        }
        int datasetId = partition.schema().id();
        return state.withPartition(
                datasetId,
                partition.number(),
                state.partition(datasetId, partition.number()).withoutFiles(fileIds));
    }

    @Override
    public void close() {
        worker.close();
    }
}
