package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;

import org.jspecify.annotations.Nullable;

/** Checks that what a caller must give is there. Stateless. */
public final class Given {
    private Given() {}

    /**
     * The value.
     *
     * @param what it is, for the message
     * @throws InvalidRequestException if it is null
     */
    public static <T> T notNull(@Nullable T value, String what) {
        if (value == null) {
            throw new InvalidRequestException(what + " is null");
        }
        return value;
    }

    /**
     * A condition that is no text.
     *
     * @throws InvalidRequestException if it is null, or a value
     */
    public static Expression condition(@Nullable Expression condition) {
        Expression given = notNull(condition, "a condition");
        return switch (given) {
            case Expression.Comparison comparison -> comparison;
            case Expression.And and -> and;
            case Expression.Or or -> or;
            case Expression.Name _,
                    Expression.Path _,
                    Expression.Constant _,
                    Expression.Parameter _,
                    Expression.Call _ ->
                throw new InvalidRequestException(
                        "%s is a value, no condition".formatted(given.text()));
        };
    }
}
