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
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState.DatasetState;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * An index under {@link Maintenance#AUTO} that is watched: what was written and paid since its last
 * repair, and the repair under way. <em>Confined to one thread at a time.</em>
 */
final class RepairWatch {
    /** Between two tries of a repair that fails: a full disk, say. */
    private static final long PAUSE_NANOS_FIRST = 1_000_000_000;

    private static final long PAUSE_NANOS_MAX = 60_000_000_000L;

    private final StoreCore core;
    private final RepairWork work;
    private final BooleanSupplier isQuiet;
    private final Backoff backoff;
    private List<RepairWork.Request> underWay = List.of();
    private @Nullable RecentWork recent;

    /**
     * What queries have paid since the last repair, and the most that one of them passed over.
     */
    private double debtPages;

    private long passedOverMax;

    RepairWatch(StoreCore core, RepairWork work, BooleanSupplier isQuiet) {
        this.core = core;
        this.work = work;
        this.isQuiet = isQuiet;
        this.backoff = new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
    }

    /** Decides where repair is placed, and begins it if it is due. */
    void look(List<Partition> partitions, IndexSchema index, long now) {
        if (!isOver()) {
            return;
        }
        Partition any = partitions.getFirst();
        DatasetSchema schema = any.schema();
        long horizon = core.timestamps().horizon();
        IndexOnDisk disk = new IndexOnDisk(partitions, index.tree(), horizon);
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
            core.events().repairPlaced(any.schema().name(), index, before.placement(), decision);
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
            Partition any, IndexOnDisk disk, double keysPerPage, IndexSchema index, long now) {
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
