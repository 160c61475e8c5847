package io.turbidite.bench.recency;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Curves;
import io.turbidite.bench.report.Report;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Queries for recent tweets (ALS15 Figures 6, 7, 9, 10): the wider the span of time, the more
 * components match its filter. And what a policy and a filter cost ingestion.
 *
 * <p>The write memory is a seventieth of the data, as in the paper. The unit of time is so long
 * that 3,500 of them span all tweets. Each answer is compared with that of a loop over the tweets.
 */
public final class RecencySuite {
    /** The paper's multiples of the unit. */
    private static final int[] FACTORS = {1, 6, 42, 180, 540, 2_160, 3_500};

    private static final int MEMORY_SHARE = 70;

    /** CPU is counted in hundredths of a second: each figure is of so much at least. */
    private static final long MEASURED_NANOS = 200_000_000;

    static final int RECORD_BYTES = 1_000;
    private static final int WARM_UP_LOADS = 2;

    /** Where time is the clock's, the disk is what counts. */
    private static final int WARM_UP_ROUNDS = 4;

    private static final int WARM_UP_ROUNDS_COLD = 1;
    private static final int USERS_OF_ALL = 400;
    private static final double COLD_CACHE_SHARE = 0.05;
    static final String PREFIX = "prefix";
    static final String CORRELATED = "correlated-prefix";
    static final String NO_MERGE = "no-merge";
    static final String CONSTANT = "constant";
    private static final String NEWEST = "newest 1 % by time";

    private final int rounds;
    private final int queries;
    private final boolean isCold;
    private final Path directory;
    private final RecentTweets tweets;
    private final double windowSide;
    private final String command;
    private final SplittableRandom random = new SplittableRandom(15);

    /** Policy and filter; the R-tree's figures and the B+-tree's are of the same stores. */
    private record Variant(String policy, boolean hasFilter) {
        @Override
        public String toString() {
            return policy + (hasFilter ? "" : " without filter");
        }
    }

    /** What a query asks for. */
    private record Asked(int user, Point corner) {}

    /**
     * @param count tweets to load
     * @param rounds counted rounds of loads, and of queries
     * @param queries of each kind and span a round; the paper has 200
     * @param isCold whether to query with a cache of a twentieth of the data and direct I/O
     * @param directory for the stores; emptied
     */
    public RecencySuite(int count, int rounds, int queries, boolean isCold, Path directory) {
        this.rounds = rounds;
        this.queries = queries;
        this.isCold = isCold;
        this.directory = directory.resolve("recency");
        this.tweets = new RecentTweets(count, Math.max(1, count / USERS_OF_ALL), 15);
        // 10,000 tweets at least, as the aim has it, where there are so many
        double share = Math.min(0.25, Math.max(0.01, 10_500.0 / count));
        this.windowSide = Math.sqrt(share) * RecentTweets.SIDE;
        this.command = "./turbidite bench recency --tweets %d --rounds %d --queries %d%s"
                .formatted(count, rounds, queries, isCold ? " --cold" : "");
    }

    /** What a run gives. */
    public record Result(List<Curves> figures, List<Report> ingestion) {}

    public Result run() {
        Scratch.empty(directory);
        Report ingestion = new Report(
                        "Ingestion: CPU, us a tweet, flushes and merges included",
                        List.of("with filter", "without filter"))
                .setting("machine", Report.machine())
                .setting("data", data())
                .setting("figure", "median of %d rounds, interleaved".formatted(rounds))
                .setting("command", command);
        Map<Variant, RecencyStore> stores = new LinkedHashMap<>();
        for (int round = -WARM_UP_LOADS; round < rounds; round++) {
            // whoever is first has code that is compiled meanwhile
            List<Boolean> order = round % 2 == 0 ? List.of(true, false) : List.of(false, true);
            List<String> policies =
                    round < 0 ? List.of(PREFIX) : List.of(PREFIX, CORRELATED, NO_MERGE, CONSTANT);
            for (String policy : policies) {
                for (boolean hasFilter : order) {
                    load(new Variant(policy, hasFilter), round, ingestion, stores);
                }
            }
        }
        try {
            List<Curves> figures = query(stores);
            Report newest = newest(stores);
            return new Result(
                    figures, List.of(aims(figures, ingestion, newest), ingestion, newest));
        } finally {
            stores.values().forEach(RecencyStore::close);
            Scratch.delete(directory);
        }
    }

    private void load(
            Variant variant, int round, Report ingestion, Map<Variant, RecencyStore> stores) {
        RecencyStore store = new RecencyStore(
                directory.resolve(variant.toString().replace(' ', '-')),
                parameters(variant.policy, bytes()),
                variant.hasFilter,
                options(bytes()));
        long before = Costs.cpuNanos();
        store.load(tweets);
        double micros = (Costs.cpuNanos() - before) / 1e3 / tweets.count();
        if (round >= 0) {
            String column = variant.hasFilter ? "with filter" : "without filter";
            ingestion.add(variant.policy, column, micros);
        }
        boolean isAsked = variant.hasFilter || variant.policy.equals(PREFIX);
        if (round == rounds - 1 && isAsked) {
            stores.put(variant, store);
        } else {
            store.close();
        }
    }

    /** So that some tens of components are left where the policy lets them be. */
    static String parameters(String policy, long bytes) {
        long mergeable = Math.max(1 << 20, bytes / 20);
        return switch (policy) {
            case PREFIX, CORRELATED -> "%s(mergeableBytesMax=%d)".formatted(policy, mergeable);
            case CONSTANT -> "constant(componentCountMax=3)";
            default -> policy;
        };
    }

    /** Of a store of so many bytes, all of which its cache holds. */
    static StoreOptions options(long bytes) {
        return StoreOptions.defaults()
                .withWriteMemoryBytes(Math.max(1 << 20, bytes / MEMORY_SHARE))
                .withCacheBytes(2 * bytes + (64 << 20));
    }

    private long bytes() {
        return (long) tweets.count() * RECORD_BYTES;
    }

    private List<Curves> query(Map<Variant, RecencyStore> stores) {
        Map<String, Variant> byName = new LinkedHashMap<>();
        stores.keySet().forEach(variant -> byName.put(variant.toString(), variant));
        Curves figure6 = curves("ALS15 Figure 6: R-tree, with and without filter");
        Curves figure7 = curves("ALS15 Figure 7: B+-tree, merge policies");
        Curves figure9 = curves("ALS15 Figure 9: B+-tree, correlated-prefix");
        Curves figure10 = curves("ALS15 Figure 10: R-tree, correlated-prefix");
        for (Map.Entry<Variant, RecencyStore> entry : stores.entrySet()) {
            RecencyStore store = entry.getValue();
            store.reopen(
                    isCold ? (long) (bytes() * COLD_CACHE_SHARE) : 2 * bytes() + (64 << 20),
                    isCold);
            for (Curves figure : List.of(figure6, figure7, figure9, figure10)) {
                figure.setting(
                        "components of primary, B+-tree, R-tree: " + entry.getKey(),
                        store.components());
            }
        }
        int warmUps = isCold ? WARM_UP_ROUNDS_COLD : WARM_UP_ROUNDS;
        List<Map.Entry<String, Variant>> turns = new ArrayList<>(byName.entrySet());
        for (int round = -warmUps; round < rounds; round++) {
            for (int factor : FACTORS) {
                Collections.rotate(turns, 1);
                long after = tweets.count() - 1L - (long) factor * tweets.count() / 3_500;
                List<Asked> asked = asked();
                List<Long> users = asked.stream()
                        .map(one -> tweets.ofUser(one.user, after))
                        .toList();
                List<Long> windows = asked.stream()
                        .map(one ->
                                tweets.inWindow(one.corner.x(), one.corner.y(), windowSide, after))
                        .toList();
                for (Map.Entry<String, Variant> one : turns) {
                    RecencyStore store = stores.get(one.getValue());
                    String name = one.getKey();
                    if (store == null) {
                        throw new IllegalStateException("no store of " + name);
                    }
                    double rtree = millis(
                            asked, windows, ask -> store.inWindow(ask.corner, windowSide, after));
                    double btree = millis(asked, users, ask -> store.ofUser(ask.user, after));
                    if (round >= 0) {
                        note(one.getValue(), factor, rtree, figure6, figure10);
                        noteBtree(one.getValue(), factor, btree, figure7, figure9);
                    }
                }
            }
        }
        findings(figure6, figure7, figure9, figure10);
        return List.of(figure6, figure7, figure9, figure10);
    }

    /** The newest hundredth by time: by a filter, and by RocksDB, which reads everything. */
    private Report newest(Map<Variant, RecencyStore> stores) {
        Variant asked = new Variant(CORRELATED, true);
        RecencyStore ours = stores.get(asked);
        if (ours == null) {
            throw new IllegalStateException("no store of " + asked);
        }
        Report newest = new Report(
                        isCold ? "The newest tweets, ms" : "The newest tweets: CPU, ms",
                        List.of("Turbidite", "RocksDB"))
                .setting("machine", Report.machine())
                .setting("data", data())
                .setting(
                        "Turbidite",
                        "%s, a scan of records with a filter on the send time".formatted(asked))
                .setting("RocksDB", "random keys, a scan of all records")
                .setting("cache", isCold ? "a twentieth of the data, direct I/O" : "everything")
                .setting("figure", "median of %d rounds, interleaved".formatted(rounds))
                .setting("command", command);
        try (RocksTweets rocks = new RocksTweets(
                directory.resolve("rocks"),
                tweets,
                Math.max(1 << 20, bytes() / MEMORY_SHARE),
                isCold ? (long) (bytes() * COLD_CACHE_SHARE) : 2 * bytes() + (64 << 20),
                isCold)) {
            int from = tweets.count() - tweets.count() / 100;
            for (int round = -1; round < rounds; round++) {
                Engine.Answer[] found = new Engine.Answer[2];
                double filtered = millis(() -> found[0] = ours.since(from));
                double scanned = millis(() -> found[1] = rocks.since(from));
                if (!found[0].equals(found[1]) || found[0].rows() != tweets.count() - from) {
                    throw new IllegalStateException("%s, RocksDB %s".formatted(found[0], found[1]));
                }
                if (round >= 0) {
                    newest.add(NEWEST, "Turbidite", filtered);
                    newest.add(NEWEST, "RocksDB", scanned);
                }
            }
        }
        return newest;
    }

    private double millis(Runnable work) {
        long start = now();
        long passed = 0;
        int times = 0;
        do {
            work.run();
            times++;
            passed = now() - start;
        } while (passed < MEASURED_NANOS);
        return passed / 1e6 / times;
    }

    private static void note(
            Variant variant, int factor, double millis, Curves figure6, Curves figure10) {
        if (variant.policy.equals(PREFIX)) {
            figure6.add(variant.hasFilter ? "with filter" : "without filter", factor, millis);
        }
        if (variant.hasFilter && !variant.policy.equals(CONSTANT)) {
            figure10.add(variant.policy, factor, millis);
        }
    }

    private static void noteBtree(
            Variant variant, int factor, double millis, Curves figure7, Curves figure9) {
        if (!variant.hasFilter) {
            return;
        }
        if (!variant.policy.equals(CORRELATED)) {
            figure7.add(variant.policy, factor, millis);
        }
        if (!variant.policy.equals(CONSTANT)) {
            figure9.add(variant.policy, factor, millis);
        }
    }

    private List<Asked> asked() {
        List<Asked> asked = new ArrayList<>();
        for (int i = 0; i < queries; i++) {
            double room = RecentTweets.SIDE - windowSide;
            asked.add(new Asked(
                    random.nextInt(tweets.users()),
                    new Point(random.nextDouble() * room, random.nextDouble() * room)));
        }
        return asked;
    }

    /** A way to ask. */
    private interface Way {
        long ask(Asked asked);
    }

    /** Milliseconds a query: CPU of the process, or time by the clock where the disk counts. */
    private double millis(List<Asked> asked, List<Long> expected, Way way) {
        long start = now();
        long passed = 0;
        int times = 0;
        do {
            for (int i = 0; i < asked.size(); i++) {
                long found = way.ask(asked.get(i));
                if (found != expected.get(i)) {
                    throw new IllegalStateException("%s: found %d, there are %d"
                            .formatted(asked.get(i), found, expected.get(i)));
                }
            }
            times += asked.size();
            passed = now() - start;
        } while (!isCold && passed < MEASURED_NANOS);
        return passed / 1e6 / times;
    }

    private long now() {
        return isCold ? Clock.system().monotonicNanos() : Costs.cpuNanos();
    }

    private String data() {
        return "%,d tweets of about %d bytes, only inserted, one partition, eager; write memory 1/%d of the data"
                .formatted(tweets.count(), RECORD_BYTES, MEMORY_SHARE);
    }

    private Curves curves(String title) {
        return new Curves(
                        title,
                        "span of time, in units of which 3,500 are all",
                        isCold ? "milliseconds a query" : "milliseconds a query, of CPU")
                .setting("machine", Report.machine())
                .setting("data", data())
                .setting("cache", isCold ? "a twentieth of the data, direct I/O" : "everything")
                .setting(
                        "figure",
                        "%d random queries, each answer checked; median of %d rounds, interleaved"
                                .formatted(queries, rounds))
                .setting("command", command);
    }

    private void findings(Curves figure6, Curves figure7, Curves figure9, Curves figure10) {
        figure6.finding(
                "a filter saves most for the narrowest span, and costs nothing where all components match",
                "without : with " + ratios(figure6, "without filter", "with filter"));
        figure7.finding(
                "constant is dear at every span but the first; no-merge reads little of middle spans and pays for many components at wide ones",
                "constant : no-merge " + ratios(figure7, CONSTANT, NO_MERGE)
                        + "; prefix : no-merge " + ratios(figure7, PREFIX, NO_MERGE));
        figure9.finding(
                "correlated-prefix is as no-merge in the middle, as prefix at the wide end",
                "correlated-prefix : prefix " + ratios(figure9, CORRELATED, PREFIX)
                        + "; correlated-prefix : no-merge "
                        + ratios(figure9, CORRELATED, NO_MERGE));
        figure10.finding(
                "correlated-prefix gains more with an R-tree, but for the widest span",
                "correlated-prefix : prefix " + ratios(figure10, CORRELATED, PREFIX));
    }

    private static String ratios(Curves curves, String a, String b) {
        List<String> ratios = new ArrayList<>();
        for (int factor : FACTORS) {
            ratios.add("%.2f at %,d"
                    .formatted(curves.median(a, factor) / curves.median(b, factor), factor));
        }
        return String.join(", ", ratios);
    }

    private Report aims(List<Curves> figures, Report ingestion, Report newest) {
        Aims aims = new Aims();
        Curves figure6 = figures.get(0);
        Curves figure9 = figures.get(2);
        aims.atLeast(
                "unit x 1: without filter : with",
                isCold ? 100 : 50,
                figure6.median("without filter", 1) / figure6.median("with filter", 1));
        aims.atMost(
                "all in the span: with filter : without",
                1.05,
                figure6.median("with filter", 3_500) / figure6.median("without filter", 3_500));
        for (int factor : FACTORS) {
            aims.atMost(
                    "B+-tree, x %,d: correlated-prefix : better of prefix and no-merge"
                            .formatted(factor),
                    1.2,
                    figure9.median(CORRELATED, factor)
                            / Math.min(
                                    figure9.median(PREFIX, factor),
                                    figure9.median(NO_MERGE, factor)));
        }
        aims.atMost(
                "ingestion: correlated-prefix : prefix",
                1.0,
                ingestion.figure(CORRELATED, "with filter")
                        / ingestion.figure(PREFIX, "with filter"));
        for (String policy : ingestion.works()) {
            aims.atMost(
                    "ingestion, " + policy + ": with filter : without",
                    1.03,
                    ingestion.figure(policy, "with filter")
                            / ingestion.figure(policy, "without filter"));
        }
        aims.atLeast(
                NEWEST + ": RocksDB : Turbidite",
                50,
                newest.figure(NEWEST, "RocksDB") / newest.figure(NEWEST, "Turbidite"));
        return aims.into(new Report("Queries for recent tweets: the aims", Aims.COLUMNS)
                .setting("machine", Report.machine())
                .setting("command", command));
    }
}
