package io.turbidite.ops.sql;

import io.turbidite.core.expr.Arithmetic;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.DateString;
import org.apache.calcite.util.TimeString;
import org.apache.calcite.util.TimestampString;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What values of queries are made of: constants, calls, truth values. Static. */
final class Terms {
    static final Expression TRUE = constant(new Literal.Bool(true));
    static final Expression FALSE = constant(new Literal.Bool(false));
    static final Expression NULL = constant(new Literal.Null());

    private Terms() {}

    static Expression constant(Literal literal) {
        return new Expression.Constant(literal);
    }

    static Expression whole(long number) {
        return constant(new Literal.Numeric(Long.toString(number)));
    }

    static Expression text(String value) {
        return constant(new Literal.Text(value));
    }

    static Expression call(String function, Expression... arguments) {
        return new Expression.Call(
                Objects.requireNonNull(Function.named(function), function), List.of(arguments));
    }

    static Expression calculated(Arithmetic sign, Expression left, Expression right) {
        return new Expression.Call(Function.of(sign), List.of(left, right));
    }

    static Expression choice(Expression... arguments) {
        return new Expression.Call(Function.CASE, List.of(arguments));
    }

    /** What is true of every row. */
    static Expression always() {
        return fixed(true);
    }

    /** The same, but a null that has a type. */
    static Expression typed(Expression value) {
        return value.equals(NULL) ? call("string", NULL) : value;
    }

    /** The value where a condition is true, else null. */
    static Expression where(Expression condition, Expression value) {
        return choice(isTrue(condition), value);
    }

    static Expression orZero(Expression value) {
        return call("coalesce", value, whole(0));
    }

    /** The value of a subquery, an error if it has more than one row. */
    static Expression only(Expression value, Expression rowCount) {
        return call("only", value, rowCount);
    }

    /** The variance of a whole population, of that of a sample: 0 of one value. */
    static Expression ofPopulation(Expression variance, Expression count) {
        Expression share = calculated(
                Arithmetic.DIVIDED, calculated(Arithmetic.MINUS, count, whole(1)), count);
        return choice(
                new Expression.Comparison(
                        count, Operator.EQUAL, constant(new Literal.Numeric("1"))),
                call("double", text("0")),
                always(),
                calculated(Arithmetic.TIMES, variance, share));
    }

    static SqlException unsupported(String construct) {
        return SqlException.of("%s is not supported".formatted(construct));
    }

    static boolean isNull(RexNode node) {
        return node instanceof RexLiteral literal && literal.isNull();
    }

    static Expression isTrue(Expression value) {
        return switch (value) {
            case Expression.Comparison _, Expression.And _, Expression.Or _ -> value;
            // a constant may not stand on the left
            case Expression.Constant _ ->
                new Expression.Comparison(
                        value.equals(NULL) ? call("bool", NULL) : call("coalesce", value),
                        Operator.EQUAL,
                        TRUE);
            default -> new Expression.Comparison(value, Operator.EQUAL, TRUE);
        };
    }

    /** All hold: those that are such themselves are taken apart, as readers of texts do. */
    static Expression all(List<Expression> conditions) {
        List<Expression> terms = new ArrayList<>();
        for (Expression one : conditions) {
            if (one instanceof Expression.And(List<Expression> inner)) {
                terms.addAll(inner);
            } else {
                terms.add(one);
            }
        }
        return new Expression.And(terms);
    }

    /** One holds: those that are such themselves are taken apart, as readers of texts do. */
    static Expression any(List<Expression> conditions) {
        List<Expression> terms = new ArrayList<>();
        for (Expression one : conditions) {
            if (one instanceof Expression.Or(List<Expression> inner)) {
                terms.addAll(inner);
            } else {
                terms.add(one);
            }
        }
        return new Expression.Or(terms);
    }

    /** What is always true, or never. */
    static Expression fixed(boolean truth) {
        return new Expression.Comparison(
                call("coalesce", truth ? TRUE : FALSE), Operator.EQUAL, TRUE);
    }

    /** What a constant stands for. */
    static Expression literal(RexLiteral literal) {
        if (literal.isNull()) {
            return nothing(literal.getType());
        }
        SqlTypeName type = literal.getType().getSqlTypeName();
        return switch (type) {
            case BOOLEAN -> literal.isAlwaysTrue() ? TRUE : FALSE;
            case TINYINT, SMALLINT, INTEGER, BIGINT ->
                constant(new Literal.Numeric(decimal(literal).setScale(0).toPlainString()));
            case DECIMAL -> {
                BigDecimal number = decimal(literal);
                // without a fraction it would be a whole number
                yield number.scale() > 0
                        ? constant(new Literal.Numeric(number.toPlainString()))
                        : call("decimal", text(number.toPlainString()));
            }
            case DOUBLE, REAL, FLOAT ->
                call("double", text(String.valueOf(decimal(literal).doubleValue())));
            case VARCHAR, CHAR, SYMBOL ->
                text(Objects.requireNonNull(literal.getValueAs(String.class)));
            case DATE -> call("date", text(moment(literal)));
            case TIME -> call("time", text(moment(literal)));
            case TIMESTAMP -> call("datetime", text(moment(literal)));
            default -> {
                if (SqlTypeName.DAY_INTERVAL_TYPES.contains(type)) {
                    long millis = decimal(literal).longValueExact();
                    yield call("duration", text(Duration.ofMillis(millis).toString()));
                }
                throw unsupported("a constant of type " + type);
            }
        };
    }

    /** A null that has a type. */
    static Expression nothing(RelDataType type) {
        String kind = switch (type.getSqlTypeName()) {
            case BOOLEAN -> "bool";
            case TINYINT, SMALLINT, INTEGER, BIGINT -> "int64";
            case DECIMAL -> "decimal";
            case DOUBLE, REAL, FLOAT -> "double";
            case DATE -> "date";
            case TIME -> "time";
            case TIMESTAMP -> "datetime";
            case UUID -> "uuid";
            case VARBINARY -> "bytes";
            case CHAR, VARCHAR -> "string";
            default ->
                SqlTypeName.DAY_INTERVAL_TYPES.contains(type.getSqlTypeName()) ? "duration" : "";
        };
        return kind.isEmpty() ? NULL : call(kind, NULL);
    }

    static String moment(RexLiteral literal) {
        return switch (literal.getType().getSqlTypeName()) {
            case DATE ->
                Objects.requireNonNull(literal.getValueAs(DateString.class)).toString();
            case TIME ->
                Objects.requireNonNull(literal.getValueAs(TimeString.class)).toString();
            default ->
                Objects.requireNonNull(literal.getValueAs(TimestampString.class))
                                .toString()
                                .replace(' ', 'T')
                        + "Z";
        };
    }

    static BigDecimal decimal(RexLiteral literal) {
        return Objects.requireNonNull(literal.getValueAs(BigDecimal.class));
    }
}
