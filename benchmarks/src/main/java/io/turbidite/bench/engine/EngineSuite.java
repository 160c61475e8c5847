package io.turbidite.bench.engine;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Turbidite and RocksDB in one process, turn by turn, on the same tweets. The figure is CPU time of the
 * whole process per operation, background work included; every answer is compared between the engines.
 * The first round warms up and is not counted.
 */
public final class EngineSuite {
    private static final long MIB = 1 << 20;
    private static final int GETS = 200_000;

    private final int upserts;
    private final int rounds;
    private final Path directory;
    private final Report report;
    private final Map<String, Object> answers = new HashMap<>();

    /**
     * @param upserts tweets a round
     * @param rounds counted rounds
     * @param directory for the stores; emptied
     */
    public EngineSuite(int upserts, int rounds, Path directory) {
        this.upserts = upserts;
        this.rounds = rounds;
        this.directory = directory;
        this.report = new Report(
                        "Eager upserts, gets, scans and secondary queries beside RocksDB",
                        List.of("Turbidite", "RocksDB"))
                .setting("machine", Report.machine())
                .setting("tweets", upserts + ", about 500 bytes, 10 % updates")
                .setting(
                        "memory",
                        "write memory 128 MiB, cache 1 GiB, everything in cache; logs on, no"
                                + " sync per write; no compression")
                .setting("figure", "CPU time of the whole process, median of " + rounds)
                .setting(
                        "command",
                        "./turbidite bench engine --upserts %d --rounds %d"
                                .formatted(upserts, rounds));
    }

    public Report run() {
        for (int round = 0; round <= rounds; round++) {
            answers.clear();
            for (boolean ours : List.of(round % 2 == 0, round % 2 != 0)) {
                Path store = directory.resolve("round");
                delete(store);
                createParent(store);
                try (Engine engine = open(ours, store)) {
                    measure(engine, round > 0, 1_000 + round);
                }
                delete(store);
            }
        }
        return report;
    }

    private static Engine open(boolean ours, Path store) {
        return ours
                ? new TurbiditeEngine(store, 128 * MIB, 1024 * MIB)
                : new RocksEngine(store, 128 * MIB, 1024 * MIB);
    }

    private void measure(Engine engine, boolean counts, long seed) {
        TweetSource source = new TweetSource(seed, upserts, 0.1);
        Tweet tweet = new Tweet();
        long allocated = allocatedBytes();
        long cpu = cpuNanos();
        for (int i = 0; i < upserts; i++) {
            source.next(tweet);
            engine.upsert(tweet);
        }
        engine.settle();
        note(engine, counts, "upsert, us", (cpuNanos() - cpu) / 1e3 / upserts);
        note(
                engine,
                counts,
                "upsert, bytes allocated",
                (allocatedBytes() - allocated) / (double) upserts);
        SplittableRandom present = new SplittableRandom(seed);
        timed(engine, counts, "get present, us", GETS, () -> get(engine, source, present));
        SplittableRandom absent = new SplittableRandom(seed + 1);
        timed(engine, counts, "get absent, us", GETS, () -> engine.get(absent.nextLong()));
        answer(engine, counts, "scan, ms", 3, engine::scan);
        answer(engine, counts, "secondary query 1 %, ms", 5, () -> engine.byUser(20_000, 20_999));
        answer(engine, counts, "secondary query 10 %, ms", 3, () -> engine.byUser(40_000, 49_999));
        note(engine, counts, "disk, MiB", engine.diskBytes() / (double) MIB);
    }

    private static long get(Engine engine, TweetSource source, SplittableRandom chooser) {
        int user = engine.get(source.pastId(chooser));
        if (user < 0) {
            throw new IllegalStateException(engine.name() + " has lost a tweet");
        }
        return user;
    }

    private void timed(
            Engine engine, boolean counts, String work, int times, LongSupplier operation) {
        long sum = 0;
        long cpu = cpuNanos();
        for (int i = 0; i < times; i++) {
            sum += operation.getAsLong();
        }
        note(engine, counts, work, (cpuNanos() - cpu) / 1e3 / times);
        check(work, sum);
    }

    private void answer(
            Engine engine,
            boolean counts,
            String work,
            int times,
            java.util.function.Supplier<Answer> query) {
        check(work, query.get());
        long cpu = cpuNanos();
        for (int i = 0; i < times; i++) {
            check(work, query.get());
        }
        note(engine, counts, work, (cpuNanos() - cpu) / 1e6 / times);
    }

    private void note(Engine engine, boolean counts, String work, double figure) {
        if (counts) {
            report.add(work, engine.name(), figure);
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

    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    private static void createParent(Path store) {
        try {
            Files.createDirectories(store);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void delete(Path store) {
        if (!Files.exists(store)) {
            return;
        }
        try (Stream<Path> files = Files.walk(store)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
