package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.expr.RecordPredicate;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/**
 * Shares told by the sample that a source keeps of its records: of each condition alone, and of all
 * together. So conditions that depend on one another are told as well as others, unless few records
 * match them all. Equalities and ranges on one field are one condition. <em>Confined to one
 * thread.</em>
 */
final class SampledShares implements Shares {
    /** Of fewer records a guess tells as much. */
    static final int RECORDS_MIN = 64;

    /** So few that match all are known within a factor of 1.6; the share of fewer is a product. */
    private static final int TOGETHER_MIN = 3;

    /** So few that match one condition may be so by chance: values around them tell more. */
    private static final int ALONE_MIN = 4;

    /**
     * Of pairs that no record of the sample has: fields of real records mostly depend on one
     * another. Over flights, whose fields do, and tweets, whose don't, this is the best of both.
     */
    private static final double DEPENDENCE = 0.75;

    private static final double UNKNOWN = -1;

    private final Conditions conditions;
    private final RecordType type;
    private final RecordSample sample;
    private final RecordPredicate[] compiled;

    /** Of each condition, predicates first: the first one on the same field. */
    private final int[] heads;

    /** How many records match each head and those that follow it. */
    private final int[] alone;

    /** Shares that were asked for: each way in asks for all, and some take a look at the sample. */
    private final double[] known;

    private int together;

    private SampledShares(Conditions conditions, RecordSample sample) {
        this.conditions = conditions;
        this.type = conditions.type();
        this.sample = sample;
        this.compiled = conditions.compile();
        this.heads = new int[compiled.length];
        this.alone = new int[compiled.length];
        this.known = new double[compiled.length];
        Arrays.fill(known, UNKNOWN);
    }

    /** Looks at a sample of {@link #RECORDS_MIN} records or more. */
    static SampledShares of(CheckedQuery query, RecordSample sample) {
        SampledShares shares = new SampledShares(query.conditions(), sample);
        shares.findHeads();
        shares.look();
        return shares;
    }

    private void findHeads() {
        List<Predicate> predicates = conditions.predicates();
        for (int i = 0; i < heads.length; i++) {
            heads[i] = i;
            for (int j = 0; i < predicates.size() && j < i && heads[i] == i; j++) {
                if (isOfOneField(predicates.get(i), predicates.get(j))) {
                    heads[i] = j;
                }
            }
        }
    }

    /** Not for arrays: two elements may meet two predicates. */
    private boolean isOfOneField(Predicate a, Predicate b) {
        return isRange(a) && isRange(b) && a.field().equals(b.field()) && isScalar(a.field());
    }

    private static boolean isRange(Predicate predicate) {
        return predicate instanceof Predicate.Eq || predicate instanceof Predicate.Range;
    }

    private boolean isScalar(String name) {
        int field = type.indexOf(name);
        return field >= 0 && !type.isEach(field) && type.field(field).kind().isScalar();
    }

    private void look() {
        RecordView record = new RecordView(type);
        Slice bytes = new Slice();
        boolean[] matches = new boolean[compiled.length];
        for (int i = 0; i < sample.size(); i++) {
            record.wrap(sample.record(i, bytes));
            for (int j = 0; j < compiled.length; j++) {
                matches[j] = true;
            }
            boolean all = true;
            for (int j = 0; j < compiled.length; j++) {
                if (!holds(compiled[j], record)) {
                    matches[heads[j]] = false;
                    all = false;
                }
            }
            for (int j = 0; j < compiled.length; j++) {
                alone[j] += matches[j] ? 1 : 0;
            }
            together += all ? 1 : 0;
        }
    }

    /**
     * Whether a predicate holds of a record. One that refuses a value does not: perhaps no such
     * record is there any more, or another condition keeps it away from a record that is.
     */
    static boolean holds(RecordPredicate predicate, RecordView record) {
        try {
            return predicate.matches(record);
        } catch (InvalidRequestException e) {
            return false; // who meets the record when the query runs is told
        }
    }

    /** Whether enough records match to tell {@link #together}. */
    boolean areTogether() {
        return together >= TOGETHER_MIN;
    }

    /** The share of the records that match all. */
    double together() {
        return (double) together / sample.size();
    }

    /** No larger share would have gone unseen. */
    double togetherMax() {
        return (together + 1.0) / sample.size();
    }

    @Override
    public double ofPredicate(int index, Predicate predicate) {
        if (known[index] == UNKNOWN) {
            known[index] = told(index, predicate);
        }
        return known[index];
    }

    private double told(int index, Predicate predicate) {
        if (heads[index] != index) {
            return 1;
        }
        int seen = alone[index];
        if (seen >= ALONE_MIN || !isRange(predicate) || !isScalar(predicate.field())) {
            return share(Math.max(0.5, seen));
        }
        FieldDensity density = new FieldDensity(sample, type, type.indexOf(predicate.field()));
        if (predicate instanceof Predicate.Eq(var _, Object value)) {
            return share(value == null ? Math.max(0.5, seen) : density.ofValue(value, seen));
        }
        return share(density.ofRange(bound(index, true), bound(index, false), seen));
    }

    /** The narrowest bound of the ranges on a field; null if there is none. */
    private @Nullable Object bound(int head, boolean isLow) {
        Object narrowest = null;
        for (int i = head; i < conditions.predicates().size(); i++) {
            if (heads[i] == head
                    && conditions.predicates().get(i) instanceof Predicate.Range range) {
                Object bound = isLow ? range.low() : range.high();
                narrowest = narrower(
                        narrowest,
                        bound instanceof Predicate.Excluded(Object value) ? value : bound,
                        isLow);
            }
        }
        return narrowest;
    }

    private static @Nullable Object narrower(
            @Nullable Object a, @Nullable Object b, boolean isLow) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return compare(a, b) > 0 == isLow ? a : b;
    }

    /** Of values of one kind; of numbers, whose classes may differ, as doubles. */
    @SuppressWarnings("unchecked")
    private static int compare(Object a, Object b) {
        if (a instanceof Number x && b instanceof Number y) {
            return Double.compare(x.doubleValue(), y.doubleValue());
        }
        return a instanceof Comparable<?> && a.getClass() == b.getClass()
                ? ((Comparable<Object>) a).compareTo(b)
                : 0;
    }

    @Override
    public double ofTest(int index) {
        return share(Math.max(0.5, alone[conditions.predicates().size() + index]));
    }

    @Override
    public double dependence() {
        return DEPENDENCE;
    }

    private double share(double records) {
        return records / sample.size();
    }
}
