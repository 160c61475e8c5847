package io.turbidite.ops.sql;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Ends a planning that was told to stop. Calcite's rules may need minutes for a statement that is
 * a few kilobytes long, and ask nobody whether to go on; but all of them make types and calls, so
 * those ask. The stop belongs to the thread that plans, not to the plan: a plan that is kept
 * serves runs with stops of their own. <em>Confined to one thread.</em>
 */
final class PlanningStop {
    private static final ScopedValue<PlanningStop> ASKED = ScopedValue.newInstance();

    private final BooleanSupplier stop;
    private final PlanningTime.Span span;

    private PlanningStop(BooleanSupplier stop, PlanningTime.Span span) {
        this.stop = stop;
        this.span = span;
    }

    /**
     * Plans, and ends with {@link CancellationException} soon after the stop says true, with {@link
     * SqlException} soon after the time is used up.
     */
    static <T> T until(BooleanSupplier stop, PlanningTime most, Supplier<T> planning) {
        return ScopedValue.where(ASKED, new PlanningStop(stop, most.begun())).call(planning::get);
    }

    static void check() {
        if (!ASKED.isBound()) {
            return;
        }
        PlanningStop asked = ASKED.get();
        if (asked.stop.getAsBoolean()) {
            throw new CancellationException("the statement was stopped while it was planned");
        }
        asked.span.check();
    }

    /** Makes expressions as its parent does, but long lists, until planning has to end. */
    static final class Expressions extends RexBuilder {
        Expressions(RelDataTypeFactory types) {
            super(types);
        }

        /** The one call that stands for a long list; null if there is none. */
        private @Nullable RexNode list(
                SqlParserPos place, SqlOperator op, List<? extends RexNode> operands) {
            List<RexNode> list = op.getKind() == SqlKind.OR ? LongLists.operands(operands) : null;
            return list == null
                    ? null
                    : super.makeCall(
                            place,
                            LongLists.haveValues(list) ? Operators.ONE_OF_VALUES : Operators.ONE_OF,
                            list);
        }

        @Override
        public RexNode makeCall(RelDataType returnType, SqlOperator op, List<RexNode> operands) {
            return makeCall(SqlParserPos.ZERO, returnType, op, operands);
        }

        @Override
        public RexNode makeCall(
                SqlParserPos place,
                RelDataType returnType,
                SqlOperator op,
                List<RexNode> operands) {
            check();
            RexNode list = list(place, op, operands);
            return list == null ? super.makeCall(place, returnType, op, operands) : list;
        }

        @Override
        public RexNode makeCall(SqlOperator op, List<? extends RexNode> operands) {
            return makeCall(SqlParserPos.ZERO, op, operands);
        }

        @Override
        public RexNode makeCall(
                SqlParserPos place, SqlOperator op, List<? extends RexNode> operands) {
            check();
            RexNode list = list(place, op, operands);
            return list == null ? super.makeCall(place, op, operands) : list;
        }
    }
}
