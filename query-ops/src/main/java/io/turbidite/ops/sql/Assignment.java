package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.Missing;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A column of rows that becomes a field of records. Whole numbers go into narrower ones if they
 * fit; numbers into floats are rounded; text goes into times, uuids, bytes, points, arrays and
 * nested records as in CSV. All else needs a cast. <em>Immutable.</em>
 *
 * @param field of the record
 * @param path its names, from the top of the record on
 * @param column among the fields of the row
 * @param isText whether the row has text for a field that is none
 * @param place where the statement says it
 */
record Assignment(
        int field,
        Field target,
        List<String> path,
        int column,
        boolean isText,
        SqlParserPos place) {
    Assignment {
        path = List.copyOf(path);
    }

    /** The place of a field among those of a record: at its top, or in a nested record. */
    static int index(RecordType record, String path) {
        int top = record.memberOf(RecordType.TOP, path);
        int index = top >= 0 ? top : record.indexOf(path);
        return index >= 0 && record.isEach(index) ? RecordType.TOP : index;
    }

    /** Its names, from the top of the record on. */
    private static List<String> names(RecordType record, int field) {
        List<String> names = new ArrayList<>();
        for (int at = field; at != RecordType.TOP; at = record.parent(at)) {
            names.add(0, record.memberName(at));
        }
        return names;
    }

    /** Whether it lies in a nested record, of which the rest stays. */
    boolean isNested() {
        return path.size() > 1;
    }

    /**
     * A column of rows for a field.
     *
     * @param wrong makes the error of a message
     * @throws SqlException if values of the one kind are none of the other
     */
    static Assignment of(
            RecordType record,
            String name,
            RowPlan rows,
            int number,
            SqlParserPos place,
            Wrong wrong) {
        int field = index(record, name);
        Field target = record.field(field);
        int column = rows.field(number);
        Field given = rows.type().field(column);
        boolean isNull = rows.isNull(number);
        if (isNull && !target.optional()) {
            throw wrong.at("field '%s' is required and can't be null".formatted(name), place);
        }
        if (!isNull && !fits(given, target)) {
            throw wrong.at(
                    "field '%s' is %s: %s does not go into it without a CAST"
                            .formatted(name, target.typeLabel(), Types.label(given)),
                    place);
        }
        boolean isText = given.kind() == TypeKind.STRING && target.kind() != TypeKind.STRING;
        List<String> path = names(record, field);
        if (isText && path.size() > 1 && !target.kind().isScalar()) {
            throw wrong.at(
                    "'%s' is %s within a nested record: put the whole record"
                            .formatted(name, target.typeLabel()),
                    place);
        }
        return new Assignment(field, target, path, column, isText, place);
    }

    /** Makes the error of a message at a place. */
    interface Wrong {
        SqlException at(String message, SqlParserPos place);
    }

    private static boolean fits(Field given, Field target) {
        TypeKind from = given.kind();
        return switch (target.kind()) {
            case INT8, INT16, INT32, INT64 -> isWhole(from);
            case FLOAT, DOUBLE ->
                isWhole(from)
                        || from == TypeKind.DECIMAL
                        || from == TypeKind.FLOAT
                        || from == TypeKind.DOUBLE;
            case DECIMAL -> isWhole(from) || from == TypeKind.DECIMAL;
            case POINT, LONLAT -> from.isPoint() || from == TypeKind.STRING;
            case BOOL, STRING -> from == target.kind();
            case ARRAY ->
                from == TypeKind.STRING
                        || (from == TypeKind.ARRAY && given.element() == target.element());
            default -> from == target.kind() || from == TypeKind.STRING;
        };
    }

    private static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    /**
     * Sets the field to what a row has.
     *
     * @throws InvalidRequestException naming the field, if the value is none of it
     */
    void set(RecordWriter writer, RecordView row) {
        @Nullable Object value = row.get(column);
        if (value == null || value == Missing.MISSING) {
            writer.setNull(field);
        } else if (isText) {
            writer.setText(field, (String) value);
        } else {
            writer.setObject(field, converted(value));
        }
    }

    /**
     * Puts the value into the nested record that it lies in.
     *
     * @param top what the record has by the first name of the path, to be changed
     * @throws InvalidRequestException naming the field, if the value is none of it
     */
    void put(Map<String, @Nullable Object> top, RecordView row) {
        Map<String, @Nullable Object> in = top;
        for (String name : path.subList(1, path.size() - 1)) {
            in = member(in, name);
        }
        @Nullable Object value = row.get(column);
        if (value == null || value == Missing.MISSING) {
            in.put(path.getLast(), null);
        } else if (isText) {
            in.put(path.getLast(), ValueParser.parse(target.kind(), (String) value));
        } else {
            in.put(path.getLast(), converted(value));
        }
    }

    /** A copy of a nested record, in its place; empty if there was none. */
    static Map<String, @Nullable Object> member(Map<String, @Nullable Object> of, String name) {
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        if (of.get(name) instanceof Map<?, ?> members) {
            members.forEach((member, value) -> copy.put(String.valueOf(member), value));
        }
        of.put(name, copy);
        return copy;
    }

    private Object converted(Object value) {
        return switch (target.kind()) {
            case FLOAT -> {
                double number = number(value);
                if (Float.isInfinite((float) number) && Double.isFinite(number)) {
                    throw new InvalidRequestException(
                            "field '%s': %s is out of range for type float"
                                    .formatted(target.name(), value));
                }
                yield (float) number;
            }
            case DOUBLE -> number(value);
            case DECIMAL -> value instanceof BigDecimal ? value : new BigDecimal(value.toString());
            default -> value;
        };
    }

    private static double number(Object value) {
        return ((Number) value).doubleValue();
    }
}
