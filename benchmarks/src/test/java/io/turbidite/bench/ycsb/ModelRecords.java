package io.turbidite.bench.ycsb;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Records in a sorted map: what engines must answer. */
final class ModelRecords implements Records {
    private final TreeMap<String, Map<String, String>> records = new TreeMap<>();

    @Override
    public void insert(String key, Map<String, String> values) {
        records.put(key, new HashMap<>(values));
    }

    @Override
    public long read(String key, Depth depth) {
        return number(record(key), depth);
    }

    @Override
    public long scan(String first, int rows, Depth depth) {
        long sum = 0;
        for (Map<String, String> record :
                records.tailMap(first).values().stream().limit(rows).toList()) {
            sum = sum * 31 + number(record, depth);
        }
        return sum;
    }

    @Override
    public long update(String key, Map<String, String> values, Depth depth) {
        Map<String, String> record = record(key);
        long number = number(record, depth);
        record.putAll(values);
        return number;
    }

    private Map<String, String> record(String key) {
        return Objects.requireNonNull(records.get(key), key);
    }

    private static String text(Map<String, String> record, int field) {
        return Objects.requireNonNull(record.get("field" + field));
    }

    private static long number(Map<String, String> record, Depth depth) {
        if (depth == Depth.ONE_VALUE) {
            String text = text(record, 5);
            return 31L * text.length() + text.charAt(text.length() - 1);
        }
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum = sum * 31 + text(record, i).hashCode();
        }
        return sum;
    }

    @Override
    public void settle() {}

    @Override
    public void close() {}
}
