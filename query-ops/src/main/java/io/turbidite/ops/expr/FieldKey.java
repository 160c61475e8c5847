package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The encoded value of one field, of any length: ordering and grouping take strings that no index
 * would. <em>Confined to one thread.</em>
 */
public final class FieldKey implements OrderKey {
    private final RecordType type;
    private final int field;
    private final TypeKind kind;
    private final KeySpec spec;

    /** Whether the kind's key is that of a whole number. */
    private final boolean isNumber;

    private final boolean descending;
    private final Slice bytes = new Slice();

    /**
     * The key of a declared field, or of an array's current element.
     *
     * @param descending whether its bytes are inverted, which turns the order round: no encoded
     *     value is a prefix of another
     */
    public FieldKey(RecordType type, int field, boolean descending) {
        this.type = type;
        this.field = field;
        this.kind = type.field(field).kind();
        this.spec = KeySpec.ofEach(type, List.of(type.field(field).name()), "key", KeyForm.CURRENT);
        this.isNumber = KindValues.isLong(kind) && kind != TypeKind.BOOL;
        this.descending = descending;
    }

    int field() {
        return field;
    }

    boolean isDescending() {
        return descending;
    }

    /** Appends the encoded value; null and missing give the null marker. */
    @Override
    public void append(RecordView record, ByteSink sink) {
        int start = sink.length();
        if ((kind == TypeKind.STRING || kind == TypeKind.BINARY) && !record.isAbsent(field)) {
            KeyCodec.appendBytes(sink, record.getBytes(field, bytes));
        } else if (isNumber && !record.isAbsent(field)) {
            KeyCodec.appendLong(sink, record.getLong(field));
        } else {
            spec.append(record, sink);
        }
        if (descending) {
            invert(sink, start);
        }
    }

    @Override
    public @Nullable RecordPredicate notAbove(Slice key) {
        return notAbove(descending ? inverted(key) : key, descending, !descending);
    }

    /**
     * As {@link #notAbove(Slice)}, of any order by this field.
     *
     * @param ascending begins with the other record's value as it is encoded upwards
     * @param isDescending whether records with less lie above it
     * @param areNullsFirst whether records without a value lie below all others
     */
    @Nullable
    RecordPredicate notAbove(Slice ascending, boolean isDescending, boolean areNullsFirst) {
        if (type.isEach(field) || !RangePredicates.isByColumns(kind)) {
            return null;
        }
        // text is encoded as other bytes are, and is not asked here whether it is text
        TypeKind encoded = kind == TypeKind.STRING ? TypeKind.BINARY : kind;
        Object value = KeyCodec.decode(encoded, ascending, 0);
        if (value == null) {
            return areNullsFirst ? new RangePredicates.Absent(field) : null;
        }
        return RangePredicates.between(
                type,
                field,
                isDescending ? value : null,
                isDescending ? null : value,
                areNullsFirst);
    }

    /** A copy of a key, in the order turned round. */
    static Slice inverted(Slice key) {
        byte[] bytes = key.toByteArray();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) ~bytes[i];
        }
        return new Slice().set(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    /** Turns round the order of what was put from {@code start} on. */
    public static void invert(ByteSink sink, int start) {
        MemorySegment segment = sink.segment();
        for (int at = start; at < sink.length(); at++) {
            segment.set(Bytes.U8, at, (byte) ~segment.get(Bytes.U8, at));
        }
    }
}
