package io.turbidite.ops.group;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.aggregate.GroupStates;
import io.turbidite.ops.expr.CellGrid;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.NullsAbove;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the rows of groups: the values of the group key, decoded, and the count, or what aggregates
 * came to; behind an order key where they are to be ordered. <em>Confined to one thread.</em>
 */
public final class GroupRows {
    /** The name of the field that is a cell. */
    public static final String CELL = "cell";

    /** The {@link Part#field} that is the count. */
    public static final int COUNT_PART = -1;

    private final List<Field> fields;
    private final @Nullable CellGrid grid;
    private final List<Part> order;
    private final @Nullable GroupStates states;
    private final int aggregateCount;
    private final RecordWriter writer;
    private final int[] offsets;
    private final ByteSink orderBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice[] tuple;

    /** Shows the row to those that order it by where nulls are. */
    private final RecordView row;

    /**
     * Something to order groups by.
     *
     * @param field index of a field of the group, or {@link #COUNT_PART}; behind the fields of the
     *     group the aggregates
     * @param nullsAbove whether null is above all values, and not below them
     */
    public record Part(int field, boolean descending, boolean nullsAbove) {}

    private GroupRows(
            List<Field> fields,
            @Nullable CellGrid grid,
            List<Part> order,
            BoundAggregates aggregates) {
        this.fields = List.copyOf(fields);
        this.grid = grid;
        this.order = List.copyOf(order);
        this.states = aggregates.isEmpty() ? null : aggregates.states();
        this.aggregateCount = aggregates.count();
        this.writer = new RecordWriter(rowType(fields, aggregates));
        this.row = new RecordView(rowType(fields, aggregates));
        this.offsets = new int[fields.size() + 1];
        this.tuple = order.isEmpty() ? new Slice[1] : new Slice[] {new Slice(), new Slice()};
    }

    /**
     * Groups by declared fields.
     *
     * @param aggregates none: the rows have counts
     */
    public static GroupRows ofFields(
            List<Field> fields, List<Part> order, BoundAggregates aggregates) {
        return new GroupRows(fields, null, order, aggregates);
    }

    /** Groups by cells; otherwise as {@link #ofFields}. */
    public static GroupRows ofCells(CellGrid grid, List<Part> order, BoundAggregates aggregates) {
        return new GroupRows(cellFields(), grid, order, aggregates);
    }

    /** The one field of a group that is a cell. */
    public static List<Field> cellFields() {
        return List.of(new Field(CELL, TypeKind.RECTANGLE, true));
    }

    /**
     * The type of rows: the fields of the group, each optional, and the count or the aggregates.
     */
    public static RecordType rowType(List<Field> fields, BoundAggregates aggregates) {
        List<Field> rowFields = new ArrayList<>();
        for (Field field : fields) {
            rowFields.add(new Field(field.name(), field.kind(), true));
        }
        if (aggregates.isEmpty()) {
            rowFields.add(new Field(CountSource.COUNT, TypeKind.INT64, false));
        } else {
            rowFields.addAll(aggregates.resultFields());
        }
        return RecordType.of(rowFields);
    }

    int fieldCount() {
        return tuple.length;
    }

    /** Where the states of a group are put together; null where groups are counted. */
    @Nullable
    GroupStates states() {
        return states;
    }

    /** Whether all records are one group, which is there even if there are none. */
    boolean isWhole() {
        return fields.isEmpty();
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
        if (states == null) {
            writer.setLong(fields.size(), count);
        } else {
            for (int i = 0; i < aggregateCount; i++) {
                states.write(i, writer, fields.size() + i);
            }
        }
        tuple[tuple.length - 1] = writer.finish();
        if (!order.isEmpty()) {
            row.wrap(tuple[tuple.length - 1]);
            orderKey(key, count);
        }
        return tuple;
    }

    private void orderKey(Slice key, long count) {
        orderBytes.clear();
        for (Part part : order) {
            int start = orderBytes.length();
            if (part.nullsAbove()) {
                boolean isNull = part.field() != COUNT_PART && row.isAbsent(part.field());
                NullsAbove.begin(isNull, orderBytes);
            }
            if (part.field() == COUNT_PART) {
                KeyCodec.appendLong(orderBytes, count);
            } else if (states != null && part.field() >= fields.size()) {
                states.appendKey(part.field() - fields.size(), orderBytes);
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
