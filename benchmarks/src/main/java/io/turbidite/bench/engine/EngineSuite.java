package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
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
                    .setting("tweets", "%,d a round, about 500 bytes".formatted(upserts))
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
            aim("upsert, bytes written / byte of tweets", "RocksDB", 0.8);
            aim("disk, bytes / byte of live tweets", "RocksDB", 1.1);
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
            TweetSource source = new TweetSource(seed, upserts, scenario.updateRatio());
            ingest(engine, counts, source);
            double liveBytes = (double) (source.distinctCount() * Tweet.meanBytes());
            note(
                    engine,
                    counts,
                    "disk, bytes / byte of live tweets",
                    engine.diskBytes() / liveBytes);
            engine.diskParts()
                    .forEach((part, bytes) ->
                            note(engine, counts, "disk: " + part, bytes / liveBytes));
            // what the cache has room for is in it from now on, whoever wrote it
            timedOnce(engine, counts, "first scan, ms", engine::scan);
            SplittableRandom present = new SplittableRandom(seed);
            timed(engine, counts, "get present, us", () -> get(engine, source, present));
            SplittableRandom absent = new SplittableRandom(seed + 1);
            timed(engine, counts, "get absent, us", () -> engine.get(absent.nextLong()));
            long allocated = Costs.allocatedBytes();
            long rows = answer(engine, counts, "scan, ms", SCANS, engine::scan);
            if (counts) {
                report.add(
                        "scan, bytes allocated a row",
                        engine.name(),
                        (Costs.allocatedBytes() - allocated) / ((1.0 + SCANS) * rows));
            }
            answer(
                    engine,
                    counts,
                    "query by secondary, 1 %, ms",
                    SMALL_QUERIES,
                    () -> engine.byAttribute(20_000, 20_999));
            answer(
                    engine,
                    counts,
                    "query by secondary, 10 %, ms",
                    LARGE_QUERIES,
                    () -> engine.byAttribute(40_000, 49_999));
        }

        private void ingest(Engine engine, boolean counts, TweetSource source) {
            Tweet tweet = new Tweet();
            Engine.Writer writer = engine.newWriter();
            long allocated = Costs.allocatedBytes();
            long written = writtenButZeros(engine);
            Spent spent = new Spent();
            for (int i = 0; i < upserts; i++) {
                source.next(tweet);
                writer.upsert(tweet);
            }
            engine.settle();
            spent.note(engine, counts, "upsert, us", 1e3 * upserts);
            note(
                    engine,
                    counts,
                    "upsert, bytes allocated",
                    (Costs.allocatedBytes() - allocated) / (double) upserts);
            double bytes = (double) upserts * Tweet.meanBytes();
            note(
                    engine,
                    counts,
                    "upsert, bytes written / byte of tweets",
                    (writtenButZeros(engine) - written) / bytes);
            note(
                    engine,
                    counts,
                    "log space written ahead, once / byte of tweets",
                    engine.aheadBytes() / bytes);
        }

        /**
         * All bytes written so far but zeros that set space aside: those of the opening belong to
         * no count, and those that come meanwhile to neither figure of one.
         */
        private static long writtenButZeros(Engine engine) {
            long zeros;
            long written;
            do {
                zeros = engine.aheadBytes();
                written = Costs.writtenBytes() + engine.storedBytes();
            } while (engine.aheadBytes() != zeros);
            return written - zeros;
        }

        private long get(Engine engine, TweetSource source, SplittableRandom chooser) {
            int attribute = engine.get(source.pastId(chooser));
            if (attribute < 0) {
                throw new IllegalStateException(engine.name() + " has lost a tweet");
            }
            return attribute;
        }

        private void timed(Engine engine, boolean counts, String work, LongSupplier operation) {
            long sum = 0;
            Spent spent = new Spent();
            for (int i = 0; i < GETS; i++) {
                sum += operation.getAsLong();
            }
            spent.note(engine, counts, work, 1e3 * GETS);
            check(work, sum);
        }

        private void timedOnce(Engine engine, boolean counts, String work, Supplier<Answer> query) {
            Spent spent = new Spent();
            check(work, query.get());
            spent.note(engine, counts, work, 1e6);
        }

        /** Asks once to warm the cache, then so often; returns the count of rows. */
        private long answer(
                Engine engine,
                boolean counts,
                String work,
                int countedTimes,
                Supplier<Answer> query) {
            int times = counts ? countedTimes : WARM_UPS;
            Answer first = query.get();
            check(work, first);
            Spent spent = new Spent();
            for (int i = 0; i < times; i++) {
                check(work, query.get());
            }
            spent.note(engine, counts, work, 1e6 * times);
            return first.rows();
        }

        private void note(Engine engine, boolean counts, String work, double figure) {
            if (counts) {
                report.add(work, engine.name(), figure);
            }
        }

        /** CPU time from its making on. */
        private final class Spent {
            private final long compiler = Costs.compilerNanos();
            private final long all = Costs.cpuNanos();

            /** Notes it for {@code work}, in units of {@code nanos}; also without the compiler. */
            void note(Engine engine, boolean counts, String work, double nanos) {
                long spent = Costs.cpuNanos() - all;
                long compiled = Costs.compilerNanos() - compiler;
                Turns.this.note(engine, counts, work, spent / nanos);
                String less = work + ", less the compiler";
                Turns.this.note(engine, counts, less, (spent - compiled) / nanos);
            }
        }

        /** The same work must give the same answer, whoever does it. */
        private void check(String work, Object answer) {
            Object before = answers.putIfAbsent(work, answer);
            if (before != null && !before.equals(answer)) {
                throw new IllegalStateException(
                        "%s: one engine says %s, the other %s".formatted(work, before, answer));
            }
        }
    }
}
