package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

/**
 * The encoded values of one field, in the current form, that all of its equalities and ranges
 * leave: what an index, a filter and an index entry understand. <em>Immutable.</em>
 */
public final class FieldRange {
    private final int field;
    private final TypeKind kind;

    /** Of one equality its encoded value, of which the range follows; else null. */
    private final byte @Nullable [] value;

    private final @Nullable KeyRange range;

    /** Whether an equality is among the predicates. */
    private final boolean equal;

    private FieldRange(
            int field,
            TypeKind kind,
            byte @Nullable [] value,
            @Nullable KeyRange range,
            boolean equal) {
        this.field = field;
        this.kind = kind;
        this.value = value;
        this.range = range;
        this.equal = equal;
    }

    /** What {@code predicate} leaves; its values have been read. */
    static FieldRange of(int field, TypeKind kind, Predicate.Eq predicate) {
        return new FieldRange(field, kind, encode(kind, predicate.value()), null, true);
    }

    static FieldRange of(int field, TypeKind kind, Predicate.Range predicate) {
        Object low = predicate.low();
        Object high = predicate.high();
        KeyRange range = KeyRange.between(
                encode(kind, Predicate.Excluded.valueOf(low)),
                low != null && !(low instanceof Predicate.Excluded),
                high == null ? null : encode(kind, Predicate.Excluded.valueOf(high)),
                !(high instanceof Predicate.Excluded));
        return new FieldRange(field, kind, null, range, false);
    }

    /** Index of the declared field. */
    public int field() {
        return field;
    }

    /** Encoded values, without anything behind them. */
    public KeyRange range() {
        if (range != null) {
            return range;
        }
        return KeyRange.closed(value, value);
    }

    /** What both leave. */
    FieldRange and(FieldRange other) {
        KeyRange mine = range();
        KeyRange others = other.range();
        Slice low = greater(mine.low(), others.low());
        Slice high = smaller(mine.high(), others.high());
        return new FieldRange(
                field,
                kind,
                null,
                KeyRange.of(
                        low == null ? null : low.toByteArray(),
                        high == null ? null : high.toByteArray()),
                equal || other.equal);
    }

    /** The least range that has the values of both. */
    FieldRange hull(FieldRange other) {
        KeyRange mine = range();
        KeyRange others = other.range();
        Slice low = mine.low() == null ? null : smaller(mine.low(), others.low());
        Slice high = mine.high() == null ? null : greater(mine.high(), others.high());
        return new FieldRange(
                field,
                kind,
                null,
                KeyRange.of(
                        low == null || others.low() == null ? null : low.toByteArray(),
                        high == null || others.high() == null ? null : high.toByteArray()),
                false);
    }

    /**
     * Where keys on disk have this form: all encodings of the values that are left lie in there, of
     * composite ones others too. Records, or entries put into the current form, are checked again.
     */
    public FieldRange in(KeyForm form) {
        if (!form.isAmbiguous(kind)) {
            return this;
        }
        KeyRange canonical = range();
        Slice low = canonical.low();
        if (low == null) {
            return this;
        }
        Slice high = canonical.high();
        return new FieldRange(
                field,
                kind,
                null,
                KeyRange.of(
                        form.lowest(kind, low.toByteArray()),
                        high == null ? null : high.toByteArray()),
                equal);
    }

    /** Whether no value is left. */
    boolean isEmpty() {
        if (range == null) {
            return false;
        }
        Slice low = range.low();
        Slice high = range.high();
        return low != null && high != null && low.compareBytes(high) >= 0;
    }

    /** The only encoded value that is left; null if there may be others. */
    public byte @Nullable [] single() {
        if (range == null) {
            return value;
        }
        Slice low = range.low();
        Slice high = range.high();
        if (!equal || low == null || high == null) {
            return null;
        }
        byte[] lowest = low.toByteArray();
        byte[] next = KeyRange.successor(lowest);
        return next != null && high.contentEquals(Slice.of(next)) ? lowest : null;
    }

    /** Whether the absent values are left, and so are the only ones. */
    public boolean absent() {
        return range().contains(Slice.of(encode(kind, null)));
    }

    static byte[] encode(TypeKind kind, @Nullable Object value) {
        // a constant may be longer than any key: then nothing equals it, and ranges still mean
        // something
        ByteSink sink = SpareSinks.take();
        KeyCodec.append(sink, kind, value);
        byte[] encoded = sink.asSlice(new Slice()).toByteArray();
        SpareSinks.give(sink);
        return encoded;
    }

    private static @Nullable Slice greater(@Nullable Slice a, @Nullable Slice b) {
        return a == null || (b != null && b.compareBytes(a) > 0) ? b : a;
    }

    private static @Nullable Slice smaller(@Nullable Slice a, @Nullable Slice b) {
        return a == null || (b != null && b.compareBytes(a) < 0) ? b : a;
    }

    /** For callers that hold a kind that its class does not allow. */
    static InvalidRequestException wrong(Predicate predicate, String reason) {
        return new InvalidRequestException("predicate %s: %s".formatted(predicate, reason));
    }
}
