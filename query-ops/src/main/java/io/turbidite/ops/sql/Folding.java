package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Values;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexExecutor;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.DateString;
import org.apache.calcite.util.TimeString;
import org.apache.calcite.util.TimestampString;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Works out constants as records would be; what fails waits for a record. */
final class Folding implements RexExecutor {
    private static final DateTimeFormatter MOMENT =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss");

    private final RelDataTypeFactory types;

    Folding(RelDataTypeFactory types) {
        this.types = types;
    }

    @Override
    public void reduce(
            RexBuilder rexBuilder, List<RexNode> constExps, List<RexNode> reducedValues) {
        for (RexNode constant : constExps) {
            reducedValues.add(reduced(rexBuilder, constant));
        }
    }

    private RexNode reduced(RexBuilder rex, RexNode constant) {
        try {
            Object value = value(rex, constant);
            RexNode literal = literal(rex, value, constant.getType());
            return literal == null ? constant : literal;
        } catch (InvalidRequestException _) {
            // who asks for it is told, if a record ever does
            return constant;
        }
    }

    private static @Nullable Object value(RexBuilder rex, RexNode constant) {
        Expression expression = new Scalars(rex, List.of()).value(constant);
        return BoundExpression.of(expression, name -> {
                    throw new InvalidRequestException(name);
                })
                .evaluate(index -> null);
    }

    /** A constant as a record has it. */
    static @Nullable Object value(RexBuilder rex, RexLiteral literal, TypeKind kind) {
        Object value = value(rex, literal);
        Object plain = value instanceof Values.Numeral(String text) ? new BigDecimal(text) : value;
        return plain instanceof BigDecimal number
                ? switch (kind) {
                    case INT64 -> number.longValueExact();
                    case DOUBLE -> number.doubleValue();
                    default -> number;
                }
                : plain;
    }

    private @Nullable RexNode literal(RexBuilder rex, @Nullable Object value, RelDataType type) {
        if (value == null) {
            return rex.makeNullLiteral(types.createTypeWithNullability(type, true));
        }
        Object plain = value instanceof Values.Numeral(String text) ? new BigDecimal(text) : value;
        return switch (type.getSqlTypeName()) {
            case BOOLEAN -> plain instanceof Boolean truth ? rex.makeLiteral(truth) : null;
            case TINYINT, SMALLINT, INTEGER, BIGINT -> {
                BigDecimal number = number(plain);
                yield number == null || number.stripTrailingZeros().scale() > 0
                        ? null
                        : rex.makeLiteral(number.setScale(0), type, false);
            }
            case DECIMAL -> {
                BigDecimal number = number(plain);
                yield number == null ? null : rex.makeLiteral(number, type, false);
            }
            case VARCHAR ->
                plain instanceof String text && fits(text, type)
                        ? rex.makeLiteral(text, type, false)
                        : null;
            case DATE ->
                plain instanceof LocalDate day && hasFourDigits(day.getYear())
                        ? rex.makeDateLiteral(new DateString(day.toString()))
                        : null;
            case TIME ->
                plain instanceof LocalTime time
                        ? rex.makeTimeLiteral(
                                withFraction(
                                        new TimeString(
                                                time.getHour(), time.getMinute(), time.getSecond()),
                                        time.getNano()),
                                6)
                        : null;
            case TIMESTAMP ->
                plain instanceof Instant at
                                && hasFourDigits(at.atOffset(ZoneOffset.UTC).getYear())
                        ? rex.makeTimestampLiteral(moment(at), 6)
                        : null;
            default -> null;
        };
    }

    /** A text in capitals may be longer than its type says. */
    private static boolean fits(String text, RelDataType type) {
        return type.getPrecision() == RelDataType.PRECISION_NOT_SPECIFIED
                || text.length() <= type.getPrecision();
    }

    private static boolean hasFourDigits(int year) {
        return year >= 1 && year <= 9999;
    }

    private static TimeString withFraction(TimeString time, int nanos) {
        return nanos == 0 ? time : time.withNanos(nanos);
    }

    private static TimestampString moment(Instant at) {
        OffsetDateTime utc = at.atOffset(ZoneOffset.UTC);
        TimestampString whole = new TimestampString(MOMENT.format(utc));
        return utc.getNano() == 0 ? whole : whole.withNanos(utc.getNano());
    }

    /** What a function of the time of day gives at a moment; null of any other call. */
    static @Nullable RexNode moment(RexBuilder rex, RexCall call, Instant now) {
        OffsetDateTime utc = now.atOffset(ZoneOffset.UTC);
        return switch (call.getOperator().getName()) {
            case "NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP" ->
                rex.makeTimestampLiteral(moment(now), Types.FRACTION_DIGITS);
            case "CURRENT_DATE" ->
                rex.makeDateLiteral(new DateString(utc.toLocalDate().toString()));
            case "CURRENT_TIME", "LOCALTIME" ->
                rex.makeTimeLiteral(
                        withFraction(
                                new TimeString(utc.getHour(), utc.getMinute(), utc.getSecond()),
                                utc.getNano()),
                        Types.FRACTION_DIGITS);
            default -> null;
        };
    }

    private static @Nullable BigDecimal number(Object value) {
        return switch (value) {
            case BigDecimal decimal -> decimal;
            case Double _, Float _ -> null;
            case Number number -> BigDecimal.valueOf(number.longValue());
            default -> null;
        };
    }
}
