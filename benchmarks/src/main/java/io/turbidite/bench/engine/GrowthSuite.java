package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RecordSize;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What an operation costs as data grows: stores of several sizes in the same memory, one after the
 * other in each round, beside RocksDB. The figure is CPU time of the whole process per operation,
 * background work included; every answer is compared between the engines.
 */
public final class GrowthSuite {
    private static final long MIB = 1 << 20;
    private static final double UPDATE_RATIO = 0.1;

    /**
     * How many records a store's scans read together: the system counts a process's CPU in
     * hundredths of a second, and one scan of a small store takes few of those.
     */
    private static final int SCANNED = 10_000_000;

    private static final int SCANS_MAX = 100;

    /** What ten times the records may cost for each, of what the fewer do. */
    private static final double TENFOLD = 1.3;

    private static final List<String> WORKS =
            List.of("upsert, us", "get present, us", "get absent, us", "scan, us a record");
    private static final List<String> ENGINES = List.of("Turbidite", "RocksDB");
    private static final List<Function<PeerOptions, Engine>> OPENERS =
            List.of(TurbiditeEngine::new, RocksEngine::bounded);

    /**
     * What is run.
     *
     * @param size of the records
     * @param sizes upserts of each store, the fewest first
     * @param gets of keys that are there in each store, and so many of others
     * @param warmUpRounds rounds before those that count, at least 0
     * @param rounds counted rounds
     * @param writeMemoryMib memory components of all indexes together, MiB
     * @param cacheMib the buffer cache, MiB
     */
    public record Setting(
            RecordSize size,
            List<Integer> sizes,
            int gets,
            int warmUpRounds,
            int rounds,
            int writeMemoryMib,
            int cacheMib) {
        public Setting {
            sizes = sizes.stream().sorted().distinct().toList();
            if (sizes.size() < 2 || sizes.getFirst() < 1) {
                throw new IllegalArgumentException(
                        "sizes %s: growth needs two different ones, each at least 1"
                                .formatted(sizes));
            }
        }
    }

    private final Setting setting;
    private final Path directory;
    private final Report report;

    /** @param directory for the stores; emptied */
    public GrowthSuite(Setting setting, Path directory) {
        this.setting = setting;
        this.directory = directory;
        RecordSize size = setting.size();
        String sizes =
                String.join(",", setting.sizes().stream().map(String::valueOf).toList());
        report = new Report("What an operation costs as data grows", ENGINES)
                .setting("machine", Report.machine())
                .setting(
                        size.plural(),
                        "%s of %s, 10 %% of them updates, 1 secondary index"
                                .formatted(counts(setting.sizes()), size.words()))
                .setting(
                        "memory",
                        "write memory %d MiB, RocksDB's memtables together bounded by it; cache %,d MiB, each"
                                .formatted(setting.writeMemoryMib(), setting.cacheMib()))
                .setting("components", "through the page cache; no compression")
                .setting(
                        "durability", "an upsert returns when the operating system has it; no sync")
                .setting(
                        "figure",
                        "CPU time of the whole process, median of %d rounds; \"less the compiler\": without its threads"
                                .formatted(setting.rounds()))
                .setting(
                        "warm-up",
                        "%d round%s before those, not counted"
                                .formatted(
                                        setting.warmUpRounds(),
                                        setting.warmUpRounds() == 1 ? "" : "s"))
                .setting(
                        "command",
                        "./turbidite bench growth --records %s --sizes %s --gets %d --warm-up %d --rounds %d --write-memory %d --cache %d"
                                .formatted(
                                        size,
                                        sizes,
                                        setting.gets(),
                                        setting.warmUpRounds(),
                                        setting.rounds(),
                                        setting.writeMemoryMib(),
                                        setting.cacheMib()));
    }

    private static String counts(List<Integer> sizes) {
        return String.join(" and ", sizes.stream().map("%,d"::formatted).toList());
    }

    /** The aims, then all figures. */
    public List<Report> run() {
        for (int round = 0; round < setting.warmUpRounds() + setting.rounds(); round++) {
            for (int upserts : setting.sizes()) {
                Map<String, Object> answers = new HashMap<>();
                for (int turn = 0; turn < ENGINES.size(); turn++) {
                    // who begins a round ends the next
                    int engine = round % 2 == 0 ? turn : ENGINES.size() - 1 - turn;
                    measure(OPENERS.get(engine), upserts, round, answers);
                }
            }
        }
        compareSizes();
        return List.of(aims(), report);
    }

    private void measure(
            Function<PeerOptions, Engine> opener,
            int upserts,
            int round,
            Map<String, Object> answers) {
        Path store = Scratch.empty(directory.resolve("growth"));
        PeerOptions options = new PeerOptions(
                store,
                setting.writeMemoryMib() * MIB,
                setting.cacheMib() * MIB,
                1,
                false,
                Durability.PROCESS);
        long seed = 1_000L + round;
        TweetSource source = new TweetSource(seed, upserts, UPDATE_RATIO, setting.size());
        try (Engine engine = opener.apply(options)) {
            boolean counts = round >= setting.warmUpRounds();
            Turn turn = new Turn(engine, counts, report, setting.size(), answers, atSize(upserts));
            turn.ingest(source, upserts);
            // what the cache has room for is in it from now on, whoever wrote it
            turn.askOnce("first scan, ms", engine::scan);
            turn.gets(source, setting.gets(), seed);
            int distinct = source.distinctCount();
            int scans = Math.clamp(SCANNED / distinct, 1, SCANS_MAX);
            long rows = turn.ask("scan, us a record", 1e3 * distinct, scans, engine::scan)
                    .rows();
            if (rows != distinct) {
                throw new IllegalStateException("%s has %d of %d %s"
                        .formatted(engine.name(), rows, distinct, setting.size().plural()));
            }
        }
        Scratch.delete(store);
    }

    private static String atSize(int upserts) {
        return ", of %,d".formatted(upserts);
    }

    /** Adds what the largest store's operation costs in parts of the smallest one's. */
    private void compareSizes() {
        for (String work : WORKS) {
            for (String compiler : List.of("", ", less the compiler")) {
                for (String engine : ENGINES) {
                    String whole = work + compiler;
                    double most = report.figure(whole + atSize(setting.sizes().getLast()), engine);
                    double least =
                            report.figure(whole + atSize(setting.sizes().getFirst()), engine);
                    report.add(growth(work) + compiler, engine, most / least);
                }
            }
        }
    }

    private static String growth(String work) {
        return work.substring(0, work.indexOf(',')) + ", the largest store beside the smallest";
    }

    private Report aims() {
        Aims aims = new Aims();
        double times = setting.sizes().getLast() / (double) setting.sizes().getFirst();
        double wanted = Math.pow(TENFOLD, Math.log10(times));
        for (String work : WORKS) {
            String growth = growth(work);
            aims.atMost("Turbidite: " + growth, wanted, report.figure(growth, "Turbidite"));
        }
        return aims.into(new Report("Growth: aims and what was seen", Aims.COLUMNS)
                .setting(
                        "aim",
                        "ten times the records cost at most 1.3 times the CPU of each; of %.1f times the records that is %.2f"
                                .formatted(times, wanted)));
    }
}
