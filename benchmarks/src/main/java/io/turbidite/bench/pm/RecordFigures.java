package io.turbidite.bench.pm;

import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.ReadView;

import java.util.List;

/**
 * Questions for the records themselves (Fig. 14, 15): each layer is asked for each key, or the one
 * that covers the timestamp of its entry (+SEQ).
 */
final class RecordFigures implements PmSuite.Figures {
    private static final String PLAIN = "PM index, plain";
    private static final String SEQ = "PM index, +SEQ";
    private static final String LSM = "LSM index, validation, plain";
    private static final String MANY = "no-merge";
    private static final String LEVELING = "leveling";
    private static final int COMPONENTS = 20;

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report report;

    RecordFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.report = suite.storeReport(
                        "Figures 14 and 15: questions for records, CPU, us",
                        List.of(SEQ, PLAIN, LSM))
                .setting("figure", suite.rounds() + "; at the ReadView, answers compared")
                .setting("no-merge", "%d components".formatted(COMPONENTS))
                .setting(
                        "paper",
                        "+SEQ gains about 50 %, and +PAR-WA up to 3.1 times more; with leveling +SEQ gains where the limit is small")
                .setting("+PAR, +PAR-WA", "gain time where pages are read: pm-lookups");
    }

    @Override
    public void measure() {
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
            Operations operations = suite.storeLoad(load);
            for (String policy : List.of(MANY, LEVELING)) {
                try (StoreRival pm = fed(StoreRival.Kind.PM, policy, operations)) {
                    measure(operations, pm, policy, List.of(PLAIN, SEQ));
                }
                try (StoreRival lsm = fed(StoreRival.Kind.LSM_VALIDATION, policy, operations)) {
                    measure(operations, lsm, policy, List.of(LSM));
                }
            }
        }
    }

    private StoreRival fed(StoreRival.Kind kind, String policy, Operations operations) {
        StoreRival store = suite.store(kind, policy);
        store.writeLayers(operations, COMPONENTS);
        return store;
    }

    private static String row(Load load, String policy, int limit) {
        return "limit %d: %s, %s".formatted(limit, load.label(), policy);
    }

    private void measure(
            Operations operations, StoreRival store, String policy, List<String> ways) {
        try (ReadView view = store.openView()) {
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (int limit : new int[] {Asking.SMALL_LIMIT, Asking.LARGE_LIMIT}) {
                    Asking asking = Asking.records(operations, limit, setting.questions());
                    for (String way : round % 2 == 0 ? ways : ways.reversed()) {
                        FetchOptions options = FetchOptions.defaults()
                                .withPruning(
                                        way.equals(SEQ)
                                                ? FetchOptions.Pruning.EXACT
                                                : FetchOptions.Pruning.NONE);
                        double micros = asking.micros(
                                way,
                                setting.nanosMin(),
                                key -> store.records(
                                        view, operations.keyNumber(key), limit, options));
                        PmSuite.add(
                                round < 0 ? null : report,
                                row(operations.load(), policy, limit),
                                way,
                                micros);
                    }
                }
            }
        }
    }

    @Override
    public void aims(Aims aims) {
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
            String row = row(load, MANY, Asking.SMALL_LIMIT);
            aims.atLeast(
                    "records, limit 10, %d components: plain : +SEQ, %s"
                            .formatted(COMPONENTS, load.label()),
                    1.15,
                    report.figure(row, PLAIN) / report.figure(row, SEQ));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(report);
    }
}
