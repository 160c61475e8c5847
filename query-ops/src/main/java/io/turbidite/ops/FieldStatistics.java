package io.turbidite.ops;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.plan.DistinctCount;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the sample of a source tells of one declared scalar field. <em>Immutable.</em>
 *
 * @param field its name
 * @param absentShare of the records that lack it or have null, 0 to 1
 * @param distinct about how many values all records have; never more than there are records
 * @param min the smallest value of the sample; null if there is none, or if its kind has no order
 *     in Java
 * @param max the largest one
 * @param frequent the most frequent values of the sample, at most {@value #FREQUENT_MAX}, each with
 *     its share of the records; those that were seen once are left out
 */
public record FieldStatistics(
        String field,
        double absentShare,
        long distinct,
        @Nullable Object min,
        @Nullable Object max,
        List<Frequent> frequent) {
    /** Most values of {@link #frequent}. */
    public static final int FREQUENT_MAX = 8;

    /** Of values of one class. */
    @SuppressWarnings("unchecked")
    private static final Comparator<Object> ORDER = (a, b) -> ((Comparable<Object>) a).compareTo(b);

    /**
     * A value and its share of the records, 0 to 1.
     *
     * @param value of the field's class in Java
     */
    public record Frequent(Object value, double share) {}

    /** Copies the list. */
    public FieldStatistics {
        frequent = List.copyOf(frequent);
    }

    /**
     * The records of a source, about: entries that are the newest of their key and no deletion.
     *
     * @param view open
     */
    public static long records(ReadView view) {
        return Math.round(view.estimateScan(KeyRange.all(), FilterPredicate.none())
                * view.sample().liveShare());
    }

    /**
     * Of each declared scalar field, in the order of declaration; none if the source has no sample.
     *
     * @param view open
     */
    public static List<FieldStatistics> of(ReadView view) {
        RecordSample sample = view.sample();
        RecordType type = view.source().type();
        long records = records(view);
        List<FieldStatistics> all = new ArrayList<>();
        for (int field = 0; field < type.declared().size() && sample.size() > 0; field++) {
            if (type.field(field).kind().isScalar()) {
                all.add(of(sample, type, field, records));
            }
        }
        return all;
    }

    private static FieldStatistics of(
            RecordSample sample, RecordType type, int field, long records) {
        Map<Object, Integer> counts = new HashMap<>();
        RecordView record = new RecordView(type);
        Slice bytes = new Slice();
        int valueCount = 0;
        for (int i = 0; i < sample.size(); i++) {
            Object value = record.wrap(sample.record(i, bytes)).get(field);
            if (value != null) {
                valueCount++;
                counts.merge(value, 1, Integer::sum);
            }
        }
        boolean hasOrder = counts.keySet().stream().allMatch(Comparable.class::isInstance);
        List<Frequent> frequent = counts.entrySet().stream()
                .filter(entry -> entry.getValue() > 1)
                .sorted(Map.Entry.<Object, Integer>comparingByValue()
                        .reversed()
                        .thenComparing(entry -> entry.getKey().toString()))
                .limit(FREQUENT_MAX)
                .map(entry ->
                        new Frequent(entry.getKey(), (double) entry.getValue() / sample.size()))
                .toList();
        double absent = 1 - (double) valueCount / sample.size();
        double distinct = DistinctCount.of(valueCount, counts.size());
        return new FieldStatistics(
                type.field(field).name(),
                absent,
                Math.min(Math.round(distinct), Math.round(records * (1 - absent))),
                hasOrder ? counts.keySet().stream().min(ORDER).orElse(null) : null,
                hasOrder ? counts.keySet().stream().max(ORDER).orElse(null) : null,
                frequent);
    }
}
