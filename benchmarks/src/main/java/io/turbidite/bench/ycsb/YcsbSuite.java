package io.turbidite.bench.ycsb;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.ycsb.Records.Depth;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * YCSB A to F: Turbidite through its public API, records as maps, beside RocksDB with one value a
 * record. The figure is CPU of the whole process an operation, flushes and merges included. Engines
 * take turns, and do the same operations on the same records in the same order; their answers are
 * compared in each turn by one value of each record that was read, and in a last round, which is
 * not counted, by all values.
 *
 * <p>Warm: rounds of one process. Cold: the first operations of a new process, one for each
 * workload and engine.
 */
public final class YcsbSuite {
    private static final String LESS = ", less the compiler";

    private static final String WITH_CACHE = ", with an AOT cache";

    private final Setting setting;
    private final Budget budget;
    private final Path directory;
    private final Opener opener;
    private final Draw draw = new Draw();
    private final Report warm;
    private final Report cold;
    private final Report heap;

    /**
     * What is run.
     *
     * @param mixes which workloads, in their order
     * @param records loaded first
     * @param operations a workload and round; a tenth of it of scans
     * @param coldOperations of a new process, of each workload
     * @param warmUpRounds before those that count
     * @param rounds counted
     * @param coldRounds of new processes; 0 for none
     */
    public record Setting(
            List<Mix> mixes,
            int records,
            int operations,
            int coldOperations,
            int warmUpRounds,
            int rounds,
            int coldRounds) {}

    /** Opens an engine's store below a directory. */
    interface Opener {
        Records open(Peer peer, Path directory, Budget budget);
    }

    /** @param directory for the stores; emptied */
    public YcsbSuite(Setting setting, Path directory) {
        this(setting, directory, Peer::open);
    }

    YcsbSuite(Setting setting, Path directory, Opener opener) {
        this.opener = opener;
        this.setting = setting;
        this.budget = Budget.of(setting.records());
        this.directory = Scratch.empty(directory.resolve("ycsb"));
        this.warm = report("YCSB A to F, warm: CPU, us an operation")
                .setting(
                        "figure",
                        "CPU of the whole process, median of %d rounds of %,d operations (E: %,d); %d rounds before those, not counted"
                                .formatted(
                                        setting.rounds(),
                                        setting.operations(),
                                        operations(Mix.E),
                                        setting.warmUpRounds()));
        this.cold = report("YCSB A to F, cold: CPU, us an operation")
                .setting(
                        "figure",
                        "CPU of the first %,d operations of a new process, the compiler's included, median of %d"
                                .formatted(setting.coldOperations(), setting.coldRounds()));
        this.heap = report("YCSB A to F, warm: heap, KB an operation");
    }

    private Report report(String title) {
        return new Report(title, Peer.titles())
                .setting("machine", Report.machine())
                .setting(
                        "records",
                        "%,d of ten values of 100 characters; keys and operations drawn by YCSB 0.17"
                                .formatted(setting.records()))
                .setting("memory", budget.says())
                .setting(
                        "calls",
                        "Turbidite: `get` and `upsert` of maps, F by `compute`, E by a prepared query; RocksDB: `get`, `put`, iterator, one value a record, looked at where it lies; one thread; one value of each record is read")
                .setting(
                        "durability",
                        "a write returns when the operating system has it; no sync; no compression")
                .setting(
                        "command",
                        "./turbidite bench ycsb --workloads %s --records %d --operations %d --cold-operations %d --warm-up %d --rounds %d --cold-rounds %d"
                                .formatted(
                                        setting.mixes().stream()
                                                .map(Mix::name)
                                                .collect(Collectors.joining(",")),
                                        setting.records(),
                                        setting.operations(),
                                        setting.coldOperations(),
                                        setting.warmUpRounds(),
                                        setting.rounds(),
                                        setting.coldRounds()));
    }

    private int operations(Mix mix) {
        return mix.scans() ? Math.max(1, setting.operations() / 10) : setting.operations();
    }

    public List<Report> run() throws IOException {
        Map<Peer, Records> opened = new EnumMap<>(Peer.class);
        try {
            for (Peer peer : Peer.values()) {
                Scratch.empty(peer.place(directory));
                opened.put(peer, opener.open(peer, directory, budget));
            }
            load(opened);
            for (int round = -setting.warmUpRounds(); round < setting.rounds(); round++) {
                for (Mix mix : setting.mixes()) {
                    turns(opened, mix, Depth.ONE_VALUE, round);
                }
            }
            // the last round: not counted
            for (Mix mix : setting.mixes()) {
                turns(opened, mix, Depth.ALL_VALUES, -1);
            }
        } finally {
            opened.values().forEach(Records::close);
        }
        cold();
        Scratch.delete(directory);
        List<Report> reports = new ArrayList<>(List.of(aims(), warm, heap));
        if (setting.coldRounds() > 0) {
            reports.add(2, cold);
        }
        return reports;
    }

    private void load(Map<Peer, Records> opened) {
        while (draw.recordCount() < setting.records()) {
            List<Operation> some = draw.load(setting.records());
            opened.values().forEach(records -> {
                long _ = records.ask(some, Depth.ONE_VALUE);
            });
        }
        opened.values().forEach(Records::settle);
    }

    private void turns(Map<Peer, Records> opened, Mix mix, Depth depth, int round) {
        List<Operation> operations = draw.operations(mix, operations(mix));
        Answers answers = new Answers(mix);
        for (Peer peer : order(round)) {
            Records records = opened.get(peer);
            if (records == null) {
                throw new IllegalStateException(peer + " is not open");
            }
            Spent spent = Spent.of(() -> {
                long answer = records.ask(operations, depth);
                records.settle();
                return answer;
            });
            answers.check(peer, spent);
            if (round >= 0) {
                note(warm, mix.title(), peer, spent, operations.size());
                heap.add(mix.title(), peer.title(), spent.heapBytes() / 1e3 / operations.size());
            }
        }
    }

    private static void note(Report report, String work, Peer peer, Spent spent, int operations) {
        report.add(work, peer.title(), spent.cpuNanos() / 1e3 / operations);
        report.add(
                work + LESS,
                peer.title(),
                (spent.cpuNanos() - spent.compilerNanos()) / 1e3 / operations);
    }

    private void cold() throws IOException {
        ColdProcess process = new ColdProcess(directory, budget);
        boolean withCache = setting.coldRounds() > 0 && ColdProcess.takesAotCache();
        for (Mix mix : withCache ? setting.mixes() : List.<Mix>of()) {
            coldTurns(
                    mix,
                    null,
                    0,
                    (peer, file) -> process.makeAotCache(peer, file, cache(peer, mix)));
        }
        for (int round = 0; round < setting.coldRounds(); round++) {
            for (Mix mix : setting.mixes()) {
                coldTurns(mix, mix.title(), round, process::run);
                if (withCache) {
                    coldTurns(
                            mix,
                            mix.title() + WITH_CACHE,
                            round,
                            (peer, file) -> process.run(peer, file, cache(peer, mix)));
                }
            }
        }
    }

    /** Where a process finds what one before has learnt of its classes. */
    private Path cache(Peer peer, Mix mix) {
        return directory.resolve("%s-%s.aot".formatted(peer, mix));
    }

    private interface ColdTurn {
        Spent run(Peer peer, Path operations) throws IOException;
    }

    /** @param work what it is called in the report; null where it does not count */
    private void coldTurns(Mix mix, @Nullable String work, int round, ColdTurn turn)
            throws IOException {
        Path file = directory.resolve("operations");
        OperationFile.write(file, draw.operations(mix, setting.coldOperations()));
        Answers answers = new Answers(mix);
        for (Peer peer : order(round)) {
            Spent spent = turn.run(peer, file);
            answers.check(peer, spent);
            if (work != null) {
                note(cold, work, peer, spent, setting.coldOperations());
            }
        }
    }

    /** Who began a round ends the next. */
    private static List<Peer> order(int round) {
        List<Peer> order = List.of(Peer.values());
        return Math.floorMod(round, 2) == 0 ? order : order.reversed();
    }

    private Report aims() {
        Aims aims = new Aims();
        for (Mix mix : setting.mixes()) {
            aims.atMost("warm: " + mix.title(), mix.scans() ? 0.8 : 0.5, ratio(warm, mix.title()));
        }
        if (setting.coldRounds() > 0) {
            for (Mix mix : setting.mixes()) {
                aims.atMost("cold: " + mix.title(), 1.2, ratio(cold, mix.title()));
            }
            for (Mix mix : setting.mixes()) {
                String work = mix.title() + WITH_CACHE;
                if (cold.works().contains(work)) {
                    aims.atMost("cold: " + work, 1, ratio(cold, work));
                }
            }
        }
        return aims.into(new Report("Aims and what was seen", Aims.COLUMNS)
                .setting("figure", "CPU of Turbidite in parts of RocksDB's"));
    }

    private static double ratio(Report report, String work) {
        return report.figure(work, TurbiditeRecords.NAME) / report.figure(work, RocksRecords.NAME);
    }
}
