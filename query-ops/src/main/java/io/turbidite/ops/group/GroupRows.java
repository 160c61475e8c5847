package io.turbidite.ops.group;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.CellGrid;
import io.turbidite.ops.expr.FieldKey;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the rows of groups: the values of the group key, decoded, and the count; behind an order
 * key where they are to be ordered. <em>Confined to one thread.</em>
 */
public final class GroupRows {
    /** The name of the field that is a cell. */
    public static final String CELL = "cell";

    /** The {@link Part#field} that is the count. */
    public static final int COUNT_PART = -1;

    private final List<Field> fields;
    private final @Nullable CellGrid grid;
    private final List<Part> order;
    private final RecordWriter writer;
    private final int[] offsets;
    private final ByteSink orderBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice[] tuple;

    /**
     * Something to order groups by.
     *
     * @param field index of a field of the group, or {@link #COUNT_PART}
     */
    public record Part(int field, boolean descending) {}

    private GroupRows(List<Field> fields, @Nullable CellGrid grid, List<Part> order) {
        this.fields = List.copyOf(fields);
        this.grid = grid;
        this.order = List.copyOf(order);
        this.writer = new RecordWriter(rowType(fields));
        this.offsets = new int[fields.size() + 1];
        this.tuple = order.isEmpty() ? new Slice[1] : new Slice[] {new Slice(), new Slice()};
    }

    /** Groups by declared fields. */
    public static GroupRows ofFields(List<Field> fields, List<Part> order) {
        return new GroupRows(fields, null, order);
    }

    /** Groups by cells. */
    public static GroupRows ofCells(CellGrid grid, List<Part> order) {
        return new GroupRows(cellFields(), grid, order);
    }

    /** The one field of a group that is a cell. */
    public static List<Field> cellFields() {
        return List.of(new Field(CELL, TypeKind.RECTANGLE, true));
    }

    /** The type of rows: the fields of the group, each optional, and the count. */
    public static RecordType rowType(List<Field> fields) {
        List<Field> rowFields = new ArrayList<>();
        for (Field field : fields) {
            rowFields.add(new Field(field.name(), field.kind(), true));
        }
        rowFields.add(new Field(CountSource.COUNT, TypeKind.INT64, false));
        return RecordType.of(rowFields);
    }

    int fieldCount() {
        return tuple.length;
    }

    /** The tuple of a group; reused by the next call. */
    Slice[] make(Slice key, long count) {
        writer.begin();
        if (grid != null) {
            writer.setObject(0, key.length() == 0 ? null : grid.cell(key));
            offsets[1] = key.length();
        } else {
            for (int i = 0; i < fields.size(); i++) {
                TypeKind kind = fields.get(i).kind();
                writer.setObject(i, plain(KeyCodec.decode(kind, key, offsets[i])));
                offsets[i + 1] = offsets[i] + KeyCodec.length(kind, key, offsets[i]);
            }
        }
        writer.setLong(fields.size(), count);
        tuple[tuple.length - 1] = writer.finish();
        if (!order.isEmpty()) {
            orderKey(key, count);
        }
        return tuple;
    }

    private void orderKey(Slice key, long count) {
        orderBytes.clear();
        for (Part part : order) {
            int start = orderBytes.length();
            if (part.field() == COUNT_PART) {
                KeyCodec.appendLong(orderBytes, count);
            } else if (grid != null) {
                // the empty key of no cell would be a prefix of all others
                orderBytes.putByte(key.length() == 0 ? 0 : 1).putBytes(key);
            } else {
                int from = offsets[part.field()];
                orderBytes.putBytes(
                        key.segment(), key.offset() + from, offsets[part.field() + 1] - from);
            }
            if (part.descending()) {
                FieldKey.invert(orderBytes, start);
            }
        }
        orderBytes.putBytes(key).asSlice(tuple[0]);
    }

    /** A decimal key has lost its trailing zeros; 1E+2 is printed as people write it. */
    private static @Nullable Object plain(@Nullable Object value) {
        return value instanceof BigDecimal decimal && decimal.scale() < 0 && decimal.scale() > -64
                ? decimal.setScale(0)
                : value;
    }
}
