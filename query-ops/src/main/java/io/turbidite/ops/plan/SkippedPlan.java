package io.turbidite.ops.plan;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Another plan without its first rows. <em>Confined to one thread;</em> gives its rows once.
 */
public final class SkippedPlan implements ResultPlan {
    private final ResultPlan plan;
    private final long offset;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    private SkippedPlan(ResultPlan plan, long offset, RunOptions options) {
        this.plan = plan;
        this.offset = offset;
        this.options = options;
    }

    /** Leaves out the first rows, 0 or more. */
    public static ResultPlan of(ResultPlan plan, long offset, RunOptions options) {
        return offset == 0 ? plan : new SkippedPlan(plan, offset, options);
    }

    @Override
    public RecordType rowType() {
        return plan.rowType();
    }

    @Override
    public boolean isCount() {
        return plan.isCount();
    }

    @Override
    public String access() {
        return plan.access();
    }

    @Override
    public List<Plan.Choice> choices() {
        return plan.choices();
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        steps.add(new PlanStep(
                "offset",
                String.format(Locale.ROOT, "without the first %,d", offset),
                estimatedRows(),
                meter));
        steps.addAll(plan.steps());
        return steps;
    }

    @Override
    public long estimatedRows() {
        long rows = plan.estimatedRows();
        return rows == PlanStep.UNKNOWN ? rows : Math.max(0, rows - offset);
    }

    @Override
    public Rows rows() {
        return TimedRows.of(new Skipping(plan.rows(), offset, meter), options, meter);
    }

    /** Passes over the first rows. */
    private static final class Skipping implements Rows {
        private final Rows rows;
        private final OperatorMeter meter;
        private long left;

        Skipping(Rows rows, long offset, OperatorMeter meter) {
            this.rows = rows;
            this.left = offset;
            this.meter = meter;
        }

        @Override
        public boolean next() {
            for (; left > 0; left--) {
                if (!rows.next()) {
                    return false;
                }
            }
            boolean found = rows.next();
            meter.add(found ? 1 : 0);
            return found;
        }

        @Override
        public boolean isPaused() {
            return rows.isPaused();
        }

        @Override
        public RecordView row() {
            return rows.row();
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
