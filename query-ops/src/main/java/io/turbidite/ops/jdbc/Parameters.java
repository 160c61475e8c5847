package io.turbidite.ops.jdbc;

import io.turbidite.core.type.TypeKind;

import java.sql.ParameterMetaData;
import java.sql.SQLException;
import java.util.List;

/** The parameters of a prepared statement. <em>Immutable.</em> */
record Parameters(List<TypeKind> kinds) implements ParameterMetaData {
    TypeKind kind(int number) throws SQLException {
        if (number < 1 || number > kinds.size()) {
            throw Errors.of(
                    "there is no parameter %d: the statement has %d"
                            .formatted(number, kinds.size()),
                    Errors.PARAMETER);
        }
        return kinds.get(number - 1);
    }

    private ColumnType type(int number) throws SQLException {
        return ColumnType.of(kind(number));
    }

    @Override
    public int getParameterCount() {
        return kinds.size();
    }

    @Override
    public int isNullable(int number) throws SQLException {
        kind(number);
        return parameterNullable;
    }

    @Override
    public boolean isSigned(int number) throws SQLException {
        return type(number).isSigned();
    }

    @Override
    public int getPrecision(int number) throws SQLException {
        return type(number).precision();
    }

    @Override
    public int getScale(int number) throws SQLException {
        return type(number).scale();
    }

    @Override
    public int getParameterType(int number) throws SQLException {
        return type(number).code();
    }

    @Override
    public String getParameterTypeName(int number) throws SQLException {
        return type(number).name();
    }

    @Override
    public String getParameterClassName(int number) throws SQLException {
        return type(number).of().getName();
    }

    @Override
    public int getParameterMode(int number) throws SQLException {
        kind(number);
        return parameterModeIn;
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return Wrapped.unwrap(this, type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
