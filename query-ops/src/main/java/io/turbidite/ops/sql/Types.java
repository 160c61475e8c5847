package io.turbidite.ops.sql;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.avatica.util.TimeUnit;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rel.type.RelDataTypeSystemImpl;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeFactoryImpl;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The types of fields as the validator sees them. Static, without state.
 *
 * <p>Whole numbers are BIGINT and floats DOUBLE there: so they are calculated with. What a column
 * of an answer is, its row type says.
 */
final class Types {
    static final int DECIMAL_DIGITS_MAX = 38;

    static final int FRACTION_DIGITS = 6;
    private static final int INTERVAL_DIGITS = 9;

    private Types() {}

    /** Texts have no fixed length, so none is padded, and sums of whole numbers are BIGINT. */
    static final class Factory extends SqlTypeFactoryImpl {
        Factory() {
            super(new Rules());
        }

        @Override
        public Charset getDefaultCharset() {
            return StandardCharsets.UTF_8;
        }

        @Override
        public RelDataType createSqlType(SqlTypeName typeName, int precision) {
            return switch (typeName) {
                case CHAR -> super.createSqlType(SqlTypeName.VARCHAR, precision);
                // constants and functions have it of fewer digits: values are of one type
                case TIME, TIMESTAMP -> super.createSqlType(typeName, FRACTION_DIGITS);
                default -> super.createSqlType(typeName, precision);
            };
        }

        @Override
        public RelDataType createTypeWithNullability(RelDataType type, boolean nullable) {
            PlanningStop.check();
            return super.createTypeWithNullability(type, nullable);
        }

        @Override
        public RelDataType createSqlType(SqlTypeName typeName) {
            return super.createSqlType(
                    typeName == SqlTypeName.CHAR ? SqlTypeName.VARCHAR : typeName);
        }
    }

    private static final class Rules extends RelDataTypeSystemImpl {
        @Override
        public int getMaxPrecision(SqlTypeName typeName) {
            return switch (typeName) {
                case DECIMAL -> DECIMAL_DIGITS_MAX;
                case TIME, TIMESTAMP, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> FRACTION_DIGITS;
                default -> super.getMaxPrecision(typeName);
            };
        }

        @Override
        public int getMaxScale(SqlTypeName typeName) {
            return typeName == SqlTypeName.DECIMAL
                    ? DECIMAL_DIGITS_MAX
                    : super.getMaxScale(typeName);
        }

        @Override
        public int getDefaultPrecision(SqlTypeName typeName) {
            return switch (typeName) {
                case TIME, TIMESTAMP -> FRACTION_DIGITS;
                case DECIMAL -> DECIMAL_DIGITS_MAX;
                default -> super.getDefaultPrecision(typeName);
            };
        }

        @Override
        public boolean shouldConvertRaggedUnionTypesToVarying() {
            return true;
        }

        /**
         * Decimals are calculated exactly: a type that reserved all digits for the fraction would
         * refuse the numbers of other columns.
         */
        @Override
        public @Nullable RelDataType deriveDecimalMultiplyType(
                RelDataTypeFactory factory, RelDataType left, RelDataType right) {
            RelDataType derived = super.deriveDecimalMultiplyType(factory, left, right);
            return derived == null || derived.getPrecision() < DECIMAL_DIGITS_MAX
                    ? derived
                    : factory.createSqlType(
                            SqlTypeName.DECIMAL, DECIMAL_DIGITS_MAX, DECIMAL_DIGITS_MAX / 2);
        }

        @Override
        public RelDataType deriveAvgAggType(RelDataTypeFactory factory, RelDataType argument) {
            return isInterval(argument)
                    ? argument
                    : nullable(factory, factory.createSqlType(SqlTypeName.DOUBLE));
        }

        @Override
        public RelDataType deriveSumType(RelDataTypeFactory factory, RelDataType argument) {
            SqlTypeName name = argument.getSqlTypeName();
            return switch (name) {
                case TINYINT, SMALLINT, INTEGER, BIGINT ->
                    nullable(factory, factory.createSqlType(SqlTypeName.BIGINT));
                case REAL, FLOAT -> nullable(factory, factory.createSqlType(SqlTypeName.DOUBLE));
                default -> argument;
            };
        }
    }

    /** Whether it is that of a field which is not declared: it differs from record to record. */
    static boolean isOpen(RelDataType type) {
        return type.getSqlTypeName() == SqlTypeName.ANY;
    }

    static boolean isInterval(RelDataType type) {
        return SqlTypeName.INTERVAL_TYPES.contains(type.getSqlTypeName());
    }

    private static RelDataType nullable(RelDataTypeFactory factory, RelDataType type) {
        return factory.createTypeWithNullability(type, true);
    }

    /** The row of a dataset. */
    static RelDataType row(RelDataTypeFactory factory, RecordType type, List<String> primaryKey) {
        RelDataTypeFactory.Builder row = factory.builder();
        for (Field field : type.declared()) {
            boolean isKey = primaryKey.contains(field.name());
            row.add(field.name(), factory.createTypeWithNullability(of(factory, field), !isKey));
        }
        return row.build();
    }

    private static RelDataType of(RelDataTypeFactory factory, Field field) {
        return switch (field.kind()) {
            case ARRAY ->
                factory.createArrayType(nullable(factory, of(factory, field.elementKind())), -1);
            case RECORD -> {
                List<RelDataType> types = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (Field member : field.members()) {
                    types.add(nullable(factory, of(factory, member)));
                    names.add(member.name());
                }
                yield factory.createStructType(types, names);
            }
            default -> of(factory, field.kind());
        };
    }

    /** The type of a simple kind. */
    static RelDataType of(RelDataTypeFactory factory, TypeKind kind) {
        return switch (kind) {
            case BOOL -> factory.createSqlType(SqlTypeName.BOOLEAN);
            case INT8, INT16, INT32, INT64 -> factory.createSqlType(SqlTypeName.BIGINT);
            case FLOAT, DOUBLE -> factory.createSqlType(SqlTypeName.DOUBLE);
            case DECIMAL ->
                factory.createSqlType(
                        SqlTypeName.DECIMAL, DECIMAL_DIGITS_MAX, DECIMAL_DIGITS_MAX / 2);
            case STRING -> factory.createSqlType(SqlTypeName.VARCHAR);
            case BINARY -> factory.createSqlType(SqlTypeName.VARBINARY);
            case UUID -> factory.createSqlType(SqlTypeName.UUID);
            case DATE -> factory.createSqlType(SqlTypeName.DATE);
            case TIME -> factory.createSqlType(SqlTypeName.TIME, FRACTION_DIGITS);
            case DATETIME -> factory.createSqlType(SqlTypeName.TIMESTAMP, FRACTION_DIGITS);
            case DURATION ->
                factory.createSqlIntervalType(new SqlIntervalQualifier(
                        TimeUnit.DAY,
                        INTERVAL_DIGITS,
                        TimeUnit.SECOND,
                        FRACTION_DIGITS,
                        SqlParserPos.ZERO));
            case POINT, RECTANGLE, LONLAT -> factory.createSqlType(SqlTypeName.GEOMETRY);
            case ARRAY, RECORD -> throw new IllegalArgumentException(kind.name());
        };
    }

    /** A field for what a statement gives; without rows there is a field for every type. */
    static Field field(String name, RelDataType type, boolean hasRows) {
        if (hasRows) {
            return new Field(name, kindOf(type), true);
        }
        if (type.isStruct()) {
            List<Field> members = type.getFieldList().stream()
                    .map(member -> field(member.getName(), member.getType(), false))
                    .toList();
            return Field.nested(name, members, true);
        }
        return switch (type.getSqlTypeName()) {
            case ARRAY -> Field.parse(name, "[string]?");
            case GEOMETRY -> new Field(name, TypeKind.POINT, true);
            case VARBINARY -> new Field(name, TypeKind.BINARY, true);
            default -> new Field(name, kindOf(type), true);
        };
    }

    /** The simple kind of what a statement gives. */
    static TypeKind kindOf(RelDataType type) {
        SqlTypeName name = type.getSqlTypeName();
        return switch (name) {
            case BOOLEAN -> TypeKind.BOOL;
            case TINYINT, SMALLINT, INTEGER, BIGINT -> TypeKind.INT64;
            case REAL, FLOAT, DOUBLE -> TypeKind.DOUBLE;
            case DECIMAL -> TypeKind.DECIMAL;
            case CHAR, VARCHAR, NULL, ANY -> TypeKind.STRING;
            case DATE -> TypeKind.DATE;
            case TIME -> TypeKind.TIME;
            case TIMESTAMP -> TypeKind.DATETIME;
            case UUID -> TypeKind.UUID;
            default -> {
                if (SqlTypeName.DAY_INTERVAL_TYPES.contains(name)) {
                    yield TypeKind.DURATION;
                }
                throw Terms.unsupported("a row of VALUES with " + name);
            }
        };
    }

    /** The name that people write for the type of a field, as SQL has it. */
    static String label(Field field) {
        return label(field.kind());
    }

    static String label(TypeKind kind) {
        return switch (kind) {
            case BOOL -> "BOOLEAN";
            case INT8 -> "TINYINT";
            case INT16 -> "SMALLINT";
            case INT32 -> "INTEGER";
            case INT64 -> "BIGINT";
            case FLOAT -> "REAL";
            case DOUBLE -> "DOUBLE";
            case DECIMAL -> "DECIMAL";
            case STRING -> "VARCHAR";
            case BINARY -> "VARBINARY";
            case UUID -> "UUID";
            case DATE -> "DATE";
            case TIME -> "TIME";
            case DATETIME -> "TIMESTAMP";
            case DURATION -> "INTERVAL DAY TO SECOND";
            case POINT, RECTANGLE, LONLAT -> "GEOMETRY";
            case ARRAY -> "ARRAY";
            case RECORD -> "ROW";
        };
    }
}
