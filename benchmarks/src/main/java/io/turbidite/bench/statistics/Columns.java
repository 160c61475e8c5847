package io.turbidite.bench.statistics;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.Dataset;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The live records of a dataset as columns: of each scalar field the rank of each value. */
final class Columns {
    /** What a record has that lacks the field. */
    static final int ABSENT = -1;

    /**
     * One field.
     *
     * @param values distinct, ascending
     * @param ranks of each record, in {@code values}; {@link #ABSENT}
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    record Column(String field, List<Object> values, int[] ranks) {}

    private Columns() {}

    /** Reads the fields whose values have an order that Java knows. */
    static List<Column> of(Dataset dataset, List<String> leftOut) {
        RecordType type = dataset.type();
        List<Integer> fields = new ArrayList<>();
        for (Field field : type.fields()) {
            if (field.kind().isScalar()
                    && !field.kind().isSpatial()
                    && !leftOut.contains(field.name())) {
                fields.add(type.indexOf(field.name()));
            }
        }
        List<List<Object>> raw = new ArrayList<>();
        fields.forEach(_ -> raw.add(new ArrayList<>()));
        Object absent = new Object();
        RecordView record = new RecordView(type);
        Slice bytes = new Slice();
        try (ReadView view = dataset.openView()) {
            for (int partition = 0; partition < view.partitionCount(); partition++) {
                try (RecordStream all =
                        view.scanUnordered(partition, KeyRange.all(), FilterPredicate.none())) {
                    while (all.next()) {
                        record.wrap(bytes.set(all.record()));
                        for (int i = 0; i < fields.size(); i++) {
                            Object value = record.get(fields.get(i));
                            raw.get(i).add(value == null ? absent : value);
                        }
                    }
                }
            }
        }
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            columns.add(column(type.field(fields.get(i)).name(), raw.get(i), absent));
        }
        return columns;
    }

    // Identity is meant: it stands for what is not there.
    @SuppressWarnings("ReferenceEquality")
    private static Column column(String field, List<Object> raw, Object absent) {
        Map<Object, Integer> ranks = new TreeMap<>();
        raw.stream().filter(value -> value != absent).forEach(value -> ranks.put(value, 0));
        int rank = 0;
        for (Map.Entry<Object, Integer> entry : ranks.entrySet()) {
            entry.setValue(rank++);
        }
        int[] of = new int[raw.size()];
        Arrays.setAll(
                of, i -> raw.get(i) == absent ? ABSENT : ranks.getOrDefault(raw.get(i), ABSENT));
        return new Column(field, List.copyOf(ranks.keySet()), of);
    }
}
