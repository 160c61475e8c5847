package io.turbidite.bench.feed;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.web.FilesRoot;
import io.turbidite.feeds.web.ServedStores;
import io.turbidite.feeds.web.WebServer;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * CPU time of the whole process a record, from a source until the store has it and is closed:
 * tweets of 500 bytes, a tenth of them updates, secondaries maintained eagerly, durability {@code
 * interval}. Beside it the same records as batches of ready records, which is what the store alone
 * costs. Clients are part of the process, and do little: they send bytes that are there. A broker
 * of Kafka is a process of its own, and is not counted; what its client costs by itself is.
 *
 * <p>Every store is opened again after its round, and must hold the same records as the first.
 */
public final class FeedSuite {
    /** As many as a feed's batch holds. */
    private static final int BATCH_COUNT = 512;

    private static final String BATCHES = "batches of ready records";
    private static final String FILE = "file";
    private static final String TCP = "TCP";
    private static final String HTTP = "HTTP, 1 MB requests";

    /** The same tweets, a key's all in one of two files. */
    private static final String ONE_WORKER = "two files, 1 worker";

    private static final String TWO_WORKERS = "two files, 2 workers";

    private static final String KAFKA = "Kafka, 3 partitions";
    private static final String CLIENT = "Kafka's client alone";

    private static final String NO_KAFKA =
            "left out: org.apache.kafka:kafka_2.13 is not on the class path";

    /** Most CPU of a file's, or else the least records a second. */
    private static final double TCP_CPU_MAX = 1.15;

    private static final double TCP_RATE_MIN = 100_000;

    private static final long WAIT_NANOS_MAX = TimeUnit.MINUTES.toNanos(2);

    private static final long WAIT_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final int count;
    private final int rounds;
    private final Path directory;
    private final Token.Made token =
            Token.make("sender", EnumSet.of(Right.WRITE), List.of("*"), List.of("*"));

    /**
     * @param count tweets a round
     * @param rounds counted ones; one more warms up
     * @param directory for stores and the file; emptied
     */
    public FeedSuite(int count, int rounds, Path directory) {
        this.count = count;
        this.rounds = rounds;
        this.directory = directory;
    }

    /** Fills a store that is open. */
    @FunctionalInterface
    private interface Way {
        void fill(Store store, FeedTweets tweets) throws IOException;
    }

    static String definition(String source, int secondaries) {
        StringBuilder indexes = new StringBuilder();
        for (int i = 0; i < secondaries; i++) {
            indexes.append("    - { name: by_a%d, kind: btree, on: a%d }%n".formatted(i, i));
        }
        return """
            feed: tweets
            dataset:
              name: Tweets
              type: { id: int64, a0: int32, a1: int32, a2: int32, a3: int32, created: int64, message: string }
              primaryKey: id
              maintenance: eager
              indexes:
            %ssource: { %s }
            parser: { kind: json }
            """.formatted(indexes, source);
    }

    private Map<String, Way> ways(int secondaries, @Nullable KafkaTopic topic) {
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put(BATCHES, (store, tweets) -> batches(store, tweets, secondaries));
        ways.put(FILE, (store, tweets) -> file(store, tweets, secondaries));
        ways.put(TCP, (store, tweets) -> tcp(store, tweets, secondaries));
        ways.put(HTTP, (store, tweets) -> http(store, tweets, secondaries));
        if (secondaries == 2) {
            ways.put(ONE_WORKER, (store, tweets) -> files(store, tweets, 1));
            ways.put(TWO_WORKERS, (store, tweets) -> files(store, tweets, 2));
        }
        if (topic != null) {
            ways.put(KAFKA, (store, tweets) -> kafka(store, tweets, topic, secondaries));
        }
        return ways;
    }

    /** Runs all ways in turn; the aims first. */
    public List<Report> run() throws IOException {
        Path place = Scratch.empty(directory.resolve("feed"));
        FeedDefinition shape = FeedDefinition.parse(
                "tweets.yaml", place, definition("kind: file, path: tweets.json", 1));
        FeedTweets tweets =
                new FeedTweets(count, shape.dataset().type(), place.resolve("tweets.json"));
        tweets.split(Scratch.empty(place.resolve("halves")));
        List<Report> all;
        if (BrokerProcess.isThere()) {
            try (KafkaTopic topic = KafkaTopic.open(place.resolve("broker"), tweets)) {
                all = run(place, tweets, topic);
            }
        } else {
            System.err.println(NO_KAFKA);
            all = run(place, tweets, null);
        }
        Scratch.delete(place);
        return all;
    }

    private List<Report> run(Path place, FeedTweets tweets, @Nullable KafkaTopic topic)
            throws IOException {
        List<String> names = new ArrayList<>(ways(2, topic).keySet());
        if (topic != null) {
            names.add(CLIENT);
        }
        Table table = new Table(
                report("Feeds: CPU, us a record", names),
                report("Feeds: records a second", names),
                report("Feeds: heap, bytes a record", names));
        for (int secondaries = 1; secondaries <= 2; secondaries++) {
            String work = secondaries == 1 ? "1 secondary" : "2 secondaries";
            long expected = 0;
            for (int round = -1; round < rounds; round++) {
                for (Map.Entry<String, Way> way : ways(secondaries, topic).entrySet()) {
                    Figures figures = measure(way.getValue(), place, tweets);
                    if (expected == 0) {
                        expected = figures.digest();
                    }
                    if (figures.digest() != expected) {
                        throw new IllegalStateException(way.getKey() + " has other records");
                    }
                    if (round >= 0) {
                        table.add(work, way.getKey(), figures, count);
                    }
                }
                if (topic != null) {
                    Figures client = cost(topic::pollAll);
                    if (round >= 0) {
                        table.add(work, CLIENT, client, count);
                    }
                }
            }
        }
        Report aims = aims(table);
        if (topic == null) {
            aims.setting("Kafka", NO_KAFKA);
        }
        return List.of(aims, table.cpu, table.rate, table.heap);
    }

    /** What is told of each way. */
    private record Table(Report cpu, Report rate, Report heap) {
        void add(String work, String way, Figures figures, int count) {
            cpu.add(work, way, figures.cpuNanos() / 1e3 / count);
            rate.add(work, way, count / (figures.nanos() / 1e9));
            heap.add(work, way, (double) figures.heapBytes() / count);
        }
    }

    private Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "%d tweets of about 500 bytes, a tenth of them updates, eager, durability interval"
                                .formatted(count))
                .setting(
                        "figure",
                        "median of %d rounds, in turn, after one that warms up; until the store is closed; whole process, the client of TCP and HTTP included, the broker of Kafka not"
                                .formatted(rounds))
                .setting(
                        "command",
                        "./turbidite bench feed --records %d --rounds %d".formatted(count, rounds));
    }

    private Report aims(Table table) {
        Report cpu = table.cpu;
        Aims aims = new Aims();
        List<String> shares = new ArrayList<>();
        for (String work : cpu.works()) {
            double file = cpu.figure(work, FILE);
            aims.atMost("CPU, file : batches, " + work, 1.5, file / cpu.figure(work, BATCHES));
            aims.atLeast(
                    "rate, file : batches, " + work,
                    0.7,
                    table.rate.figure(work, FILE) / table.rate.figure(work, BATCHES));
            addTcp(aims, table, work);
            aims.atMost(
                    "CPU, HTTP : TCP, " + work,
                    1.2,
                    cpu.figure(work, HTTP) / cpu.figure(work, TCP));
            double ofTwo = table.rate.figure(work, TWO_WORKERS);
            if (!Double.isNaN(ofTwo)) {
                aims.atLeast(
                        "rate, 2 workers : 1, " + work,
                        1.5,
                        ofTwo / table.rate.figure(work, ONE_WORKER));
            }
            double kafka = cpu.figure(work, KAFKA);
            double client = cpu.figure(work, CLIENT);
            if (!Double.isNaN(kafka)) {
                aims.atMost("CPU, Kafka : file, " + work, 1.3, kafka / file);
                shares.add("%.1f of %.1f us with %s; without it %.2f times the file's"
                        .formatted(client, kafka, work, (kafka - client) / file));
            }
            for (String way : List.of(FILE, TCP, HTTP)) {
                aims.atMost(
                        "heap, %s less batches, bytes a record, %s".formatted(way, work),
                        100,
                        table.heap.figure(work, way) - table.heap.figure(work, BATCHES));
            }
            if (!Double.isNaN(kafka)) {
                aims.atMost(
                        "heap, Kafka less its client and batches, bytes a record, " + work,
                        100,
                        table.heap.figure(work, KAFKA)
                                - table.heap.figure(work, CLIENT)
                                - table.heap.figure(work, BATCHES));
            }
        }
        Report report = report("Feeds: the aims", Aims.COLUMNS);
        if (!shares.isEmpty()) {
            report.setting(CLIENT, String.join("; ", shares));
        }
        return aims.into(report);
    }

    /** One of the two does: the rate that is wanted, or little more CPU than a file takes. */
    private static void addTcp(Aims aims, Table table, String work) {
        double ratio = table.cpu.figure(work, TCP) / table.cpu.figure(work, FILE);
        if (ratio <= TCP_CPU_MAX) {
            aims.atMost("CPU, TCP : file, " + work, TCP_CPU_MAX, ratio);
        } else {
            aims.atLeast(
                    "records a second by TCP, at %.2f times the CPU of a file, %s"
                            .formatted(ratio, work),
                    TCP_RATE_MIN,
                    table.rate.figure(work, TCP));
        }
    }

    private record Figures(long cpuNanos, long nanos, long heapBytes, long digest) {}

    @FunctionalInterface
    private interface Task {
        void run() throws IOException;
    }

    /** Of a task that leaves no records. */
    private static Figures cost(Task task) throws IOException {
        long cpu = Costs.cpuNanos();
        long heap = Costs.allocatedBytes();
        long start = System.nanoTime();
        task.run();
        long nanos = System.nanoTime() - start;
        return new Figures(Costs.cpuNanos() - cpu, nanos, Costs.allocatedBytes() - heap, 0);
    }

    private static Figures measure(Way way, Path place, FeedTweets tweets) throws IOException {
        Path at = Scratch.empty(place.resolve("store"));
        StoreOptions options = StoreOptions.defaults().withDurability(Durability.INTERVAL);
        Figures cost = cost(() -> {
            try (Store store = Store.open(at, options)) {
                way.fill(store, tweets);
            }
        });
        return new Figures(
                cost.cpuNanos(), cost.nanos(), cost.heapBytes(), digest(at, options, tweets));
    }

    /** Equal for the same records; checks how many there are. */
    private static long digest(Path at, StoreOptions options, FeedTweets tweets) {
        long digest = 1;
        int there = 0;
        try (Store store = Store.openExisting(at, options);
                ReadView view = store.dataset("Tweets").openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor rows = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (rows.next()) {
                        Slice record = rows.record();
                        digest += Xxh3.hash(record.segment(), record.offset(), record.length());
                        there++;
                    }
                }
            }
        }
        if (there != tweets.distinctCount()) {
            throw new IllegalStateException(
                    "%d records are there, not %d".formatted(there, tweets.distinctCount()));
        }
        return digest;
    }

    private void batches(Store store, FeedTweets tweets, int secondaries) {
        FeedDefinition shape = FeedDefinition.parse(
                "tweets.yaml", directory, definition("kind: file, path: none", secondaries));
        Dataset dataset = store.createDataset(shape.toDatasetSpec());
        WriteBatch batch = store.newBatch();
        Slice record = new Slice();
        for (int i = 0; i < tweets.count(); i++) {
            batch.upsert(dataset, tweets.record(i, record));
            if (batch.size() == BATCH_COUNT || i == tweets.count() - 1) {
                store.write(batch);
                batch.clear();
            }
        }
    }

    private void file(Store store, FeedTweets tweets, int secondaries) {
        String source = "kind: file, path: '%s'".formatted(tweets.file());
        run(store, tweets, definition(source, secondaries));
    }

    private void files(Store store, FeedTweets tweets, int workers) {
        String source = "kind: file, path: '%s'".formatted(tweets.file().resolveSibling("halves"));
        run(store, tweets, definition(source, 2) + "workers: %d%n".formatted(workers));
    }

    private void run(Store store, FeedTweets tweets, String yaml) {
        FeedDefinition definition = FeedDefinition.parse("tweets.yaml", directory, yaml);
        try (Feed feed = Feed.open(definition, store)) {
            FeedReport report = feed.run(FeedProgress.none());
            if (report.records() != tweets.count()) {
                throw new IllegalStateException(report.toString());
            }
        }
    }

    private FeedManager managerOf(Store store, String kind, int secondaries) {
        FeedManager feeds = FeedManager.open(store);
        feeds.start(definition("kind: " + kind, secondaries), directory);
        await(feeds, status -> status.state() == FeedState.WAITING);
        return feeds;
    }

    static void await(FeedManager feeds, Predicate<FeedStatus> condition) {
        long start = System.nanoTime();
        while (!condition.test(feeds.status("tweets"))) {
            if (System.nanoTime() - start > WAIT_NANOS_MAX) {
                throw new IllegalStateException(feeds.status("tweets").toString());
            }
            LockSupport.parkNanos(WAIT_STEP_NANOS); // a spin would be counted
        }
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private void kafka(Store store, FeedTweets tweets, KafkaTopic topic, int secondaries) {
        try (FeedManager feeds = FeedManager.open(store)) {
            feeds.start(definition(topic.source(), secondaries), directory);
            await(feeds, status -> status.records() >= tweets.count());
            if (feeds.status("tweets").records() != tweets.count()) {
                throw new IllegalStateException(feeds.status("tweets").toString());
            }
        }
    }

    private void tcp(Store store, FeedTweets tweets, int secondaries) throws IOException {
        try (TcpFeed feed = TcpFeed.start(store, definition("kind: tcp", secondaries), token)) {
            Wires.overTcp(feed.address(), token, tweets);
        }
    }

    private void http(Store store, FeedTweets tweets, int secondaries) throws IOException {
        try (FeedManager feeds = managerOf(store, "http", secondaries);
                WebServer server = WebServer.start(
                        new ServedStores(Map.of("one", store), Map.of("one", feeds)),
                        new WebServer.Options(
                                List.of(anyPort()),
                                List.of(),
                                HttpOptions.defaults(),
                                Gate.of(List.of(token.kept()), false),
                                null,
                                FilesRoot.none()),
                        Clock.system())) {
            Wires.overHttp(server.addresses().getFirst(), token, tweets);
        }
    }
}
