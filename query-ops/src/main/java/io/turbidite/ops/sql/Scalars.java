package io.turbidite.ops.sql;

import static io.turbidite.ops.sql.Casts.isDouble;
import static io.turbidite.ops.sql.Casts.isWhole;
import static io.turbidite.ops.sql.Terms.FALSE;
import static io.turbidite.ops.sql.Terms.NULL;
import static io.turbidite.ops.sql.Terms.TRUE;
import static io.turbidite.ops.sql.Terms.calculated;
import static io.turbidite.ops.sql.Terms.call;
import static io.turbidite.ops.sql.Terms.choice;
import static io.turbidite.ops.sql.Terms.constant;
import static io.turbidite.ops.sql.Terms.decimal;
import static io.turbidite.ops.sql.Terms.fixed;
import static io.turbidite.ops.sql.Terms.isNull;
import static io.turbidite.ops.sql.Terms.isTrue;
import static io.turbidite.ops.sql.Terms.literal;
import static io.turbidite.ops.sql.Terms.moment;
import static io.turbidite.ops.sql.Terms.nothing;
import static io.turbidite.ops.sql.Terms.text;
import static io.turbidite.ops.sql.Terms.unsupported;

import io.turbidite.core.expr.Arithmetic;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;
import io.turbidite.core.type.RecordType;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Compiles values and conditions of SQL to those of queries, which mean the same. <em>Confined to
 * one thread.</em>
 */
final class Scalars {
    private static final Set<SqlKind> COMPARISONS = EnumSet.of(
            SqlKind.EQUALS,
            SqlKind.NOT_EQUALS,
            SqlKind.LESS_THAN,
            SqlKind.LESS_THAN_OR_EQUAL,
            SqlKind.GREATER_THAN,
            SqlKind.GREATER_THAN_OR_EQUAL);

    private final RexBuilder rex;

    /** What the columns of the input are made of. */
    private final List<Expression> columns;

    private final Calls calls = new Calls(this);

    Scalars(RexBuilder rex, List<Expression> columns) {
        this.rex = rex;
        this.columns = columns;
    }

    /** A condition that a filter asks for; unknown counts as false there. */
    List<Expression> filter(RexNode condition) {
        RexNode expanded = RexUtil.expandSearch(rex, null, condition);
        List<Expression> terms = new ArrayList<>();
        for (RexNode term : org.apache.calcite.plan.RelOptUtil.conjunctions(expanded)) {
            RexNode asked = term.isA(SqlKind.IS_TRUE) ? ((RexCall) term).operands.get(0) : term;
            if (!COMPARISONS.contains(asked.getKind())) {
                Parameters.mayBeNull(asked);
            }
            if (asked instanceof RexCall call && call.getOperator().equals(Operators.HAS)) {
                terms.add(has(call));
            } else if (!asked.isAlwaysTrue()) {
                terms.add(asked(asked));
            }
        }
        ConditionSize.check(terms);
        return terms;
    }

    /** A condition of which only what is true counts: a null in a list makes nothing true. */
    private Expression asked(RexNode node) {
        if (!(node instanceof RexCall call)) {
            return condition(node);
        }
        List<RexNode> operands = call.operands;
        if (isDecision(call)) {
            return asked(operands.getFirst());
        }
        if (call.isA(SqlKind.AND)) {
            return Terms.all(operands.stream().map(this::asked).toList());
        }
        if (call.isA(SqlKind.OR)) {
            return Terms.any(operands.stream().map(this::asked).toList());
        }
        if (LongLists.is(call)) {
            return oneOf(call, true);
        }
        boolean isNever = call.isA(SqlKind.NOT)
                && LongLists.is(operands.getFirst())
                && ((RexCall) operands.getFirst()).operands.stream().anyMatch(Terms::isNull);
        return isNever ? unknown() : condition(node);
    }

    /** Equal to one of the values, each of which is compared once. */
    private Expression oneOf(RexCall list, boolean leavesNulls) {
        Side of = new Side(list.operands.getFirst());
        List<RexNode> values = LongLists.values(list);
        Set<Expression> terms = new LinkedHashSet<>();
        for (RexNode value : values) {
            PlanningStop.check();
            if (leavesNulls && isNull(value)) {
                continue;
            }
            Expression term = comparison(SqlKind.EQUALS, of, new Side(value));
            if (terms.isEmpty()) {
                ConditionSize.checkList(term, values.size());
            }
            terms.add(term);
        }
        return switch (terms.size()) {
            case 0 -> unknown();
            case 1 -> terms.iterator().next();
            default -> new Expression.Or(List.copyOf(terms));
        };
    }

    /** Neither true nor false. */
    private static Expression unknown() {
        return new Expression.Comparison(
                call("nullif", text("a"), text("a")), Operator.EQUAL, text("b"));
    }

    /** A condition: something that can be negated, of three truth values. */
    private Expression condition(RexNode node) {
        if (node instanceof RexLiteral literal) {
            return literal.isNull() ? unknown() : fixed(literal.isAlwaysTrue());
        }
        if (!(node instanceof RexCall call)) {
            return isTrue(value(node));
        }
        List<RexNode> operands = call.operands;
        return switch (call.getKind()) {
            case AND -> Terms.all(operands.stream().map(this::condition).toList());
            case OR -> Terms.any(operands.stream().map(this::condition).toList());
            case NOT -> condition(operands.get(0)).negated();
            case EQUALS,
                    NOT_EQUALS,
                    LESS_THAN,
                    LESS_THAN_OR_EQUAL,
                    GREATER_THAN,
                    GREATER_THAN_OR_EQUAL ->
                comparison(call.getKind(), operands.get(0), operands.get(1));
            case IS_NULL -> absence(operands.get(0), Operator.EQUAL);
            case IS_NOT_NULL -> absence(operands.get(0), Operator.NOT_EQUAL);
            case IS_TRUE -> decided(condition(operands.get(0)), true);
            case CAST ->
                isDecision(call) ? decided(condition(operands.get(0)), true) : isTrue(value(node));
            case IS_NOT_TRUE -> decided(condition(operands.get(0)), false);
            case IS_FALSE -> decided(condition(operands.get(0)).negated(), true);
            case IS_NOT_FALSE -> decided(condition(operands.get(0)).negated(), false);
            case IS_UNKNOWN -> absence(operands.get(0), Operator.EQUAL);
            case IS_DISTINCT_FROM -> decided(same(operands.get(0), operands.get(1)), false);
            case IS_NOT_DISTINCT_FROM -> decided(same(operands.get(0), operands.get(1)), true);
            case LIKE -> calls.like(call);
            case SEARCH -> condition(RexUtil.expandSearch(rex, null, call));
            default -> LongLists.is(call) ? oneOf(call, false) : isTrue(value(node));
        };
    }

    /** Whether an element equals a constant; an index of elements answers it. */
    private Expression has(RexCall call) {
        return new Expression.Comparison(
                new Expression.Name(path(call.operands.get(0)) + RecordType.EACH),
                Operator.EQUAL,
                constantOnly(call.operands.get(1)));
    }

    /**
     * Whether it casts a condition to one that is never unknown. Calcite leaves {@code is true} out
     * behind a {@code when}, casts what is left, and may negate that: what is unknown is false.
     */
    private static boolean isDecision(RexCall call) {
        return call.isA(SqlKind.CAST)
                && call.getType().getSqlTypeName() == SqlTypeName.BOOLEAN
                && !call.getType().isNullable()
                && call.operands.getFirst().getType().getSqlTypeName() == SqlTypeName.BOOLEAN
                && call.operands.getFirst().getType().isNullable();
    }

    /** True or false, where the condition may be unknown. */
    private static Expression decided(Expression condition, boolean ifTrue) {
        return new Expression.Comparison(
                choice(condition, ifTrue ? TRUE : FALSE, ifTrue ? FALSE : TRUE),
                Operator.EQUAL,
                TRUE);
    }

    private Expression same(RexNode left, RexNode right) {
        return new Expression.Or(List.of(
                comparison(SqlKind.EQUALS, left, right),
                new Expression.And(
                        List.of(absence(left, Operator.EQUAL), absence(right, Operator.EQUAL)))));
    }

    private Expression absence(RexNode of, Operator operator) {
        boolean isStructure = of.getType().isStruct() || of.getType().getComponentType() != null;
        Expression value = isStructure ? new Expression.Name(path(of)) : operand(of);
        if (value instanceof Expression.Constant) {
            boolean isNull = value.equals(NULL);
            return fixed(isNull == (operator == Operator.EQUAL));
        }
        return new Expression.Comparison(value, operator, NULL);
    }

    /** A side of comparisons: what it stands for is made once for all of them. */
    private final class Side {
        private final RexNode node;
        private @Nullable Expression operand;
        private @Nullable Expression compared;

        Side(RexNode node) {
            this.node = node;
        }

        RelDataType type() {
            return node.getType();
        }

        Expression operand() {
            if (operand == null) {
                operand = Scalars.this.operand(node);
            }
            return operand;
        }

        Expression compared() {
            if (compared == null) {
                compared = Scalars.this.compared(node);
            }
            return compared;
        }
    }

    private Expression comparison(SqlKind kind, RexNode left, RexNode right) {
        return comparison(kind, new Side(left), new Side(right));
    }

    private Expression comparison(SqlKind kind, Side left, Side right) {
        Operator operator = operator(kind);
        SqlTypeName type = left.type().getSqlTypeName();
        if (operator.isOrder() && (type == SqlTypeName.BOOLEAN || type == SqlTypeName.GEOMETRY)) {
            throw unsupported("an order of " + type);
        }
        if (left.type().isStruct() || left.type().getComponentType() != null) {
            throw unsupported("a comparison of arrays and nested records");
        }
        if (Types.isOpen(left.type()) || Types.isOpen(right.type())) {
            return ofOpen(left, operator, right);
        }
        if (left.node instanceof Parameter.Open parameter) {
            return comparison(right, operator(Objects.requireNonNull(kind.reverse())), parameter);
        }
        if (right.node instanceof Parameter.Open parameter) {
            return comparison(left, operator, parameter);
        }
        Expression a = left.compared();
        Expression b = right.compared();
        if (a.equals(NULL) || b.equals(NULL)) {
            return condition(rex.makeNullLiteral(rex.getTypeFactory()
                    .createTypeWithNullability(
                            rex.getTypeFactory().createSqlType(SqlTypeName.BOOLEAN), true)));
        }
        if (a instanceof Expression.Constant && b instanceof Expression.Constant) {
            // no field says what their texts mean: 12:00 is 12:00:00
            boolean isText = switch (type) {
                case DATE, TIME, TIMESTAMP, UUID -> true;
                default -> false;
            };
            a = isText ? left.operand() : call("coalesce", a);
            b = isText ? right.operand() : b;
        }
        return a instanceof Expression.Constant
                ? new Expression.Comparison(b, operator(kind.reverse()), a)
                : new Expression.Comparison(a, operator, b);
    }

    /** A field that is not declared is read as what it is compared with. */
    private static Expression ofOpen(Side left, Operator operator, Side right) {
        Expression a = Casts.read(left.operand(), left.type(), right.type());
        Expression b = Casts.read(right.operand(), right.type(), left.type());
        return new Expression.Comparison(a, operator, b);
    }

    /** A field and a value that comes later. */
    private static Expression comparison(Side of, Operator operator, Parameter.Open parameter) {
        Expression field = of.compared();
        if (!(field instanceof Expression.Name(String name))) {
            throw unsupported("a parameter (?) in this place");
        }
        parameter.comparedWith(name);
        return new Expression.Comparison(
                field, operator, new Expression.Parameter(parameter.parameterName()));
    }

    private static Operator operator(SqlKind kind) {
        return switch (kind) {
            case EQUALS -> Operator.EQUAL;
            case NOT_EQUALS -> Operator.NOT_EQUAL;
            case LESS_THAN -> Operator.LESS;
            case LESS_THAN_OR_EQUAL -> Operator.AT_MOST;
            case GREATER_THAN -> Operator.GREATER;
            case GREATER_THAN_OR_EQUAL -> Operator.AT_LEAST;
            default -> throw new IllegalArgumentException(kind.name());
        };
    }

    /** A side of a comparison: numbers compare exactly whatever they are, texts as their type. */
    Expression compared(RexNode node) {
        if (node.isA(SqlKind.CAST)) {
            RexNode inner = ((RexCall) node).operands.get(0);
            if (isWidening(inner.getType(), node.getType()) && !isRounding(inner, node)) {
                return compared(inner);
            }
        }
        if (node instanceof Parameter.Bound bound) {
            return bound.compared();
        }
        if (node instanceof RexLiteral literal && !literal.isNull()) {
            return switch (literal.getType().getSqlTypeName()) {
                case DATE, TIME, TIMESTAMP -> text(moment(literal));
                case BOOLEAN -> literal.isAlwaysTrue() ? TRUE : FALSE;
                case TINYINT, SMALLINT, INTEGER, BIGINT, DECIMAL, DOUBLE, REAL, FLOAT ->
                    constant(Literal.Numeric.of(decimal(literal)));
                default -> operand(node);
            };
        }
        if (node.isA(SqlKind.CAST)
                && node.getType().getSqlTypeName() == SqlTypeName.UUID
                && ((RexCall) node).operands.get(0) instanceof RexLiteral literal
                && literal.getValueAs(String.class) != null) {
            return text(Objects.requireNonNull(literal.getValueAs(String.class)));
        }
        return operand(node);
    }

    /** Whether values of a column lose digits: what is compared is what a cast to REAL gives. */
    private static boolean isRounding(RexNode inner, RexNode cast) {
        boolean isExact = switch (inner.getType().getSqlTypeName()) {
            case TINYINT, SMALLINT, REAL -> true;
            default -> false;
        };
        return cast.getType().getSqlTypeName() == SqlTypeName.REAL
                && !isExact
                && !(inner instanceof RexLiteral)
                && !(inner instanceof Parameter.Bound);
    }

    private static boolean isWidening(RelDataType from, RelDataType to) {
        SqlTypeName source = from.getSqlTypeName();
        SqlTypeName target = to.getSqlTypeName();
        return switch (target) {
            case BIGINT -> isWhole(source);
            case DOUBLE, FLOAT, REAL ->
                isWhole(source) || source == SqlTypeName.DECIMAL || isDouble(source);
            case DECIMAL -> isWhole(source) && to.getPrecision() - to.getScale() >= 19;
            default -> false;
        };
    }

    private Expression constantOnly(RexNode node) {
        Expression value = compared(node);
        if (!(value instanceof Expression.Constant) || value.equals(NULL)) {
            throw unsupported("HAS with anything but a constant");
        }
        return value;
    }

    /** A value that may be an operand: no bare condition. */
    Expression operand(RexNode node) {
        Expression value = value(node);
        return switch (value) {
            case Expression.Comparison _, Expression.And _, Expression.Or _ ->
                choice(value, TRUE, value.negated(), FALSE);
            default -> value;
        };
    }

    /** A value. */
    Expression value(RexNode node) {
        return switch (node) {
            case RexInputRef reference -> columns.get(reference.getIndex());
            case RexLiteral literal -> literal(literal);
            case RexFieldAccess access -> new Expression.Name(path(access));
            case RexSubQuery _ -> throw unsupported("a subquery in this place");
            case RexCall call -> called(call);
            case Parameter.Bound bound -> bound.value();
            case RexDynamicParam _ -> throw unsupported("a parameter (?)");
            default -> throw unsupported(node.toString());
        };
    }

    /** The path of a field within nested records. */
    String path(RexNode node) {
        if (node instanceof RexFieldAccess access) {
            return path(access.getReferenceExpr()) + "." + access.getField().getName();
        }
        if (node instanceof RexInputRef reference
                && columns.get(reference.getIndex()) instanceof Expression.Name(String name)) {
            return name;
        }
        throw unsupported("a field of what is calculated");
    }

    /** An element of an array, or a field of a nested record. */
    private Expression item(RexNode of, RexNode which) {
        if (of.getType().isStruct()) {
            String name =
                    which instanceof RexLiteral literal ? literal.getValueAs(String.class) : null;
            if (name == null) {
                throw unsupported("a field by anything but its name");
            }
            return new Expression.Name(path(of) + "." + name);
        }
        if (Types.isOpen(of.getType())) {
            if (!(value(of) instanceof Expression.Call(Function function, List<Expression> names))
                    || !function.functionName().equals(Function.OPEN_FIELD)) {
                throw unsupported("an element of what was a field that is not declared");
            }
            List<Expression> path = new ArrayList<>(names);
            path.add(operand(which));
            return new Expression.Call(function, path);
        }
        return call(Function.ITEM, new Expression.Name(path(of)), operand(which));
    }

    private Expression called(RexCall call) {
        List<RexNode> operands = call.operands;
        return switch (call.getKind()) {
            case AND,
                    OR,
                    NOT,
                    EQUALS,
                    NOT_EQUALS,
                    LESS_THAN,
                    LESS_THAN_OR_EQUAL,
                    GREATER_THAN,
                    GREATER_THAN_OR_EQUAL,
                    IS_NULL,
                    IS_NOT_NULL,
                    IS_TRUE,
                    IS_NOT_TRUE,
                    IS_FALSE,
                    IS_NOT_FALSE,
                    IS_UNKNOWN,
                    IS_DISTINCT_FROM,
                    IS_NOT_DISTINCT_FROM,
                    LIKE,
                    SEARCH -> condition(call);
            case PLUS -> plus(call);
            case MINUS -> minus(call);
            case TIMES ->
                calculated(Arithmetic.TIMES, operand(operands.get(0)), operand(operands.get(1)));
            case DIVIDE -> quotient(operands.get(0), operands.get(1));
            case MOD ->
                calculated(
                        Arithmetic.REMAINDER, operand(operands.get(0)), operand(operands.get(1)));
            case MINUS_PREFIX -> call("negative", operand(operands.get(0)));
            case PLUS_PREFIX -> operand(operands.get(0));
            case CASE -> chosen(call);
            case CAST -> isDecision(call) ? condition(call) : cast(operands.get(0), call.getType());
            case SAFE_CAST -> call("attempt", cast(operands.get(0), call.getType()));
            case ITEM -> item(operands.get(0), operands.get(1));
            case REINTERPRET -> value(operands.get(0));
            case COALESCE ->
                new Expression.Call(
                        Objects.requireNonNull(Function.named("coalesce")),
                        operands.stream().map(this::operand).toList());
            case EXTRACT -> calls.extracted(operands.get(0), operands.get(1));
            case FLOOR -> calls.rounded("floor", call);
            case CEIL -> calls.rounded("ceil", call);
            case TRIM -> calls.trimmed(call);
            case POSITION -> {
                if (operands.size() > 2) {
                    throw unsupported("POSITION with a place to begin at");
                }
                yield call("position", operand(operands.get(0)), operand(operands.get(1)));
            }
            case CHAR_LENGTH -> call("length", operand(operands.get(0)));
            default -> LongLists.is(call) ? condition(call) : calls.named(call);
        };
    }

    private Expression plus(RexCall call) {
        RexNode left = call.operands.get(0);
        RexNode right = call.operands.get(1);
        SqlTypeName type = call.getType().getSqlTypeName();
        if (type == SqlTypeName.DATE) {
            boolean isLeft = left.getType().getSqlTypeName() == SqlTypeName.DATE;
            RexNode date = isLeft ? left : right;
            RexNode other = isLeft ? right : left;
            return call(
                    "date",
                    calculated(
                            Arithmetic.PLUS, call("to_datetime", operand(date)), operand(other)));
        }
        if (type == SqlTypeName.TIME) {
            throw unsupported("calculating with TIME");
        }
        return calculated(Arithmetic.PLUS, operand(left), operand(right));
    }

    private Expression minus(RexCall call) {
        RexNode left = call.operands.get(0);
        RexNode right = call.operands.get(1);
        boolean isDate = left.getType().getSqlTypeName() == SqlTypeName.DATE;
        if (call.getType().getSqlTypeName() == SqlTypeName.DATE) {
            return call(
                    "date",
                    calculated(
                            Arithmetic.MINUS, call("to_datetime", operand(left)), operand(right)));
        }
        if (left.getType().getSqlTypeName() == SqlTypeName.TIME) {
            throw unsupported("calculating with TIME");
        }
        boolean isBetween = Types.isInterval(call.getType()) && !Types.isInterval(left.getType());
        if (isBetween
                && !SqlTypeName.DAY_INTERVAL_TYPES.contains(call.getType().getSqlTypeName())) {
            throw unsupported("an interval of months and years");
        }
        if (isBetween && (isDate || right.getType().getSqlTypeName() == SqlTypeName.DATE)) {
            return calculated(
                    Arithmetic.MINUS,
                    call("to_datetime", operand(left)),
                    call("to_datetime", operand(right)));
        }
        return calculated(Arithmetic.MINUS, operand(left), operand(right));
    }

    private Expression quotient(RexNode left, RexNode right) {
        boolean isWhole = isWhole(left.getType().getSqlTypeName())
                && isWhole(right.getType().getSqlTypeName());
        return isWhole
                ? call("div", operand(left), operand(right))
                : calculated(Arithmetic.DIVIDED, operand(left), operand(right));
    }

    private Expression chosen(RexCall call) {
        List<Expression> arguments = new ArrayList<>();
        List<RexNode> operands = call.operands;
        int last = operands.size() - 1;
        for (int i = 0; i < last; i += 2) {
            arguments.add(condition(operands.get(i)));
            arguments.add(operand(operands.get(i + 1)));
        }
        arguments.add(operand(operands.get(last)));
        boolean allNull = true;
        for (int i = 1; i < arguments.size(); i += 2) {
            allNull &= arguments.get(i).equals(NULL);
        }
        if (allNull && arguments.getLast().equals(NULL)) {
            return nothing(call.getType());
        }
        return new Expression.Call(Function.CASE, arguments);
    }

    private Expression cast(RexNode of, RelDataType target) {
        return of instanceof RexLiteral literal && literal.isNull()
                ? nothing(target)
                : Casts.cast(operand(of), of.getType(), target);
    }
}
