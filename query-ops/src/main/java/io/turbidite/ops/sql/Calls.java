package io.turbidite.ops.sql;

import static io.turbidite.ops.sql.Terms.TRUE;
import static io.turbidite.ops.sql.Terms.calculated;
import static io.turbidite.ops.sql.Terms.call;
import static io.turbidite.ops.sql.Terms.text;
import static io.turbidite.ops.sql.Terms.unsupported;

import io.turbidite.core.expr.Arithmetic;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Operator;

import org.apache.calcite.avatica.util.TimeUnitRange;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.fun.SqlTrimFunction;
import org.apache.calcite.sql.type.SqlTypeFamily;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Compiles calls of functions by their names. <em>Confined to one thread.</em> */
final class Calls {
    /** Functions of SQL that are those of queries, argument by argument. */
    private static final Map<String, String> SAME = Map.ofEntries(
            Map.entry("ABS", "abs"),
            Map.entry("ACOS", "acos"),
            Map.entry("ASIN", "asin"),
            Map.entry("ATAN", "atan"),
            Map.entry("CBRT", "cbrt"),
            Map.entry("CEILING", "ceil"),
            Map.entry("CHARACTER_LENGTH", "length"),
            Map.entry("CHAR_LENGTH", "length"),
            Map.entry("CONTAINS", "contains"),
            Map.entry("CELL", "cell_of"),
            Map.entry("CONTAINS_ANY", "contains_any"),
            Map.entry("CONTAINS_PREFIX", "contains_prefix"),
            Map.entry("COS", "cos"),
            Map.entry("DATE_TRUNC", "date_trunc"),
            Map.entry("DEGREES", "degrees"),
            Map.entry("EXP", "exp"),
            Map.entry("GREATEST", "greatest"),
            Map.entry("IFNULL", "coalesce"),
            Map.entry("KEPT", "coalesce"),
            Map.entry("LEAST", "least"),
            Map.entry("LEFT", "left"),
            Map.entry("LENGTH", "length"),
            Map.entry("LN", "ln"),
            Map.entry("LOG10", "log10"),
            Map.entry("LOWER", "lower"),
            Map.entry("LPAD", "lpad"),
            Map.entry("NVL", "coalesce"),
            Map.entry("POW", "power"),
            Map.entry("POWER", "power"),
            Map.entry("RADIANS", "radians"),
            Map.entry("REGEXP_LIKE", "regexp_like"),
            Map.entry("REGEXP_REPLACE", "regexp_replace"),
            Map.entry("REPEAT", "repeat"),
            Map.entry("REPLACE", "replace"),
            Map.entry("REVERSE", "reverse"),
            Map.entry("RIGHT", "right"),
            Map.entry("ROUND", "round"),
            Map.entry("RPAD", "rpad"),
            Map.entry("SIGN", "sign"),
            Map.entry("SIN", "sin"),
            Map.entry("SPLIT_PART", "split_part"),
            Map.entry("SQRT", "sqrt"),
            Map.entry("ST_POINT", "point"),
            Map.entry("ST_X", "x_of"),
            Map.entry("ST_Y", "y_of"),
            Map.entry("SUBSTR", "substring"),
            Map.entry("SUBSTRING", "substring"),
            Map.entry("TAN", "tan"),
            Map.entry("TRUNC", "trunc"),
            Map.entry("TRUNCATE", "trunc"),
            Map.entry("UPPER", "upper"),
            Map.entry("||", "append"));

    private final Scalars scalars;

    Calls(Scalars scalars) {
        this.scalars = scalars;
    }

    private Expression[] operands(List<RexNode> nodes) {
        return nodes.stream().map(scalars::operand).toArray(Expression[]::new);
    }

    /** What the operator's name stands for. */
    Expression named(RexCall call) {
        String name = call.getOperator().getName().toUpperCase(Locale.ROOT);
        List<RexNode> operands = call.operands;
        return switch (name) {
            // what elements have not, an empty array says otherwise than conditions do
            case "HAS" -> throw unsupported("HAS other than in WHERE, joined by AND,");
            case "ST_WITHIN", "ST_INTERSECTS" -> within(operands.get(0), operands.get(1));
            case "CONCAT", "CONCAT_WS" -> call(name.toLowerCase(Locale.ROOT), texts(operands));
            case "STRPOS" -> {
                Expression[] of = operands(operands);
                yield call("position", of[1], of[0]);
            }
            case "CARDINALITY" ->
                call(Function.CARDINALITY, new Expression.Name(scalars.path(operands.get(0))));
            case "LOG" -> logarithm(operands(operands));
            case "PI" -> call("double", text(Double.toString(Math.PI)));
            case "LTRIM" -> trimmed("leading", operands);
            case "RTRIM" -> trimmed("trailing", operands);
            case "BTRIM" -> trimmed("both", operands);
            case "STARTS_WITH" -> starting(operands);
            case "POSIX REGEX CASE SENSITIVE" -> regular(operands, "", false);
            case "POSIX REGEX CASE INSENSITIVE" -> regular(operands, "i", false);
            case "NEGATED POSIX REGEX CASE SENSITIVE" -> regular(operands, "", true);
            case "NEGATED POSIX REGEX CASE INSENSITIVE" -> regular(operands, "i", true);
            default -> {
                String function = SAME.get(name);
                if (function == null) {
                    throw unsupported(name);
                }
                yield call(function, operands(operands));
            }
        };
    }

    /** Values of any type, as texts. */
    private Expression[] texts(List<RexNode> nodes) {
        List<Expression> texts = new ArrayList<>();
        for (RexNode node : nodes) {
            boolean isText = SqlTypeFamily.CHARACTER.contains(node.getType())
                    || SqlTypeFamily.NULL.contains(node.getType());
            Expression value = scalars.operand(node);
            texts.add(isText ? value : call("to_text", value));
        }
        return texts.toArray(Expression[]::new);
    }

    /** Of one number to the base of 10, else to the base that comes first. */
    private static Expression logarithm(Expression[] arguments) {
        return arguments.length == 1
                ? call("log10", arguments)
                : calculated(
                        Arithmetic.DIVIDED, call("ln", arguments[1]), call("ln", arguments[0]));
    }

    private Expression trimmed(String side, List<RexNode> operands) {
        Expression characters = operands.size() > 1 ? scalars.operand(operands.get(1)) : text(" ");
        return call("trim_of", text(side), characters, scalars.operand(operands.get(0)));
    }

    private Expression starting(List<RexNode> operands) {
        Expression text = scalars.operand(operands.get(0));
        Expression prefix = scalars.operand(operands.get(1));
        return new Expression.Comparison(
                call("left", text, call("length", prefix)), Operator.EQUAL, prefix);
    }

    private Expression regular(List<RexNode> operands, String flags, boolean isNegated) {
        Expression fits = new Expression.Comparison(
                call(
                        "regexp_like",
                        scalars.operand(operands.get(0)),
                        scalars.operand(operands.get(1)),
                        text(flags)),
                Operator.EQUAL,
                TRUE);
        return isNegated ? fits.negated() : fits;
    }

    /** A point in a box, or a rectangle that meets it. */
    private Expression within(RexNode place, RexNode box) {
        if (!(box instanceof RexCall call) || !call.getOperator().equals(Operators.ENVELOPE)) {
            throw unsupported("ST_WITHIN in anything but ST_MAKEENVELOPE(…)");
        }
        List<Expression> arguments = new ArrayList<>();
        arguments.add(scalars.operand(place));
        for (RexNode side : call.operands) {
            arguments.add(scalars.compared(side));
        }
        return new Expression.Call(
                Objects.requireNonNull(Function.named(Function.WITHIN)), arguments);
    }

    /** {@code EXTRACT}, and {@code DATE_PART}, whose unit is a text. */
    Expression extracted(RexNode unit, RexNode of) {
        if (!(unit instanceof RexLiteral literal)) {
            throw unsupported("DATE_PART of a unit that is not a constant");
        }
        String name = SqlTypeFamily.CHARACTER.contains(unit.getType())
                ? literal.getValueAs(String.class)
                : String.valueOf(literal.getValueAs(TimeUnitRange.class));
        String part = String.valueOf(name).toLowerCase(Locale.ROOT);
        boolean hasFunction = !Types.isInterval(of.getType());
        return switch (part) {
            case "year", "month", "day", "hour", "minute", "second" ->
                hasFunction
                        ? call(part, scalars.operand(of))
                        : call("part", text(part), scalars.operand(of));
            case "isodow" -> call("weekday", scalars.operand(of));
            case "nanosecond", "fraction" -> throw unsupported("EXTRACT(%s)".formatted(name));
            default -> call("part", text(part), scalars.operand(of));
        };
    }

    Expression rounded(String function, RexCall call) {
        if (call.operands.size() > 1) {
            throw unsupported(function.toUpperCase(Locale.ROOT) + " to a unit of time");
        }
        return call(function, scalars.operand(call.operands.get(0)));
    }

    Expression trimmed(RexCall call) {
        SqlTrimFunction.Flag flag =
                ((RexLiteral) call.operands.get(0)).getValueAs(SqlTrimFunction.Flag.class);
        String what = call.operands.get(1) instanceof RexLiteral literal
                ? literal.getValueAs(String.class)
                : null;
        Expression of = scalars.operand(call.operands.get(2));
        if (flag == SqlTrimFunction.Flag.BOTH && " ".equals(what)) {
            return call("trim_blanks", of);
        }
        String side = String.valueOf(flag).toLowerCase(Locale.ROOT);
        return call("trim_of", text(side), scalars.operand(call.operands.get(1)), of);
    }

    Expression like(RexCall call) {
        List<RexNode> operands = call.operands;
        String name = call.getOperator().getName();
        boolean isNegated = name.startsWith("NOT ");
        String function = switch (isNegated ? name.substring("NOT ".length()) : name) {
            case "LIKE" -> "like";
            case "ILIKE" -> "ilike";
            default -> throw unsupported(name);
        };
        Expression value = scalars.operand(operands.get(0));
        String pattern = operands.get(1) instanceof RexLiteral literal && function.equals("like")
                ? literal.getValueAs(String.class)
                : null;
        if (pattern != null && operands.size() == 2 && value instanceof Expression.Name) {
            int end = pattern.length() - 1;
            boolean isPrefix = end > 0 && pattern.indexOf('%') == end && pattern.indexOf('_') < 0;
            if (isPrefix) {
                return new Expression.Comparison(
                        value,
                        isNegated ? Operator.STARTS_NOT_WITH : Operator.STARTS_WITH,
                        text(pattern.substring(0, end)));
            }
        }
        Expression fits =
                new Expression.Comparison(call(function, operands(operands)), Operator.EQUAL, TRUE);
        return isNegated ? fits.negated() : fits;
    }
}
