package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * What more writing threads cost: CPU time of the whole process per upsert, with the same number of
 * upserts done by one thread, by two and by four. Every thread has tweets of its own.
 */
public final class WritersSuite {
    private static final long MIB = 1 << 20;
    private static final List<Integer> WRITERS = List.of(4, 2, 1);
    private static final List<String> NAMES = List.of("four writers", "two writers", "one writer");

    private final int upserts;
    private final int rounds;
    private final Path directory;

    /**
     * @param upserts of all threads together
     * @param rounds counted rounds; one more warms up
     * @param directory for the stores; emptied
     */
    public WritersSuite(int upserts, int rounds, Path directory) {
        this.upserts = upserts;
        this.rounds = rounds;
        this.directory = directory;
    }

    public Report run() {
        Report report = new Report("Eager upserts by one, two and four writing threads", NAMES)
                .setting("machine", Report.machine())
                .setting("tweets", "%,d a round, 10 %% updates".formatted(upserts))
                .setting("figure", "CPU time of the whole process, median of " + rounds)
                .setting(
                        "command",
                        "./turbidite bench writers --upserts %d --rounds %d"
                                .formatted(upserts, rounds));
        for (int round = 0; round <= rounds; round++) {
            for (int turn = 0; turn < WRITERS.size(); turn++) {
                // who begins a round ends the next
                int at = round % 2 == 0 ? turn : WRITERS.size() - 1 - turn;
                double micros = measure(WRITERS.get(at), 1_000 + round);
                if (round > 0) {
                    report.add("upsert, us", NAMES.get(at), micros);
                }
            }
        }
        return report;
    }

    private double measure(int writers, long seed) {
        Path store = Scratch.empty(directory.resolve("writers"));
        PeerOptions options = new PeerOptions(store, 128 * MIB, 256 * MIB, 1, false);
        long cpu;
        try (Engine engine = new TurbiditeEngine(options)) {
            cpu = Costs.cpuNanos();
            List<FutureTask<Long>> works = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                long source = seed * 10 + i;
                FutureTask<Long> work =
                        new FutureTask<>(() -> write(engine, source, upserts / writers));
                works.add(work);
                Thread.ofPlatform().name("writer-" + i).start(work);
            }
            long distinct = 0;
            for (FutureTask<Long> work : works) {
                distinct += work.get();
            }
            engine.settle();
            cpu = Costs.cpuNanos() - cpu;
            long rows = engine.scan().rows();
            if (rows != distinct) {
                throw new IllegalStateException(
                        "%d tweets were written, %d are there".formatted(distinct, rows));
            }
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        Scratch.delete(store);
        return cpu / 1e3 / upserts;
    }

    private static long write(Engine engine, long seed, int count) {
        TweetSource source = new TweetSource(seed, count, 0.1);
        Engine.Writer writer = engine.newWriter();
        Tweet tweet = new Tweet();
        for (int i = 0; i < count; i++) {
            source.next(tweet);
            writer.upsert(tweet);
        }
        return source.distinctCount();
    }
}
