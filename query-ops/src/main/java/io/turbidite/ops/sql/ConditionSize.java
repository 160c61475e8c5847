package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;

import java.util.List;
import java.util.Locale;

/**
 * Counts what a condition makes of each record: parts that are shared are worked out each time.
 * <em>Confined to one thread.</em>
 */
final class ConditionSize {
    /** The most comparisons and calls of functions of a condition. */
    static final int STEP_COUNT_MAX = 100_000;

    /** The most that stand within one another. */
    static final int DEPTH_MAX = 512;

    private long steps;

    private ConditionSize() {}

    /**
     * Checks all that a filter asks for.
     *
     * @throws SqlException if that is too much
     */
    static void check(List<Expression> terms) {
        ConditionSize size = new ConditionSize();
        terms.forEach(term -> size.add(term, 0));
    }

    /**
     * Checks the size of a list before it is made.
     *
     * @param first the comparison with one value
     * @throws SqlException if that of all is too much
     */
    static void checkList(Expression first, int valueCount) {
        ConditionSize size = new ConditionSize();
        size.add(first, 0);
        require(size.steps * valueCount);
    }

    private static void require(long steps) {
        if (steps > STEP_COUNT_MAX) {
            throw SqlException.of(String.format(
                    Locale.ROOT,
                    "a condition has more comparisons and calls of functions than the limit of %,d; each value of IN is one, and what stands before IN is worked out for each value",
                    STEP_COUNT_MAX));
        }
    }

    private void add(Expression part, int depth) {
        if (depth > DEPTH_MAX) {
            throw SqlException.of(
                    "a condition is nested deeper than the limit of %d".formatted(DEPTH_MAX));
        }
        switch (part) {
            case Expression.Comparison(Expression left, var _, Expression right) -> {
                require(++steps);
                add(left, depth + 1);
                add(right, depth + 1);
            }
            case Expression.Call(var _, List<Expression> arguments) -> {
                require(++steps);
                arguments.forEach(argument -> add(argument, depth + 1));
            }
            case Expression.And(List<Expression> terms) ->
                terms.forEach(term -> add(term, depth + 1));
            case Expression.Or(List<Expression> terms) ->
                terms.forEach(term -> add(term, depth + 1));
            case Expression.Name _,
                    Expression.Path _,
                    Expression.Constant _,
                    Expression.Parameter _ -> {}
        }
    }
}
