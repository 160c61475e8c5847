package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.DateString;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/**
 * A {@code ?} of a statement. <em>Immutable.</em>
 *
 * @param index counted from 0
 * @param type what the validator made of it by the place where it stands
 */
record Parameter(int index, RelDataType type, TypeKind kind) {
    private static final int YEAR_MAX = 9999;

    static Parameter of(int index, RelDataType type) {
        try {
            TypeKind kind = switch (type.getSqlTypeName()) {
                case GEOMETRY -> TypeKind.POINT;
                case BINARY, VARBINARY -> TypeKind.BINARY;
                default -> Types.kindOf(type);
            };
            return new Parameter(index, type, kind);
        } catch (SqlException e) {
            throw SqlException.of("parameter %d can't be of type %s".formatted(index + 1, type), e);
        }
    }

    /** Its type as SQL names it. */
    String label() {
        return Types.label(kind);
    }

    /**
     * A value as its type has it.
     *
     * @throws SqlException naming the parameter, if the value is of another type or out of range
     */
    @Nullable
    Object checked(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        try {
            Object taken = taken(value);
            if (taken == null) {
                throw SqlException.of("parameter %d is a %s: a %s is no value of that type"
                        .formatted(index + 1, label(), value.getClass().getSimpleName()));
            }
            return taken;
        } catch (SqlException e) {
            throw e;
        } catch (InvalidRequestException | ArithmeticException e) {
            throw SqlException.of(
                    "parameter %d is a %s: %s".formatted(index + 1, label(), e.getMessage()), e);
        }
    }

    private @Nullable Object taken(Object value) {
        return switch (kind) {
            case BOOL -> value instanceof Boolean ? value : null;
            case INT8, INT16, INT32, INT64 -> whole(value);
            case FLOAT, DOUBLE -> value instanceof Number number ? number.doubleValue() : null;
            case DECIMAL -> decimal(value);
            case STRING ->
                switch (value) {
                    case String text -> text(text);
                    case Character one -> text(String.valueOf(one));
                    default -> null;
                };
            case BINARY -> value instanceof byte[] bytes ? bytes.clone() : null;
            case UUID -> value instanceof UUID ? value : null;
            case DATE -> value instanceof LocalDate ? cut(value) : null;
            case TIME -> value instanceof LocalTime ? cut(value) : null;
            case DATETIME ->
                switch (value) {
                    case Instant at -> cut(at);
                    case OffsetDateTime at -> cut(at.toInstant());
                    case ZonedDateTime at -> cut(at.toInstant());
                    case LocalDateTime utc -> cut(utc.toInstant(ZoneOffset.UTC));
                    default -> null;
                };
            case DURATION -> value instanceof Duration ? cut(value) : null;
            case POINT, LONLAT -> value instanceof Point ? value : null;
            case RECTANGLE, ARRAY, RECORD -> null;
        };
    }

    /** In range, and cut to microseconds. */
    private Object cut(Object value) {
        return KindValues.fromLong(kind, KindValues.toLong(kind, value));
    }

    private static String text(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new InvalidRequestException("the text has half of a surrogate pair");
        }
        return text;
    }

    private @Nullable Object whole(Object value) {
        return switch (value) {
            case Long number -> number;
            case Integer _, Short _, Byte _ -> ((Number) value).longValue();
            case BigInteger number -> KindValues.toLong(kind, number);
            case BigDecimal number -> whole(number, value);
            case Double number
            when Double.isFinite(number) -> whole(BigDecimal.valueOf(number), value);
            case Float number
            when Float.isFinite(number) -> whole(BigDecimal.valueOf(number), value);
            default -> null;
        };
    }

    private Object whole(BigDecimal number, Object value) {
        if (digitsBefore(number) > Types.DECIMAL_DIGITS_MAX) {
            throw new InvalidRequestException("%s is out of range".formatted(value));
        }
        if (number.stripTrailingZeros().scale() > 0) {
            throw new InvalidRequestException(
                    "%s has a fraction: write CAST(? AS DECIMAL)".formatted(value));
        }
        return KindValues.toLong(kind, number.toBigInteger());
    }

    /** Digits before the point; a scale may be that of two billion zeros. */
    private static long digitsBefore(BigDecimal number) {
        return (long) number.precision() - number.scale();
    }

    private static @Nullable Object decimal(Object value) {
        BigDecimal number = switch (value) {
            case BigDecimal given -> given;
            case BigInteger given -> new BigDecimal(given);
            case Long _, Integer _, Short _, Byte _ ->
                BigDecimal.valueOf(((Number) value).longValue());
            case Double given when Double.isFinite(given) -> BigDecimal.valueOf(given);
            case Float given when Float.isFinite(given) -> new BigDecimal(given.toString());
            default -> null;
        };
        if (number != null
                && (number.precision() > Types.DECIMAL_DIGITS_MAX
                        || digitsBefore(number) > Types.DECIMAL_DIGITS_MAX
                        || number.scale() > Types.DECIMAL_DIGITS_MAX)) {
            throw new InvalidRequestException(
                    "%s has more than %d digits".formatted(number, Types.DECIMAL_DIGITS_MAX));
        }
        return number;
    }

    /** A value of the type, for what a statement says before it has any. */
    Object sample() {
        return switch (kind) {
            case BOOL -> true;
            case INT8, INT16, INT32, INT64 -> 1L;
            case FLOAT, DOUBLE -> 1.0;
            case DECIMAL -> new BigDecimal("1.5");
            case STRING -> "1";
            case BINARY -> new byte[] {1};
            case UUID -> new UUID(1, 1);
            case DATE -> LocalDate.EPOCH;
            case TIME -> LocalTime.NOON;
            case DATETIME -> Instant.EPOCH;
            case DURATION -> Duration.ofDays(1);
            case POINT, LONLAT, RECTANGLE, ARRAY, RECORD -> new Point(1, 1);
        };
    }

    /** What stands for the parameter where a statement is compiled with a checked value. */
    RexNode bound(RexBuilder rex, @Nullable Object value) {
        if (value == null) {
            return rex.makeNullLiteral(rex.getTypeFactory().createTypeWithNullability(type, true));
        }
        return switch (value) {
            case Boolean truth -> rex.makeLiteral(truth);
            case Long number -> rex.makeExactLiteral(BigDecimal.valueOf(number), type);
            case BigDecimal number ->
                // a literal of Calcite would have the digits of the type, which may be those of
                // the constant that it is compared with
                new Bound(
                        this,
                        Terms.constant(Literal.Numeric.of(number)),
                        Terms.call("decimal", Terms.text(number.toString())));
            case Double number
            when Double.isFinite(number) ->
                new Bound(
                        this,
                        Terms.constant(Literal.Numeric.of(new BigDecimal(number.toString()))),
                        Terms.call("double", Terms.text(number.toString())));
            case String text ->
                rex.makeLiteral(
                        text, rex.getTypeFactory().createSqlType(SqlTypeName.VARCHAR), false);
            case LocalDate day
            when day.getYear() >= 1 && day.getYear() <= YEAR_MAX ->
                rex.makeDateLiteral(new DateString(day.toString()));
            case Double number -> {
                Expression made = Terms.call("double", Terms.text(number.toString()));
                yield new Bound(this, made, made);
            }
            case LocalDate day -> of("date", day.toString());
            case LocalTime time -> of("time", time.toString());
            case Instant at -> of("datetime", at.toString());
            case UUID uuid -> of("uuid", uuid.toString());
            case byte[] bytes -> of("bytes", Base64.getEncoder().encodeToString(bytes));
            case Duration duration -> of("duration", duration.toString());
            case Point point -> {
                Expression made = Terms.call("point", number(point.x()), number(point.y()));
                yield new Bound(this, made, made);
            }
            default -> throw new IllegalArgumentException(value.getClass().getName());
        };
    }

    private Bound of(String function, String text) {
        return new Bound(this, Terms.text(text), Terms.call(function, Terms.text(text)));
    }

    private static Expression number(double value) {
        return Terms.call("double", Terms.text(Double.toString(value)));
    }

    /** A parameter with its value, where no literal of Calcite has it. */
    static final class Bound extends RexDynamicParam {
        private final Expression compared;
        private final Expression value;

        private Bound(Parameter parameter, Expression compared, Expression value) {
            super(parameter.type, parameter.index);
            this.compared = compared;
            this.value = value;
        }

        /** As a field is compared with it. */
        Expression compared() {
            return compared;
        }

        Expression value() {
            return value;
        }
    }

    /** A parameter whose value comes with each run of a prepared query: it compares a field. */
    static final class Open extends RexDynamicParam {
        private final List<String> fields = new ArrayList<>();
        private boolean isStrict = true;

        Open(Parameter parameter) {
            super(parameter.type, parameter.index);
        }

        /** Its name in the query. */
        String parameterName() {
            return "p" + getIndex();
        }

        /** The fields that it is compared with. */
        List<String> fields() {
            return fields;
        }

        /** Whether no row can match where it is null. */
        boolean isStrict() {
            return isStrict;
        }

        void comparedWith(String field) {
            fields.add(field);
        }

        void notStrict() {
            isStrict = false;
        }
    }
}
