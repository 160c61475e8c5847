package io.turbidite.ops.plan;

import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.run.Stage;

import java.util.List;
import java.util.function.Supplier;

/** The stages of a query over a join, up to its collectors. <em>Confined to one thread.</em> */
interface JoinStages {
    /** As {@link Joining#branches}; the same each time. */
    List<List<Integer>> branches();

    /**
     * The stages that collect what the query is of.
     *
     * @param collectors one for each of {@link #branches}; a single one where there are none
     * @param maker makes tuples of the rows, one maker for each collector
     * @param alone done where one of several branches has all rows, before that begins
     * @param timed who has the time of them
     */
    List<Stage> stages(
            List<? extends TupleWriter> collectors,
            Supplier<TupleMaker> maker,
            Runnable alone,
            List<OperatorMeter> timed);
}
