package io.turbidite.ops.plan;

import io.turbidite.core.scan.LayerWork;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.ArrayList;
import java.util.List;

/**
 * One operator of a plan, for people. <em>Immutable</em> but for what the meter counts.
 *
 * @param estimatedRows rows that it is expected to hand on; {@link #UNKNOWN} where nothing is known
 * @param meter counts those it does
 * @param depth how many steps it stands below the result, where what it gives is the input of
 *     another query or of a join
 * @param isInput whether it is read by the last step before it that stands less deep; else by the
 *     one right before it
 * @param layers the layers that it considered, and the pages that it went to
 */
public record PlanStep(
        String name,
        String detail,
        long estimatedRows,
        OperatorMeter meter,
        int depth,
        boolean isInput,
        LayerWork layers) {
    /** No estimate. */
    public static final long UNKNOWN = -1;

    /** A step of the query itself. */
    public PlanStep(String name, String detail, long estimatedRows, OperatorMeter meter) {
        this(name, detail, estimatedRows, meter, 0, false, LayerWork.NONE);
    }

    /** A step that another one reads, which stands less deep. */
    public PlanStep(
            String name, String detail, long estimatedRows, OperatorMeter meter, int depth) {
        this(name, detail, estimatedRows, meter, depth, depth > 0, LayerWork.NONE);
    }

    /** The same with the layers that it considered. */
    PlanStep over(LayerWork considered) {
        return new PlanStep(name, detail, estimatedRows, meter, depth, isInput, considered);
    }

    /** The steps of what is read, below those of who reads it. */
    static List<PlanStep> below(List<PlanStep> steps) {
        List<PlanStep> deeper = new ArrayList<>();
        for (PlanStep step : steps) {
            deeper.add(new PlanStep(
                    step.name,
                    step.detail,
                    step.estimatedRows,
                    step.meter,
                    step.depth + 1,
                    step.isInput || deeper.isEmpty(),
                    step.layers));
        }
        return deeper;
    }
}
