package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.advice.RecentWork;
import io.turbidite.lsm.strategy.advice.RepairDecision;
import io.turbidite.lsm.strategy.advice.RepairEvidence;
import io.turbidite.lsm.strategy.advice.RepairPlanner;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Places the repair of indexes under {@link Maintenance#AUTO}, and begins those that are due. What
 * is decided and why is the {@link RepairPlanner}'s; this gathers the evidence, all partitions of
 * an index together:
 *
 * <ul>
 *   <li>obsolete entries on disk: those of the index that are not known to be invalid, less the
 *       records there are. An index has one entry for each version, so each entry without a record
 *       is obsolete. Records are the versions of the primary less those whose successor is in
 *       another component, by the {@link io.turbidite.lsm.partition.GarbageEstimate};
 *   <li>what was written, updated and paid lately ({@link RecentWork});
 *   <li>what queries have paid since the last repair.
 * </ul>
 *
 * <p>The decision stands in the dataset's {@link WorkMeter}, where merges look, and goes to the
 * manifest with its counts; what fades begins anew with each opening. <em>Confined to one thread at
 * a time.</em>
 */
public final class AutoRepair {
    /** Between two tries of a repair that fails: a full disk, say. */
    private static final long PAUSE_NANOS_FIRST = 1_000_000_000;

    private static final long PAUSE_NANOS_MAX = 60_000_000_000L;

    private final StoreCore core;
    private final RepairWork work;
    private final BooleanSupplier isQuiet;
    private final Map<IndexName, Watch> watches = new HashMap<>();

    private record IndexName(int dataset, int index) {}

    public AutoRepair(StoreCore core, RepairWork work, BooleanSupplier isQuiet) {
        this.core = core;
        this.work = work;
        this.isQuiet = isQuiet;
    }

    /** What is on disk of an index and its primary. */
    private static final class OnDisk {
        long entries;
        long primaryEntries;
        long versions;

        /** Versions whose successor is in another component. */
        long unmet;

        long uncheckedBytes;
        long keyBytes;

        OnDisk(List<Partition> partitions, TreeId index, long horizon) {
            for (Partition partition : partitions) {
                Version pinned = partition.pinUnlessDropped();
                if (pinned != null) {
                    try {
                        partition.garbage().refresh(pinned);
                        add(partition, pinned, index, horizon);
                    } finally {
                        pinned.unpin();
                    }
                }
            }
        }

        private void add(Partition partition, Version pinned, TreeId index, long horizon) {
            if (!pinned.hasTree(index)) {
                return;
            }
            List<ComponentHandle> primary = pinned.tree(TreeId.PRIMARY);
            for (ComponentHandle handle : primary) {
                long keys = handle.component().space().keyPages();
                keyBytes += keys > 0 ? keys : handle.component().space().recordPages();
                primaryEntries += handle.component().entryCount();
                versions += matter(handle);
            }
            unmet += partition.garbage().entries(pinned);
            for (ComponentHandle handle : pinned.tree(index)) {
                entries += matter(handle) - handle.state().invalidEntries().count();
            }
            long newest = primary.isEmpty() ? 0 : primary.getFirst().state().maxTimestamp();
            for (ComponentHandle handle :
                    RepairWork.unchecked(pinned, index, Math.min(horizon, newest))) {
                uncheckedBytes += handle.state().bytes();
            }
        }

        /** Entries without a record. */
        long obsolete() {
            return Math.max(0, entries - Math.max(0, versions - unmet));
        }

        private static long matter(ComponentHandle handle) {
            return handle.component().entryCount() - handle.component().antimatterCount();
        }
    }

    /** An index that is watched. */
    private final class Watch {
        private final Backoff backoff =
                new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
        private List<RepairWork.Request> underWay = List.of();
        private @Nullable RecentWork recent;

        /**
         * What queries have paid since the last repair, and the most that one of them passed over.
         */
        private double debtPages;

        private long passedOverMax;

        void look(List<Partition> partitions, IndexSchema index, long now) {
            if (!isOver()) {
                return;
            }
            Partition any = partitions.getFirst();
            DatasetSchema schema = any.schema();
            long horizon = core.timestamps().horizon();
            OnDisk disk = new OnDisk(partitions, index.tree(), horizon);
            double pageBytes = schema.pages(TreeId.PRIMARY).pageBytes();
            double keyPages = disk.keyBytes / pageBytes;
            double keysPerPage = Math.max(1, disk.primaryEntries / Math.max(1, keyPages));
            RepairEvidence.Recent lately = count(any, disk, keysPerPage, index, now);
            double repairPages = disk.uncheckedBytes == 0
                    ? 0
                    : keyPages
                            + (double) disk.uncheckedBytes
                                    / schema.pages(index.tree()).pageBytes();
            RepairDecision before = any.work().repair(index.id());
            RepairDecision decision = RepairPlanner.decide(new RepairEvidence(
                    before.placement(),
                    new RepairEvidence.Garbage(disk.entries, disk.obsolete()),
                    lately,
                    new RepairEvidence.Debt(debtPages, repairPages, passedOverMax),
                    isQuiet.getAsBoolean()));
            any.work().place(index.id(), decision);
            if (decision.placement() != before.placement()) {
                RepairMeter.of(core.meters()).moves().increment();
                core.events()
                        .repairPlaced(any.schema().name(), index, before.placement(), decision);
            }
            if (decision.isDue() && backoff.mayTry()) {
                begin(partitions, index, decision.placement() == RepairPlacement.NOW);
            }
        }

        /** Whether what was begun has ended; notes how. */
        private boolean isOver() {
            if (!underWay.stream().allMatch(RepairWork.Request::isDone)) {
                return false;
            }
            if (underWay.stream().anyMatch(RepairWork.Request::hasFailed)) {
                backoff.fail();
            } else if (!underWay.isEmpty()) {
                backoff.succeed();
            }
            underWay = List.of();
            return true;
        }

        private RepairEvidence.Recent count(
                Partition any, OnDisk disk, double keysPerPage, IndexSchema index, long now) {
            DatasetState state = core.manifest().state().find(any.schema().id());
            DatasetCounts.Flushes flushes =
                    (state == null ? DatasetCounts.NONE : state.counts()).flushes();
            RecentWork.Totals totals = new RecentWork.Totals(
                    flushes.writes(),
                    flushes.superseded() + disk.unmet,
                    any.work().passedOver(index.id()));
            double mergesPerWrite =
                    Math.max(1, (double) flushes.merged() / Math.max(1, flushes.writes()));
            RecentWork counted = recent;
            if (counted == null) {
                counted = new RecentWork(totals, now);
                recent = counted;
            }
            debtPages += counted.advance(totals, mergesPerWrite / keysPerPage, now);
            passedOverMax = Math.max(passedOverMax, any.work().takePassedOverMost(index.id()));
            return counted.evidence();
        }

        private void begin(List<Partition> partitions, IndexSchema index, boolean now) {
            RepairWork.Cause cause = new RepairWork.Cause("auto", now ? () -> true : isQuiet);
            List<RepairWork.Request> requests =
                    work.requests(partitions, List.of(index.id()), core.repairOptions(), cause);
            debtPages = 0;
            passedOverMax = 0;
            underWay = requests;
            work.ask(requests);
        }
    }

    /**
     * Looks at the indexes of some datasets, and at no others from then on.
     *
     * @param datasets the partitions of each
     */
    public void look(Collection<List<Partition>> datasets, long now) {
        Set<IndexName> there = new HashSet<>();
        for (List<Partition> partitions : datasets) {
            DatasetSchema schema = partitions.getFirst().schema();
            for (IndexSchema index : schema.indexes()) {
                if (index.maintenance() == Maintenance.AUTO && index.isReady()) {
                    IndexName name = new IndexName(schema.id(), index.id());
                    there.add(name);
                    watches.computeIfAbsent(name, _ -> new Watch()).look(partitions, index, now);
                }
            }
        }
        watches.keySet().retainAll(there);
    }
}
