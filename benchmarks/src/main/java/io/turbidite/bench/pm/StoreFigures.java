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

    /** A question is asked in as much CPU as ten figures are of, at most, before it is measured. */
    private static final int WARM_UP_ROUNDS_MAX = 10;

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
                                + "; at the ReadView, the newest first, answers compared, behind as many questions as let code be compiled; ours by one search, begun anew; an eager index does not have this order");
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
                    ask(rival, view, kind, operations, limit, counts);
                }
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

    private void ask(
            StoreRival rival,
            ReadView view,
            StoreRival.Kind kind,
            Operations operations,
            int limit,
            boolean counts) {
        Asking asking = Asking.newest(operations, limit, setting.questions());
        try (StoreRival.Asker asker = rival.asker(view, limit)) {
            Asking.Way way = key -> asker.answer(operations.keyNumber(key));
            asking.warmUp(kind.label(), setting.nanosMin(), WARM_UP_ROUNDS_MAX, way);
            String load = operations.load().label();
            PmSuite.add(
                    counts ? queries : null,
                    "limit %d: %s".formatted(limit, load),
                    kind.label(),
                    asking.micros(kind.label(), setting.nanosMin(), way));
            if (limit == Asking.SMALL_LIMIT) {
                long allocated = Costs.allocatedBytes();
                asking.askAll(kind.label(), way);
                PmSuite.add(
                        counts ? garbage : null,
                        "bytes allocated a question, " + load,
                        kind.label(),
                        (Costs.allocatedBytes() - allocated) / (double) asking.count());
            }
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
            String bytes = "bytes allocated a question, " + load.label();
            aims.atMost(bytes, 64, garbage.figure(bytes, StoreRival.Kind.PM.label()));
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
