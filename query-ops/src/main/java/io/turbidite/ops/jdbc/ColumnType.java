package io.turbidite.ops.jdbc;

import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What JDBC says of a type. <em>Immutable.</em>
 *
 * @param name as SQL has it
 * @param code of {@link Types}
 * @param precision digits, or characters of its text; 0: any number
 * @param of the class of {@code getObject}
 */
record ColumnType(String name, int code, int precision, int scale, Class<?> of) {
    static ColumnType of(TypeKind kind) {
        return switch (kind) {
            case BOOL -> new ColumnType("BOOLEAN", Types.BOOLEAN, 1, 0, Boolean.class);
            case INT8 -> new ColumnType("TINYINT", Types.TINYINT, 3, 0, Integer.class);
            case INT16 -> new ColumnType("SMALLINT", Types.SMALLINT, 5, 0, Integer.class);
            case INT32 -> new ColumnType("INTEGER", Types.INTEGER, 10, 0, Integer.class);
            case INT64 -> new ColumnType("BIGINT", Types.BIGINT, 19, 0, Long.class);
            case FLOAT -> new ColumnType("REAL", Types.REAL, 9, 0, Float.class);
            case DOUBLE -> new ColumnType("DOUBLE", Types.DOUBLE, 17, 0, Double.class);
            case DECIMAL -> new ColumnType("DECIMAL", Types.DECIMAL, 38, 0, BigDecimal.class);
            case STRING -> new ColumnType("VARCHAR", Types.VARCHAR, 0, 0, String.class);
            case BINARY -> new ColumnType("VARBINARY", Types.VARBINARY, 0, 0, byte[].class);
            case UUID -> new ColumnType("UUID", Types.OTHER, 36, 0, UUID.class);
            case DATE -> new ColumnType("DATE", Types.DATE, 10, 0, Date.class);
            case TIME -> new ColumnType("TIME", Types.TIME, 15, 6, Time.class);
            case DATETIME -> new ColumnType("TIMESTAMP", Types.TIMESTAMP, 27, 6, Timestamp.class);
            case DURATION ->
                new ColumnType("INTERVAL DAY TO SECOND", Types.OTHER, 0, 6, Duration.class);
            case POINT, LONLAT -> new ColumnType("GEOMETRY", Types.OTHER, 0, 0, Point.class);
            case RECTANGLE -> new ColumnType("GEOMETRY", Types.OTHER, 0, 0, Rectangle.class);
            case ARRAY -> new ColumnType("ARRAY", Types.JAVA_OBJECT, 0, 0, List.class);
            case RECORD -> new ColumnType("ROW", Types.JAVA_OBJECT, 0, 0, Map.class);
        };
    }

    /** The kind of a parameter, by the name that SQL has for it. */
    static TypeKind kindOf(String name) {
        for (TypeKind kind : TypeKind.values()) {
            if (of(kind).name.equals(name)) {
                return kind;
            }
        }
        throw new IllegalArgumentException(name);
    }

    boolean isSigned() {
        return switch (code) {
            case Types.TINYINT,
                    Types.SMALLINT,
                    Types.INTEGER,
                    Types.BIGINT,
                    Types.REAL,
                    Types.DOUBLE,
                    Types.DECIMAL -> true;
            default -> false;
        };
    }

    /** What is written around a constant of the type; empty: nothing. */
    String prefix() {
        return switch (code) {
            case Types.VARCHAR -> "'";
            case Types.DATE -> "DATE '";
            case Types.TIME -> "TIME '";
            case Types.TIMESTAMP -> "TIMESTAMP '";
            default -> "";
        };
    }
}
