package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorMeter;

/**
 * One operator of a plan, for people. <em>Immutable</em> but for what the meter counts.
 *
 * @param estimatedRows rows that it is expected to hand on; {@link #UNKNOWN} where nothing is known
 * @param meter counts those it does
 */
public record PlanStep(String name, String detail, long estimatedRows, OperatorMeter meter) {
    /** No estimate. */
    public static final long UNKNOWN = -1;
}
