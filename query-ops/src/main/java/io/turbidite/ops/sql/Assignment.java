package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.Missing;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;

/**
 * A column of rows that becomes a field of records. Whole numbers go into narrower ones if they
 * fit; numbers into floats are rounded; text goes into times, uuids, bytes, points, arrays and
 * nested records as in CSV. All else needs a cast. <em>Immutable.</em>
 *
 * @param field of the record, at its top
 * @param column among the fields of the row
 * @param isText whether the row has text for a field that is none
 * @param place where the statement says it
 */
record Assignment(int field, Field target, int column, boolean isText, SqlParserPos place) {
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
        int field = record.memberOf(RecordType.TOP, name);
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
        return new Assignment(field, target, column, isText, place);
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
