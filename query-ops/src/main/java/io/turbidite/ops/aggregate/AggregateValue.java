package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;

/** A result, reused for the next. <em>Confined to one thread.</em> */
final class AggregateValue {
    private final TypeKind kind;
    private final Slice bytes = new Slice();
    private boolean isNull = true;
    private long number;
    private double fraction;
    private @Nullable Object object;

    AggregateValue(TypeKind kind) {
        this.kind = kind;
    }

    void setNull() {
        isNull = true;
    }

    /** Of the kinds of {@link KindValues#isLong}. */
    void setNumber(long value) {
        isNull = false;
        number = value;
    }

    /** Of float and double. */
    void setFraction(double value) {
        isNull = false;
        fraction = value;
    }

    /** Of the other kinds, as arguments have them. */
    void setBytes(Slice value) {
        isNull = false;
        bytes.set(value);
    }

    /** Of any kind; nothing else is set before or behind. */
    void setObject(Object value) {
        isNull = false;
        object = value;
    }

    /** Puts it into a row. */
    void write(RecordWriter row, int field) {
        if (isNull) {
            row.setNull(field);
        } else if (object != null) {
            row.setObject(field, object);
        } else if (KindValues.isLong(kind)) {
            row.setLong(field, number);
        } else {
            switch (kind) {
                case FLOAT, DOUBLE -> row.setDouble(field, fraction);
                case STRING -> row.setString(field, bytes);
                case BINARY -> row.setBinary(field, bytes);
                default -> {
                    Object value = KeyCodec.decode(kind, bytes, 0);
                    row.setObject(field, value instanceof BigDecimal d ? plain(d) : value);
                }
            }
        }
    }

    /** A decimal key has lost its trailing zeros; 1E+2 is printed as people write it. */
    static BigDecimal plain(BigDecimal value) {
        return value.scale() < 0 && value.scale() > -64 ? value.setScale(0) : value;
    }

    /** Appends its key. */
    void appendKey(ByteSink sink) {
        if (isNull) {
            KeyCodec.appendNull(sink, kind);
        } else if (object != null) {
            KeyCodec.append(sink, kind, object);
        } else if (kind == TypeKind.BOOL) {
            KeyCodec.appendBool(sink, number == 1);
        } else if (KindValues.isLong(kind)) {
            KeyCodec.appendLong(sink, number);
        } else {
            switch (kind) {
                case FLOAT -> KeyCodec.appendFloat(sink, (float) fraction);
                case DOUBLE -> KeyCodec.appendDouble(sink, fraction);
                case STRING, BINARY -> KeyCodec.appendBytes(sink, bytes);
                default -> sink.putBytes(bytes);
            }
        }
    }
}
