package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Reads alone, everything in the cache and all code warm: each engine is loaded once, then they
 * take turns at each kind of read, round after round. Noise of a shared machine hits all of them
 * alike, and with one engine chosen it is what a profiler should look at.
 */
public final class ReadSuite {
    private static final int WARM_UP_ROUNDS = 3;
    private static final int GETS = 200_000;

    private final int upserts;
    private final int rounds;
    private final Scenario scenario;
    private final List<String> engines;
    private final Path directory;
    private final Map<String, Object> answers = new HashMap<>();

    /**
     * @param upserts tweets to load
     * @param rounds counted rounds
     * @param scenario how: number 1 to 4 of the engine's tables
     * @param engines by name; empty for all of the scenario
     * @param directory for the stores; emptied
     */
    public ReadSuite(int upserts, int rounds, int scenario, List<String> engines, Path directory) {
        this.upserts = upserts;
        this.rounds = rounds;
        this.scenario = Scenario.all().get(scenario - 1);
        this.engines = engines.isEmpty() ? this.scenario.engineNames() : List.copyOf(engines);
        this.directory = directory;
    }

    public Report run() {
        Report report = new Report("Reads: " + scenario.title(), engines)
                .setting("machine", Report.machine())
                .setting("tweets", "%,d upserts, about 500 bytes".formatted(upserts))
                .setting(
                        "figure",
                        "CPU time of the whole process, median of %d rounds".formatted(rounds));
        TweetSource source = new TweetSource(1, upserts, scenario.updateRatio());
        List<Engine> opened = new ArrayList<>();
        try {
            for (String name : engines) {
                Path place = Scratch.empty(directory.resolve("reads-" + name));
                opened.add(scenario.open(
                        scenario.engineNames().indexOf(name), place, Durability.PROCESS));
                long allocated = Costs.allocatedBytes();
                source = load(opened.getLast());
                report.add(
                        "upsert, bytes allocated",
                        name,
                        (Costs.allocatedBytes() - allocated - 8.0 * upserts) / upserts);
            }
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                for (Engine engine : opened) {
                    read(engine, source, round, report);
                }
            }
            double liveBytes = source.distinctCount() * (double) Tweet.meanBytes();
            for (Engine engine : opened) {
                report.add("disk, bytes / byte", engine.name(), engine.diskBytes() / liveBytes);
                engine.diskParts()
                        .forEach((part, bytes) ->
                                report.add("disk: " + part, engine.name(), bytes / liveBytes));
            }
        } finally {
            opened.forEach(Engine::close);
            engines.forEach(name -> Scratch.delete(directory.resolve("reads-" + name)));
        }
        return report;
    }

    private TweetSource load(Engine engine) {
        TweetSource source = new TweetSource(1, upserts, scenario.updateRatio());
        Tweet tweet = new Tweet();
        Engine.Writer writer = engine.newWriter();
        for (int i = 0; i < upserts; i++) {
            source.next(tweet);
            writer.upsert(tweet);
        }
        engine.settle();
        return source;
    }

    private void read(Engine engine, TweetSource source, int round, Report report) {
        SplittableRandom present = new SplittableRandom(round);
        SplittableRandom absent = new SplittableRandom(round + 1_000L);
        timed(engine, round, report, "get present, us", 1e3 * GETS, () -> {
            long sum = 0;
            for (int i = 0; i < GETS; i++) {
                sum += engine.get(source.pastId(present));
            }
            return new Answer(GETS, sum);
        });
        timed(engine, round, report, "get absent, us", 1e3 * GETS, () -> {
            long sum = 0;
            for (int i = 0; i < GETS; i++) {
                sum += engine.get(absent.nextLong());
            }
            return new Answer(GETS, sum);
        });
        timed(engine, round, report, "scan, ms", 1e6, engine::scan);
        timed(
                engine,
                round,
                report,
                "query by secondary, 10 %, ms",
                1e6,
                () -> engine.byAttribute(40_000, 49_999));
    }

    private void timed(
            Engine engine,
            int round,
            Report report,
            String work,
            double unitNanos,
            Supplier<Answer> reads) {
        long cpu = Costs.cpuNanos();
        Answer answer = reads.get();
        cpu = Costs.cpuNanos() - cpu;
        if (round >= 0) {
            report.add(work, engine.name(), cpu / unitNanos);
        }
        Object before = answers.putIfAbsent(work + " of round " + round, answer);
        if (before != null && !before.equals(answer)) {
            throw new IllegalStateException(
                    "%s: %s says %s, others %s".formatted(work, engine.name(), answer, before));
        }
    }
}
