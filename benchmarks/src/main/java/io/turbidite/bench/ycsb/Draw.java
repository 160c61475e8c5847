package io.turbidite.bench.ycsb;

import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

/**
 * YCSB's core as a source of operations: it takes this for a database, which only writes down what
 * it is asked. So no engine pays for the drawing, and all are asked the same: YCSB's random numbers
 * have no seed. <em>Confined to one thread.</em>
 */
final class Draw extends DB {
    private static final int RECORDS_MAX = 1_000;

    private final List<Operation> asked = new ArrayList<>();
    private long records;

    /** How many records there are after all that was drawn. */
    long recordCount() {
        return records;
    }

    /** The next records to load, a thousand at most. */
    List<Operation> load(long count) {
        CoreWorkload workload = workload(Mix.C.properties(count, 1), records);
        List<Operation> drawn = new ArrayList<>();
        while (records < count && drawn.size() < RECORDS_MAX) {
            if (!workload.doInsert(this, null)) {
                throw new IllegalStateException("YCSB did not insert");
            }
            drawn.add(asked.removeFirst());
            records++;
        }
        return drawn;
    }

    /** Operations on the records that there are; what they insert is there from now on. */
    List<Operation> operations(Mix mix, int count) {
        CoreWorkload workload = workload(mix.properties(records, count), 0);
        List<Operation> drawn = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            if (!workload.doTransaction(this, null)) {
                throw new IllegalStateException("YCSB did not ask");
            }
            Operation last = asked.removeLast();
            // a read and an update by one call are one operation
            drawn.add(asked.isEmpty() ? last : last.ofWhatWasRead());
            asked.clear();
            if (last.kind() == Operation.Kind.INSERT) {
                records++;
            }
        }
        return drawn;
    }

    private static CoreWorkload workload(Properties properties, long first) {
        properties.setProperty("insertstart", String.valueOf(first));
        Measurements.setProperties(properties);
        CoreWorkload workload = new CoreWorkload();
        try {
            workload.init(properties);
        } catch (WorkloadException refused) {
            throw new IllegalStateException(refused);
        }
        return workload;
    }

    @Override
    public Status read(
            String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        asked.add(Operation.read(key));
        return Status.OK;
    }

    @Override
    @SuppressWarnings("NonApiType") // YCSB's signature
    public Status scan(
            String table,
            String first,
            int rows,
            Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        asked.add(Operation.scan(first, rows));
        return Status.OK;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        asked.add(Operation.update(key, texts(values)));
        return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        asked.add(Operation.insert(key, texts(values)));
        return Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
        throw new IllegalStateException("no core workload deletes, but " + key);
    }

    private static Map<String, String> texts(Map<String, ByteIterator> values) {
        Map<String, String> texts = new HashMap<>();
        values.forEach((field, value) -> texts.put(field, value.toString()));
        return Map.copyOf(texts);
    }
}
