package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.KindValues;
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
            RecordType type, int field, @Nullable Object low, @Nullable Object high) {
        TypeKind kind = type.field(field).kind();
        if (KindValues.isLong(kind)) {
            return new Longs(
                    field,
                    low == null ? Long.MIN_VALUE : KindValues.toLong(kind, low),
                    high == null ? Long.MAX_VALUE : KindValues.toLong(kind, high));
        }
        return switch (kind) {
            case FLOAT, DOUBLE ->
                new Doubles(
                        field,
                        low == null
                                ? Double.NEGATIVE_INFINITY
                                : KindValues.toDouble(kind, low) + 0.0,
                        high == null ? Double.NaN : KindValues.toDouble(kind, high) + 0.0);
            case STRING, BINARY, UUID -> new Strings(field, bytesOf(low), bytesOf(high));
            default -> new Encoded(type, field, low, high);
        };
    }

    private static @Nullable Slice bytesOf(@Nullable Object value) {
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
    }

    /** Neither null nor missing. */
    record Present(int field) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            return !record.isAbsent(field);
        }
    }

    /** Whole numbers and what is kept as such. */
    private record Longs(int field, long low, long high) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return false;
            }
            long value = record.getLong(field);
            return low <= value && value <= high;
        }
    }

    /**
     * In the order of {@link Double#compare}, which puts NaN last, but for -0.0, which is 0.0 (a
     * sum with 0.0 makes it so, in the bounds too).
     */
    private record Doubles(int field, double low, double high) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return false;
            }
            double value = record.getDouble(field) + 0.0;
            return Double.compare(low, value) <= 0 && Double.compare(value, high) <= 0;
        }
    }

    /** Strings, bytes and uuids, by their bytes. */
    private static final class Strings implements RecordPredicate {
        private final int field;
        private final @Nullable Slice low;
        private final @Nullable Slice high;
        private final boolean equal;
        private final Slice value = new Slice();

        Strings(int field, @Nullable Slice low, @Nullable Slice high) {
            this.field = field;
            this.low = low;
            this.high = high;
            this.equal = low != null && high != null && low.contentEquals(high);
        }

        @Override
        public boolean matches(RecordView record) {
            if (record.isAbsent(field)) {
                return false;
            }
            record.getBytes(field, value);
            if (equal && low != null) {
                return value.contentEquals(low);
            }
            return (low == null || value.compareBytes(low) >= 0)
                    && (high == null || value.compareBytes(high) <= 0);
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
            this.spec = KeySpec.of(type, List.of(type.field(field).name()), "predicate");
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
