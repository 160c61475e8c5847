package io.turbidite.ops.plan;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;

import java.util.List;

/** What a result is made of. <em>Confined to one thread;</em> gives its rows once. */
public sealed interface ResultPlan
        permits Plan,
                GivenPlan,
                JoinPlan,
                OrderedJoin,
                SetPlan,
                SkippedPlan,
                UnnestPlan,
                ValuesPlan,
                WindowPlan {
    /** The type of the rows. */
    RecordType rowType();

    /** Whether the answer is one row with the number of records. */
    boolean isCount();

    /** The way in, in a few words. */
    String access();

    /** Every way in that was possible, cheapest first. */
    List<Plan.Choice> choices();

    /** The operators, from the result down to the storage. */
    List<PlanStep> steps();

    /** About how many rows there are; {@link PlanStep#UNKNOWN} where nothing is known. */
    default long estimatedRows() {
        return steps().getFirst().estimatedRows();
    }

    /** Builds the operators. */
    Rows rows();
}
