package io.turbidite.bench.navigation;

import io.turbidite.bench.engine.PricedDisk;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.navigation.Tweets.Answer;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Curves;
import io.turbidite.bench.report.Report;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Cursor;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.time.Clock;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * LUO19 Figure 10: queries by a secondary index, with the ways to get from its entries to the
 * records switched on one by one. In two regimes: everything in the cache, where the figure is CPU
 * time; and a cache of 5 % of the primary over direct I/O, where it is time on the clock, and in
 * figures of their own what the papers' disk would have taken ({@link PricedDisk}). The ways take
 * turns, each round asks for other users, and all ways must give the same answer.
 */
public final class NavigationSuite {
    private static final int MIB = 1 << 20;
    private static final int BATCH_BYTES = 16 * MIB;
    private static final int WARM_UP_ROUNDS = 2;
    private static final int COMPILED_ROUNDS = 4;

    /** Beside the reader, as in PERS24 §5.3. */
    private static final int WORKERS = 3;

    /** Per cent of the tweets. */
    private static final double[] LOW = {0.002, 0.01, 0.05, 0.1};

    private static final double[] HIGH = {1, 5, 10, 25, 50};
    private static final double[] BATCH_SELECTIVITIES = {0.01, 0.1, 1, 10};
    private static final int[] BATCH_KIB = {1, 4, 16, 64, 256, 1024};

    static final String NAIVE = "naive";
    static final String BATCH = "batch";
    static final String STATEFUL = "batch + sLookup";
    static final String PRUNED = "batch + sLookup + pID";

    /** Layers left out for which the index's components are checked; all are, as after repair. */
    private static final String CHECKED = "batch + sLookup + checked";

    private static final String NO_BLOOM = "batch + sLookup - Bloom filter";
    static final String CHOSEN = "as chosen by itself";
    private static final String ALONE = "query, 1 thread";
    private static final String TOGETHER = "query, 4 threads";
    private static final String SCAN = "full scan";
    private static final String NO_BATCH = "no batching";
    private static final String SORTED = "batching, sorted";

    private final int tweets;
    private final int components;
    private final int rounds;
    private final Set<State> states;
    private final Path directory;

    /** Where the pages are when a query begins. */
    public enum State {
        /** In the cache. */
        CACHED,
        /** Nineteen of twenty on the disk. */
        COLD
    }

    /**
     * @param tweets inserted before the queries
     * @param components that the tweets are in; the paper has 20
     * @param rounds counted rounds
     * @param directory for the store; emptied
     */
    public NavigationSuite(
            int tweets, int components, int rounds, Set<State> states, Path directory) {
        this.tweets = tweets;
        this.components = components;
        this.rounds = rounds;
        this.states = Set.copyOf(states);
        this.directory = directory;
    }

    /** Runs the regimes of all states that were named. */
    public List<Curves> run() {
        Path store = Scratch.empty(directory.resolve("navigation"));
        Tweets.load(store, tweets, components);
        List<Curves> all = new ArrayList<>();
        long allBytes = 2L * tweets * Tweet.meanBytes() + 64L * MIB;
        long primaryBytes;
        try (Tweets cached = Tweets.open(store, allBytes, false)) {
            primaryBytes = cached.primaryBytes();
            if (states.contains(State.CACHED)) {
                all.addAll(new Regime(cached, true, "all in the cache").run());
            }
        }
        if (states.contains(State.COLD)) {
            long cacheBytes = Math.max(MIB, primaryBytes / 20);
            try (Tweets cold = Tweets.open(store, cacheBytes, true)) {
                String cache = "cache of %.1f MiB, 5 %% of the primary, direct I/O"
                        .formatted((double) cacheBytes / MIB);
                all.addAll(new Regime(cold, false, cache).run());
            }
        }
        Scratch.delete(store);
        return all;
    }

    static FetchOptions options(String way) {
        FetchOptions batch = FetchOptions.naive().withBatchBytes(BATCH_BYTES);
        FetchOptions stateful = batch.withCursor(Cursor.STATEFUL);
        return switch (way) {
            case NAIVE, NO_BATCH -> FetchOptions.naive();
            case BATCH -> batch;
            case STATEFUL -> stateful;
            case CHECKED -> stateful.withPruning(Pruning.CHECKED);
            case PRUNED -> stateful.withPruning(Pruning.EXACT);
            case NO_BLOOM -> stateful.withBloom(false);
            case CHOSEN -> FetchOptions.defaults();
            default -> throw new IllegalArgumentException(way);
        };
    }

    /** One state of the cache. */
    private final class Regime {
        private final Tweets store;
        private final boolean cpu;
        private final String name;
        private final SplittableRandom random = new SplittableRandom(3);
        private final Map<String, Long> pages = new LinkedHashMap<>();

        /** Of each figure of time on the clock, the same on the papers' disk. */
        private final Map<Curves, Curves> priced = new LinkedHashMap<>();

        Regime(Tweets store, boolean cpu, String name) {
            this.store = store;
            this.cpu = cpu;
            this.name = name;
        }

        List<Curves> run() {
            if (cpu) {
                // whoever is asked first would pay for the compiler
                for (int i = 0; i < COMPILED_ROUNDS; i++) {
                    take(curves("", ""), 1, 1, ways(1));
                }
            }
            List<Curves> all = new ArrayList<>(List.of(
                    bySelectivity("10a", LOW), bySelectivity("10b", HIGH), byBatch(), sorted()));
            all.addAll(priced.values());
            return all;
        }

        private Curves curves(String figure, String x) {
            String title = "LUO19 Figure %s, %s".formatted(figure, name);
            if (cpu) {
                return curves(title, x, "milliseconds a query, of CPU");
            }
            Curves clocked = curves(title, x, "milliseconds a query, on the clock");
            Curves disk =
                    curves(title + ", priced", x, "milliseconds a query, of the papers' disk");
            priced.put(clocked, disk.setting("the papers' disk", PricedDisk.PRICES));
            return clocked;
        }

        private Curves curves(String title, String x, String y) {
            return new Curves(title, x, y)
                    .setting("machine", Report.machine())
                    .setting(
                            "data",
                            "%,d tweets of about 500 bytes with random keys, only inserted, in %d components that are not merged; index on the user"
                                    .formatted(tweets, components))
                    .setting(
                            "figure",
                            "search of the index, sort of the keys and lookup; median of %d rounds"
                                    .formatted(rounds))
                    .setting(
                            "command",
                            "./turbidite bench navigation --tweets %d --components %d --rounds %d"
                                    .formatted(tweets, components, rounds));
        }

        private Curves bySelectivity(String figure, double[] selectivities) {
            Curves curves = curves(figure, "selectivity, %");
            for (double selectivity : selectivities) {
                take(curves, selectivity, selectivity, ways(selectivity));
            }
            Curves disk = priced.get(curves);
            if (disk != null) {
                disk.finding(
                        "batching helps slightly, the rest does little: the time is that of the disk",
                        "naive : batch %s; batch : batch + sLookup %s"
                                .formatted(
                                        ratios(disk, NAIVE, BATCH, selectivities),
                                        ratios(disk, BATCH, STATEFUL, selectivities)));
            }
            double at = selectivities[selectivities.length > 4 ? 0 : 2];
            return curves.setting("leaf pages pinned", pages(at))
                    .setting(
                            "naive",
                            "key by key through the layers, each from its root; Bloom filters are blocked in all ways")
                    .finding(
                            selectivities.length > 4
                                    ? "batching is the most effective; for large selectivities stateful lookup and blocked Bloom filters cut the rest of the CPU; pID gains little; from some selectivity on a scan is faster"
                                    : "batching helps slightly, the rest does little: the time is that of the disk",
                            "naive : batch %s; batch : batch + sLookup %s; sLookup : pID %s; sLookup : as checked %s; with Bloom filters : without %s%s"
                                    .formatted(
                                            ratios(curves, NAIVE, BATCH, selectivities),
                                            ratios(curves, BATCH, STATEFUL, selectivities),
                                            ratios(curves, STATEFUL, PRUNED, selectivities),
                                            ratios(curves, STATEFUL, CHECKED, selectivities),
                                            ratios(curves, STATEFUL, NO_BLOOM, selectivities),
                                            selectivities.length > 4
                                                    ? "; scan : as chosen %s"
                                                            .formatted(ratios(
                                                                    curves,
                                                                    SCAN,
                                                                    CHOSEN,
                                                                    selectivities))
                                                    : ""));
        }

        private Map<String, Supplier<Query>> ways(double selectivity) {
            Map<String, Supplier<Query>> queries = new LinkedHashMap<>();
            for (String way : List.of(NAIVE, BATCH, STATEFUL, PRUNED, CHECKED, NO_BLOOM, CHOSEN)) {
                queries.put(way, () -> query(options(way)));
            }
            if (!cpu) {
                queries.put(ALONE, () -> (low, high) -> store.byQuery(low, high, 0));
                queries.put(TOGETHER, () -> (low, high) -> store.byQuery(low, high, WORKERS));
            }
            if (selectivity >= 1) {
                queries.put(SCAN, () -> store::byScan);
            }
            return queries;
        }

        private Curves byBatch() {
            Curves curves = curves("10c", "batch, KiB of keys");
            for (double selectivity : BATCH_SELECTIVITIES) {
                for (int kib : BATCH_KIB) {
                    FetchOptions options = options(STATEFUL).withBatchBytes(kib << 10);
                    take(
                            curves,
                            selectivity,
                            kib,
                            Map.of(selectivity + " %", () -> query(options)));
                }
            }
            return curves.finding(
                    "for selective queries 128 KB are as good as more; for others a few megabytes suffice (30 GB of records)",
                    "the smallest batch within 10 %% of the best: %s"
                            .formatted(smallestBatches(curves)));
        }

        private String smallestBatches(Curves curves) {
            List<String> found = new ArrayList<>();
            for (double selectivity : BATCH_SELECTIVITIES) {
                String curve = selectivity + " %";
                double best = Double.MAX_VALUE;
                for (int kib : BATCH_KIB) {
                    best = Math.min(best, curves.median(curve, kib));
                }
                for (int kib : BATCH_KIB) {
                    if (curves.median(curve, kib) <= 1.1 * best) {
                        found.add("%d KiB at %s".formatted(kib, curve));
                        break;
                    }
                }
            }
            return String.join(", ", found);
        }

        private Curves sorted() {
            Curves curves = curves("10d", "selectivity, %");
            double[] selectivities = {0.01, 0.1, 1, 10, 25};
            for (double selectivity : selectivities) {
                Map<String, Supplier<Query>> queries = new LinkedHashMap<>();
                FetchOptions batched = options(STATEFUL);
                queries.put(NO_BATCH, () -> query(options(NO_BATCH).withCursor(Cursor.STATEFUL)));
                queries.put(BATCH, () -> query(batched));
                queries.put(SORTED, () -> query(batched.withOrderBytes(BATCH_BYTES)));
                take(curves, selectivity, selectivity, queries);
            }
            return curves.setting(
                            "sorted",
                            "records are kept at their key's place, at most 16 MiB of them; nothing is sorted, since the keys are")
                    .finding(
                            "even with the records sorted afterwards batching is faster than no batching",
                            "no batching : sorted %s; batching : sorted %s"
                                    .formatted(
                                            ratios(curves, NO_BATCH, SORTED, selectivities),
                                            ratios(curves, BATCH, SORTED, selectivities)));
        }

        private Query query(FetchOptions options) {
            return (low, high) -> store.byUser(low, high, options);
        }

        /** Asks in turns for users that make this share of the tweets, others in each round. */
        private void take(
                Curves curves,
                double selectivity,
                double at,
                Map<String, Supplier<Query>> queries) {
            int width =
                    (int) Math.max(1, Math.round(TweetSource.ATTRIBUTE_LIMIT * selectivity / 100));
            // short queries are asked several times, so that the clock can tell them
            int times = Math.clamp(Math.round(2_000 / (tweets * selectivity / 100)), 1, 50);
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                long seed = random.nextLong();
                Map<Long, Answer> answers = new HashMap<>();
                for (Map.Entry<String, Supplier<Query>> way : queries.entrySet()) {
                    SplittableRandom users = new SplittableRandom(seed);
                    Query query = way.getValue().get();
                    long pinned = store.counted("lookup.pages");
                    long diskNanos = store.papersDiskNanos();
                    long cost = now();
                    for (int i = 0; i < times; i++) {
                        int low = users.nextInt(TweetSource.ATTRIBUTE_LIMIT - width + 1);
                        check(way.getKey(), answers, i, query.run(low, low + width));
                    }
                    cost = now() - cost;
                    if (round >= 0) {
                        curves.add(way.getKey(), at, cost / 1e6 / times);
                        Curves disk = priced.get(curves);
                        if (disk != null) {
                            diskNanos = store.papersDiskNanos() - diskNanos;
                            disk.add(way.getKey(), at, diskNanos / 1e6 / times);
                        }
                        pages.put(
                                way.getKey() + at,
                                (store.counted("lookup.pages") - pinned) / times);
                    }
                }
            }
        }

        private String pages(double at) {
            List<String> parts = new ArrayList<>();
            for (String way : List.of(NAIVE, BATCH, STATEFUL)) {
                parts.add("%s %,d".formatted(way, pages.getOrDefault(way + at, 0L)));
            }
            return "at %s %%: %s".formatted(at, String.join(", ", parts));
        }

        private long now() {
            // queries run on this thread alone; the process's clock ticks too coarsely for them
            return cpu
                    ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
                    : Clock.system().monotonicNanos();
        }
    }

    /** Finds the tweets of some users. */
    private interface Query {
        Answer run(int low, int high);
    }

    private static void check(String way, Map<Long, Answer> answers, long number, Answer answer) {
        Answer before = answers.putIfAbsent(number, answer);
        if (before != null && !before.equals(answer)) {
            throw new IllegalStateException(
                    "query %d: %s says %s, another %s".formatted(number, way, answer, before));
        }
    }

    private static String ratios(Curves curves, String first, String second, double[] places) {
        List<String> parts = new ArrayList<>();
        for (double at : places) {
            parts.add("%.2f at %s %%"
                    .formatted(curves.median(first, at) / curves.median(second, at), at));
        }
        return String.join(", ", parts);
    }
}
