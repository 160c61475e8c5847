package io.turbidite.lsm.engine;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.DirectoryWatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Looks at the regions of datasets: an index that has one which failed is disabled, and built anew
 * where that may help; and regions look after what readers met in them.
 *
 * <p><em>Confined to the worker that builds indexes</em>, but for {@link #watch}.
 */
final class RegionWatch {
    private static final long PAUSE_NANOS_FIRST = 100_000_000;
    private static final long PAUSE_NANOS_MAX = 10_000_000_000L;

    private final SchemaChanges changes;
    private final StoreCore core;
    private final String worker;
    private final Set<OpenDataset> watched = ConcurrentHashMap.newKeySet();

    /** When an index whose region failed is tried to be disabled again. */
    private final Backoff backoff;

    /**
     * @param worker whose steps these are, in events
     */
    RegionWatch(SchemaChanges changes, String worker) {
        this.changes = changes;
        this.core = changes.core();
        this.worker = worker;
        this.backoff = new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
    }

    /** Looks at the regions of a dataset from now on. */
    void watch(OpenDataset dataset) {
        watched.add(dataset);
    }

    /**
     * Disables the indexes that have a region which failed; if that can't be written now, after a
     * pause.
     */
    void disableFailed() {
        watched.removeIf(dataset -> dataset.partitions().getFirst().isDropped());
        if (!backoff.mayTry()) {
            return;
        }
        try {
            for (OpenDataset dataset : watched) {
                for (IndexSchema index : dataset.schema().regionIndexes()) {
                    disableIfFailed(dataset, index);
                }
            }
            if (backoff.succeed()) {
                core.events().resumed(worker);
            }
        } catch (StorageException failure) {
            if (FailureRule.of(failure) == FailureRule.STORE) {
                core.health().fail(failure);
                core.tasks().signal();
                return;
            }
            if (failure instanceof StorageIoException) {
                DirectoryWatch.makeRoom(core);
            }
            core.pause(worker, failure, backoff.fail());
        }
    }

    private void disableIfFailed(OpenDataset dataset, IndexSchema index) {
        for (Partition partition : dataset.partitions()) {
            RegionLayer region = partition.version().region(index.tree());
            StorageException failure = region == null ? null : region.handle().failure();
            if (region != null && failure != null) {
                region.handle()
                        .tellOnce(cause ->
                                core.events().regionRefused(partition.name(), index.name(), cause));
                disableQuietly(dataset, index, partition, failure);
                return;
            }
        }
    }

    /**
     * What is full would be full again, unless it was of garbage. All else is built anew: soon, or
     * at the next opening if the disk would not have it now.
     */
    private void disableQuietly(
            OpenDataset dataset, IndexSchema index, Partition partition, StorageException failure) {
        boolean isFull = failure instanceof StorageIoException io
                && io.kind() == StorageIoException.Kind.NO_SPACE;
        boolean isOfGarbage = isFull && RegionGarbage.fills(dataset, partition, index);
        boolean staysFull = isFull && !isOfGarbage;
        try {
            changes.change(
                    dataset,
                    index.name(),
                    staysFull
                            ? SchemaChanges.Change.DISABLE
                            : SchemaChanges.Change.DISABLE_UNTIL_BUILT);
            if (isOfGarbage || !(failure instanceof StorageIoException)) {
                changes.rebuildSoon(dataset, index.name());
            }
        } catch (InvalidRequestException busy) {
            // somebody changes the dataset: it is looked at again soon
        }
    }

    /** Lets regions look after what readers met there: flushes do that too, if there are any. */
    boolean tidy() {
        boolean isAny = false;
        for (OpenDataset dataset : watched) {
            for (Partition partition : dataset.partitions()) {
                isAny |= tidy(partition);
            }
        }
        return isAny;
    }

    private boolean tidy(Partition partition) {
        boolean isAny = false;
        Version pinned = partition.pin();
        try {
            for (RegionLayer layer : pinned.regions()) {
                if (layer.handle().failure() == null) {
                    isAny |= tidy(layer.handle());
                }
            }
        } finally {
            pinned.unpin();
        }
        return isAny;
    }

    @SuppressWarnings("CatchingUnchecked") // whatever a kind throws
    private boolean tidy(RegionHandle region) {
        try {
            return region.region().tidy(core.timestamps().retention(false).horizon());
        } catch (RuntimeException | InternalError failure) {
            StorageException _ = region.fail(failure); // its index is disabled by the next step
            return false;
        }
    }
}
