package io.turbidite.bench.planner;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Join;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * What the steps of a query cost on this machine, nanoseconds of the thread's CPU with all pages in
 * the cache: medians of some rounds, each of a hundred milliseconds. What the planner has in its
 * costs is made of them, and written as its resource.
 */
public final class Calibration {
    static final String TITLE = "Steps of queries: CPU, ns each";
    private static final String NANOS = "ns";
    private static final long ROUND_NANOS = 100_000_000;
    private static final int ROUNDS = 5;
    private static final int WARM_ROUNDS = 6;
    private static final int RECORDS = 100_000;
    private static final int SHARES = 100;
    private static final double SIDE = 1_000;

    /** Records below this part of the square have been sent late, others early. */
    private static final double LATE_SIDE = SIDE / 4;

    /** More than a join asks for by their keys, so that it reads the other side whole. */
    private static final int HELD = 4_000;

    private final Path directory;
    private final SplittableRandom random = new SplittableRandom(87);
    private final Map<String, Double> costs = new TreeMap<>();

    /**
     * @param directory for the store; emptied
     */
    public Calibration(Path directory) {
        this.directory = directory;
    }

    /** Measures, and writes what the planner reads. */
    public Report run(Path file) {
        Path place = Scratch.empty(directory.resolve("calibration"));
        try (Store store = Store.open(place, StoreOptions.defaults().withCacheBytes(512L << 20))) {
            Dataset many = dataset(store, "Many", RECORDS);
            scans(many);
            entries(many);
            fetches(
                    many,
                    dataset(store, "Tenth", RECORDS / 10),
                    dataset(store, "Few", RECORDS / 50));
            candidates(many);
            joins(many);
        }
        Scratch.delete(place);
        write(file);
        Report report = new Report(TITLE, List.of(NANOS))
                .setting("machine", Report.machine())
                .setting("command", "./turbidite bench planner --calibrate");
        costs.forEach((step, nanos) -> report.add(step, NANOS, nanos));
        return report;
    }

    private Dataset dataset(Store store, String name, int records) {
        Dataset dataset = store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("place", "point")
                .field("sent", "int64")
                .field("text", "string")
                .field("rest", "string")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_text", "text"))
                .index(IndexSpec.btree("by_sent", "sent")));
        Map<String, Object> record = new HashMap<>();
        try (BulkLoader load = dataset.bulkLoad(records)) {
            for (long id = 0; id < records; id++) {
                double y = random.nextDouble() * SIDE;
                long early = random.nextLong(records / 2);
                record.put("id", id);
                record.put("place", new Point(random.nextDouble() * SIDE, y));
                record.put("sent", y < LATE_SIDE ? records / 2 + early : early);
                record.put("text", "tag" + random.nextInt(SHARES) + " and some more words");
                record.put("rest", "r".repeat(300));
                load.add(dataset.newRecordWriter().write(record));
            }
            load.finish();
        }
        return dataset;
    }

    /** Nanoseconds of one run. */
    private static double nanos(Runnable step) {
        double[] rounds = new double[ROUNDS];
        for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
            long before = ThreadCosts.nanos();
            long passed = 0;
            int times = 0;
            while (passed < ROUND_NANOS) {
                step.run();
                times++;
                passed = ThreadCosts.nanos() - before;
            }
            if (round >= 0) {
                rounds[round] = (double) passed / times;
            }
        }
        Arrays.sort(rounds);
        return rounds[ROUNDS / 2];
    }

    private static void requireNone(long count) {
        if (count != 0) {
            throw new IllegalStateException(count + " are found, and there should be none");
        }
    }

    /** Nanoseconds of each of what is counted. */
    private static double each(LongSupplier step) {
        long count = step.getAsLong();
        if (count == 0) {
            throw new IllegalStateException("nothing to measure");
        }
        return nanos(() -> {
                    if (step.getAsLong() != count) {
                        throw new IllegalStateException("not as many as before");
                    }
                })
                / count;
    }

    private double cost(String step) {
        Double nanos = costs.get(step);
        if (nanos == null) {
            throw new IllegalStateException(step + " is not measured yet");
        }
        return nanos;
    }

    /** Differences of what is measured may be nothing on a machine that is busy. */
    private void put(String step, double nanos) {
        costs.put(step, Math.max(1, nanos));
    }

    private void scans(Dataset many) {
        put(
                "scan.refused",
                nanos(() -> rows(Query.on(many)
                                .where(Predicates.range("sent", -5, -1))
                                .usingScan()))
                        / RECORDS);
        put("open", nanos(() -> requireNone(found(many, "by_sent", range(-5, -1)))));
    }

    private void entries(Dataset many) {
        TermSearch word = new TermSearch(List.of("tag7"));
        KeyRange sent = range(RECORDS / 2, RECORDS / 2 + RECORDS / 20);
        put("entry.btree", each(() -> found(many, "by_sent", sent)));
        put("entry.rtree", each(() -> found(many, "by_place", window(SIDE / 5))));
        put("entry.word", each(() -> found(many, "by_text", word)));
        put("validation", each(() -> valid(many, "by_sent", sent)) - cost("entry.btree"));
    }

    private static long fetched(Dataset dataset, long low, long high) {
        return rows(Query.on(dataset)
                .where(Predicates.range("sent", low, high))
                .select("id")
                .usingIndex("by_sent"));
    }

    /**
     * What is left of a query by an index without what one costs that finds nothing, its entries
     * and their validation.
     */
    private double fetch(Dataset dataset, int records, int part) {
        long low = records / 3;
        long high = low + records / part;
        double nothing = nanos(() -> fetched(dataset, -5, -1));
        long count = fetched(dataset, low, high);
        return (nanos(() -> fetched(dataset, low, high)) - nothing) / count
                - cost("entry.btree")
                - cost("validation");
    }

    private void fetches(Dataset many, Dataset tenth, Dataset few) {
        double ofMany = fetch(many, RECORDS, 100);
        put("fetch", fetch(tenth, RECORDS / 10, 100));
        put("fetch.tenfold", ofMany - cost("fetch"));
        put("fetch.least", Math.min(cost("fetch"), fetch(few, RECORDS / 50, 20)));
        put("fetch.dense", fetch(many, RECORDS, 10));
    }

    /** Records of a square of late ones that were sent early, by both indexes. */
    private static double joined(Dataset many, double side, int sent) {
        return nanos(() -> requireNone(rows(Query.on(many)
                .where(Predicates.within("place", 0, 0, side, side))
                .where(Predicates.range("sent", 1, sent))
                .usingIndexes("by_place", "by_sent"))));
    }

    /**
     * The index with fewer entries is read first, so each is that once: what the other one has more
     * of is looked up, what the first one has more of is kept and looked up in, for nothing is in
     * both.
     */
    private void candidates(Dataset many) {
        // three of four records are early: 12,000 and 36,000 entries, and up to 6,250 of the square
        int sent = RECORDS / 12;
        double smaller = LATE_SIDE * Math.sqrt(0.5);
        double once = joined(many, LATE_SIDE, sent);
        double more = joined(many, LATE_SIDE, 3 * sent);
        double fewer = joined(many, smaller, 3 * sent);
        long lookedUp = found(many, "by_sent", range(1 + sent, 3L * sent));
        long kept = found(many, "by_place", window(LATE_SIDE))
                - found(many, "by_place", window(smaller));
        put("candidate.probed", (more - once) / lookedUp - cost("entry.btree"));
        put("candidate.kept", (more - fewer) / kept - cost("entry.rtree"));
    }

    private static IndexSearch.Window window(double side) {
        return new IndexSearch.Window(SpatialKind.POINT, new Rectangle(0, 0, side, side));
    }

    private static Query side(Dataset many, String key, long low, long high) {
        return Query.on(many)
                .where(Predicates.range("id", low, high))
                .select("(id) as " + key, "(sent) as s" + key);
    }

    private static long pairs(Dataset many, long fewLow, long held, boolean holdsMany) {
        Query few = side(many, "a", fewLow, fewLow + held - 1);
        Query all = side(many, "b", 0, RECORDS / 2 - 1);
        Relation join = holdsMany ? Join.inner(few, all) : Join.inner(all, few);
        return rows(((Join) join).on(holdsMany ? "a" : "b", holdsMany ? "b" : "a"));
    }

    /** Of one half of the records with as many, or with a few. */
    private void joins(Dataset many) {
        int half = RECORDS / 2;
        double read = nanos(() ->
                rows(Query.on(many).where(Predicates.range("id", 0, half - 1)).count()));
        // the few are of the other half: nothing is met, unless both are the same
        double some = nanos(() -> pairs(many, half, HELD, false));
        double twice = nanos(() -> pairs(many, half, 2 * HELD, false));
        double both = nanos(() -> pairs(many, half, half, true));
        double met = nanos(() -> pairs(many, 0, half, true));
        // a row that is held is read too
        put("join.held", (twice - some) / HELD - read / half);
        put("join.probed", (some - (twice - some) - read) / half);
        put("join.pair", (met - both) / half);
    }

    private static KeyRange range(long low, long high) {
        ByteSink from = new ByteSink(16, 16);
        ByteSink to = new ByteSink(16, 16);
        KeyCodec.append(from, TypeKind.INT64, low);
        KeyCodec.append(to, TypeKind.INT64, high);
        return KeyRange.of(
                from.asSlice(new Slice()).toByteArray(), to.asSlice(new Slice()).toByteArray());
    }

    private static long found(Dataset dataset, String index, IndexSearch search) {
        long count = 0;
        try (ReadView view = dataset.openView();
                IndexCursor entries = view.search(0, index, search, FilterPredicate.none())) {
            while (entries.next()) {
                count += entries.timestamp() > 0 && entries.primaryKey().length() > 0 ? 1 : 0;
            }
        }
        return count;
    }

    private static long valid(Dataset dataset, String name, IndexSearch search) {
        long count = 0;
        try (ReadView view = dataset.openView()) {
            IndexDescription index = view.indexes().stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElseThrow();
            try (ValidSearch entries =
                    ValidSearch.open(view, 0, index, search, FilterPredicate.none())) {
                while (entries.next()) {
                    count++;
                }
            }
        }
        return count;
    }

    private static long rows(Relation relation) {
        long count = 0;
        try (QueryResult result = relation.run()) {
            while (result.next()) {
                count++;
            }
        }
        return count;
    }

    /** A file with other steps is not the planner's, or something is not measured here. */
    private void checkSteps(Path file) throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        Set<String> steps = new TreeSet<>();
        for (String line : Files.readAllLines(file)) {
            if (!line.startsWith("#") && !line.startsWith("version")) {
                steps.add(line.substring(0, line.indexOf(' ')));
            }
        }
        if (!steps.equals(costs.keySet())) {
            throw new IllegalStateException(
                    "%s has the steps %s, measured are %s".formatted(file, steps, costs.keySet()));
        }
    }

    private void write(Path file) {
        StringBuilder text = new StringBuilder("""
                # What steps of queries cost the planner. Written by: ./turbidite bench planner --calibrate
                # Each line: a step, and its nanoseconds of CPU with all pages in the cache.
                version 1
                """);
        costs.forEach(
                (step, nanos) -> text.append(String.format(Locale.ROOT, "%s %.0f%n", step, nanos)));
        try {
            checkSteps(file);
            Files.writeString(file, text.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
