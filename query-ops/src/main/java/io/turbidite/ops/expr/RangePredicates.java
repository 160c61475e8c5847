package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordColumn;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/**
 * Equalities and ranges over records: compared as the primitives or bytes that records hold, in the
 * same order as the encoded values of {@link FieldRange}.
 */
final class RangePredicates {
    private RangePredicates() {}

    /** Compiles a range with at least one bound; both have been checked against the kind. */
    static RecordPredicate between(
            RecordType type, int field, @Nullable Object lowBound, @Nullable Object highBound) {
        return between(type, field, lowBound, highBound, false);
    }

    /**
     * As {@link #between(RecordType, int, Object, Object)}.
     *
     * @param orAbsent whether records without a value are wanted too; of a kind that {@link
     *     #isByColumns}
     */
    static RecordPredicate between(
            RecordType type,
            int field,
            @Nullable Object lowBound,
            @Nullable Object highBound,
            boolean orAbsent) {
        TypeKind kind = type.field(field).kind();
        Object low = Predicate.Excluded.valueOf(lowBound);
        Object high = Predicate.Excluded.valueOf(highBound);
        int above = lowBound instanceof Predicate.Excluded ? 1 : 0;
        int below = highBound instanceof Predicate.Excluded ? 1 : 0;
        if (KindValues.isLong(kind)) {
            return longs(
                    field,
                    low == null ? Long.MIN_VALUE : KindValues.toLong(kind, low),
                    above,
                    high == null ? Long.MAX_VALUE : KindValues.toLong(kind, high),
                    below,
                    orAbsent);
        }
        assert !orAbsent || isByColumns(kind) : kind;
        return switch (kind) {
            case FLOAT, DOUBLE ->
                new Doubles(
                        field,
                        low == null
                                ? Double.NEGATIVE_INFINITY
                                : KindValues.toDouble(kind, low) + 0.0,
                        -above,
                        high == null ? Double.NaN : KindValues.toDouble(kind, high) + 0.0,
                        -below,
                        orAbsent);
            case STRING, BINARY, UUID ->
                new Strings(field, bytesOf(low), above, bytesOf(high), -below, orAbsent);
            default -> new Encoded(type, field, lowBound, highBound);
        };
    }

    /** Whether values of the kind are compared as numbers or bytes, in columns too. */
    static boolean isByColumns(TypeKind kind) {
        return switch (kind) {
            case FLOAT, DOUBLE, STRING, BINARY, UUID -> true;
            default -> KindValues.isLong(kind);
        };
    }

    private static Longs longs(
            int field, long low, int above, long high, int below, boolean orAbsent) {
        boolean none =
                (above > 0 && low == Long.MAX_VALUE) || (below > 0 && high == Long.MIN_VALUE);
        return none
                ? new Longs(field, 1, 0, orAbsent)
                : new Longs(field, low + above, high - below, orAbsent);
    }

    static @Nullable Slice bytesOf(@Nullable Object value) {
        byte[] bytes = switch (value) {
            case null -> null;
            case String text -> text.getBytes(StandardCharsets.UTF_8);
            case byte[] binary -> binary;
            case UUID uuid ->
                new ByteSink(16, 16)
                        .putLongBigEndian(uuid.getMostSignificantBits())
                        .putLongBigEndian(uuid.getLeastSignificantBits())
                        .asSlice(new Slice())
                        .toByteArray();
            default -> throw new IllegalArgumentException(value.getClass().getName());
        };
        // off the heap like the records it is compared with: one kind of segment keeps the loop
        // fast
        return bytes == null
                ? null
                : new ByteSink(bytes.length, Math.max(16, bytes.length))
                        .putBytes(bytes)
                        .asSlice(new Slice());
    }

    /** Null or missing. */
    record Absent(int field) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            return record.isAbsent(field);
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            return leave(records.presence(field, rows, count, records.own()), true, rows, count);
        }
    }

    /** Neither null nor missing. */
    record Present(int field) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            return !record.isAbsent(field);
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            return leave(records.presence(field, rows, count, records.own()), false, rows, count);
        }
    }

    /** Leaves the rows that have no value, or those that have one. */
    private static int leave(RecordColumn column, boolean areAbsent, int[] rows, int count) {
        boolean[] absent = column.absent();
        int left = 0;
        for (int i = 0; i < count; i++) {
            rows[left] = rows[i];
            left += absent[i] == areAbsent ? 1 : 0;
        }
        return left;
    }

    /** Whole numbers and what is kept as such. */
    private record Longs(int field, long low, long high, boolean orAbsent)
            implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return orAbsent;
            }
            long value = record.getLong(field);
            return low <= value && value <= high;
        }

        // without a jump: whether a record matches can't be foreseen
        @SuppressWarnings("ShortCircuitBoolean")
        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            RecordColumn column = records.longs(field, rows, count, records.own());
            long[] values = column.numbers();
            boolean[] absent = column.absent();
            int left = 0;
            for (int i = 0; i < count; i++) {
                rows[left] = rows[i];
                boolean isIn = low <= values[i] & values[i] <= high;
                left += (absent[i] & orAbsent) | (!absent[i] & isIn) ? 1 : 0;
            }
            return left;
        }
    }

    /**
     * In the order of {@link Double#compare}, which puts NaN last, but for -0.0, which is 0.0 (a
     * sum with 0.0 makes it so, in the bounds too).
     *
     * @param lowOrderMax the order of low and a value is at most this: -1 where low is excluded
     */
    private record Doubles(
            int field, double low, int lowOrderMax, double high, int highOrderMax, boolean orAbsent)
            implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return orAbsent;
            }
            return matches(record.getDouble(field) + 0.0);
        }

        private boolean matches(double value) {
            return Double.compare(low, value) <= lowOrderMax
                    && Double.compare(value, high) <= highOrderMax;
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            RecordColumn column = records.doubles(field, rows, count, records.own());
            long[] bits = column.numbers();
            boolean[] absent = column.absent();
            int left = 0;
            for (int i = 0; i < count; i++) {
                rows[left] = rows[i];
                boolean isLeft =
                        absent[i] ? orAbsent : matches(Double.longBitsToDouble(bits[i]) + 0.0);
                left += isLeft ? 1 : 0;
            }
            return left;
        }
    }

    /** Strings, bytes and uuids, by their bytes. */
    private static final class Strings implements RecordPredicate {
        private final int field;
        private final @Nullable Slice low;
        private final @Nullable Slice high;

        /** The order of a value and low is at least this: 1 where low is excluded. */
        private final int lowOrderMin;

        /** The order of a value and high is at most this: -1 where high is excluded. */
        private final int highOrderMax;

        private final boolean orAbsent;
        private final boolean equal;
        private final Slice value = new Slice();

        Strings(
                int field,
                @Nullable Slice low,
                int lowOrderMin,
                @Nullable Slice high,
                int highOrderMax,
                boolean orAbsent) {
            this.field = field;
            this.low = low;
            this.lowOrderMin = lowOrderMin;
            this.high = high;
            this.highOrderMax = highOrderMax;
            this.orAbsent = orAbsent;
            this.equal = lowOrderMin == 0
                    && highOrderMax == 0
                    && low != null
                    && high != null
                    && low.contentEquals(high);
        }

        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return orAbsent;
            }
            record.getBytes(field, value);
            return matches();
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            RecordColumn column = records.bytes(field, rows, count, records.own());
            long[] places = column.numbers();
            int[] lengths = column.lengths();
            boolean[] absent = column.absent();
            int left = 0;
            for (int i = 0; i < count; i++) {
                boolean isLeft = orAbsent;
                if (!absent[i]) {
                    value.set(records.segment(), places[i], lengths[i]);
                    isLeft = matches();
                }
                if (isLeft) {
                    rows[left++] = rows[i];
                }
            }
            return left;
        }

        private boolean matches() {
            if (equal && low != null) {
                return value.contentEquals(low);
            }
            return (low == null || value.compareBytes(low) >= lowOrderMin)
                    && (high == null || value.compareBytes(high) <= highOrderMax);
        }
    }

    /** Kinds without a cheaper comparison: decimal, point, rectangle. */
    private static final class Encoded implements RecordPredicate {
        private final int field;
        private final KeySpec spec;
        private final KeyRange range;
        private final ByteSink sink = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice key = new Slice();

        Encoded(RecordType type, int field, @Nullable Object low, @Nullable Object high) {
            this.field = field;
            this.spec = KeySpec.ofEach(
                    type, List.of(type.field(field).name()), "predicate", KeyForm.CURRENT);
            this.range = FieldRange.of(
                            field,
                            type.field(field).kind(),
                            new Predicate.Range(type.field(field).name(), low, high))
                    .range();
        }

        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return false;
            }
            spec.append(record, sink.clear());
            return range.contains(sink.asSlice(key));
        }
    }
}
