package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Resident memory of a process that does nothing but use a store, against what it was allowed:
 * budget (write memory and cache) + heap limit + what an idle JVM of the same options takes. The
 * work runs in child processes: ingestion, gets, scan and a query by a secondary index.
 */
public final class MemoryRun {
    private static final long MIB = 1 << 20;
    private static final long WRITE_MEMORY = 128 * MIB;
    private static final long CACHE = 256 * MIB;
    private static final long HEAP = 128 * MIB;

    private final int upserts;
    private final Path directory;

    public MemoryRun(int upserts, Path directory) {
        this.upserts = upserts;
        this.directory = directory;
    }

    /** Measures in two children: one idle, one at work. */
    public Report run() throws IOException, InterruptedException {
        double idle = child("idle");
        double work = child("work");
        double budget = (WRITE_MEMORY + CACHE + HEAP) / (double) MIB;
        Report report = new Report(
                        "Resident memory against what was allowed, MiB",
                        List.of("at work", "allowed"))
                .setting("machine", Report.machine())
                .setting(
                        "allowed",
                        "write memory %d + cache %d + heap limit %d + an idle JVM's %.0f MiB"
                                .formatted(WRITE_MEMORY / MIB, CACHE / MIB, HEAP / MIB, idle))
                .setting(
                        "work",
                        "%,d tweets of 500 bytes, 10 %% updates, one secondary index; gets, scan, query"
                                .formatted(upserts))
                .setting("command", "./turbidite bench memory --upserts " + upserts);
        report.add("resident at most", "at work", work);
        report.add("resident at most", "allowed", budget + idle);
        return report;
    }

    private double child(String task) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + HEAP,
                // the default is the heap limit, and the budget is larger than that
                "-XX:MaxDirectMemorySize=1g",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                MemoryRun.class.getName(),
                task,
                String.valueOf(upserts),
                directory.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(
                process.getInputStream().readAllBytes(),
                java.nio.charset.StandardCharsets.US_ASCII);
        if (process.waitFor() != 0) {
            throw new IllegalStateException("the child failed: " + output);
        }
        return Double.parseDouble(output.strip());
    }

    /** The child: does its work, prints the most resident memory it ever had in MiB. */
    public static void main(String[] arguments) {
        if (arguments[0].equals("work")) {
            work(Integer.parseInt(arguments[1]), Path.of(arguments[2]));
        }
        System.out.println(Costs.residentBytesMax() / (double) MIB);
    }

    private static void work(int upserts, Path directory) {
        Path store = Scratch.empty(directory.resolve("memory"));
        try (Engine engine =
                new TurbiditeEngine(new PeerOptions(store, WRITE_MEMORY, CACHE, 1, false))) {
            TweetSource source = new TweetSource(1, upserts, 0.1);
            Tweet tweet = new Tweet();
            Engine.Writer writer = engine.newWriter();
            for (int i = 0; i < upserts; i++) {
                source.next(tweet);
                writer.upsert(tweet);
            }
            engine.settle();
            SplittableRandom random = new SplittableRandom(1);
            for (int i = 0; i < upserts / 5; i++) {
                engine.get(source.pastId(random));
            }
            if (engine.scan().rows() != source.distinctCount()) {
                throw new IllegalStateException("the scan lacks tweets");
            }
            engine.byAttribute(0, 9_999);
        }
        Scratch.delete(store);
    }
}
