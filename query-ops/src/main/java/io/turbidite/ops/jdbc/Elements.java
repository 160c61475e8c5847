package io.turbidite.ops.jdbc;

import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The elements of an array. <em>Immutable.</em> */
final class Elements implements Array {
    private final List<?> elements;

    private Elements(List<?> elements) {
        this.elements = elements;
    }

    static Elements of(Object value) throws SQLException {
        if (!(value instanceof List<?> list)) {
            throw Errors.of(
                    "a %s is no array".formatted(value.getClass().getSimpleName()),
                    Errors.WRONG_CONVERSION);
        }
        return new Elements(list);
    }

    private TypeKind kind() {
        Object first = elements.stream()
                .filter(Objects::nonNull)
                .<Object>map(element -> element)
                .findFirst()
                .orElse("");
        return switch (first) {
            case Boolean _ -> TypeKind.BOOL;
            case Double _ -> TypeKind.DOUBLE;
            case Float _ -> TypeKind.FLOAT;
            case BigDecimal _ -> TypeKind.DECIMAL;
            case Long _ -> TypeKind.INT64;
            case Number _ -> TypeKind.INT32;
            case LocalDate _ -> TypeKind.DATE;
            case LocalTime _ -> TypeKind.TIME;
            case Instant _ -> TypeKind.DATETIME;
            case byte[] _ -> TypeKind.BINARY;
            case Map<?, ?> _ -> TypeKind.RECORD;
            default -> TypeKind.STRING;
        };
    }

    @Override
    public String getBaseTypeName() {
        return ColumnType.of(kind()).name();
    }

    @Override
    public int getBaseType() {
        return ColumnType.of(kind()).code();
    }

    @Override
    public Object getArray() throws SQLException {
        @Nullable Object[] array = new @Nullable Object[elements.size()];
        for (int i = 0; i < array.length; i++) {
            Object element = elements.get(i);
            array[i] = element == null ? null : Conversions.natural(element);
        }
        return array;
    }

    @Override
    public Object getArray(Map<String, Class<?>> map) throws SQLException {
        throw Errors.unsupported("a map of types");
    }

    @Override
    public Object getArray(long index, int count) throws SQLException {
        throw Errors.unsupported("a part of an array");
    }

    @Override
    public Object getArray(long index, int count, Map<String, Class<?>> map) throws SQLException {
        throw Errors.unsupported("a part of an array");
    }

    @Override
    public ResultSet getResultSet() throws SQLException {
        throw Errors.unsupported("the result of an array");
    }

    @Override
    public ResultSet getResultSet(Map<String, Class<?>> map) throws SQLException {
        throw Errors.unsupported("the result of an array");
    }

    @Override
    public ResultSet getResultSet(long index, int count) throws SQLException {
        throw Errors.unsupported("the result of an array");
    }

    @Override
    public ResultSet getResultSet(long index, int count, Map<String, Class<?>> map)
            throws SQLException {
        throw Errors.unsupported("the result of an array");
    }

    @Override
    public void free() {}

    @Override
    public String toString() {
        return Conversions.text(elements);
    }
}
