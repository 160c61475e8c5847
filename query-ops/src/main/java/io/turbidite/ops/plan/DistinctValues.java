package io.turbidite.ops.plan;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.run.ByteHash;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * About how many values a field of a relation has, before conditions leave some: so many of the
 * other side's values a join by it can meet. Told from the primary key, else from the source's
 * sample, else from its first records. <em>Confined to one thread</em>, but what is kept, by its
 * maps.
 */
final class DistinctValues {
    /** Nothing is known. */
    static final double UNKNOWN = -1;

    /** Enough to tell some hundred thousand values from one another; some 50 us. */
    private static final int RECORDS_MAX = 1_024;

    /** Of a source that has no sample, which has so few that most of them are looked at. */
    private static final int FIRST_RECORDS = 256;

    /** What was counted holds until there are so many times more records, or fewer. */
    private static final double GROWN = 1.25;

    /** Of one source. */
    private static final int FIELDS_MAX = 256;

    /** What was told of the fields of sources that somebody holds: a look is most of an order. */
    private static final Map<Source, Map<String, Told>> KEPT =
            Collections.synchronizedMap(new WeakHashMap<>());

    /** How many values there were among so many records. */
    private record Told(double records, double values) {}

    private final long[] hashes = new long[RECORDS_MAX];
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private int drawn;

    /** How many records a relation has before conditions leave some. */
    static double baseRows(ResultPlan leaf) {
        if (leaf instanceof Plan plan
                && !(plan.view() instanceof PlannedRows)
                && plan.query().kind() == CheckedQuery.Kind.ROWS) {
            return records(plan.view());
        }
        return leaf.estimatedRows();
    }

    private static double records(ReadView view) {
        return view.estimateScan(KeyRange.all(), FilterPredicate.none())
                * view.sample().liveShare();
    }

    /**
     * Counts.
     *
     * @param field of the rows of the relation
     * @return 1 or more; {@link #UNKNOWN}
     */
    double of(ResultPlan leaf, int field) {
        if (!(leaf instanceof Plan plan)
                || plan.view() instanceof PlannedRows
                || plan.query().kind() != CheckedQuery.Kind.ROWS) {
            return UNKNOWN;
        }
        CheckedQuery query = plan.query();
        int source = source(query, plan.rowType(), field);
        if (source < 0) {
            return UNKNOWN;
        }
        return of(query, plan.view(), source);
    }

    /**
     * Counts.
     *
     * @param field of the records
     * @return 1 or more; {@link #UNKNOWN}
     */
    double of(CheckedQuery query, ReadView view, int field) {
        double records = records(view);
        String name = query.type().field(field).name();
        if (query.source().primaryKey().equals(List.of(name))) {
            return Math.max(1, records);
        }
        double told = kept(query.source(), name, records);
        if (told == UNKNOWN) {
            try {
                told = told(view, query.type(), field);
            } catch (CorruptionException | StorageIoException e) {
                return UNKNOWN; // who reads the page when the query runs is told
            }
            keep(query.source(), name, new Told(records, told));
        }
        return told == UNKNOWN ? told : Math.max(1, Math.min(told, records));
    }

    private static double kept(Source source, String field, double records) {
        Told told = KEPT.getOrDefault(source, Map.of()).get(field);
        if (told == null) {
            return UNKNOWN;
        }
        boolean holds = records <= told.records * GROWN && told.records <= records * GROWN;
        return holds ? told.values : UNKNOWN;
    }

    private static void keep(Source source, String field, Told told) {
        Map<String, Told> fields = KEPT.computeIfAbsent(source, _ -> new ConcurrentHashMap<>());
        if (fields.size() < FIELDS_MAX) {
            fields.put(field, told);
        }
    }

    /** The field of the source that a field of the rows is; negative if it is worked out. */
    private static int source(CheckedQuery query, RecordType rows, int field) {
        if (query.columns().isEmpty()) {
            return field;
        }
        int top = field;
        while (rows.parent(top) != RecordType.TOP) {
            top = rows.parent(top);
        }
        String name = rows.field(top).name();
        for (Column column : query.columns()) {
            if (column instanceof Column.Declared(String of, int source) && of.equals(name)) {
                return source + field - top;
            }
        }
        return -1;
    }

    private double told(ReadView view, RecordType type, int field) {
        FieldKey value = new FieldKey(type, field, false);
        RecordView record = new RecordView(type);
        RecordSample sample = view.sample();
        drawn = 0;
        if (sample.size() >= SampledShares.RECORDS_MIN) {
            Slice bytes = new Slice();
            int count = Math.min(sample.size(), RECORDS_MAX);
            for (int i = 0; i < count; i++) {
                // they lie in the order of their keys
                long index = (long) i * sample.size() / count;
                draw(record.wrap(sample.record((int) index, bytes)), field, value);
            }
        } else {
            for (int partition = 0; partition < view.partitionCount(); partition++) {
                drawFirst(view, partition, record, field, value);
            }
        }
        Arrays.sort(hashes, 0, drawn);
        int seen = 0;
        for (int i = 0; i < drawn; i++) {
            seen += i == 0 || hashes[i] != hashes[i - 1] ? 1 : 0;
        }
        return drawn == 0 ? UNKNOWN : DistinctCount.of(drawn, seen);
    }

    private void drawFirst(
            ReadView view, int partition, RecordView record, int field, FieldKey value) {
        int room = FIRST_RECORDS / view.partitionCount();
        if (room == 0) {
            return;
        }
        try (RecordStream records =
                view.scanUnordered(partition, KeyRange.all(), FilterPredicate.none())) {
            for (int i = 0; i < room && records.next(); i++) {
                draw(record.wrap(records.record()), field, value);
            }
        }
    }

    private void draw(RecordView record, int field, FieldKey value) {
        if (!record.isAbsent(field)) {
            value.append(record, keyBytes.clear());
            hashes[drawn++] = ByteHash.of(keyBytes.asSlice(key));
        }
    }
}
