package io.turbidite.bench.plans;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
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
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What the planner takes where fields depend on one another, against the cheapest of all ways. The
 * records are like flights: a tail number has one carrier and few origins, an origin mostly one
 * carrier, a month is a range of times. All ways of a query must count the same rows.
 */
final class DependentFields {
    private static final long MEASURED_NANOS = 60_000_000;
    private static final int TAILS = 4_000;
    private static final int ORIGINS = 300;
    private static final int CARRIERS = 16;
    private static final int MONTHS = 12;
    private static final String PLANNED = "as planned";
    private static final String CHEAPEST = "cheapest way";
    private static final String SCAN = "scan";

    private final int records;
    private final int rounds;
    private final Path directory;
    private final SplittableRandom random = new SplittableRandom(99);

    /** A question, and the indexes that go with it. */
    private record Question(String name, List<Predicate> predicates, List<String> indexes) {}

    DependentFields(int records, int rounds, Path directory) {
        this.records = records;
        this.rounds = rounds;
        this.directory = directory;
    }

    Report run() {
        List<String> columns = List.of(PLANNED, CHEAPEST, SCAN);
        Report report = new Report("Fields that depend on one another: CPU, us a query", columns)
                .setting("machine", Report.machine())
                .setting("records", "%,d, validation, in the cache, one thread".formatted(records))
                .setting("figure", "median of %d rounds".formatted(rounds));
        Path place = Scratch.empty(directory.resolve("dependent"));
        try (Store store = Store.open(
                place, StoreOptions.defaults().withCacheBytes(500L * records + (64 << 20)))) {
            Dataset dataset = store.createDataset(spec());
            load(dataset);
            for (int round = -1; round < rounds; round++) {
                for (Question question : questions()) {
                    ask(dataset, question, round < 0 ? null : report);
                }
            }
        }
        Scratch.delete(place);
        return report;
    }

    private static DatasetSpec spec() {
        return DatasetSpec.named("Flights")
                .field("id", "int64")
                .field("tail", "int32")
                .field("origin", "int32")
                .field("carrier", "int32")
                .field("month", "int32")
                .field("time", "int64")
                .field("rest", "string")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.btree("by_tail", "tail"))
                .index(IndexSpec.btree("by_origin", "origin"))
                .index(IndexSpec.btree("by_carrier", "carrier"))
                .index(IndexSpec.btree("by_month", "month"))
                .index(IndexSpec.btree("by_time", "time"));
    }

    private void load(Dataset dataset) {
        String rest = "r".repeat(200);
        Map<String, Object> record = new HashMap<>();
        try (BulkLoader load = dataset.bulkLoad(records)) {
            for (long id = 0; id < records; id++) {
                int tail = random.nextInt(TAILS);
                int carrier = tail % CARRIERS;
                long time = random.nextLong(records);
                record.put("id", id);
                record.put("tail", tail);
                record.put("carrier", carrier);
                record.put("origin", originOf(tail, random.nextInt(4)));
                record.put("month", (int) (time * MONTHS / records));
                record.put("time", time);
                record.put("rest", rest);
                load.add(dataset.newRecordWriter().write(record));
            }
            load.finish();
        }
    }

    private static int originOf(int tail, int number) {
        int carrier = tail % CARRIERS;
        return number == 0
                ? Math.floorMod(tail * 31, ORIGINS)
                : Math.floorMod(carrier * 19 + (tail / CARRIERS + number) % 16, ORIGINS);
    }

    private List<Question> questions() {
        int tail = random.nextInt(TAILS);
        Predicate isTail = Predicates.eq("tail", tail);
        Predicate isOrigin = Predicates.eq("origin", originOf(tail, 1));
        Predicate isCarrier = Predicates.eq("carrier", tail % CARRIERS);
        int month = random.nextInt(MONTHS);
        Predicate isMonth = Predicates.eq("month", month);
        long from = (long) records * month / MONTHS;
        Predicate isTime = Predicates.range("time", from, from + records / 100);
        return List.of(
                question("tail, carrier", isTail, isCarrier),
                question("tail, origin", isTail, isOrigin),
                question("origin, carrier", isOrigin, isCarrier),
                question("tail, origin, carrier", isTail, isOrigin, isCarrier),
                question("month, time", isMonth, isTime),
                question("origin, time (independent)", isOrigin, isTime),
                question("origin, carrier, time", isOrigin, isCarrier, isTime));
    }

    private static Question question(String name, Predicate... predicates) {
        return new Question(
                name,
                List.of(predicates),
                List.of(predicates).stream().map(one -> "by_" + one.field()).toList());
    }

    private static Query query(Dataset dataset, Question question) {
        Query query = Query.on(dataset).select("rest");
        question.predicates().forEach(query::where);
        return query;
    }

    private void ask(Dataset dataset, Question question, @Nullable Report report) {
        Map<String, Double> micros = new TreeMap<>();
        long rows = -1;
        for (Map.Entry<String, Query> way : ways(dataset, question).entrySet()) {
            long found = 0;
            int times = 0;
            long passed = 0;
            long before = Costs.cpuNanos();
            while (passed < MEASURED_NANOS) {
                try (QueryResult result = way.getValue().run()) {
                    found = result.count();
                }
                times++;
                passed = Costs.cpuNanos() - before;
            }
            if (rows >= 0 && rows != found) {
                throw new IllegalStateException("%s by %s: %d, another way %d"
                        .formatted(question.name(), way.getKey(), found, rows));
            }
            rows = found;
            micros.put(way.getKey(), passed / 1e3 / times);
        }
        if (report == null) {
            return;
        }
        report.add(question.name(), PLANNED, Objects.requireNonNull(micros.remove(PLANNED)));
        report.add(question.name(), CHEAPEST, Collections.min(micros.values()));
        report.add(question.name(), SCAN, Objects.requireNonNull(micros.get(SCAN)));
    }

    private static Map<String, Query> ways(Dataset dataset, Question question) {
        Map<String, Query> ways = new TreeMap<>();
        ways.put(PLANNED, query(dataset, question));
        ways.put(SCAN, query(dataset, question).usingScan());
        List<String> indexes = question.indexes();
        for (int some = 1; some < 1 << indexes.size(); some++) {
            List<String> together = new ArrayList<>();
            for (int i = 0; i < indexes.size(); i++) {
                if ((some >> i & 1) != 0) {
                    together.add(indexes.get(i));
                }
            }
            Query query = query(dataset, question);
            ways.put(
                    String.join(" and ", together),
                    together.size() == 1
                            ? query.usingIndex(together.getFirst())
                            : query.usingIndexes(together.toArray(String[]::new)));
        }
        return ways;
    }
}
