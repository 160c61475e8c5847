package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;

import java.util.List;

/** CPU of tree and baselines, without a store around (Fig. 8, 10, 12). */
final class RegionFigures implements PmSuite.Figures {
    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report writes;
    private final Report queries;
    private final Report ranges;
    private final Report garbage;

    RegionFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.writes = suite.regionReport("Figure 8: CPU, us an operation written")
                .setting(
                        "paper",
                        "10 to 38 % faster than composite, 25 % slower than the log that never collects")
                .setting("figure", suite.rounds());
        this.ranges = suite.regionReport(
                        "Figure 12: CPU, us a range of 20 secondary keys, 5 newest each")
                .setting("figure", suite.rounds() + "; answers compared")
                .setting(
                        "paper",
                        "PS-Tree is up to 5.2 times as fast as composite and 1.6 times as log, Skewed-Sec");
        this.garbage = suite.regionReport("Allocation: bytes of heap")
                .setting(
                        "figure",
                        "a question of limit 10, and an operation written; compiled code");
        this.queries = suite.regionReport("Figure 10: CPU, us a question")
                .setting("paper", "up to 4.5 times as fast as composite, and 4.3 times as log")
                .setting(
                        "figure",
                        suite.rounds() + "; index-only, the newest first, answers compared");
    }

    @Override
    public void measure() {
        for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
            for (Load load : suite.loadsInOrder()) {
                for (Contender.Feeding feeding : Contender.Feeding.values()) {
                    for (int i = 0; i < Contender.NAMES.size(); i++) {
                        int turn = (i + round + setting.warmUpRounds()) % Contender.NAMES.size();
                        measure(load, feeding, Contender.NAMES.get(turn), round >= 0);
                    }
                }
            }
        }
    }

    private void measure(Load load, Contender.Feeding feeding, String name, boolean counts) {
        Operations operations = suite.load(load);
        String row = "%s, %s".formatted(load.label(), feeding.label());
        try (Contender contender = Contender.of(name)) {
            long allocated = Costs.allocatedBytes();
            long before = Costs.cpuNanos();
            contender.feed(operations, feeding);
            PmSuite.add(
                    counts ? writes : null, row, name, PmSuite.micros(before, operations.count()));
            PmSuite.add(
                    counts ? garbage : null,
                    "an operation, " + row,
                    name,
                    (Costs.allocatedBytes() - allocated) / (double) operations.count());
            Asking few = Asking.newest(operations, Asking.SMALL_LIMIT, setting.questions());
            Asking.Way asker = contender.asker(operations, Asking.SMALL_LIMIT, () -> {});
            few.askAll(name, asker);
            allocated = Costs.allocatedBytes();
            few.askAll(name, asker);
            PmSuite.add(
                    counts ? garbage : null,
                    "a question, " + row,
                    name,
                    (Costs.allocatedBytes() - allocated) / (double) few.count());
            for (int limit : new int[] {Asking.SMALL_LIMIT, Asking.LARGE_LIMIT}) {
                Asking asking = Asking.newest(operations, limit, setting.questions());
                double micros = asking.micros(
                        name, setting.nanosMin(), contender.asker(operations, limit, () -> {}));
                PmSuite.add(
                        counts ? queries : null,
                        "limit %d: %s".formatted(limit, row),
                        name,
                        micros);
            }
            Asking asking = Asking.ranges(operations, setting.questions());
            double micros = asking.micros(name, setting.nanosMin(), contender.ranger(operations));
            PmSuite.add(counts ? ranges : null, row, name, micros);
        }
    }

    @Override
    public void aims(Aims aims) {
        for (Load load : suite.ofThoseRun(Load.UNIFORM)) {
            String row = "limit 200: %s, absorbed".formatted(load.label());
            double tree = queries.figure(row, TreeIndex.NAME);
            aims.atMost(
                    "limit 200 after Uniform, time: ours : composite",
                    0.85,
                    tree / queries.figure(row, "composite"));
            aims.atMost(
                    "limit 200 after Uniform, time: ours : log",
                    0.65,
                    tree / queries.figure(row, "log"));
            row = load.label() + ", absorbed";
            aims.atMost(
                    "bytes allocated a question, without a store",
                    64,
                    garbage.figure("a question, " + row, TreeIndex.NAME));
            aims.atMost(
                    "bytes allocated an entry absorbed",
                    0,
                    garbage.figure("an operation, " + row, TreeIndex.NAME));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(writes, queries, ranges, garbage);
    }
}
