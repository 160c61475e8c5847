package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.TokenReader;

import java.util.List;
import java.util.Locale;

/** Values that are longer than their texts may be. Static. */
final class LongTexts {
    /** So many a text may have. */
    private static final int COMPARISON_COUNT_MAX = 256;

    private LongTexts() {}

    /**
     * The text of a value, or of a condition that is a value.
     *
     * @throws SqlException if it is too long
     */
    static String text(Expression value) {
        int count = comparisonCount(value);
        if (count > COMPARISON_COUNT_MAX) {
            throw SqlException.of(String.format(
                    Locale.ROOT,
                    "a value has %,d comparisons, more than the limit of %d: a longer list of IN can stand in WHERE and ON, not among columns, groups and FILTER",
                    count,
                    COMPARISON_COUNT_MAX));
        }
        String text = value.text();
        if (text.length() > TokenReader.CHAR_COUNT_MAX) {
            throw SqlException.of(String.format(
                    Locale.ROOT,
                    "a value of %,d characters is longer than the limit of %,d; it begins with %s …",
                    text.length(),
                    TokenReader.CHAR_COUNT_MAX,
                    text.substring(0, 60)));
        }
        return text;
    }

    private static int comparisonCount(Expression expression) {
        return switch (expression) {
            case Expression.Comparison(Expression left, var _, Expression right) ->
                1 + comparisonCount(left) + comparisonCount(right);
            case Expression.And(List<Expression> terms) -> sum(terms);
            case Expression.Or(List<Expression> terms) -> sum(terms);
            case Expression.Call(var _, List<Expression> arguments) -> sum(arguments);
            case Expression.Name _,
                    Expression.Path _,
                    Expression.Constant _,
                    Expression.Parameter _ -> 0;
        };
    }

    private static int sum(List<Expression> expressions) {
        return expressions.stream().mapToInt(LongTexts::comparisonCount).sum();
    }
}
