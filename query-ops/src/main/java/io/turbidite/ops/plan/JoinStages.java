package io.turbidite.ops.plan;

import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.Stage;

import java.util.List;
import java.util.function.Supplier;

/** The stages of a query over a join, up to its collectors. <em>Confined to one thread.</em> */
interface JoinStages {
    /** As {@link Joining#branches}. */
    List<List<Integer>> branches(RunOptions options, long bytesOfEach);

    /**
     * The stages that collect what the query is of.
     *
     * @param branches as {@link #branches} has dealt them, one for each collector
     * @param maker makes tuples of the rows, one maker for each collector
     * @param timed who has the time of them
     */
    List<Stage> stages(
            List<List<Integer>> branches,
            List<? extends TupleWriter> collectors,
            Supplier<TupleMaker> maker,
            List<OperatorMeter> timed);
}
