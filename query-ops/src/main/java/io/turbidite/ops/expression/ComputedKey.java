package io.turbidite.ops.expression;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.OrderKey;

/** The encoded value of an expression. <em>Confined to one thread.</em> */
public final class ComputedKey implements OrderKey {
    private final Computed value;
    private final TypeKind kind;

    /** What the expression comes to, ascending. */
    public ComputedKey(TypedExpression expression) {
        this.value = expression.computed();
        this.kind = expression.kind();
    }

    @Override
    public void append(RecordView record, ByteSink sink) {
        if (!value.compute(record)) {
            KeyCodec.appendNull(sink, kind);
            return;
        }
        switch (kind) {
            case BOOL -> KeyCodec.appendBool(sink, value.number() == 1);
            case FLOAT -> KeyCodec.appendFloat(sink, (float) value.fraction());
            case DOUBLE -> KeyCodec.appendDouble(sink, value.fraction());
            case STRING, BINARY -> KeyCodec.appendBytes(sink, value.bytes());
            default -> {
                if (KindValues.isLong(kind)) {
                    KeyCodec.appendLong(sink, value.number());
                } else {
                    KeyCodec.append(sink, kind, value.object());
                }
            }
        }
    }
}
