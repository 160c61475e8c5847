package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What a sample tells of values of one field that few of its records have: how many records of all
 * there are for one of the sample that matches, or for none. <em>Confined to one thread.</em>
 *
 * <p>Numbers and times lie on a lattice, the multiples of some unit. Around a value as many records
 * are taken to be as the neighbours in the sample are near (the density of the nearest neighbours:
 * Loftsgaarden and Quesenberry, Annals of Mathematical Statistics 36, 1965). Other values have no
 * neighbours. There, what is seen once in the sample stands for as many as those seen twice tell,
 * and what is not seen for its part of the share of those seen once (Good, "The population
 * frequencies of species and the estimation of population parameters", Biometrika 40, 1953).
 */
final class FieldDensity {
    private final RecordSample sample;
    private final RecordType type;
    private final int field;
    private final TypeKind kind;

    /** Ascending; empty if the values are no numbers. */
    private double[] numbers = {};

    /** Between two neighbours of the lattice that have records, about; 0 if there is no lattice. */
    private double unit;

    private int valueCount;
    private int distinctCount;
    private int onceCount;
    private int twiceCount;

    FieldDensity(RecordSample sample, RecordType type, int field) {
        this.sample = sample;
        this.type = type;
        this.field = field;
        this.kind = type.field(field).kind();
        look();
    }

    private boolean isNumber() {
        return KindValues.isLong(kind) || kind == TypeKind.DOUBLE || kind == TypeKind.FLOAT;
    }

    private void look() {
        Map<Object, Integer> counts = new HashMap<>();
        RecordView record = new RecordView(type);
        Slice bytes = new Slice();
        double[] found = new double[isNumber() ? sample.size() : 0];
        long lattice = 0;
        long first = 0;
        for (int i = 0; i < sample.size(); i++) {
            record.wrap(sample.record(i, bytes));
            if (record.isAbsent(field)) {
                continue;
            }
            if (KindValues.isLong(kind)) {
                long value = record.getLong(field);
                first = valueCount == 0 ? value : first;
                lattice = greatestDivisor(lattice, value - first);
                found[valueCount] = value;
                counts.merge(value, 1, Integer::sum);
            } else if (isNumber()) {
                found[valueCount] = record.getDouble(field);
                counts.merge(found[valueCount], 1, Integer::sum);
            } else {
                Object value = record.get(field);
                counts.merge(
                        value instanceof byte[] array
                                ? ByteBuffer.wrap(array)
                                : String.valueOf(value),
                        1,
                        Integer::sum);
            }
            valueCount++;
        }
        distinctCount = counts.size();
        for (int count : counts.values()) {
            onceCount += count == 1 ? 1 : 0;
            twiceCount += count == 2 ? 1 : 0;
        }
        numbers = Arrays.copyOf(found, isNumber() ? valueCount : 0);
        Arrays.sort(numbers);
        if (lattice > 0) {
            double points = (numbers[valueCount - 1] - numbers[0]) / lattice + 1;
            unit = lattice * Math.max(1, points / DistinctCount.of(valueCount, distinctCount));
        }
    }

    private static long greatestDivisor(long a, long b) {
        long x = Math.abs(a);
        long y = Math.abs(b);
        while (y != 0) {
            long rest = x % y;
            x = y;
            y = rest;
        }
        return x;
    }

    /**
     * For how many records of the sample a value stands.
     *
     * @param value of the field's kind
     * @param seen by how many records of the sample; few
     */
    double ofValue(Object value, int seen) {
        if (unit > 0) {
            // what is seen twice is there often, whatever lies around it
            return seen > 1 ? seen : near(number(value), number(value), seen);
        }
        if (seen > 1 || valueCount == 0) {
            return seen > 1 ? seen : 0.5;
        }
        double unseen = ofUnseen();
        return seen == 0
                ? unseen
                : Math.clamp(2.0 * twiceCount / Math.max(1, onceCount), unseen, 1);
    }

    private double ofUnseen() {
        double others = Math.max(1, DistinctCount.of(valueCount, distinctCount) - distinctCount);
        return onceCount == 0 ? 0.5 : Math.min(0.5, onceCount / others);
    }

    /**
     * For how many records of the sample a range stands.
     *
     * @param low of the field's kind, included; null is open, as in {@code high}
     * @param seen by how many records of the sample; few
     */
    double ofRange(@Nullable Object low, @Nullable Object high, int seen) {
        if (numbers.length == 0 || low == null || high == null) {
            return Math.max(0.5, seen);
        }
        return near(number(low), number(high), seen);
    }

    private double number(Object value) {
        return KindValues.isLong(kind)
                ? KindValues.toLong(kind, value)
                : KindValues.toDouble(kind, value);
    }

    /** By the distance of the values on either side. */
    private double near(double low, double high, int seen) {
        double most = Math.max(0.5, seen);
        int from = firstFrom(low);
        int to = from;
        while (to < numbers.length && numbers[to] <= high) {
            to++;
        }
        if (from == 0 || to == numbers.length) {
            return most;
        }
        double span = numbers[to] - numbers[from - 1];
        double width = high - low + unit;
        return span <= 0 ? most : Math.min(most, (to - from + 1) * width / span);
    }

    private int firstFrom(double low) {
        int at = Arrays.binarySearch(numbers, low);
        if (at < 0) {
            return -at - 1;
        }
        while (at > 0 && numbers[at - 1] == low) {
            at--;
        }
        return at;
    }
}
