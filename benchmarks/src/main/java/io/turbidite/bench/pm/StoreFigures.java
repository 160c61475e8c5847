package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.scan.ReadView;

import java.util.List;

/** The index as stores have it, beside those of LSM trees (Fig. 8, 10). */
final class StoreFigures implements PmSuite.Figures {
    private static final List<StoreRival.Kind> KINDS =
            List.of(StoreRival.Kind.PM, StoreRival.Kind.LSM_VALIDATION, StoreRival.Kind.LSM_EAGER);

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final List<String> columns;
    private final Report writes;
    private final Report queries;
    private final Report garbage;

    StoreFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.columns = KINDS.stream().map(StoreRival.Kind::label).toList();
        this.writes = suite.storeReport(
                        "Figure 8 in stores: CPU, us an upsert, flushes and merges included",
                        columns)
                .setting("figure", suite.rounds());
        this.garbage = suite.storeReport("Stores: garbage and pages", columns)
                .setting(
                        "figure",
                        "bytes of heap a question of limit 10; pages of the cache an upsert into memory");
        this.queries = suite.storeReport("Figure 10 in stores: CPU, us a question", columns)
                .setting(
                        "figure",
                        suite.rounds()
                                + "; at the ReadView, the newest first, answers compared; an eager index does not have this order");
    }

    @Override
    public void measure() {
        for (Load load : suite.loadsInOrder()) {
            Operations operations = Operations.of(load, setting.storeRecords(), 1, PmSuite.SEED);
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (int i = 0; i < columns.size(); i++) {
                    StoreRival.Kind kind =
                            KINDS.get((i + round + setting.warmUpRounds()) % columns.size());
                    measure(operations, kind, round >= 0);
                }
            }
        }
    }

    private void measure(Operations operations, StoreRival.Kind kind, boolean counts) {
        try (StoreRival rival = suite.store(kind, "tiering")) {
            long before = Costs.cpuNanos();
            rival.feed(operations);
            String row = operations.load().label();
            PmSuite.add(
                    counts ? writes : null,
                    row,
                    kind.label(),
                    PmSuite.micros(before, operations.count()));
            if (kind == StoreRival.Kind.LSM_EAGER) {
                return; // an entry keeps the time of the write that last changed its key
            }
            try (ReadView view = rival.openView()) {
                for (int limit : new int[] {Asking.SMALL_LIMIT, Asking.LARGE_LIMIT}) {
                    Asking asking = Asking.newest(operations, limit, setting.questions());
                    double micros = asking.micros(
                            kind.label(),
                            setting.nanosMin(),
                            key -> StoreRival.newest(
                                    view, rival.search(operations.keyNumber(key)), limit));
                    PmSuite.add(
                            counts ? queries : null,
                            "limit %d: %s".formatted(limit, row),
                            kind.label(),
                            micros);
                }
                Asking few = Asking.newest(operations, Asking.SMALL_LIMIT, setting.questions());
                long allocated = Costs.allocatedBytes();
                few.askAll(
                        kind.label(),
                        key -> StoreRival.newest(
                                view, rival.search(operations.keyNumber(key)), Asking.SMALL_LIMIT));
                PmSuite.add(
                        counts ? garbage : null,
                        "bytes allocated a question, " + row,
                        kind.label(),
                        (Costs.allocatedBytes() - allocated) / (double) few.count());
            }
            long pages = rival.pagesAsked();
            int few = Math.min(1_000, operations.count());
            rival.write(operations, 0, few);
            PmSuite.add(
                    counts ? garbage : null,
                    "pages asked for an upsert, " + row,
                    kind.label(),
                    (rival.pagesAsked() - pages) / (double) few);
        }
    }

    @Override
    public void aims(Aims aims) {
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
            String row = "limit 10: " + load.label();
            double ours = queries.figure(row, StoreRival.Kind.PM.label());
            boolean isUniform = load == Load.UNIFORM;
            aims.atLeast(
                    "index-only, limit 10: LSM index by validation : ours, " + load.label(),
                    isUniform ? 3 : 30,
                    queries.figure(row, StoreRival.Kind.LSM_VALIDATION.label()) / ours);
            aims.atMost(
                    "index-only, limit 10, us at the ReadView: " + load.label(),
                    isUniform ? 5 : 4,
                    ours);
        }
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_PRI, Load.SKEWED_SEC)) {
            String pages = "pages asked for an upsert, " + load.label();
            aims.atMost("primary " + pages, 0, garbage.figure(pages, StoreRival.Kind.PM.label()));
            aims.atMost(
                    "CPU of upserts: ours : LSM index by validation, " + load.label(),
                    1,
                    writes.figure(load.label(), StoreRival.Kind.PM.label())
                            / writes.figure(load.label(), StoreRival.Kind.LSM_VALIDATION.label()));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(writes, queries, garbage);
    }
}
