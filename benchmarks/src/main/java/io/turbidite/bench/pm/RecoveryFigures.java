package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.SegmentMemory;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Opening a region of mode file whose process was killed, and building one anew (§5.4). */
final class RecoveryFigures implements PmSuite.Figures {
    private static final String CPU = "CPU";
    private static final String CLOCK = "by the clock";
    private static final String OPENING = "open to first answer, s for 10 M entries";
    private static final String BUILDING = "rebuild from the primary, M entries a second";
    private static final int EXTENT_BYTES = 1 << 22;
    private static final double SCALE = 10e6;

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report report;

    RecoveryFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.report = suite.report("Section 5.4: opening and rebuilding", List.of(CPU, CLOCK))
                .setting(
                        "figure",
                        "median of %d rounds; of %,d and %,d records, and scaled: the cost is that of each entry"
                                .formatted(
                                        setting.rounds(),
                                        setting.records(),
                                        setting.storeRecords()))
                .setting(
                        "region",
                        "mode file, mapped; all groups, nodes and blocks are checked, and the table of stale keys is built")
                .setting(
                        "paper",
                        "2.7 s for 200 M upserts of 100 M records, which read the persistent table alone; 3.7 s for LSM index and primary-key index");
    }

    @Override
    public void measure() {
        for (Load load : suite.ofThoseRun(Load.UNIFORM)) {
            Path directory = Scratch.empty(suite.directory().resolve("pm-region"));
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                open(suite.load(load), directory, round >= 0);
                rebuild(suite.storeLoad(load), round >= 0);
            }
            Scratch.delete(directory);
        }
    }

    private void open(Operations operations, Path directory, boolean counts) {
        RealDisk disk = RealDisk.open(Scratch.empty(directory));
        if (!disk.mapsFiles()) {
            report.setting("missing", "a file system that is mapped");
            return;
        }
        Contender fed = Contender.of(TreeIndex.NAME, none -> mapped(disk));
        fed.feed(operations, Contender.Feeding.ABSORBED);
        long through = fed.absorbedThrough();
        double entries = (double) fed.rival().entryCount();
        fed.kill();
        long cpu = Costs.cpuNanos();
        long clock = Clock.system().monotonicNanos();
        try (Contender opened = Contender.reopened(mapped(disk), through)) {
            Asking asking = Asking.newest(operations, Asking.SMALL_LIMIT, 1);
            asking.askAll(TreeIndex.NAME, opened.asker(operations, Asking.SMALL_LIMIT, () -> {}));
            PmSuite.add(
                    counts ? report : null,
                    OPENING,
                    CPU,
                    (Costs.cpuNanos() - cpu) / 1e9 / entries * SCALE);
            PmSuite.add(
                    counts ? report : null,
                    OPENING,
                    CLOCK,
                    (Clock.system().monotonicNanos() - clock) / 1e9 / entries * SCALE);
        }
    }

    private static SegmentMemory mapped(RealDisk disk) {
        return Objects.requireNonNull(
                SegmentMemory.map(disk, "region", EXTENT_BYTES, RegionMode.FILE));
    }

    private void rebuild(Operations operations, boolean counts) {
        try (StoreRival store = suite.store(StoreRival.Kind.PM, "tiering")) {
            store.feed(operations);
            long cpu = Costs.cpuNanos();
            long clock = Clock.system().monotonicNanos();
            store.rebuild();
            double entries = operations.recordCount() / 1e6;
            PmSuite.add(
                    counts ? report : null,
                    BUILDING,
                    CPU,
                    entries / ((Costs.cpuNanos() - cpu) / 1e9));
            PmSuite.add(
                    counts ? report : null,
                    BUILDING,
                    CLOCK,
                    entries / ((Clock.system().monotonicNanos() - clock) / 1e9));
        }
    }

    @Override
    public void aims(Aims aims) {
        if (report.works().contains(OPENING)) {
            aims.atMost(OPENING + ", scaled, CPU", 3, report.figure(OPENING, CPU));
        }
        if (report.works().contains(BUILDING)) {
            aims.atLeast(BUILDING + " of CPU", 1, report.figure(BUILDING, CPU));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(report);
    }
}
