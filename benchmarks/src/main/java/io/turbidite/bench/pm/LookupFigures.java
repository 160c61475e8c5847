package io.turbidite.bench.pm;

import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.ReadView;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Questions for records whose pages must be read (Fig. 14, 15): one thread, or several that look
 * keys up. By the clock: threads that wait for a page at once don't save CPU.
 */
final class LookupFigures implements PmSuite.Figures {
    private static final String PLAIN = "plain";
    private static final String SEQ = "+SEQ";
    private static final String PAR = "+PAR";
    private static final String QUERY = "Query, alone";
    private static final String PAR_WA = "Query, +PAR-WA";
    private static final List<String> WAYS = List.of(PLAIN, SEQ, PAR, QUERY, PAR_WA);
    private static final int COMPONENTS = 20;

    /** With the reader four threads, as in the paper. */
    private static final int WORKERS = 3;

    private static final int THREADS = WORKERS + 1;

    /** The cache has a twentieth of the records. */
    private static final int CACHE_SHARE = 20;

    /** Each waits for some ten reads. */
    private static final int QUESTIONS_MAX = 200;

    private static final String POLICY = "no-merge";

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report report;

    LookupFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.report = suite.report("Figures 14 and 15: questions for records on a disk, us", WAYS)
                .setting(
                        "data",
                        "%,d records of about %d bytes, %d components; a cache of %d %%, direct I/O"
                                .formatted(
                                        setting.storeRecords(),
                                        setting.recordBytes(),
                                        COMPONENTS,
                                        100 / CACHE_SHARE))
                .setting(
                        "figure",
                        "time by the clock, median of %d rounds, interleaved; answers compared"
                                .formatted(setting.rounds()))
                .setting(
                        "+PAR, +PAR-WA",
                        "%d threads, the reader among them; keys dealt out before, or taken by whoever is free"
                                .formatted(THREADS))
                .setting(
                        "paper",
                        "+SEQ gains about 50 %, and +PAR-WA up to 3.1 times more; +PAR less, as its slowest thread decides");
    }

    @Override
    public void measure() {
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
            Operations operations = suite.storeLoad(load);
            long recordBytes = (long) setting.storeRecords() * setting.recordBytes();
            try (StoreRival store = suite.storeOnDisk(POLICY, recordBytes / CACHE_SHARE)) {
                store.writeLayers(operations, COMPONENTS);
                measure(operations, store);
            }
        }
    }

    private void measure(Operations operations, StoreRival store) {
        try (ReadView view = store.openView();
                DealtLookups dealt = new DealtLookups(view, THREADS)) {
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (int limit : new int[] {Asking.SMALL_LIMIT, Asking.LARGE_LIMIT}) {
                    Asking asking = Asking.records(
                            operations, limit, Math.min(QUESTIONS_MAX, setting.questions()));
                    List<String> turn = new ArrayList<>(WAYS);
                    Collections.rotate(turn, round);
                    for (String way : turn) {
                        double micros = asking.clockMicros(
                                way,
                                setting.nanosMin(),
                                key -> answer(
                                        way, store, view, dealt, operations.keyNumber(key), limit));
                        PmSuite.add(
                                round < 0 ? null : report,
                                row(operations.load(), limit),
                                way,
                                micros);
                    }
                }
            }
        }
    }

    private static long answer(
            String way, StoreRival store, ReadView view, DealtLookups dealt, long key, int limit) {
        FetchOptions exact = FetchOptions.defaults().withPruning(FetchOptions.Pruning.EXACT);
        return switch (way) {
            case PLAIN ->
                store.records(view, key, limit, exact.withPruning(FetchOptions.Pruning.NONE));
            case SEQ -> store.records(view, key, limit, exact);
            case PAR -> dealt.records(store.newestKeys(view, key, limit), exact);
            case QUERY -> store.queried(view, key, limit, 0);
            case PAR_WA -> store.queried(view, key, limit, WORKERS);
            default -> throw new IllegalArgumentException(way);
        };
    }

    private static String row(Load load, int limit) {
        return "limit %d: %s".formatted(limit, load.label());
    }

    @Override
    public void aims(Aims aims) {
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
            String row = row(load, Asking.SMALL_LIMIT);
            aims.atLeast(
                    "records read, limit 10, time: plain : +SEQ, " + load.label(),
                    1.15,
                    report.figure(row, PLAIN) / report.figure(row, SEQ));
            aims.atLeast(
                    "records read, limit 10, time: alone : +PAR-WA, " + load.label(),
                    1.5,
                    report.figure(row, QUERY) / report.figure(row, PAR_WA));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(report);
    }
}
