package io.turbidite.lsm.merge.run;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.partition.DirectoryWatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What follows from the failures of merges: some inputs are left alone for a while, or no merge
 * starts for a while, or the store has failed.
 *
 * <p><em>Thread-safe.</em>
 */
final class MergeFailures {
    private static final long PAUSE_NANOS_FIRST = 100_000_000;
    private static final long PAUSE_NANOS_MAX = 10_000_000_000L;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final WriterThrottle throttle;
    private final Backoff backoff;

    /** What merges that failed alone could not read. */
    private final HeldInputs held;

    MergeFailures(PartitionRegistry partitions, WriterThrottle throttle) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.throttle = throttle;
        this.backoff = new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
        this.held = new HeldInputs(core.clock());
    }

    /** What no merge takes now. */
    HeldInputs held() {
        return held;
    }

    /** Whether the last merge, or plan, failed for something that concerns all. */
    boolean isFailing() {
        return backoff.isFailing();
    }

    /** Whether merges may be started. */
    boolean mayStart() {
        return backoff.mayTry();
    }

    /** A merge went well to its end. */
    void succeeded() {
        if (backoff.succeed()) {
            throttle.mergePaused(null);
            core.events().resumed("merge");
        }
    }

    /** A merge has failed. */
    void failed(Merge merge, StorageException failure) {
        switch (FailureRule.of(failure)) {
            case WAIT -> pause(failure);
            case ALONE -> failAlone(merge, failure);
            case STORE -> core.health().fail(failure);
        }
    }

    /**
     * What is damaged is set aside, and merges go around it (D5). Anything else may pass: a read
     * that the system failed, damage of what was just written, of a component that is set aside
     * already and asked for what it no longer tells. Merges go around that too, for a while: around
     * the input that could not be read, or else all of the merge.
     */
    private void failAlone(Merge merge, StorageException failure) {
        if (failure instanceof CorruptionException damage && core.quarantine().take(damage)) {
            noteQuarantine();
            return;
        }
        String file = failure instanceof StorageIoException io ? io.file() : null;
        holdBack(merge.partition(), merge.inputsOf(file), failure);
    }

    /** Leaves inputs alone for a while. */
    void holdBack(Partition partition, List<ComponentHandle> inputs, StorageException cause) {
        long nanos = held.hold(inputs);
        if (nanos > 0) {
            core.pause("merge of " + partition, cause, nanos);
        }
    }

    private void noteQuarantine() {
        try {
            core.quarantine().note();
        } catch (StorageException unwritten) {
            // it is set aside all the same, and noted when there is space
            failPlan(unwritten);
        }
    }

    /** A plan has failed, or what it notes. */
    void failPlan(StorageException failure) {
        if (FailureRule.of(failure) == FailureRule.STORE) {
            core.health().fail(failure);
            core.tasks().signal();
        } else {
            pause(failure);
        }
    }

    private void pause(StorageException cause) {
        if (cause instanceof StorageIoException) {
            DirectoryWatch.makeRoom(core);
        }
        throttle.mergePaused(cause);
        long nanos = backoff.fail();
        if (nanos > 0) {
            core.pause("merge", cause, nanos);
        }
    }

    /** Forgets what was merged or dropped. */
    void forgetMerged() {
        if (held.isEmpty()) {
            return;
        }
        Set<Long> fileIds = new HashSet<>();
        for (Partition partition : partitions.all()) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned == null) {
                continue;
            }
            try {
                for (TreeId tree : pinned.schema().treeIds()) {
                    pinned.tree(tree)
                            .forEach(handle -> fileIds.add(handle.state().fileId()));
                }
            } finally {
                pinned.unpin();
            }
        }
        held.retain(fileIds);
    }
}
