package io.turbidite.bench.api;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.parameter;
import static io.turbidite.ops.Predicates.range;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Order;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.aggregate.Aggregate;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * What calls of the public API cost a user, short ones above all: CPU time of the whole process and
 * bytes of heap an operation, records of ten fields of a hundred characters (those of YCSB),
 * everything in the cache. The same calls are made by a cold process, whose code is still being
 * compiled, and by a warm one.
 *
 * <p>Every row is checked: the fields that an operation returns are counted, and the sum is what it
 * must be.
 */
public final class ApiSuite {
    private static final int RANGE_ROWS = 50;
    private static final int SCAN_ROWS_MAX = 100;
    private static final int UPSERT_INTERVAL = 20;
    private static final int GROUPED_RECORDS = 500;

    /** One of the texts. */
    private static final int FIELD = 5;

    /** Calls for one row in the time of one for fifty: CPU is counted in hundredths of a second. */
    private static final int SHORT_CALLS = 8;

    private static final String COLD = "cold";
    private static final String WARM = "warm";

    private final int records;
    private final int rounds;
    private final int operations;
    private final Path directory;

    /**
     * @param records to load
     * @param rounds counted warm rounds; as many warm up
     * @param operations of each kind in a round
     * @param directory for the store; emptied
     */
    public ApiSuite(int records, int rounds, int operations, Path directory) {
        this.records = records;
        this.rounds = rounds;
        this.operations = operations;
        this.directory = directory;
    }

    /** One operation on a key; returns how many values it gave. */
    private interface Operation {
        long run(long id);
    }

    public List<Report> run() {
        Report cpu = report("Calls of the API: CPU, us");
        Report garbage = report("Calls of the API: heap, KB");
        MadeRecords made = new MadeRecords(records);
        Path place = Scratch.empty(directory.resolve("api"));
        try (Store store =
                Store.open(place, StoreOptions.defaults().withDurability(Durability.PROCESS))) {
            Dataset dataset = store.createDataset(made.spec("Records"));
            made.load(store, dataset);
            // one of its own: what is upserted would lie above all that others read
            Dataset scanned = store.createDataset(made.spec("Scanned"));
            made.load(store, scanned);
            Map<String, Operation> operationsByName = operations(dataset);
            PreparedQuery scan = Query.on(scanned)
                    .where(range("id", parameter("low"), parameter("high")))
                    .orderBy("id", Order.ASC)
                    .prepare();
            operationsByName.put(
                    "50 rows on average as maps, 5 % upserts (YCSB E)",
                    id -> ycsbE(scanned, scan, id));
            Map<String, Long> counts = new HashMap<>();
            operationsByName.forEach(
                    (name, operation) -> measure(name, operation, COLD, cpu, garbage, counts));
            for (int round = -rounds; round < rounds; round++) {
                boolean counted = round >= 0;
                operationsByName.forEach((name, operation) ->
                        measure(name, operation, counted ? WARM : null, cpu, garbage, counts));
            }
        }
        Scratch.delete(place);
        return List.of(cpu, garbage);
    }

    private Report report(String title) {
        return new Report(title, List.of(WARM, COLD))
                .setting("machine", Report.machine())
                .setting("records", "%,d of 1 KB, in the cache, one thread".formatted(records))
                .setting(
                        "figure",
                        "a call, median of %d rounds of %,d, and of %d times as many calls for one row; cold: the first %,d of each kind in a process, one kind after the other"
                                .formatted(rounds, operations, SHORT_CALLS, operations))
                .setting(
                        "command",
                        "./turbidite bench api --records %d --rounds %d --operations %d"
                                .formatted(records, rounds, operations));
    }

    private Map<String, Operation> operations(Dataset dataset) {
        PreparedQuery byKey = Query.on(dataset).where(eq("id", parameter("id"))).prepare();
        PreparedQuery ofRange = Query.on(dataset)
                .where(range("id", parameter("low"), null))
                .orderBy("id", Order.ASC)
                .limit(RANGE_ROWS)
                .prepare();
        Map<String, Operation> all = new LinkedHashMap<>();
        all.put("get as map", id -> size(dataset.get(id)));
        all.put("get by Query", id -> sizes(byKey(dataset, id).run()));
        all.put("get by prepared Query", id -> sizes(byKey.run(id)));
        all.put("get as map, all values read", id -> read(dataset.get(id)));
        all.put("get by Query, all values read", id -> values(byKey(dataset, id).run()));
        all.put(
                "1 row by Query as map",
                id -> sizes(fromKey(dataset, id).limit(1).run()));
        all.put(
                "1 of an index by Query as map",
                id -> sizes(Query.on(dataset)
                        .where(eq("grp", (int) (id % MadeRecords.GROUP_COUNT)))
                        .limit(1)
                        .run()));
        all.put(
                "20 of an index ordered, as maps",
                id -> sizes(Query.on(dataset)
                        .where(eq("grp", (int) (id % MadeRecords.GROUP_COUNT)))
                        .orderBy("field3", Order.ASC)
                        .limit(20)
                        .run()));
        all.put("50 rows by ReadView", id -> readView(dataset, id, false));
        all.put("50 rows by ReadView, each copied to the heap", id -> readView(dataset, id, true));
        all.put("50 rows by Query, rows where they lie", id -> rows(fifty(dataset, id)));
        all.put("50 rows by Query as maps", id -> sizes(fifty(dataset, id)));
        all.put("50 rows by prepared Query as maps", id -> sizes(ofRange.run(id)));
        all.put("50 rows by Query as maps, one value read", id -> oneValue(fifty(dataset, id)));
        all.put("50 rows by Query as maps, all values read", id -> values(fifty(dataset, id)));
        all.put(
                "50 rows by Query, one field",
                id -> values(
                        fromKey(dataset, id).select("field3").limit(RANGE_ROWS).run()));
        all.put(
                "500 records in 20 groups, counted",
                id -> values(parts(dataset, id).run()));
        all.put(
                "500 records in 20 groups, sum, mean and maximum",
                id -> values(parts(dataset, id)
                        .aggregate(Aggregate.sum("grp"), Aggregate.avg("grp"), Aggregate.max("id"))
                        .run()));
        all.put(
                "500 records in 20 groups, sum of a difference",
                id -> values(parts(dataset, id)
                        .aggregate(Aggregate.sum("id - grp").as("difference"))
                        .run()));
        return all;
    }

    private static Query parts(Dataset dataset, long id) {
        return Query.on(dataset)
                .where(range("id", id, id + GROUPED_RECORDS - 1))
                .groupBy("part");
    }

    private static Query byKey(Dataset dataset, long id) {
        return Query.on(dataset).where(eq("id", id));
    }

    private static QueryResult fifty(Dataset dataset, long id) {
        return fromKey(dataset, id).limit(RANGE_ROWS).run();
    }

    private static Query fromKey(Dataset dataset, long id) {
        return Query.on(dataset).where(range("id", id, null)).orderBy("id", Order.ASC);
    }

    private static long size(@Nullable Map<String, @Nullable Object> record) {
        return record == null ? 0 : record.size();
    }

    /** The map's size and its values, each taken once. */
    private static long read(@Nullable Map<String, @Nullable Object> record) {
        long read = 0;
        if (record != null) {
            for (Object value : record.values()) {
                read += value instanceof String text ? text.length() : 1;
            }
        }
        return read;
    }

    /** Takes the rows of a query as maps and looks at none of their values. */
    private static long sizes(QueryResult result) {
        long sizes = 0;
        try (result) {
            for (Map<String, @Nullable Object> row : result) {
                sizes += row.size();
            }
        }
        return sizes;
    }

    /** Scans of any length up to a hundred; each twentieth call writes a record as it was. */
    private static long ycsbE(Dataset dataset, PreparedQuery ofScan, long id) {
        if (id % UPSERT_INTERVAL == 0) {
            Map<String, @Nullable Object> record = dataset.get(id);
            dataset.upsert(Objects.requireNonNull(record));
            return record.size();
        }
        // the low bits of an id are as good as random, and the same in each round
        return sizes(ofScan.run(id, id + (id * 31) % SCAN_ROWS_MAX));
    }

    private static long oneValue(QueryResult result) {
        long chars = 0;
        try (result) {
            for (Map<String, @Nullable Object> row : result) {
                chars += row.get("field3") instanceof String text ? text.length() : 0;
            }
        }
        return chars;
    }

    private static long values(QueryResult result) {
        long values = 0;
        try (result) {
            for (Map<String, @Nullable Object> row : result) {
                values += read(row);
            }
        }
        return values;
    }

    private static long rows(QueryResult result) {
        long bytes = 0;
        Slice field = new Slice();
        try (result) {
            while (result.next()) {
                bytes += result.row().getBytes(FIELD, field).length();
            }
        }
        return bytes;
    }

    private static long readView(Dataset dataset, long id, boolean copied) {
        ByteSink low = new ByteSink(16, 16);
        KeyCodec.append(low, TypeKind.INT64, id);
        long bytes = 0;
        Slice field = new Slice();
        RecordView row = new RecordView(dataset.type());
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(
                        0,
                        KeyRange.of(low.asSlice(new Slice()).toByteArray(), null),
                        FilterPredicate.none())) {
            for (int i = 0; i < RANGE_ROWS && cursor.next(); i++) {
                bytes += copied
                        ? cursor.record().toByteArray().length
                        : row.wrap(cursor.record()).getBytes(FIELD, field).length();
            }
        }
        return bytes;
    }

    private void measure(
            String name,
            Operation operation,
            @Nullable String engine,
            Report cpu,
            Report garbage,
            Map<String, Long> counts) {
        SplittableRandom ids = new SplittableRandom(11);
        long cpuBefore = Costs.cpuNanos();
        long heapBefore = Costs.allocatedBytes();
        long values = 0;
        boolean isShort = !name.startsWith(String.valueOf(RANGE_ROWS));
        int calls = isShort && !COLD.equals(engine) ? operations * SHORT_CALLS : operations;
        for (int i = 0; i < operations; i++) {
            values += operation.run(ids.nextLong(records - GROUPED_RECORDS));
        }
        long more = 0;
        for (int i = operations; i < calls; i++) {
            more += operation.run(ids.nextLong(records - GROUPED_RECORDS));
        }
        double heap = (Costs.allocatedBytes() - heapBefore) / 1e3 / calls;
        double micros = (Costs.cpuNanos() - cpuBefore) / 1e3 / calls;
        Long before = counts.putIfAbsent(name, values);
        if (values == 0
                || (calls > operations && more == 0)
                || (before != null && before != values)) {
            throw new IllegalStateException(
                    "%s gave %d values, then %d".formatted(name, before, values));
        }
        if (engine != null) {
            cpu.add(name, engine, micros);
            garbage.add(name, engine, heap);
        }
    }
}
