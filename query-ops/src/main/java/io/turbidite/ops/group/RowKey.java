package io.turbidite.ops.group;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldKey;

import java.util.ArrayList;
import java.util.List;

/**
 * All declared fields of a row as one key, by which equal rows are told. Null and missing are one
 * value. <em>Confined to one thread.</em>
 */
public final class RowKey {
    private final FieldKey[] fields;
    private final ByteSink bytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();

    /** Of rows of a type that was {@link #check checked}. */
    public RowKey(RecordType type) {
        List<FieldKey> keys = new ArrayList<>();
        for (int field = 0; field < type.fields().size(); field++) {
            keys.add(new FieldKey(type, field, false));
        }
        this.fields = keys.toArray(FieldKey[]::new);
    }

    /**
     * Whether rows of a type can be told apart.
     *
     * @throws InvalidRequestException if a field is an array or a nested record
     */
    public static void check(RecordType type) {
        for (Field field : type.fields()) {
            if (!field.kind().isScalar()) {
                throw new InvalidRequestException(
                        "rows are told apart by fields of one simple value, and '%s' is %s"
                                .formatted(field.name(), field.typeLabel()));
            }
        }
    }

    /** The key of a row, with a byte behind it; valid until the next. */
    Slice of(RecordView row, int tag) {
        bytes.clear();
        for (FieldKey field : fields) {
            field.append(row, bytes);
        }
        return bytes.putByte(tag).asSlice(key);
    }
}
