package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.expr.RecordPredicate;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * Shares told by the sample that a source keeps of its records: of each condition alone, and of all
 * together. So conditions that depend on one another are told as well as others, unless few records
 * match them all. <em>Confined to one thread.</em>
 */
final class SampledShares implements Shares {
    /** Of fewer records a guess tells as much. */
    static final int RECORDS_MIN = 64;

    /** So few that match all are known within a factor of 1.6; the share of fewer is a product. */
    private static final int TOGETHER_MIN = 3;

    private final Conditions conditions;
    private final RecordSample sample;
    private final RecordPredicate[] compiled;

    /** How many records match each condition, predicates first. */
    private final int[] alone;

    private int together;

    private SampledShares(Conditions conditions, RecordSample sample) {
        this.conditions = conditions;
        this.sample = sample;
        this.compiled = conditions.compile();
        this.alone = new int[compiled.length];
    }

    /** Looks at a sample of {@link #RECORDS_MIN} records or more. */
    static SampledShares of(CheckedQuery query, RecordSample sample) {
        SampledShares shares = new SampledShares(query.conditions(), sample);
        shares.look();
        return shares;
    }

    private void look() {
        RecordView record = new RecordView(conditions.type());
        Slice bytes = new Slice();
        for (int i = 0; i < sample.size(); i++) {
            record.wrap(sample.record(i, bytes));
            boolean isMatch = true;
            for (int j = 0; j < compiled.length; j++) {
                if (compiled[j].matches(record)) {
                    alone[j]++;
                } else {
                    isMatch = false;
                }
            }
            if (isMatch) {
                together++;
            }
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
        if (alone[index] > 0) {
            return (double) alone[index] / sample.size();
        }
        return predicate instanceof Predicate.Eq ? ofUnseen(predicate.field()) : ofNone();
    }

    @Override
    public double ofTest(int index) {
        int matching = alone[conditions.predicates().size() + index];
        return matching > 0 ? (double) matching / sample.size() : ofNone();
    }

    /** Half a record. */
    private double ofNone() {
        return 0.5 / sample.size();
    }

    /**
     * The share of a value that no record of the sample has. What values like it have together is
     * the share of those that were seen once (I. J. Good, "The population frequencies of species and
     * the estimation of population parameters", Biometrika 40, 1953). How many there are follows
     * from how often one value was met twice, as if all were as frequent.
     */
    private double ofUnseen(String name) {
        int field = conditions.type().indexOf(name);
        if (field < 0 || conditions.type().isEach(field)) {
            return ofNone();
        }
        Map<Object, Integer> counts = new HashMap<>();
        int valueCount = 0;
        RecordView record = new RecordView(conditions.type());
        Slice bytes = new Slice();
        for (int i = 0; i < sample.size(); i++) {
            Object value = record.wrap(sample.record(i, bytes)).get(field);
            if (value != null) {
                valueCount++;
                counts.merge(value instanceof byte[] array ? ByteBuffer.wrap(array) : value, 1, Integer::sum);
            }
        }
        long once = counts.values().stream().filter(count -> count == 1).count();
        if (once == 0) {
            return ofNone();
        }
        double unseen = Math.max(1, distinct(valueCount, counts.size()) - counts.size());
        return Math.min(ofNone(), (double) once / sample.size() / unseen);
    }

    /**
     * How many values there are if {@code draws} draws have met {@code seen}, each as likely as the
     * others: the n with n (1 - exp(-draws / n)) = seen.
     */
    static double distinct(int draws, int seen) {
        double target = Math.min(seen, draws - 0.5); // half a pair where none was met
        double low = Math.max(1, target);
        double high = (double) draws * draws;
        for (int i = 0; i < 60 && high - low > 0.5; i++) {
            double middle = (low + high) / 2;
            if (-middle * Math.expm1(-draws / middle) < target) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
