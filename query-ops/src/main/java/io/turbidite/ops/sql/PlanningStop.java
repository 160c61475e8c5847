package io.turbidite.ops.sql;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.parser.SqlParserPos;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Ends a planning that was told to stop. Calcite's rules may need minutes for a statement that is
 * a few kilobytes long, and ask nobody whether to go on; but all of them make types and calls, so
 * those ask. The stop belongs to the thread that plans, not to the plan: a plan that is kept
 * serves runs with stops of their own. <em>Thread-safe.</em>
 */
final class PlanningStop {
    private static final ScopedValue<BooleanSupplier> ASKED = ScopedValue.newInstance();

    private PlanningStop() {}

    /** Plans, and ends with {@link CancellationException} soon after the stop says true. */
    static <T> T until(BooleanSupplier stop, Supplier<T> planning) {
        return ScopedValue.where(ASKED, stop).call(planning::get);
    }

    /** Whether the planning of this thread has to end. */
    static boolean isOver() {
        return ASKED.isBound() && ASKED.get().getAsBoolean();
    }

    static void check() {
        if (isOver()) {
            throw new CancellationException("the statement was stopped while it was planned");
        }
    }

    /** Makes expressions as its parent does, until planning has to end. */
    static final class Expressions extends RexBuilder {
        Expressions(RelDataTypeFactory types) {
            super(types);
        }

        @Override
        public RexNode makeCall(RelDataType returnType, SqlOperator op, List<RexNode> operands) {
            check();
            return super.makeCall(returnType, op, operands);
        }

        @Override
        public RexNode makeCall(
                SqlParserPos place,
                RelDataType returnType,
                SqlOperator op,
                List<RexNode> operands) {
            check();
            return super.makeCall(place, returnType, op, operands);
        }

        @Override
        public RexNode makeCall(SqlOperator op, List<? extends RexNode> operands) {
            check();
            return super.makeCall(op, operands);
        }

        @Override
        public RexNode makeCall(
                SqlParserPos place, SqlOperator op, List<? extends RexNode> operands) {
            check();
            return super.makeCall(place, op, operands);
        }
    }
}
