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

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The encoded value of one field, of any length: ordering and grouping take strings that no index
 * would. <em>Confined to one thread.</em>
 */
public final class FieldKey implements OrderKey {
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

    /** Turns round the order of what was put from {@code start} on. */
    public static void invert(ByteSink sink, int start) {
        MemorySegment segment = sink.segment();
        for (int at = start; at < sink.length(); at++) {
            segment.set(Bytes.U8, at, (byte) ~segment.get(Bytes.U8, at));
        }
    }
}
