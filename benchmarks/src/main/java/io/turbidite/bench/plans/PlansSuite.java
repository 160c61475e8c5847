package io.turbidite.bench.plans;

import static io.turbidite.ops.Predicates.contains;
import static io.turbidite.ops.Predicates.within;

import io.turbidite.bench.engine.Costs;
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
import io.turbidite.core.scan.RecordStream;
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
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The query of ALS15 Figure 2 (window, time, word, cells) by each index, by a scan, and by an
 * R-tree, an inverted index and a B+-tree together; and what the steps of such queries cost. Each
 * of the three keeps one record of a hundred, independently of the others and of the primary key,
 * so that every candidate's record lies on a page of its own. Everything is in the cache; figures
 * are CPU time of the whole process.
 *
 * <p>All ways of a query must give the same cells.
 */
public final class PlansSuite {
    private static final int SHARES = 100;

    /** CPU is counted in hundredths of a second: each figure is of so much at least. */
    private static final long MEASURED_NANOS = 200_000_000;

    private static final double SIDE = 1_000;
    private static final int WORDS = 10_000;
    private static final int RECORD_BYTES_BARE = 110;
    private static final long SEED = 15;

    private final int records;
    private final int rounds;
    private final int recordBytes;
    private final Path directory;

    /** Begun anew for each strategy, so that all have the same records and queries. */
    private SplittableRandom random = new SplittableRandom(SEED);

    /**
     * @param records to load
     * @param rounds counted rounds; as many warm up
     * @param recordBytes about how long a record is
     * @param directory for the store; emptied
     */
    public PlansSuite(int records, int rounds, int recordBytes, Path directory) {
        this.records = records;
        this.rounds = rounds;
        this.recordBytes = recordBytes;
        this.directory = directory;
    }

    public List<Report> run() {
        List<String> strategies = List.of(label(Maintenance.EAGER), label(Maintenance.VALIDATION));
        Report figure2 = report("Figure 2's query by each way: CPU, us a query", strategies);
        Report steps = report("Steps of queries: CPU, ns each", strategies);
        Path place = Scratch.empty(directory.resolve("plans"));
        try (Store store = Store.open(
                place,
                StoreOptions.defaults()
                        .withCacheBytes(3L * records * (recordBytes + 200) + (64 << 20)))) {
            Map<Maintenance, Dataset> datasets = new EnumMap<>(Maintenance.class);
            for (Maintenance strategy : List.of(Maintenance.EAGER, Maintenance.VALIDATION)) {
                random = new SplittableRandom(SEED);
                Dataset dataset = store.createDataset(spec(strategy));
                load(dataset);
                datasets.put(strategy, dataset);
            }
            // in turns, so that neither has the code compiled for the other
            for (int round = -rounds; round < rounds; round++) {
                boolean counts = round >= 0;
                for (Map.Entry<Maintenance, Dataset> one : datasets.entrySet()) {
                    String strategy = label(one.getKey());
                    random = new SplittableRandom(SEED + round);
                    askFigure2(one.getValue(), counts ? figure2 : null, strategy);
                    step(one.getValue(), counts ? steps : null, strategy);
                }
            }
        }
        Scratch.delete(place);
        return List.of(figure2, steps, new DependentFields(records, rounds, directory).run());
    }

    private static String label(Maintenance strategy) {
        return strategy.label();
    }

    private Report report(String title, List<String> strategies) {
        return new Report(title, strategies)
                .setting("machine", Report.machine())
                .setting(
                        "records",
                        "%,d of about %d bytes, one partition, one component, in the cache, one thread"
                                .formatted(records, recordBytes))
                .setting("figure", "median of %d rounds, strategies interleaved".formatted(rounds))
                .setting(
                        "command",
                        "./turbidite bench plans --records %d --rounds %d --record-bytes %d"
                                .formatted(records, rounds, recordBytes));
    }

    private static DatasetSpec spec(Maintenance strategy) {
        return DatasetSpec.named("Tweets_" + strategy.name())
                .field("id", "int64")
                .field("place", "point")
                .field("sent", "int64")
                .field("text", "string")
                .field("rest", "string")
                .primaryKey("id")
                .maintenance(strategy)
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_text", "text"))
                .index(IndexSpec.btree("by_sent", "sent"));
    }

    private void load(Dataset dataset) {
        String rest = "r".repeat(Math.max(0, recordBytes - RECORD_BYTES_BARE));
        Map<String, Object> record = new HashMap<>();
        try (BulkLoader load = dataset.bulkLoad(records)) {
            for (long id = 0; id < records; id++) {
                record.put("id", id);
                record.put(
                        "place", new Point(random.nextDouble() * SIDE, random.nextDouble() * SIDE));
                record.put("sent", random.nextLong(records));
                record.put("text", text());
                record.put("rest", rest);
                load.add(dataset.newRecordWriter().write(record));
            }
            load.finish();
        }
    }

    /** A tag that one text of a hundred has, and seven other words. */
    private String text() {
        StringBuilder text = new StringBuilder("tag").append(random.nextInt(SHARES));
        for (int i = 0; i < 7; i++) {
            text.append(" word").append(random.nextInt(WORDS));
        }
        return text.toString();
    }

    /** A query of each round's own window, time and word. */
    private Query query(Dataset dataset, double x, double y, long sent, int tag) {
        double side = SIDE / 10;
        return Query.on(dataset)
                .where(within("place", x, y, x + side, y + side))
                .where(Predicates.range("sent", sent, sent + records / SHARES - 1))
                .where(contains("text", "tag" + tag))
                .groupByCell("place", 10, 10);
    }

    private void askFigure2(Dataset dataset, @Nullable Report report, String strategy) {
        double x = random.nextInt(9) * SIDE / 10;
        double y = random.nextInt(9) * SIDE / 10;
        long sent = random.nextLong(records - records / SHARES);
        int tag = random.nextInt(SHARES);
        Map<String, Query> ways = new TreeMap<>();
        for (String index : List.of("by_place", "by_text", "by_sent")) {
            ways.put(index + ", then fetch", query(dataset, x, y, sent, tag).usingIndex(index));
        }
        ways.put(
                "by_place and by_text and by_sent",
                query(dataset, x, y, sent, tag).usingIndexes("by_place", "by_text", "by_sent"));
        ways.put(
                "by_place and by_sent, then fetch",
                query(dataset, x, y, sent, tag).usingIndexes("by_place", "by_sent"));
        ways.put("as planned", query(dataset, x, y, sent, tag));
        ways.put("scan", query(dataset, x, y, sent, tag).usingScan());
        String cells = null;
        for (Map.Entry<String, Query> way : ways.entrySet()) {
            String found = "";
            long before = Costs.cpuNanos();
            long passed = 0;
            int times = 0;
            while (passed < MEASURED_NANOS) {
                try (QueryResult result = way.getValue().run()) {
                    found = result.toList().toString();
                }
                times++;
                passed = Costs.cpuNanos() - before;
            }
            double micros = passed / 1e3 / times;
            if (cells != null && !cells.equals(found)) {
                throw new IllegalStateException(
                        "%s found %s, another way %s".formatted(way.getKey(), found, cells));
            }
            cells = found;
            if (report != null) {
                report.add(way.getKey(), strategy, micros);
            }
        }
    }

    private void step(Dataset dataset, @Nullable Report report, String strategy) {
        int share = records / SHARES;
        long low = random.nextLong(records - records / 10);
        Map<String, LongSupplier> steps = new TreeMap<>();
        steps.put("record of a scan", () -> scanned(dataset));
        steps.put("record of a scan that a range refuses", () -> {
            count(Query.on(dataset)
                    .where(Predicates.range("sent", -5, -1))
                    .usingScan()
                    .count());
            return records;
        });
        KeyRange sent = range(low, low + share);
        IndexSearch.Window window = new IndexSearch.Window(
                SpatialKind.POINT, new Rectangle(0, 0, SIDE / 10, SIDE / 10));
        TermSearch word = new TermSearch(List.of("tag" + random.nextInt(SHARES)));
        steps.put("entry of a B+-tree", () -> found(dataset, "by_sent", sent));
        steps.put("entry of an R-tree", () -> found(dataset, "by_place", window));
        steps.put("entry of a word", () -> found(dataset, "by_text", word));
        steps.put("validated entry of a B+-tree", () -> valid(dataset, "by_sent", sent));
        steps.put("entry of an R-tree or a B+-tree, both joined", () -> {
            double x = random.nextInt(9);
            Query few = Query.on(dataset)
                    .where(within("place", x, 0, x + SIDE / 10, SIDE / 10))
                    .where(Predicates.range("sent", low, low + share))
                    .usingIndexes("by_place", "by_sent")
                    .count();
            count(few);
            return 2L * share;
        });
        for (int part : new int[] {1_000, 100, 10}) {
            steps.put(
                    "record fetched by a B+-tree, 1 of " + part,
                    () -> rows(Query.on(dataset)
                            .where(Predicates.range("sent", low, low + records / part))
                            .select("id")
                            .usingIndex("by_sent")));
        }
        steps.forEach((name, step) -> {
            long count = 0;
            long before = Costs.cpuNanos();
            long passed = 0;
            while (passed < MEASURED_NANOS) {
                count += step.getAsLong();
                passed = Costs.cpuNanos() - before;
            }
            double nanos = (double) passed / Math.max(1, count);
            if (count == 0) {
                throw new IllegalStateException(name + " found nothing");
            }
            if (report != null) {
                report.add(name, strategy, nanos);
            }
        });
    }

    private static long scanned(Dataset dataset) {
        long count = 0;
        try (ReadView view = dataset.openView();
                RecordStream all = view.scanUnordered(0, KeyRange.all(), FilterPredicate.none())) {
            while (all.next()) {
                count++;
            }
        }
        return count;
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

    private static long count(Query query) {
        try (QueryResult result = query.run()) {
            return result.count();
        }
    }

    private static long rows(Query query) {
        try (QueryResult result = query.run()) {
            return result.count();
        }
    }
}
