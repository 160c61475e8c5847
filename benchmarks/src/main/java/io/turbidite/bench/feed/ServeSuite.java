package io.turbidite.bench.feed;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * What a served store costs beside its work: at rest, with idle connections, with an open console,
 * with a scraper; and how soon a record that comes by TCP is seen.
 *
 * <p>The server is a process of its own, which has nothing else to do, and its CPU time is the
 * figure. How soon a record is seen is measured in one process, whose reader asks for it.
 */
public final class ServeSuite {
    private static final int CONNECTIONS = 1_000;

    /** Half of the rate that TCP is to take, in packets of 5 ms. */
    private static final int INGESTED_A_SECOND = 50_000;

    private static final int PACKET_SIZE =
            (int) (INGESTED_A_SECOND * PacedSender.STEP_NANOS / 1_000_000_000);

    /** Twenty times as often as is asked for: one a second lies below what can be measured. */
    private static final int SCRAPES_A_SECOND = 20;

    private static final int WARM_SCRAPES_A_SECOND = 50;
    private static final long SECOND_NANOS = 1_000_000_000;

    private static final int SETTLE_SECONDS = 10;

    /** What was ingested is flushed and merged by then, and its code compiled. */
    private static final int SETTLE_WINDOWS_MAX = 18;

    /** Two steps of the clock of a process: a server whose windows differ by less is at rest. */
    private static final double SETTLED_CPU_MILLIS = 20;

    private final int count;
    private final int seconds;
    private final Path directory;
    private final Token.Made token =
            Token.make("sender", EnumSet.of(Right.READ, Right.WRITE), List.of("*"), List.of("*"));

    /**
     * @param count tweets there are; they come again where more are needed
     * @param seconds of each figure
     * @param directory for the stores; emptied
     */
    public ServeSuite(int count, int seconds, Path directory) {
        this.count = count;
        this.seconds = seconds;
        this.directory = directory;
    }

    public List<Report> run() throws IOException {
        Path place = Scratch.empty(directory.resolve("serve"));
        String definition = FeedSuite.definition("kind: tcp", 1);
        FeedDefinition shape = FeedDefinition.parse("tweets.yaml", place, definition);
        FeedTweets tweets =
                new FeedTweets(count, shape.dataset().type(), place.resolve("tweets.json"));
        Aims aims = new Aims();
        Report report = new Report("A served store: the aims", Aims.COLUMNS)
                .setting("machine", Report.machine())
                .setting("data", "%d tweets of about 500 bytes, 1 secondary".formatted(count))
                .setting("figure", "CPU of the server's process in %d s each".formatted(seconds))
                .setting(
                        "command",
                        "./turbidite bench serve --records %d --seconds %d"
                                .formatted(count, seconds));
        Path yaml = Files.writeString(place.resolve("tweets.yaml"), definition);
        Path tokens = Files.writeString(place.resolve("tokens"), token.kept().toLine() + "\n");
        Path store = place.resolve("store");
        Store.open(store, StoreOptions.defaults()).close(); // serve makes none
        try (ServedProcess server = ServedProcess.start(store, yaml, "tweets", tokens)) {
            measure(server, tweets, aims, report);
        }
        VisibleRun.Figures seen = new VisibleRun(seconds, tweets, place, token).run();
        aims.atMost("from the socket to visible, p99, ms", 20, seen.p99Millis());
        report.setting(
                "from the socket to visible",
                "p50 %.2f ms, p99 %.2f ms, most %.1f ms of %d packets of 5 ms, %.0f records a second, durability interval"
                        .formatted(
                                seen.p50Millis(),
                                seen.p99Millis(),
                                seen.maxMillis(),
                                seen.samples(),
                                seen.recordsASecond()));
        Scratch.delete(place);
        return List.of(aims.into(report));
    }

    private void measure(ServedProcess server, FeedTweets tweets, Aims aims, Report report)
            throws IOException {
        double ingestion = ingestion(server, tweets);
        double scrape = scrape(server);
        report.setting("settled", settle(server) + " s after the last record and scrape");
        double idle = atRest(server, seconds);
        aims.atMost("CPU at rest, % of a processor", 0.5, idle);
        try (Console console = Console.open(server.web(), token)) {
            settle(server); // the first answers are compiled
            aims.atMost(
                    "CPU of an open console at rest, % of a processor",
                    1, atRest(server, seconds) - idle);
            if (console.eventBytes() == 0) {
                throw new IllegalStateException("the console heard nothing");
            }
        }
        scrape -= idle / 100 / SCRAPES_A_SECOND;
        report.setting(
                "scrape",
                "%.2f ms of CPU, by %d a second".formatted(scrape * 1e3, SCRAPES_A_SECOND));
        report.setting(
                "ingestion",
                "%d records a second, %.1f %% of a processor"
                        .formatted(INGESTED_A_SECOND, ingestion * 100));
        aims.atMost("CPU of a scrape each second, % of ingestion's", 1, 100 * scrape / ingestion);
        connections(server, idle, aims);
    }

    /** Seconds of CPU a second while records come. */
    private double ingestion(ServedProcess server, FeedTweets tweets) throws IOException {
        try (PacedSender sender = new PacedSender(server.lines(), token, tweets)) {
            int packets = (int) (seconds * SECOND_NANOS / PacedSender.STEP_NANOS);
            sender.send(packets, PACKET_SIZE, System.nanoTime()); // warms up
            long start = System.nanoTime();
            long cpu = server.cpuNanos();
            sender.send(packets, PACKET_SIZE, start);
            return (server.cpuNanos() - cpu) / (double) (System.nanoTime() - start);
        }
    }

    /**
     * Waits until the server has only its own rhythm left: flushes, merges and compiling are done.
     *
     * @return seconds waited
     */
    private int settle(ServedProcess server) {
        int window = Math.min(seconds, SETTLE_SECONDS);
        double before = atRest(server, window);
        for (int windows = 2; windows <= SETTLE_WINDOWS_MAX; windows++) {
            double now = atRest(server, window);
            if (Math.abs(before - now) / 100 * window * 1e3 <= SETTLED_CPU_MILLIS) {
                return windows * window;
            }
            before = now;
        }
        return SETTLE_WINDOWS_MAX * window;
    }

    /** Percent of a processor in some seconds in which nobody asks for more. */
    private double atRest(ServedProcess server, int span) {
        long start = System.nanoTime();
        long cpu = server.cpuNanos();
        rest(span * SECOND_NANOS);
        return 100.0 * (server.cpuNanos() - cpu) / (System.nanoTime() - start);
    }

    /** Seconds of CPU of one scrape, what runs beside it at rest included. */
    private double scrape(ServedProcess server) throws IOException {
        try (Asker asker = Asker.open(server.web(), token)) {
            for (int i = 0; i < seconds * WARM_SCRAPES_A_SECOND; i++) {
                asker.get("/metrics");
            }
            int scrapes = seconds * SCRAPES_A_SECOND;
            long start = System.nanoTime();
            long cpu = server.cpuNanos();
            for (int i = 0; i < scrapes; i++) {
                rest(start + i * (SECOND_NANOS / SCRAPES_A_SECOND) - System.nanoTime());
                asker.get("/metrics");
            }
            return (server.cpuNanos() - cpu) / 1e9 / scrapes;
        }
    }

    /** Each has had one answer, and says nothing more. */
    private void connections(ServedProcess server, double idle, Aims aims) throws IOException {
        long before = server.residentBytes();
        List<Asker> askers = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                Asker asker = Asker.open(server.web(), token);
                askers.add(asker);
                asker.get("/health/ready");
            }
            settle(server);
            aims.atMost(
                    "memory of 1,000 idle connections, MiB",
                    64,
                    (server.residentBytes() - before) / (double) (1 << 20));
            aims.atMost(
                    "CPU of 1,000 idle connections, % of a processor",
                    0.5, atRest(server, seconds) - idle);
        } finally {
            for (Asker asker : askers) {
                asker.close();
            }
        }
    }

    private void rest(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }
}
