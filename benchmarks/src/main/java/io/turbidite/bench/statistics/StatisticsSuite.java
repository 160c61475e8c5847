package io.turbidite.bench.statistics;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.statistics.Columns.Column;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.sample.SampleBuilder;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.expr.Predicate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * How far the planner's estimates are from the truth, over random equalities, ranges, and pairs of
 * them on two fields, where no index counts them; what samples take of the files, and what they
 * cost flushes and merges. The q-error is how many times too many or too few rows were expected,
 * with at least one on either side.
 */
public final class StatisticsSuite {
    private static final String MEDIAN = "median";
    private static final String P95 = "95th percentile";
    private static final String GUESSED = "95th, guessed";
    private static final List<String> KINDS = List.of("equality", "range", "two fields");

    /** What an equality and a range were taken to leave where nothing is known. */
    private static final double EQUAL = 0.05;

    private static final double IN_RANGE = 0.3;

    private static final int BATCH = 100;
    private static final int ROUNDS = 5;
    private static final int TIMES = 20;

    private final Path feed;
    private final int tweets;
    private final int predicates;
    private final Path directory;
    private final Aims aims = new Aims();
    private SplittableRandom random = new SplittableRandom(17);

    /**
     * @param feed the definition of the flights
     * @param tweets how many are written, half of them updates
     * @param predicates random ones for each of both
     * @param directory for the stores; emptied
     */
    public StatisticsSuite(Path feed, int tweets, int predicates, Path directory) {
        this.feed = feed;
        this.tweets = tweets;
        this.predicates = predicates;
        this.directory = directory;
    }

    public List<Report> run() {
        Report errors = report("Estimates: q-errors", List.of(MEDIAN, P95, GUESSED));
        Report costs = report("What samples cost", List.of("seen"));
        Path place = Scratch.empty(directory.resolve("statistics"));
        try (Store store = Store.open(place, StoreOptions.defaults().withCacheBytes(1L << 30))) {
            Dataset flights = flights(store);
            estimate(store, "flights", flights, List.of("id"), errors, costs);
            Dataset updated = tweets(store, costs);
            estimate(store, "tweets", updated, List.of("id", "message"), errors, costs);
        }
        Scratch.delete(place);
        Report reached = report("What was wanted", Aims.COLUMNS);
        return List.of(aims.into(reached), errors, costs);
    }

    private Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "336,776 flights, one partition; %,d tweets of 500 bytes and as many updates of them; no secondary index"
                                .formatted(tweets / 2))
                .setting("predicates", "%,d random ones for each".formatted(predicates))
                .setting(
                        "command",
                        "./turbidite bench statistics --tweets %d --predicates %d"
                                .formatted(tweets, predicates));
    }

    /** Without the feed's indexes, which would count for themselves. */
    private Dataset flights(Store store) {
        FeedDefinition definition = FeedDefinition.load(feed);
        Path place = Scratch.empty(directory.resolve("statistics-feed"));
        DatasetSpec spec = DatasetSpec.named("Flights").primaryKey("id");
        Dataset copy;
        try (Store fed = Store.open(place, definition.storeOptions())) {
            Feed.open(definition, fed).run(FeedProgress.none());
            Dataset source = fed.dataset(definition.dataset().name());
            source.type().fields().forEach(field -> spec.field(field.name(), field.typeLabel()));
            copy = store.createDataset(spec);
            copyAll(source, store, copy);
        }
        Scratch.delete(place);
        return copy;
    }

    private static void copyAll(Dataset source, Store store, Dataset target) {
        WriteBatch batch = store.newBatch();
        try (ReadView view = source.openView()) {
            for (int i = 0; i < view.partitionCount(); i++) {
                try (RecordStream all =
                        view.scanUnordered(i, KeyRange.all(), FilterPredicate.none())) {
                    while (all.next()) {
                        write(store, batch.upsert(target, all.record()), BATCH);
                    }
                }
            }
        }
        write(store, batch, 1);
        target.flush();
        target.mergeAll();
    }

    /** Writes a batch of so many operations, or more. */
    private static void write(Store store, WriteBatch batch, int atLeast) {
        if (batch.size() >= atLeast) {
            store.write(batch);
            batch.clear();
        }
    }

    private Dataset tweets(Store store, Report costs) {
        DatasetSpec spec = DatasetSpec.named("Tweets").field("id", "int64");
        for (int i = 0; i < Tweet.ATTRIBUTE_COUNT; i++) {
            spec.field("attribute" + i, "int32");
        }
        Dataset dataset = store.createDataset(
                spec.field("created", "datetime").field("message", "string").primaryKey("id"));
        TweetSource source = new TweetSource(5, tweets, 0.5);
        Tweet tweet = new Tweet();
        RecordWriter writer = dataset.newRecordWriter();
        WriteBatch batch = store.newBatch();
        for (int i = 0; i < tweets; i++) {
            source.next(tweet);
            // skewed, so that values differ in how frequent they are
            for (int j = 0; j < Tweet.ATTRIBUTE_COUNT; j++) {
                double share = tweet.attributes[j] / (double) TweetSource.ATTRIBUTE_LIMIT;
                tweet.attributes[j] = (int) (Math.pow(share, 1 + j) * (100 << (2 * j)));
            }
            write(store, batch.upsert(dataset, tweet.record(writer)), BATCH);
        }
        write(store, batch, 1);
        long before = Costs.cpuNanos();
        dataset.flush();
        dataset.mergeAll();
        long merged = Costs.cpuNanos() - before;
        double sampling = sampling(dataset, source.distinctCount());
        double merging = (double) merged / source.distinctCount();
        costs.add("tweets: a merge of all, ns CPU an entry", "seen", merging);
        costs.add("tweets: of this for the sample", "seen", sampling);
        aims.atMost("the sample's share of a merge", 0.05, sampling / merging);
        return dataset;
    }

    /** What a builder takes for each entry: the hash is there already, for the Bloom filter. */
    private static double sampling(Dataset dataset, int count) {
        long[] hashes = new long[count];
        EntryHead entry = new EntryHead();
        ByteSink record = new ByteSink(1 << 10, 1 << 20);
        int found = 0;
        try (ReadView view = dataset.openView();
                RecordStream all = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            while (found < count && all.next()) {
                hashes[found++] = BloomFilter.hash(all.key());
                entry.note(all.key(), all.timestamp(), false);
                record.clear().putBytes(all.record());
            }
        }
        Slice value = record.asSlice(new Slice());
        double[] rounds = new double[ROUNDS];
        for (int round = -2; round < ROUNDS; round++) {
            long before = Costs.cpuNanos();
            for (int times = 0; times < TIMES; times++) {
                SampleBuilder builder = new SampleBuilder();
                for (int i = 0; i < found; i++) {
                    builder.add(entry, hashes[i], value, (long) i * value.length());
                }
                builder.build((long) found * value.length());
            }
            if (round >= 0) {
                rounds[round] = (double) (Costs.cpuNanos() - before) / found / TIMES;
            }
        }
        Arrays.sort(rounds);
        return rounds[ROUNDS / 2];
    }

    private void estimate(
            Store store,
            String name,
            Dataset dataset,
            List<String> leftOut,
            Report errors,
            Report costs) {
        List<Column> columns = Columns.of(dataset, leftOut);
        Map<String, List<double[]>> found = new LinkedHashMap<>();
        KINDS.forEach(kind -> found.put(kind, new ArrayList<>()));
        long planned = 0;
        for (int i = 0; i < predicates; i++) {
            String kind = KINDS.get(i % KINDS.size());
            List<Asked> asked = new ArrayList<>();
            Column first = columns.get(random.nextInt(columns.size()));
            if (kind.equals("two fields")) {
                Column second = first;
                while (second.equals(first)) {
                    second = columns.get(random.nextInt(columns.size()));
                }
                int row = random.nextInt(first.ranks().length);
                asked.add(asked(first, row, random.nextBoolean()));
                asked.add(asked(second, row, random.nextBoolean()));
            } else {
                int row = random.nextInt(first.ranks().length);
                asked.add(asked(first, row, kind.equals("equality")));
            }
            Query query = Query.on(dataset);
            for (Asked one : asked) {
                query = query.where(one.predicate());
            }
            long before = System.nanoTime();
            double expected = Math.max(1, expected(query.explain()));
            planned += System.nanoTime() - before;
            double there = Math.max(1, count(asked));
            double guess = first.ranks().length;
            for (Asked one : asked) {
                guess *= one.low() == one.high() ? EQUAL : IN_RANGE;
            }
            found.computeIfAbsent(kind, _ -> new ArrayList<>()).add(new double[] {
                Math.max(expected / there, there / expected),
                Math.max(Math.max(1, guess) / there, there / Math.max(1, guess))
            });
        }
        found.forEach((kind, all) -> add(name + ", " + kind, all, errors));
        List<double[]> every = found.values().stream().flatMap(List::stream).toList();
        add(name + ", all", every, errors);
        aims.atMost(name + ": q-error at the median", 1.5, at(every, 0, 0.5));
        aims.atMost(name + ": q-error at the 95th percentile", 4, at(every, 0, 0.95));
        double share = share(store, dataset);
        costs.add(name + ": share of the primary's files, %", "seen", 100 * share);
        aims.atMost(name + ": share of the files", 0.005, share);
        try (ReadView view = dataset.openView()) {
            costs.add(name + ": records in the sample", "seen", view.sample().size());
        }
        costs.add(name + ": explaining with the sample, us", "seen", planned / 1e3 / predicates);
    }

    private static void add(String work, List<double[]> all, Report errors) {
        errors.add(work, MEDIAN, at(all, 0, 0.5));
        errors.add(work, P95, at(all, 0, 0.95));
        errors.add(work, GUESSED, at(all, 1, 0.95));
    }

    private static double at(List<double[]> all, int which, double quantile) {
        double[] sorted = all.stream().mapToDouble(one -> one[which]).sorted().toArray();
        return sorted[(int) Math.min(sorted.length - 1, sorted.length * quantile)];
    }

    private static double share(Store store, Dataset dataset) {
        long[] sums = new long[2];
        store.describe().datasets().stream()
                .filter(one -> one.name().equals(dataset.name()))
                .flatMap(one -> one.partitions().stream())
                .flatMap(one -> one.indexes().getFirst().components().stream())
                .forEach(component -> {
                    sums[0] += component.space().sample();
                    sums[1] += component.bytes();
                });
        return (double) sums[0] / sums[1];
    }

    private static long expected(Explanation explanation) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals("select"))
                .findFirst()
                .orElseThrow()
                .estimatedRows()
                .orElseThrow();
    }

    /** A predicate, and between which ranks its values are. */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    private record Asked(Predicate predicate, int[] ranks, int low, int high) {}

    /** An equality with the value of a record, or a range around it, narrow or wide. */
    private Asked asked(Column column, int row, boolean isEqual) {
        int rank = column.ranks()[row];
        if (rank == Columns.ABSENT) {
            rank = random.nextInt(column.values().size());
        }
        int low = rank;
        int high = rank;
        if (!isEqual) {
            int width = (int)
                    Math.exp(random.nextDouble() * Math.log(column.values().size()));
            low = Math.max(0, rank - random.nextInt(width + 1));
            high = Math.min(column.values().size() - 1, low + width);
        }
        Object from = column.values().get(low);
        Object to = column.values().get(high);
        Predicate predicate = isEqual
                ? Predicates.eq(column.field(), from)
                : Predicates.range(column.field(), from, to);
        return new Asked(predicate, column.ranks(), low, high);
    }

    private static long count(List<Asked> asked) {
        long count = 0;
        for (int row = 0; row < asked.getFirst().ranks().length; row++) {
            boolean isMatch = true;
            for (Asked one : asked) {
                int rank = one.ranks()[row];
                isMatch &= rank >= one.low() && rank <= one.high();
            }
            count += isMatch ? 1 : 0;
        }
        return count;
    }
}
