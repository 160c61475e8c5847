package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Turbidite and its peers in one process, turn by turn, on the same tweets. The figure is CPU time
 * of the whole process per operation, background work included; every answer is compared between
 * the engines. The first rounds warm up and are not counted: every engine does the same work in
 * them, on tweets of its own, and its answers are compared too.
 */
public final class EngineSuite {
    private static final int GETS = 200_000;

    /**
     * How often each scan and query is asked. The system counts a process's CPU in hundredths of a
     * second: of a tenth of a second that would be a tenth.
     */
    private static final int SCANS = 10;

    private static final int LARGE_QUERIES = 10;
    private static final int SMALL_QUERIES = 100;

    /**
     * How often in a round that warms up. Asked a dozen times, their code is still being compiled
     * in the second counted round, and the compiler's CPU is a third of their cost.
     */
    private static final int WARM_UPS = 40;

    private final int upserts;
    private final int warmUpRounds;
    private final int rounds;
    private final Durability durability;
    private final Path directory;
    private final Aims aims = new Aims();

    /**
     * @param upserts tweets a round
     * @param warmUpRounds rounds before those, at least 0: the compiler's work is a share of the
     *     first ones
     * @param rounds counted rounds
     * @param durability of all engines that have a log
     * @param directory for the stores; emptied
     */
    public EngineSuite(
            int upserts, int warmUpRounds, int rounds, Durability durability, Path directory) {
        this.upserts = upserts;
        this.warmUpRounds = warmUpRounds;
        this.rounds = rounds;
        this.durability = durability;
        this.directory = directory;
    }

    /** How many scenarios there are; they are numbered from 1. */
    public static int scenarioCount() {
        return Scenario.all().size();
    }

    /** Runs the scenarios of these numbers, each into a report of its own. */
    public List<Report> run(List<Integer> numbers) {
        List<Report> reports = new ArrayList<>();
        for (int number : numbers) {
            reports.add(new Turns(Scenario.all().get(number - 1), number).run());
        }
        reports.add(aims.into(new Report("Aims and what was seen", Aims.COLUMNS)));
        return reports;
    }

    /** One scenario: the engines take turns, and whoever began a round ends the next. */
    private final class Turns {
        private final Scenario scenario;
        private final int number;
        private final Report report;
        private final Map<String, Object> answers = new HashMap<>();

        Turns(Scenario scenario, int number) {
            this.scenario = scenario;
            this.number = number;
            this.report = new Report(scenario.title(), scenario.engineNames())
                    .setting("machine", Report.machine())
                    .setting(
                            scenario.size().plural(),
                            "%,d a round, %s".formatted(upserts, scenario.size().words()))
                    .setting("memory", scenario.memory())
                    .setting("components", scenario.components())
                    .setting("durability", safety() + "; Hyracks has no log; no compression")
                    .setting(
                            "figure",
                            "CPU time of the whole process, median of %d rounds; \"less the compiler\": without its threads"
                                    .formatted(rounds))
                    .setting(
                            "warm-up",
                            "%d round%s of all engines before those, not counted"
                                    .formatted(warmUpRounds, warmUpRounds == 1 ? "" : "s"))
                    .setting(
                            "command",
                            "./turbidite bench engine --upserts %d --warm-up %d --rounds %d --durability %s --scenarios %d"
                                    .formatted(upserts, warmUpRounds, rounds, durability, number));
        }

        private String safety() {
            return durability == Durability.BUFFERED
                    ? "logs are written every millisecond, and not synced"
                    : "an upsert returns when the operating system has it; no sync";
        }

        private void aims() {
            aim("get present, us", "RocksDB", 0.7);
            aim("get absent, us", "RocksDB", 0.6);
            aim("query by secondary, 10 %, ms", "RocksDB", 0.6);
            aim("upsert, us", "RocksDB", 1 / 2.0);
            aim("scan, ms", "RocksDB", 1 / 1.3);
            aim(Turn.written(scenario.size()), "RocksDB", 0.8);
            aim(disk(), "RocksDB", 1.1);
            if (scenario.withHyracks()) {
                aim("get present, us", "Hyracks", 0.4);
                aim("get absent, us", "Hyracks", 0.4);
                aim("upsert, us", "Hyracks", 1 / 2.5);
                aim("scan, ms", "Hyracks", 1 / 1.3);
            }
        }

        private void aim(String work, String peer, double ratio) {
            double seen = report.figure(work, "Turbidite") / report.figure(work, peer);
            aims.atMost("table %d: %s, of %s's".formatted(number, work, peer), ratio, seen);
        }

        Report run() {
            int engines = scenario.engineNames().size();
            for (int round = 0; round < warmUpRounds + rounds; round++) {
                answers.clear();
                for (int turn = 0; turn < engines; turn++) {
                    Path store = Scratch.empty(directory.resolve("engine"));
                    int engine = round % 2 == 0 ? turn : engines - 1 - turn;
                    try (Engine opened = scenario.open(engine, store, durability)) {
                        measure(opened, round >= warmUpRounds, 1_000 + round);
                    }
                    Scratch.delete(store);
                }
            }
            aims();
            return report;
        }

        private void measure(Engine engine, boolean counts, long seed) {
            TweetSource source =
                    new TweetSource(seed, upserts, scenario.updateRatio(), scenario.size());
            Turn turn = new Turn(engine, counts, report, scenario.size(), answers);
            turn.ingest(source, upserts);
            double liveBytes =
                    (double) (source.distinctCount() * scenario.size().meanBytes());
            turn.note(disk(), engine.diskBytes() / liveBytes);
            engine.diskParts()
                    .forEach((part, bytes) -> turn.note("disk: " + part, bytes / liveBytes));
            // what the cache has room for is in it from now on, whoever wrote it
            turn.askOnce("first scan, ms", engine::scan);
            turn.gets(source, GETS, seed);
            long allocated = Costs.allocatedBytes();
            long rows = ask(turn, "scan, ms", SCANS, engine::scan);
            // a round that warms up scans more often; its figure is not noted
            turn.note(
                    "scan, bytes allocated a row",
                    (Costs.allocatedBytes() - allocated) / ((1.0 + SCANS) * rows));
            long _ = ask(
                    turn,
                    "query by secondary, 1 %, ms",
                    SMALL_QUERIES,
                    () -> engine.byAttribute(20_000, 20_999));
            long _ = ask(
                    turn,
                    "query by secondary, 10 %, ms",
                    LARGE_QUERIES,
                    () -> engine.byAttribute(40_000, 49_999));
        }

        private long ask(Turn turn, String work, int times, Supplier<Answer> query) {
            return turn.ask(work, 1e6, turn.counts() ? times : WARM_UPS, query).rows();
        }

        private String disk() {
            return "disk, bytes / byte of live " + scenario.size().plural();
        }
    }
}
