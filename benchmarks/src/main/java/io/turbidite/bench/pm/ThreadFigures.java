package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntConsumer;

/** The same work by one, two and four threads (Fig. 13): what contention costs, in CPU. */
final class ThreadFigures implements PmSuite.Figures {
    private static final int[] THREADS = {1, 2, 4};
    private static final int PASSES = 4;

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report questions;
    private final Report upserts;
    private final List<String> columns =
            List.of(StoreRival.Kind.PM.label(), StoreRival.Kind.LSM_VALIDATION.label());

    ThreadFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        String paper =
                "upserts scale to 24 threads, 2.8 times composite and 16 times LSMSI-PM; queries 7 times composite, 3 times log";
        String here =
                "CPU, not throughput: it stays the same where threads don't wait for each other";
        this.questions = suite.regionReport("Figure 13: questions of limit 200, CPU, us")
                .setting("figure", suite.rounds() + "; absorbed, answers compared")
                .setting("paper", paper)
                .setting("here", here);
        this.upserts = suite.storeReport("Figure 13: upserts into stores, CPU, us", columns)
                .setting("figure", suite.rounds() + "; flushes and merges included")
                .setting("paper", paper)
                .setting("here", here);
    }

    @Override
    public void measure() {
        for (Load load : suite.ofThoseRun(Load.SKEWED_PRI, Load.SKEWED_SEC)) {
            for (String name : Contender.NAMES) {
                try (Contender contender = Contender.of(name)) {
                    contender.feed(suite.load(load), Contender.Feeding.ABSORBED);
                    ask(load, contender);
                }
            }
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (int threads : THREADS) {
                    write(load, StoreRival.Kind.PM, threads, round >= 0);
                    write(load, StoreRival.Kind.LSM_VALIDATION, threads, round >= 0);
                }
            }
        }
    }

    private static String row(Load load, int threads) {
        return "%s, threads: %d".formatted(load.label(), threads);
    }

    private void ask(Load load, Contender contender) {
        Operations operations = suite.load(load);
        String name = contender.rival().name();
        for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
            for (int threads : THREADS) {
                List<Asking.Way> ways = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    ways.add(contender.asker(operations, Asking.LARGE_LIMIT, () -> {}));
                }
                Asking asking = Asking.newest(operations, Asking.LARGE_LIMIT, setting.questions());
                long before = Costs.cpuNanos();
                run(threads, thread -> {
                    for (int pass = 0; pass < PASSES; pass++) {
                        asking.askAll(name, ways.get(thread));
                    }
                });
                PmSuite.add(
                        round < 0 ? null : questions,
                        row(load, threads),
                        name,
                        PmSuite.micros(before, (long) PASSES * threads * asking.count()));
                contender.closeSessions();
            }
        }
    }

    /** Each thread has the operations of its records, so that these come in their order. */
    private void write(Load load, StoreRival.Kind kind, int threads, boolean counts) {
        Operations operations = suite.storeLoad(load);
        try (StoreRival store = suite.store(kind, "tiering")) {
            long before = Costs.cpuNanos();
            run(threads, thread -> {
                RecordWriter writer = store.newWriter();
                for (int i = 0; i < operations.count(); i++) {
                    if (operations.record(i) % threads == thread) {
                        store.write(writer, operations, i);
                    }
                }
            });
            store.flush();
            store.settle();
            PmSuite.add(
                    counts ? upserts : null,
                    row(load, threads),
                    kind.label(),
                    PmSuite.micros(before, operations.count()));
            compare(operations, store);
        }
    }

    /** In which order records of different threads were written is not known, but which are. */
    private void compare(Operations operations, StoreRival store) {
        try (ReadView view = store.openView()) {
            for (int key = 0; key < Math.min(100, operations.keyCount()); key++) {
                long found = StoreRival.sumOf(view, store.search(operations.keyNumber(key)));
                if (found != operations.sumOf(key, operations.liveCount(key))) {
                    throw new IllegalStateException("other records than the model's");
                }
            }
        }
    }

    private static void run(int threads, IntConsumer work) {
        List<FutureTask<Integer>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            FutureTask<Integer> task = new FutureTask<>(() -> work.accept(thread), thread);
            all.add(task);
            Thread.ofPlatform().name("asker-" + i).start(task);
        }
        int ended = 0;
        try {
            for (FutureTask<Integer> task : all) {
                ended += task.get() + 1;
            }
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        if (ended != threads * (threads + 1) / 2) {
            throw new IllegalStateException("%d threads did not end".formatted(threads));
        }
    }

    @Override
    public void aims(Aims aims) {
        // the issue has none
    }

    @Override
    public List<Report> reports() {
        return List.of(questions, upserts);
    }
}
