package io.turbidite.ops.plan;

import io.turbidite.core.ClosedException;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.ops.join.JoinKind;

import java.util.List;

/**
 * About how many rows a join has, and its sides. <em>Immutable.</em>
 *
 * @param left {@link PlanStep#UNKNOWN} where nothing is known, as in the others
 */
record JoinRows(long left, long right, long joined) {
    /**
     * The side in memory costs some five times as much a row as the one that passes by, so even a
     * small difference counts; but an estimate may be wrong by as much, and the right side is the
     * one that the author took for the smaller.
     */
    private static final int SMALLER_BY = 2;

    static JoinRows of(
            ResultPlan left, ResultPlan right, JoinPlan.Request request, JoinedType type) {
        long leftRows = left.estimatedRows();
        long rightRows = right.estimatedRows();
        return new JoinRows(
                leftRows,
                rightRows,
                request.isOfAllPairs()
                        ? product(leftRows, rightRows)
                        : joined(left, right, request.kind(), type, leftRows, rightRows));
    }

    private static long product(long left, long right) {
        return left == PlanStep.UNKNOWN || right == PlanStep.UNKNOWN
                ? PlanStep.UNKNOWN
                : Math.round((double) left * right);
    }

    boolean isLeftSmaller() {
        return left != PlanStep.UNKNOWN && isLeftSmaller((double) left, (double) right);
    }

    /** Whether a join should hold its left side, by the rows of both. */
    static boolean isLeftSmaller(double left, double right) {
        return left * SMALLER_BY < right;
    }

    /**
     * Where one side is found by its primary key, each row of the other meets one at most: as many
     * as there are left of the side. Of others nothing is known.
     */
    private static long joined(
            ResultPlan left,
            ResultPlan right,
            JoinKind kind,
            JoinedType type,
            long leftRows,
            long rightRows) {
        if (!kind.hasPairs() || leftRows == PlanStep.UNKNOWN || rightRows == PlanStep.UNKNOWN) {
            return PlanStep.UNKNOWN;
        }
        double rightShare = shareByKey(right, type.rightKeys(), rightRows);
        if (rightShare >= 0 && kind == JoinKind.LEFT) {
            return leftRows;
        }
        if (rightShare >= 0 && kind == JoinKind.INNER) {
            return Math.round(leftRows * rightShare);
        }
        double leftShare = shareByKey(left, type.leftKeys(), leftRows);
        return leftShare >= 0 && kind == JoinKind.INNER
                ? Math.round(rightRows * leftShare)
                : PlanStep.UNKNOWN;
    }

    /** Which share of all its records a side has; -1 if its primary key is not what it is by. */
    private static double shareByKey(ResultPlan side, List<Integer> keys, long rows) {
        if (!(side instanceof Plan plan)
                || plan.view() instanceof PlannedRows
                || plan.query().kind() != CheckedQuery.Kind.ROWS
                || plan.query().hasLimit()) {
            return -1;
        }
        CheckedQuery query = plan.query();
        for (String name : query.source().primaryKey()) {
            int field = query.type().indexOf(name);
            boolean isAsked = keys.stream()
                    .anyMatch(key ->
                            JoinPlan.isField(plan.rowType().field(key).name(), name, field, query));
            if (!isAsked) {
                return -1;
            }
        }
        try {
            long all = plan.view().estimateScan(KeyRange.all(), FilterPredicate.none());
            return all <= 0 ? -1 : Math.min(1, (double) rows / all);
        } catch (ClosedException after) {
            return -1; // the answer is there, its estimate is not
        }
    }
}
