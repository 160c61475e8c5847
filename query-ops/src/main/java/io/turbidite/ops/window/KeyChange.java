package io.turbidite.ops.window;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldKey;

import java.util.List;

/** Whether fields of a row differ from those of the row before. <em>Confined to one thread.</em> */
final class KeyChange {
    private final FieldKey[] keys;
    private ByteSink current = new ByteSink(64, Integer.MAX_VALUE - 8);
    private ByteSink before = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice a = new Slice();
    private final Slice b = new Slice();
    private boolean isFirst = true;

    KeyChange(RecordType type, List<String> fields) {
        keys = fields.stream()
                .map(field -> new FieldKey(type, WindowFunction.index(type, field), false))
                .toArray(FieldKey[]::new);
    }

    /** Moves on to a row; true for the first one. */
    boolean moves(RecordView row) {
        ByteSink reused = before;
        before = current;
        current = reused.clear();
        for (FieldKey key : keys) {
            key.append(row, current);
        }
        boolean differs = isFirst || !current.asSlice(a).contentEquals(before.asSlice(b));
        isFirst = false;
        return differs;
    }
}
