package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.ReadView;

import java.util.List;
import java.util.SplittableRandom;

/** The paper's mixes of operations, over time (Table 1, Fig. 16). */
final class MixFigures implements PmSuite.Figures {
    private static final int SLICES = 5;
    private static final List<StoreRival.Kind> KINDS =
            List.of(StoreRival.Kind.PM, StoreRival.Kind.LSM_VALIDATION);

    /** Shares of operations, in per cent; the rest asks for records. */
    private enum Mix {
        WRITE_HEAVY("Write-Heavy", 70, 10, 10),
        BALANCED("Balanced", 45, 10, 25),
        READ_HEAVY("Read-Heavy", 20, 20, 40);

        private final String label;
        private final int upserts;
        private final int gets;
        private final int questions;

        Mix(String label, int upserts, int gets, int questions) {
            this.label = label;
            this.upserts = upserts;
            this.gets = gets;
            this.questions = questions;
        }
    }

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report report;

    MixFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.report = suite.storeReport(
                        "Table 1 and Figure 16: mixes over time, CPU, us an operation",
                        KINDS.stream().map(StoreRival.Kind::label).toList())
                .setting(
                        "figure",
                        suite.rounds()
                                + "; flushes and merges included; limit 10, records by +SEQ; both kinds must give the same answers")
                .setting("data before", "the load Skewed-Sec; its operations follow, in parts")
                .setting(
                        "paper", "PS-Tree is below LSMSI-PM in each mix, most where reads prevail");
    }

    @Override
    public void measure() {
        for (Load load : suite.ofThoseRun(Load.SKEWED_SEC)) {
            Operations operations = suite.storeLoad(load);
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (Mix mix : Mix.values()) {
                    long[] answers = new long[KINDS.size()];
                    for (int i = 0; i < KINDS.size(); i++) {
                        int turn = (i + round + setting.warmUpRounds()) % KINDS.size();
                        answers[turn] = run(operations, mix, KINDS.get(turn), round >= 0);
                    }
                    if (answers[0] != answers[1]) {
                        throw new IllegalStateException(mix.label + ": the answers differ");
                    }
                }
            }
        }
    }

    /** All answers as one number. */
    private long run(Operations operations, Mix mix, StoreRival.Kind kind, boolean counts) {
        SplittableRandom random = new SplittableRandom(PmSuite.SEED);
        Draw draw = operations.questions();
        FetchOptions options = FetchOptions.defaults()
                .withPruning(
                        kind == StoreRival.Kind.PM
                                ? FetchOptions.Pruning.EXACT
                                : FetchOptions.Pruning.NONE);
        long sum = 0;
        try (StoreRival store = suite.store(kind, "tiering")) {
            store.write(operations, 0, operations.count() / 2);
            store.flush();
            store.settle();
            int next = operations.count() / 2;
            int each = operations.count() / 2 / SLICES;
            for (int slice = 0; slice < SLICES; slice++) {
                long before = Costs.cpuNanos();
                for (int i = 0; i < each; i++) {
                    int drawn = random.nextInt(100);
                    if (drawn < mix.upserts) {
                        store.write(operations, next, next + 1);
                        next++;
                        continue;
                    }
                    try (ReadView view = store.openView()) {
                        if (drawn < mix.upserts + mix.gets) {
                            int record = random.nextInt(operations.recordCount());
                            sum += store.get(view, operations.recordNumber(record));
                            continue;
                        }
                        long key = operations.keyNumber(draw.next(random));
                        sum += drawn < mix.upserts + mix.gets + mix.questions
                                ? StoreRival.newest(view, store.search(key), Asking.SMALL_LIMIT)
                                : store.records(view, key, Asking.SMALL_LIMIT, options);
                    }
                }
                PmSuite.add(
                        counts ? report : null,
                        "%s, part %d of %d".formatted(mix.label, slice + 1, SLICES),
                        kind.label(),
                        PmSuite.micros(before, each));
            }
        }
        return sum;
    }

    @Override
    public void aims(Aims aims) {
        // the issue has none
    }

    @Override
    public List<Report> reports() {
        return List.of(report);
    }
}
