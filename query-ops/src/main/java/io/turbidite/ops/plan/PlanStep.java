package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorMeter;

import java.util.List;

/**
 * One operator of a plan, for people. <em>Immutable</em> but for what the meter counts.
 *
 * @param estimatedRows rows that it is expected to hand on; {@link #UNKNOWN} where nothing is known
 * @param meter counts those it does
 * @param depth how many steps it stands below the result, where what it gives is the input of
 *     another query or of a join
 */
public record PlanStep(
        String name, String detail, long estimatedRows, OperatorMeter meter, int depth) {
    /** No estimate. */
    public static final long UNKNOWN = -1;

    /** A step of the query itself. */
    public PlanStep(String name, String detail, long estimatedRows, OperatorMeter meter) {
        this(name, detail, estimatedRows, meter, 0);
    }

    /** The steps of what is read, below those of who reads it. */
    static List<PlanStep> below(List<PlanStep> steps) {
        return steps.stream()
                .map(step -> new PlanStep(
                        step.name, step.detail, step.estimatedRows, step.meter, step.depth + 1))
                .toList();
    }
}
