package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;

import java.util.List;

/**
 * The binding of conditions to raw records: which of them the log evaluates without garbage. These
 * compare a field with a constant, joined by {@code &&} and {@code ||}. Static functions without
 * state.
 */
final class RecordTests {
    private RecordTests() {}

    /** A field against a constant. */
    record Of(FieldPath path, Operator operator, Literal literal) {}

    /** Takes the tests of a condition. */
    @FunctionalInterface
    interface Taker {
        void take(FieldPath path, Operator operator, Literal literal);
    }

    /**
     * Refuses what is no such condition.
     *
     * @throws InvalidRequestException naming the part of it
     */
    static void check(Expression condition) {
        forEach(condition, (_, _, _) -> {});
    }

    /** Every test of a condition, in its order. */
    static void forEach(Expression condition, Taker taker) {
        switch (condition) {
            case Expression.Comparison comparison -> {
                Of test = of(comparison);
                taker.take(test.path, test.operator, test.literal);
            }
            case Expression.And(List<Expression> terms) -> terms.forEach(t -> forEach(t, taker));
            case Expression.Or(List<Expression> terms) -> terms.forEach(t -> forEach(t, taker));
            default -> throw refused(condition);
        }
    }

    /** The test that a comparison is. */
    static Of of(Expression.Comparison comparison) {
        if (comparison.left() instanceof Expression.Path(FieldPath path)
                && comparison.right() instanceof Expression.Constant(Literal literal)) {
            return new Of(path, comparison.operator(), literal);
        }
        throw refused(comparison);
    }

    static InvalidRequestException refused(Expression expression) {
        return new InvalidRequestException(
                "'%s' is nothing that a log can test: it compares a field with a constant"
                        .formatted(expression.text()));
    }
}
