package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.ReadView;
import io.turbidite.pm.validate.Validation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Validation alone: by either table, and by the key trees of a store (Fig. 11). */
final class ValidationFigures implements PmSuite.Figures {
    private static final String VOLATILE = "volatile table";
    private static final String PERSISTENT = "persistent table";
    private static final String KEY_TREES = "key trees";
    private static final int ENTRIES_A_QUESTION = 25;
    private static final int BATCH_BYTES = 1 << 13;

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report report;

    ValidationFigures(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.report = suite.storeReport(
                        "Figure 11: validation alone, CPU, us 25 entries",
                        List.of(VOLATILE, PERSISTENT, KEY_TREES))
                .setting("figure", suite.rounds() + "; answers compared")
                .setting(
                        "key trees",
                        "the LSM index by validation; nothing is known of how far an entry was checked")
                .setting(
                        "paper",
                        "the volatile table is 2.7 to 6.6 times as fast as the persistent");
    }

    @Override
    public void measure() {
        for (Load load : suite.loadsInOrder()) {
            Operations operations = suite.storeLoad(load);
            try (Contender contender = Contender.of(TreeIndex.NAME);
                    StoreRival store = suite.store(StoreRival.Kind.LSM_VALIDATION, "tiering")) {
                contender.feed(operations, Contender.Feeding.ABSORBED);
                store.feed(operations);
                try (ReadView view = store.openView()) {
                    for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                        Report to = round < 0 ? null : report;
                        PmSuite.add(
                                to, load.label(), VOLATILE, byTables(operations, contender, true));
                        PmSuite.add(
                                to,
                                load.label(),
                                PERSISTENT,
                                byTables(operations, contender, false));
                        PmSuite.add(
                                to, load.label(), KEY_TREES, byKeyTrees(operations, store, view));
                    }
                }
            }
        }
    }

    private double byTables(Operations operations, Contender contender, boolean isVolatile) {
        int[] asked = entriesThere(operations, contender);
        long valid = 0;
        for (int operation : asked) {
            valid += operations.isNewest(operation) ? 1 : 0;
        }
        Validation validation = contender.rival().validation();
        EightBytes key = new EightBytes();
        long snapshot = contender.absorbedThrough();
        try (EpochSession session = contender.openSession("validation")) {
            session.protect();
            long before = Costs.cpuNanos();
            long passed;
            long count = 0;
            do {
                long found = 0;
                for (int operation : asked) {
                    Slice primary = key.of(operations.recordNumber(operations.record(operation)));
                    long timestamp = Operations.timestamp(operation);
                    Validation.Answer answer = isVolatile
                            ? validation.check(primary, timestamp, snapshot)
                            : validation.checkInRegion(primary, timestamp, snapshot);
                    found += answer == Validation.Answer.VALID ? 1 : 0;
                }
                require(found, valid);
                count += asked.length;
                passed = Costs.cpuNanos() - before;
            } while (passed < setting.nanosMin());
            session.unprotect();
            return passed / 1e3 / count * ENTRIES_A_QUESTION;
        }
    }

    /** Operations whose entries are in the index: of others the tables say nothing. */
    private int[] entriesThere(Operations operations, Contender contender) {
        if (!(contender.rival() instanceof TreeIndex tree)) {
            throw new IllegalStateException(contender.rival().name());
        }
        SplittableRandom random = new SplittableRandom(PmSuite.SEED);
        Draw draw = operations.questions();
        EightBytes key = new EightBytes();
        IntStream.Builder found = IntStream.builder();
        try (EpochSession session = contender.openSession("entries")) {
            session.protect();
            for (int i = 0; i < setting.questions(); i++) {
                tree.entries(
                        key.of(operations.keyNumber(draw.next(random))),
                        ENTRIES_A_QUESTION,
                        timestamp -> found.add(Operations.operation(timestamp)));
            }
            session.unprotect();
        }
        return found.build().toArray();
    }

    private static void require(long found, long valid) {
        if (found != valid) {
            throw new IllegalStateException(
                    "%d entries are valid, %d were found to be".formatted(valid, found));
        }
    }

    private double byKeyTrees(Operations operations, StoreRival store, ReadView view) {
        Draw draw = operations.questions();
        SplittableRandom random = new SplittableRandom(PmSuite.SEED);
        List<CandidateBatch> batches = new ArrayList<>();
        List<Integer> validCounts = new ArrayList<>();
        long count = 0;
        for (int i = 0; i < setting.questions(); i++) {
            int key = draw.next(random);
            CandidateBatch batch = new CandidateBatch(BATCH_BYTES);
            boolean isAll = true;
            try (IndexCursor entries = view.search(
                    0,
                    StoreRival.INDEX,
                    store.search(operations.keyNumber(key)),
                    FilterPredicate.none())) {
                while (entries.next()) {
                    isAll = batch.size() < ENTRIES_A_QUESTION;
                    if (!isAll) {
                        break;
                    }
                    var _ = batch.add(
                            entries.primaryKey(), entries.secondaryKey(), entries.timestamp(), 0);
                }
            }
            batches.add(batch);
            validCounts.add(isAll ? operations.liveCount(key) : -1);
            count += batch.size();
        }
        long before = Costs.cpuNanos();
        for (CandidateBatch batch : batches) {
            view.validate(0, batch);
        }
        double micros = (Costs.cpuNanos() - before) / 1e3;
        for (int i = 0; i < batches.size(); i++) {
            int valid = 0;
            for (int j = 0; j < batches.get(i).size(); j++) {
                valid += batches.get(i).isValid(j) ? 1 : 0;
            }
            if (validCounts.get(i) >= 0) {
                require(valid, validCounts.get(i));
            }
        }
        return micros / count * ENTRIES_A_QUESTION;
    }

    @Override
    public void aims(Aims aims) {
        for (Load load : suite.ofThoseRun(Load.UNIFORM)) {
            aims.atLeast(
                    "validation: key trees : volatile table, " + load.label(),
                    5,
                    report.figure(load.label(), KEY_TREES) / report.figure(load.label(), VOLATILE));
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(report);
    }
}
