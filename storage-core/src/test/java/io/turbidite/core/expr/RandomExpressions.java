package io.turbidite.core.expr;

import io.turbidite.core.expr.Expression.Grammar;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

/** Trees of any shape that the reader can make. */
public final class RandomExpressions {
    private static final List<String> NAMES = List.of(
            "a", "b_1", "in", "not", "and", "or", "is", "true", "null", "x y", "`", "été", "a.b",
            "$");
    private static final List<String> TEXTS =
            List.of("", "JFK", "it's", "\"", "\\", "a\nb", "\u0001", "été", "😀", "true", "5");
    private static final List<BigDecimal> NUMBERS = List.of(
            BigDecimal.ZERO,
            new BigDecimal("-1.50"),
            new BigDecimal("1e30"),
            new BigDecimal("12300"),
            new BigDecimal("0.00000001"),
            BigDecimal.valueOf(Long.MIN_VALUE));

    private final SplittableRandom random;
    private final Grammar grammar;

    public RandomExpressions(SplittableRandom random, Grammar grammar) {
        this.random = random;
        this.grammar = grammar;
    }

    /** A condition. */
    public Expression condition(int depth) {
        return switch (depth == 0 ? 0 : random.nextInt(4)) {
            case 0, 1 -> comparison(depth);
            case 2 -> new Expression.And(terms(depth, Expression.And.class));
            default -> new Expression.Or(terms(depth, Expression.Or.class));
        };
    }

    /** Terms that reading does not join with the outer ones. */
    private List<Expression> terms(int depth, Class<? extends Expression> outer) {
        List<Expression> terms = new ArrayList<>();
        int count = 2 + random.nextInt(3);
        while (terms.size() < count) {
            Expression term = condition(depth - 1);
            if (!outer.isInstance(term)) {
                terms.add(term);
            }
        }
        return terms;
    }

    private Expression comparison(int depth) {
        Expression left = random.nextInt(5) == 0 ? call(depth) : field();
        Operator[] operators = Operator.values();
        Operator operator = operators[random.nextInt(operators.length)];
        return new Expression.Comparison(left, operator, right(operator, depth));
    }

    private Expression right(Operator operator, int depth) {
        int kind = random.nextInt(10);
        if (kind == 0) {
            return field();
        }
        if (kind == 1) {
            return call(depth);
        }
        if (kind == 2) {
            return new Expression.Parameter(name());
        }
        return new Expression.Constant(
                operator.isPrefix() ? text() : literal(operator.isOrder() ? 2 : 4));
    }

    private Literal literal(int kinds) {
        return switch (random.nextInt(kinds)) {
            case 0 -> text();
            case 1 -> Literal.Numeric.of(NUMBERS.get(random.nextInt(NUMBERS.size())));
            case 2 -> new Literal.Bool(random.nextBoolean());
            default -> new Literal.Null();
        };
    }

    private Literal text() {
        return new Literal.Text(TEXTS.get(random.nextInt(TEXTS.size())));
    }

    private String name() {
        return NAMES.get(random.nextInt(NAMES.size()));
    }

    private Expression field() {
        if (grammar != Grammar.PATHS) {
            return new Expression.Name(name());
        }
        List<FieldPath.Step> steps = new ArrayList<>();
        steps.add(new FieldPath.Name(name()));
        for (int i = random.nextInt(3); i > 0; i--) {
            steps.add(
                    random.nextBoolean()
                            ? new FieldPath.Name(name())
                            : new FieldPath.Element(random.nextInt(100)));
        }
        return new Expression.Path(new FieldPath(steps));
    }

    private Expression call(int depth) {
        List<String> names = List.copyOf(Function.names());
        Function function =
                Objects.requireNonNull(Function.named(names.get(random.nextInt(names.size()))));
        List<Expression> arguments = new ArrayList<>();
        for (int i = 0; i < function.argumentCountMin(); i++) {
            arguments.add(value(Math.max(0, depth - 1)));
        }
        return new Expression.Call(function, arguments);
    }

    /** A value, which may be a condition. */
    public Expression value(int depth) {
        return switch (random.nextInt(depth == 0 ? 2 : 4)) {
            case 0 -> field();
            case 1 -> new Expression.Constant(literal(grammar == Grammar.TRANSFORM ? 2 : 4));
            case 2 -> call(depth - 1);
            default -> condition(depth - 1);
        };
    }
}
