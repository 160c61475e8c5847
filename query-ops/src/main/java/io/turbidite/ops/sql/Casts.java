package io.turbidite.ops.sql;

import static io.turbidite.ops.sql.Terms.call;
import static io.turbidite.ops.sql.Terms.unsupported;
import static io.turbidite.ops.sql.Terms.whole;

import io.turbidite.core.expr.Expression;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.type.SqlTypeName;

/** Casts of SQL as functions of queries. Static. */
final class Casts {
    private Casts() {}

    /**
     * The value as one of another type.
     *
     * @param source its type
     */
    static Expression cast(Expression value, RelDataType source, RelDataType target) {
        // what differs from record to record is text where its type is asked for
        SqlTypeName from = Types.isOpen(source) ? SqlTypeName.VARCHAR : source.getSqlTypeName();
        SqlTypeName to = target.getSqlTypeName();
        if (isTextType(from) && isTextType(to)) {
            boolean isBounded = to != SqlTypeName.CHAR
                    && target.getPrecision() != RelDataType.PRECISION_NOT_SPECIFIED
                    && (source.getPrecision() == RelDataType.PRECISION_NOT_SPECIFIED
                            || source.getPrecision() > target.getPrecision());
            return isBounded ? call("to_text", value, whole(target.getPrecision())) : value;
        }
        return switch (to) {
            case TINYINT -> call("to_int8", value);
            case SMALLINT -> call("to_int16", value);
            case INTEGER ->
                from == SqlTypeName.TINYINT || from == SqlTypeName.SMALLINT
                        ? value
                        : call("to_int32", value);
            case BIGINT -> isWhole(from) ? value : call("to_int64", value);
            case DOUBLE, FLOAT -> isDouble(from) ? value : call("double", value);
            case REAL -> call("float", value);
            case DECIMAL ->
                isWhole(from) && isAnyDecimal(target)
                        ? call("decimal", value)
                        : from == SqlTypeName.DECIMAL && isAnyDecimal(target)
                                ? value
                                : call(
                                        "to_decimal",
                                        value,
                                        whole(target.getPrecision()),
                                        whole(target.getScale()));
            case VARCHAR, CHAR ->
                target.getPrecision() == RelDataType.PRECISION_NOT_SPECIFIED
                        ? call("to_text", value)
                        : call("to_text", value, whole(target.getPrecision()));
            case BOOLEAN ->
                from == SqlTypeName.BOOLEAN
                        ? value
                        : isTextType(from) ? call("bool", call("lower", value)) : refused(from, to);
            case DATE ->
                switch (from) {
                    case DATE -> value;
                    case TIMESTAMP, VARCHAR -> call("date", value);
                    default -> refused(from, to);
                };
            case TIME ->
                switch (from) {
                    case TIME -> value;
                    case TIMESTAMP, VARCHAR -> call("time", value);
                    default -> refused(from, to);
                };
            case TIMESTAMP ->
                switch (from) {
                    case TIMESTAMP -> value;
                    case DATE, VARCHAR -> call("to_datetime", value);
                    default -> refused(from, to);
                };
            case UUID ->
                from == SqlTypeName.UUID
                        ? value
                        : isTextType(from) ? call("uuid", value) : refused(from, to);
            case ANY -> call("to_text", value);
            default -> {
                if (Types.isInterval(target) && Types.isInterval(source)) {
                    yield value;
                }
                yield refused(from, to);
            }
        };
    }

    /**
     * A value as it is compared with one of another type: that of a field which is not declared as
     * that type, null where it is none.
     */
    static Expression read(Expression value, RelDataType source, RelDataType other) {
        if (!Types.isOpen(source)) {
            return value instanceof Expression.Constant ? call("coalesce", value) : value;
        }
        SqlTypeName to = other.getSqlTypeName();
        if (isWhole(to) || isDouble(to) || to == SqlTypeName.DECIMAL) {
            return call("attempt", call("decimal", call("to_text", value)));
        }
        return isTextType(to) || Types.isOpen(other)
                ? call("to_text", value)
                : call("attempt", cast(value, source, other));
    }

    /** Whether it is that of fields: of any digits. */
    static boolean isAnyDecimal(RelDataType type) {
        return type.getPrecision() == Types.DECIMAL_DIGITS_MAX
                && type.getScale() == Types.DECIMAL_DIGITS_MAX / 2;
    }

    static boolean isTextType(SqlTypeName type) {
        return type == SqlTypeName.VARCHAR || type == SqlTypeName.CHAR;
    }

    private static Expression refused(SqlTypeName from, SqlTypeName to) {
        throw unsupported("a cast of %s to %s".formatted(from, to));
    }

    static boolean isWhole(SqlTypeName type) {
        return SqlTypeName.INT_TYPES.contains(type);
    }

    static boolean isDouble(SqlTypeName type) {
        return type == SqlTypeName.DOUBLE || type == SqlTypeName.FLOAT || type == SqlTypeName.REAL;
    }
}
