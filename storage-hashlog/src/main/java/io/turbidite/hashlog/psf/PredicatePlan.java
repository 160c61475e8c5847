package io.turbidite.hashlog.psf;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.hashlog.parse.FieldValues;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * An expression as a flat list of tests, each with the next one if it is true and if it is not: a
 * walk from test 0 to {@link #YES} or {@link #NO}, without a stack and without garbage.
 * <em>Confined to one thread.</em>
 *
 * <p>{@code !} was moved down to the comparisons, so that no branch needs to tell false from
 * unknown.
 */
final class PredicatePlan {
    private static final int YES = -1;
    private static final int NO = -2;

    private final FieldTest[] tests;
    private final int[] ifTrue;
    private final int[] ifNot;

    private PredicatePlan(List<FieldTest> tests, List<int[]> targets) {
        this.tests = tests.toArray(FieldTest[]::new);
        ifTrue = targets.stream().mapToInt(t -> t[0]).toArray();
        ifNot = targets.stream().mapToInt(t -> t[1]).toArray();
    }

    /** The plan of {@code expression}, whose fields {@code fieldOf} numbers. */
    static PredicatePlan of(Expression expression, ToIntFunction<FieldPath> fieldOf) {
        List<FieldTest> tests = new ArrayList<>();
        List<int[]> targets = new ArrayList<>();
        add(expression, YES, NO, new Building(tests, targets, fieldOf));
        return new PredicatePlan(tests, targets);
    }

    private record Building(
            List<FieldTest> tests, List<int[]> targets, ToIntFunction<FieldPath> fieldOf) {}

    /** Appends the tests of {@code expression}: the first of them is where it starts. */
    private static void add(Expression expression, int yes, int no, Building into) {
        switch (expression) {
            case Expression.Comparison comparison -> {
                RecordTests.Of test = RecordTests.of(comparison);
                int field = into.fieldOf.applyAsInt(test.path());
                into.tests.add(new FieldTest(test.operator(), test.literal(), field));
                into.targets.add(new int[] {yes, no});
            }
            case Expression.And(List<Expression> terms) -> {
                for (int i = 0; i < terms.size(); i++) {
                    Expression term = terms.get(i);
                    boolean last = i == terms.size() - 1;
                    int next = into.tests.size() + testCount(term);
                    add(term, last ? yes : next, no, into);
                }
            }
            case Expression.Or(List<Expression> terms) -> {
                for (int i = 0; i < terms.size(); i++) {
                    Expression term = terms.get(i);
                    boolean last = i == terms.size() - 1;
                    int next = into.tests.size() + testCount(term);
                    add(term, yes, last ? no : next, into);
                }
            }
            default -> throw RecordTests.refused(expression);
        }
    }

    private static int testCount(Expression expression) {
        return switch (expression) {
            case Expression.Comparison _ -> 1;
            case Expression.And(List<Expression> terms) ->
                terms.stream().mapToInt(PredicatePlan::testCount).sum();
            case Expression.Or(List<Expression> terms) ->
                terms.stream().mapToInt(PredicatePlan::testCount).sum();
            default -> throw RecordTests.refused(expression);
        };
    }

    /** Whether the expression is true of these values. */
    boolean isTrue(FieldValues values) {
        int at = 0;
        while (at >= 0) {
            at = tests[at].isTrue(values) ? ifTrue[at] : ifNot[at];
        }
        return at == YES;
    }
}
