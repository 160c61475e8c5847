package io.turbidite.ops.sql;

import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Long lists of {@code IN} are one call while a statement is planned. Calcite takes a list for
 * comparisons joined by {@code OR}, and looks at each pair of them: of some hundred that takes
 * seconds. Static.
 */
final class LongLists {
    /** The most values of a list; each is a comparison in memory. */
    static final int VALUE_COUNT_MAX = 10_000;

    /** Shorter ones are Calcite's: it joins ranges and finds what can't be. */
    static final int VALUE_COUNT_MIN = 21;

    private LongLists() {}

    /**
     * The operands of one call that stands for all terms: what is compared, and each value. Null if
     * there are few, or they are no equalities of one thing.
     */
    static @Nullable List<RexNode> operands(List<? extends RexNode> terms) {
        List<RexNode> operands = new ArrayList<>();
        for (RexNode term : terms) {
            if (!add(term, operands)) {
                return null;
            }
        }
        return operands.size() > VALUE_COUNT_MIN ? operands : null;
    }

    private static boolean add(RexNode term, List<RexNode> operands) {
        if (!(term instanceof RexCall call)) {
            return false;
        }
        if (call.isA(SqlKind.OR)) {
            for (RexNode inner : call.operands) {
                if (!add(inner, operands)) {
                    return false;
                }
            }
            return true;
        }
        boolean isList = is(call);
        RexNode compared = call.operands.isEmpty() ? null : call.operands.getFirst();
        if ((!isList && !call.isA(SqlKind.EQUALS))
                || (!operands.isEmpty() && !operands.getFirst().equals(compared))) {
            return false;
        }
        operands.addAll(operands.isEmpty() ? call.operands : values(call));
        return true;
    }

    /** Whether a call stands for a list. */
    static boolean is(RexNode node) {
        return node instanceof RexCall call
                && (call.getOperator().equals(Operators.ONE_OF)
                        || call.getOperator().equals(Operators.ONE_OF_VALUES));
    }

    /** With what the first operand is compared. */
    static List<RexNode> values(RexCall list) {
        return list.operands.subList(1, list.operands.size());
    }

    /** Whether no value is null, now or once it is worked out; a parameter may be. */
    static boolean haveValues(List<RexNode> operands) {
        return operands.stream().skip(1).allMatch(LongLists::hasValue);
    }

    private static boolean hasValue(RexNode node) {
        return switch (node) {
            case RexLiteral literal -> !literal.isNull();
            case RexCall call -> call.isA(SqlKind.CAST) && hasValue(call.operands.getFirst());
            default -> false;
        };
    }
}
