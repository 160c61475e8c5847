package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.scan.ReadView;
import io.turbidite.pm.region.DirtyLines;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The figures of PERS24 §5, as far as a machine without persistent memory can make them: counters
 * first, then CPU of the whole process, then a model of the medium's latency that is named so. Each
 * answer is compared with that of a model; rivals take turns, and the order turns with the rounds.
 */
public final class PmSuite {
    private static final int LAYERS = 16;
    private static final int SMALL_LIMIT = 10;
    private static final int LARGE_LIMIT = 200;
    private static final long SEED = 16;

    /** What the model takes for each block of 256 bytes that a question reads. */
    private static final double MODEL_BLOCK_MICROS = 0.3;

    private final Setting setting;
    private final Path directory;
    private final Map<Load, Operations> loads = new EnumMap<>(Load.class);
    private final Aims aims = new Aims();

    /**
     * What a run is asked for.
     *
     * @param records of the regions
     * @param storeRecords of the stores, which have the records too
     * @param recordBytes about how long a record of a store is
     * @param rounds counted rounds
     * @param warmUpRounds rounds before these
     * @param questions different ones of each kind
     * @param nanosMin CPU that each figure of a query is of, at least
     */
    public record Setting(
            int records,
            int storeRecords,
            int recordBytes,
            int rounds,
            int warmUpRounds,
            int questions,
            long nanosMin) {
        /** With one round to warm up, and 2,000 questions. */
        public static Setting of(int records, int storeRecords, int recordBytes, int rounds) {
            return new Setting(
                    records, storeRecords, recordBytes, rounds, 1, 2_000, Asking.MEASURED_NANOS);
        }

        private String command() {
            return "./turbidite bench pm --records %d --store-records %d --record-bytes %d --rounds %d"
                    .formatted(records, storeRecords, recordBytes, rounds);
        }
    }

    /**
     * @param directory for the stores; emptied
     */
    public PmSuite(Setting setting, Path directory) {
        this.setting = setting;
        this.directory = directory;
    }

    public List<Report> run() {
        for (Load load : Load.values()) {
            loads.put(load, Operations.of(load, setting.records, LAYERS, SEED));
        }
        List<Report> reports = new ArrayList<>();
        RegionFigures regions = new RegionFigures();
        regions.measure();
        StoreFigures stores = new StoreFigures();
        stores.measure();
        Counters counters = new Counters();
        counters.measure();
        counters.aims();
        regions.aims();
        stores.aims();
        reports.add(aims.into(report("PERS24: the aims", Aims.COLUMNS)));
        reports.addAll(counters.reports());
        reports.addAll(regions.reports());
        reports.addAll(stores.reports());
        return reports;
    }

    private Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting("command", setting.command());
    }

    private Report regionReport(String title) {
        return report(title, Contender.NAMES)
                .setting(
                        "data",
                        "%,d records, %d a secondary key, keys of 8 bytes, %d layers; regions in plain memory"
                                .formatted(setting.records, Operations.RECORDS_A_KEY, LAYERS));
    }

    private Operations load(Load load) {
        Operations found = loads.get(load);
        if (found == null) {
            throw new IllegalStateException(load.label());
        }
        return found;
    }

    // ---- counters -------------------------------------------------------------------------------

    /** What needs no clock: fences, blocks, bytes, entries. */
    private final class Counters {
        private final Report written = regionReport("Counters: written, tables included")
                .setting(
                        "figure",
                        "fences and blocks of 256 bytes, an entry; counted, not measured");
        private final Report read = regionReport("Counters: blocks of 256 bytes read a question")
                .setting(
                        "figure",
                        "different blocks of leaves, lists and tables, each once a question; counted");
        private final Report model = regionReport("A model: microseconds a question")
                .setting(
                        "figure",
                        "300 ns for each of these blocks, and nothing else: a model, no measurement");

        void measure() {
            for (Contender.Feeding feeding : Contender.Feeding.values()) {
                for (Load load : Load.values()) {
                    for (String name : Contender.NAMES) {
                        count(load, feeding, name);
                    }
                }
            }
        }

        private void count(Load load, Contender.Feeding feeding, String name) {
            Operations operations = load(load);
            BlockCounter[] counter = new BlockCounter[1];
            try (Contender contender = Contender.of(name, memory -> {
                counter[0] = new BlockCounter(memory);
                return counter[0];
            })) {
                DirtyLines dirty = contender.rival().region().dirty();
                long fences = dirty.fences();
                long blocks = dirty.blocksWritten();
                contender.feed(operations, feeding);
                String row = "%s, %s".formatted(load.label(), feeding.label());
                double entries = feeding == Contender.Feeding.ABSORBED
                        ? operations.flushes().stream()
                                .mapToInt(layer -> layer.byKey().size())
                                .sum()
                        : operations.count();
                written.add("fences: " + row, name, (dirty.fences() - fences) / entries);
                written.add("blocks: " + row, name, (dirty.blocksWritten() - blocks) / entries);
                written.add(
                        "entries left: " + row,
                        name,
                        contender.rival().entryCount() / (double) operations.recordCount());
                questions(operations, contender, counter[0], row);
                if (name.equals(TreeIndex.NAME) && feeding == Contender.Feeding.ABSORBED) {
                    contender.collectAll(operations);
                    questions(operations, contender, counter[0], row + ", collected");
                }
            }
        }

        private void questions(
                Operations operations, Contender contender, BlockCounter counter, String row) {
            String name = contender.rival().name();
            for (int limit : new int[] {SMALL_LIMIT, LARGE_LIMIT}) {
                Asking asking = Asking.newest(operations, limit, setting.questions);
                int[] blocks = new int[1];
                var _ = counter.takeBlocks();
                var _ = asking.micros(
                        name,
                        0,
                        asker(
                                operations,
                                contender,
                                limit,
                                () -> blocks[0] += counter.takeBlocks()));
                double each = blocks[0] / (double) asking.count();
                read.add("limit %d: %s".formatted(limit, row), name, each);
                model.add("limit %d: %s".formatted(limit, row), name, each * MODEL_BLOCK_MICROS);
            }
        }

        void aims() {
            String tree = TreeIndex.NAME;
            aims.atMost(
                    "fences an insert, one by one",
                    3,
                    written.figure("fences: insert, one by one", tree));
            for (Load load : List.of(Load.UNIFORM, Load.SKEWED_SEC)) {
                String row = load.label() + ", absorbed";
                aims.atMost(
                        "fences an entry absorbed: " + load.label(),
                        0.1,
                        written.figure("fences: " + row, tree));
                aims.atMost(
                        "blocks written an entry absorbed: " + load.label(),
                        load == Load.UNIFORM ? 3.5 : 1.5,
                        written.figure("blocks: " + row, tree));
                aims.atMost(
                        "blocks read, limit 10, after collection: " + load.label(),
                        4,
                        read.figure("limit 10: %s, collected".formatted(row), tree));
            }
        }

        List<Report> reports() {
            return List.of(written, read, model);
        }
    }

    /** Asks a rival for the newest records, inside an epoch each time. */
    static Asking.Way asker(Operations operations, Contender contender, int limit, Runnable after) {
        Rival.Search search = contender.rival().search();
        EightBytes key = new EightBytes();
        EpochSession session = contender.openSession("asker");
        long snapshot = contender.absorbedThrough();
        return asked -> {
            session.protect();
            search.open(key.of(operations.keyNumber(asked)), snapshot);
            long sum = 0;
            for (int i = 0; i < limit && search.next(); i++) {
                sum = Operations.mixed(sum, EightBytes.number(search.primaryKey()));
            }
            session.unprotect();
            after.run();
            return sum;
        };
    }

    /** Asks a rival for the newest records of neighbouring keys. */
    static Asking.Way ranger(Operations operations, Contender contender) {
        Rival.Search search = contender.rival().search();
        EightBytes from = new EightBytes();
        EightBytes to = new EightBytes();
        EpochSession session = contender.openSession("ranger");
        long snapshot = contender.absorbedThrough();
        return asked -> {
            session.protect();
            long sum = search.range(
                    from.of(operations.keyNumber(asked)),
                    to.of(operations.keyNumber(asked + Asking.RANGE_KEYS)),
                    Asking.RANGE_LIMIT,
                    snapshot);
            session.unprotect();
            return sum;
        };
    }

    // ---- regions --------------------------------------------------------------------------------

    /** CPU of tree and baselines, without a store around. */
    private final class RegionFigures {
        private final Report writes =
                regionReport("Figure 8: CPU, us an operation written").setting("figure", rounds());
        private final Report queries = regionReport("Figure 10: CPU, us a question")
                .setting("figure", rounds() + "; index-only, the newest first, answers compared");

        void measure() {
            for (int round = -setting.warmUpRounds; round < setting.rounds; round++) {
                for (Load load : Load.values()) {
                    for (Contender.Feeding feeding : Contender.Feeding.values()) {
                        for (int i = 0; i < Contender.NAMES.size(); i++) {
                            int turn = (i + round + setting.warmUpRounds) % Contender.NAMES.size();
                            measure(load, feeding, Contender.NAMES.get(turn), round >= 0);
                        }
                    }
                }
            }
        }

        private void measure(Load load, Contender.Feeding feeding, String name, boolean counts) {
            Operations operations = load(load);
            String row = "%s, %s".formatted(load.label(), feeding.label());
            try (Contender contender = Contender.of(name)) {
                long before = Costs.cpuNanos();
                contender.feed(operations, feeding);
                add(counts ? writes : null, row, name, micros(before, operations.count()));
                for (int limit : new int[] {SMALL_LIMIT, LARGE_LIMIT}) {
                    Asking asking = Asking.newest(operations, limit, setting.questions);
                    double micros = asking.micros(
                            name, setting.nanosMin, asker(operations, contender, limit, () -> {}));
                    add(
                            counts ? queries : null,
                            "limit %d: %s".formatted(limit, row),
                            name,
                            micros);
                }
            }
        }

        void aims() {
            String row = "limit 200: upsert Uniform, absorbed";
            double tree = queries.figure(row, TreeIndex.NAME);
            aims.atMost(
                    "limit 200 after Uniform: time of composite",
                    0.85,
                    tree / queries.figure(row, "composite"));
            aims.atMost(
                    "limit 200 after Uniform: time of log",
                    0.65,
                    tree / queries.figure(row, "log"));
        }

        List<Report> reports() {
            return List.of(writes, queries);
        }
    }

    private static double micros(long cpuBefore, long count) {
        return (Costs.cpuNanos() - cpuBefore) / 1e3 / count;
    }

    private String rounds() {
        return "CPU of the whole process, median of %d rounds, interleaved"
                .formatted(setting.rounds);
    }

    private static void add(@Nullable Report report, String row, String column, double figure) {
        if (report != null) {
            report.add(row, column, figure);
        }
    }

    // ---- stores ---------------------------------------------------------------------------------

    /** The index as stores have it, beside those of LSM trees. */
    private final class StoreFigures {
        private final List<String> columns = List.of(
                StoreRival.Kind.PM.label(),
                StoreRival.Kind.LSM_VALIDATION.label(),
                StoreRival.Kind.LSM_EAGER.label());
        private final Report writes = storeReport(
                        "Figure 8 in stores: CPU, us an upsert, flushes and merges included")
                .setting("figure", rounds());
        private final Report queries = storeReport("Figure 10 in stores: CPU, us a question")
                .setting(
                        "figure",
                        rounds()
                                + "; at the ReadView, the newest first, answers compared; an eager index does not have this order");

        private Report storeReport(String title) {
            return report(title, columns)
                    .setting(
                            "data",
                            "%,d records of about %d bytes, all in the cache; the region of mode volatile; write memory a sixteenth of the records"
                                    .formatted(setting.storeRecords, setting.recordBytes));
        }

        void measure() {
            for (Load load : Load.values()) {
                Operations operations = Operations.of(load, setting.storeRecords, 1, SEED);
                for (int round = -setting.warmUpRounds; round < setting.rounds; round++) {
                    for (int i = 0; i < columns.size(); i++) {
                        StoreRival.Kind kind = StoreRival.Kind.values()[
                                (i + round + setting.warmUpRounds) % columns.size()];
                        measure(operations, kind, round >= 0);
                    }
                }
            }
        }

        private void measure(Operations operations, StoreRival.Kind kind, boolean counts) {
            try (StoreRival rival = new StoreRival(
                    directory.resolve("pm"), kind, setting.storeRecords, setting.recordBytes)) {
                long before = Costs.cpuNanos();
                rival.feed(operations);
                String row = operations.load().label();
                add(counts ? writes : null, row, kind.label(), micros(before, operations.count()));
                if (kind == StoreRival.Kind.LSM_EAGER) {
                    return; // an entry keeps the time of the write that last changed its key
                }
                try (ReadView view = rival.openView()) {
                    for (int limit : new int[] {SMALL_LIMIT, LARGE_LIMIT}) {
                        Asking asking = Asking.newest(operations, limit, setting.questions);
                        double micros = asking.micros(
                                kind.label(),
                                setting.nanosMin,
                                key -> StoreRival.newest(
                                        view, rival.range(operations.keyNumber(key)), limit));
                        add(
                                counts ? queries : null,
                                "limit %d: %s".formatted(limit, row),
                                kind.label(),
                                micros);
                    }
                }
            }
        }

        void aims() {
            for (Load load : List.of(Load.UNIFORM, Load.SKEWED_SEC)) {
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
            for (Load load : List.of(Load.UNIFORM, Load.SKEWED_PRI, Load.SKEWED_SEC)) {
                aims.atMost(
                        "CPU of upserts: ours : LSM index by validation, " + load.label(),
                        1,
                        writes.figure(load.label(), StoreRival.Kind.PM.label())
                                / writes.figure(
                                        load.label(), StoreRival.Kind.LSM_VALIDATION.label()));
            }
        }

        List<Report> reports() {
            return List.of(writes, queries);
        }
    }
}
