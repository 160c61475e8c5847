package io.turbidite.bench.ycsb;

import static io.turbidite.ops.Predicates.parameter;
import static io.turbidite.ops.Predicates.range;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Order;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** Turbidite as its users call it: records are maps, ranges are asked by a prepared query. */
final class TurbiditeRecords implements Records {
    static final String NAME = "Turbidite";

    private static final String DATASET = "usertable";
    private static final String KEY = "key";
    private static final long LOOK_NANOS = 20_000_000;
    private static final int QUIET_LOOKS = 5;

    private final Store store;
    private final Dataset records;
    private final PreparedQuery from;
    private final Reading mergeBacklog;

    /** Opens the store, or makes it. */
    TurbiditeRecords(Path directory, Budget budget) {
        store = Store.open(
                directory,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(budget.writeMemoryBytes())
                        .withCacheBytes(budget.cacheBytes())
                        .withDurability(Durability.PROCESS));
        records =
                !store.datasets().isEmpty() ? store.dataset(DATASET) : store.createDataset(spec());
        from = Query.on(records)
                .where(range(KEY, parameter("first"), null))
                .orderBy(KEY, Order.ASC)
                .prepare();
        mergeBacklog = store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals("merge.backlog.bytes"))
                .map(Reading.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private static DatasetSpec spec() {
        DatasetSpec spec = DatasetSpec.named(DATASET).field(KEY, "string");
        for (String field : FIELDS) {
            spec = spec.field(field, "string");
        }
        return spec.primaryKey(KEY);
    }

    @Override
    public void insert(String key, Map<String, String> values) {
        Map<String, Object> record = new HashMap<>(values);
        record.put(KEY, key);
        records.upsert(record);
    }

    @Override
    public long read(String key, Depth depth) {
        return number(found(records.get(key), key), depth);
    }

    @Override
    public long scan(String first, int rows, Depth depth) {
        long sum = 0;
        try (QueryResult result = from.run(first)) {
            Iterator<Map<String, @Nullable Object>> all = result.iterator();
            for (int i = 0; i < rows && all.hasNext(); i++) {
                sum = sum * 31 + number(all.next(), depth);
            }
        }
        return sum;
    }

    @Override
    public long update(String key, Map<String, String> values, Depth depth) {
        Map<String, @Nullable Object> record = found(records.get(key), key);
        long number = number(record, depth);
        record.putAll(values);
        records.upsert(record);
        return number;
    }

    @Override
    public long readModifyWrite(String key, Map<String, String> values, Depth depth) {
        long[] number = new long[1];
        Map<String, @Nullable Object> _ = records.compute(
                before -> {
                    Map<String, @Nullable Object> record = found(before, key);
                    number[0] = number(record, depth);
                    record.putAll(values);
                    return record;
                },
                key);
        return number[0];
    }

    @Override
    public void settle() {
        records.flush();
        int looks = 0;
        while (looks < QUIET_LOOKS) {
            LockSupport.parkNanos(LOOK_NANOS);
            looks = mergeBacklog.value() == 0 ? looks + 1 : 0;
        }
    }

    @Override
    public void close() {
        store.close();
    }

    private static Map<String, @Nullable Object> found(
            @Nullable Map<String, @Nullable Object> record, String key) {
        if (record == null) {
            throw new IllegalStateException(NAME + " has lost " + key);
        }
        return record;
    }

    private static long number(Map<String, @Nullable Object> record, Depth depth) {
        if (depth == Depth.ONE_VALUE) {
            String text = text(record, FIELDS.get(LOOKED_AT));
            return Records.ofOne(text.length(), text.charAt(text.length() - 1));
        }
        long sum = 0;
        for (String field : FIELDS) {
            sum = sum * 31 + text(record, field).hashCode();
        }
        return sum;
    }

    private static String text(Map<String, @Nullable Object> record, String field) {
        return (String) Objects.requireNonNull(record.get(field), field);
    }
}
