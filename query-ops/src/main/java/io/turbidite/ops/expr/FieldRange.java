package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

/**
 * The encoded values of one field, in the current form, that all of its equalities and ranges leave: what an
 * index, a filter and an index entry understand. <em>Immutable.</em>
 *
 * @param field index of the declared field
 * @param kind its kind
 * @param range of encoded values, without anything behind them
 * @param equal whether an equality is among the predicates
 */
public record FieldRange(int field, TypeKind kind, KeyRange range, boolean equal) {
    /** What {@code predicate} leaves; its values have been read. */
    static FieldRange of(int field, TypeKind kind, Predicate.Eq predicate) {
        Object value = predicate.value();
        if (value == null) {
            return new FieldRange(field, kind, KeyRange.startingWith(encode(kind, null)), true);
        }
        byte[] encoded = encode(kind, value);
        return new FieldRange(field, kind, KeyRange.closed(encoded, encoded), true);
    }

    static FieldRange of(int field, TypeKind kind, Predicate.Range predicate) {
        Object low = predicate.low();
        Object high = predicate.high();
        return new FieldRange(
                field,
                kind,
                KeyRange.closed(
                        low == null ? KeyRange.successor(encode(kind, null)) : encode(kind, low),
                        high == null ? null : encode(kind, high)),
                false);
    }

    /** What both leave. */
    FieldRange and(FieldRange other) {
        Slice low = greater(range.low(), other.range.low());
        Slice high = smaller(range.high(), other.range.high());
        return new FieldRange(
                field,
                kind,
                KeyRange.of(
                        low == null ? null : low.toByteArray(),
                        high == null ? null : high.toByteArray()),
                equal || other.equal);
    }

    /**
     * Where keys on disk have this form: all encodings of the values that are left lie in there, of composite
     * ones others too. Records, or entries put into the current form, are checked again.
     */
    public FieldRange in(KeyForm form) {
        Slice low = range.low();
        if (low == null || !form.isAmbiguous(kind)) {
            return this;
        }
        Slice high = range.high();
        return new FieldRange(
                field,
                kind,
                KeyRange.of(
                        form.lowest(kind, low.toByteArray()),
                        high == null ? null : high.toByteArray()),
                equal);
    }

    /** Whether no value is left. */
    boolean isEmpty() {
        Slice low = range.low();
        Slice high = range.high();
        return low != null && high != null && low.compareBytes(high) >= 0;
    }

    /** The only encoded value that is left; null if there may be others. */
    public byte @Nullable [] single() {
        Slice low = range.low();
        Slice high = range.high();
        if (!equal || low == null || high == null) {
            return null;
        }
        byte[] value = low.toByteArray();
        byte[] next = KeyRange.successor(value);
        return next != null && high.contentEquals(Slice.of(next)) ? value : null;
    }

    /** Whether the absent values are left, and so are the only ones. */
    public boolean absent() {
        ByteSink sink = new ByteSink(16, 16);
        KeyCodec.appendNull(sink, kind);
        return range.contains(sink.asSlice(new Slice()));
    }

    static byte[] encode(TypeKind kind, @Nullable Object value) {
        // a constant may be longer than any key: then nothing equals it, and ranges still mean
        // something
        ByteSink sink = new ByteSink(64, Integer.MAX_VALUE - 8);
        KeyCodec.append(sink, kind, value);
        return sink.asSlice(new Slice()).toByteArray();
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
