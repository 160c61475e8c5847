package io.turbidite.bench.pm;

import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.pm.region.DirtyLines;
import io.turbidite.pm.validate.Validation;

import java.util.List;

/**
 * What needs no clock: fences, blocks, bytes, entries (Fig. 9, PM space), and a model of the
 * medium.
 */
final class Counters implements PmSuite.Figures {
    /** What the model takes for each block that a question reads. */
    private static final double MODEL_BLOCK_MICROS = 0.3;

    private static final List<String> TABLES = List.of(
            "volatile keys, % of persistent",
            "volatile, bytes", "persistent, bytes", "stale entries");

    private final PmSuite suite;
    private final PmSuite.Setting setting;
    private final Report written;
    private final Report read;
    private final Report model;
    private final Report space;
    private final Report tables;

    Counters(PmSuite suite) {
        this.suite = suite;
        this.setting = suite.setting();
        this.written = suite.regionReport("Counters: written, tables included")
                .setting(
                        "figure",
                        "fences and blocks of 256 bytes, an entry; counted, not measured");
        this.read = suite.regionReport("Counters: blocks of 256 bytes read a question")
                .setting(
                        "figure",
                        "different blocks of leaves, lists and tables, each once a question; counted");
        this.space = suite.regionReport(
                        "PM space: bytes of the index a live record, without tables")
                .setting("figure", "chunks that were taken, without those of the table of versions")
                .setting("paper", "the composite index takes about 4 times the space of PS-Tree");
        this.tables = suite.report("Figure 9: the two tables", TABLES)
                .setting("figure", "keys, and bytes a live record; counted")
                .setting(
                        "paper",
                        "the volatile table is empty after inserts, else 37.8 % (Uniform), 10.4 % (Skewed-Pri), 77.3 % (Skewed-Sec) of the persistent one");
        this.model = suite.regionReport("A model: microseconds a question")
                .setting(
                        "figure",
                        "300 ns for each of these blocks, and nothing else: a model, no measurement");
    }

    @Override
    public void measure() {
        for (Contender.Feeding feeding : Contender.Feeding.values()) {
            for (Load load : suite.loadsInOrder()) {
                for (String name : Contender.NAMES) {
                    count(load, feeding, name);
                }
            }
        }
    }

    private void count(Load load, Contender.Feeding feeding, String name) {
        Operations operations = suite.load(load);
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
            sizes(operations, contender, row);
            questions(operations, contender, counter[0], row);
            if (name.equals(TreeIndex.NAME) && feeding == Contender.Feeding.ABSORBED) {
                contender.collectAll(operations);
                questions(operations, contender, counter[0], row + ", collected");
            }
        }
    }

    private void sizes(Operations operations, Contender contender, String row) {
        Rival rival = contender.rival();
        double records = operations.recordCount();
        long tableBytes = tableBytes(operations);
        space.add(row, rival.name(), (rival.region().pages().byteSize() - tableBytes) / records);
        if (rival.name().equals(TreeIndex.NAME)) {
            Validation validation = rival.validation();
            tables.add(
                    row, TABLES.get(0), 100.0 * validation.staleKeyCount() / validation.keyCount());
            tables.add(row, TABLES.get(1), validation.staleBytes() / records);
            tables.add(row, TABLES.get(2), tableBytes / records);
            tables.add(row, TABLES.get(3), (rival.entryCount() - records) / records);
        }
    }

    /** What the table of versions takes, roots and header too: from a region of its own. */
    private static long tableBytes(Operations operations) {
        try (Contender tables = Contender.of("log")) {
            tables.feedVersions(operations);
            return tables.rival().region().pages().byteSize();
        }
    }

    private void questions(
            Operations operations, Contender contender, BlockCounter counter, String row) {
        String name = contender.rival().name();
        for (int limit : new int[] {Asking.SMALL_LIMIT, Asking.LARGE_LIMIT}) {
            Asking asking = Asking.newest(operations, limit, setting.questions());
            int[] blocks = new int[1];
            var _ = counter.takeBlocks();
            var _ = asking.micros(
                    name,
                    0,
                    contender.asker(operations, limit, () -> blocks[0] += counter.takeBlocks()));
            double each = blocks[0] / (double) asking.count();
            read.add("limit %d: %s".formatted(limit, row), name, each);
            model.add("limit %d: %s".formatted(limit, row), name, each * MODEL_BLOCK_MICROS);
        }
    }

    @Override
    public void aims(Aims aims) {
        String tree = TreeIndex.NAME;
        for (Load load : suite.ofThoseRun(Load.INSERT)) {
            aims.atMost(
                    "fences an insert, one by one",
                    3,
                    written.figure("fences: %s, one by one".formatted(load.label()), tree));
        }
        for (Load load : suite.ofThoseRun(Load.UNIFORM, Load.SKEWED_SEC)) {
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
        for (Load load : suite.loadsInOrder()) {
            double percent = switch (load) {
                case INSERT -> 0;
                case UNIFORM -> 40;
                case SKEWED_PRI -> 12;
                case SKEWED_SEC -> 80;
            };
            for (Contender.Feeding feeding : Contender.Feeding.values()) {
                String row = "%s, %s".formatted(load.label(), feeding.label());
                aims.atMost(
                        "volatile table, % of the persistent one's keys: " + row,
                        percent,
                        tables.figure(row, TABLES.getFirst()));
            }
        }
        for (Load load : suite.ofThoseRun(Load.INSERT, Load.UNIFORM)) {
            for (Contender.Feeding feeding : Contender.Feeding.values()) {
                String row = "%s, %s".formatted(load.label(), feeding.label());
                aims.atLeast(
                        "space of the composite index : ours, " + row,
                        load == Load.INSERT ? 1.3 : 2,
                        space.figure(row, "composite") / space.figure(row, tree));
            }
        }
    }

    @Override
    public List<Report> reports() {
        return List.of(written, read, space, tables, model);
    }
}
