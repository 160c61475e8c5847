package io.turbidite.ops.plan;

import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.join.JoinOpener;
import io.turbidite.ops.join.JoinedSource;
import io.turbidite.ops.join.SharedJoin;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.Stage;
import io.turbidite.ops.run.TimedRows;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What a query collects of the rows of a join, where these are made: the conditions on them and
 * what is selected are each branch's own. <em>Confined to one thread.</em>
 */
final class JoinedRows implements JoinStages {
    private final Joining joining;
    private final List<List<Integer>> branches;
    private final PlannedRows rows;
    private final SourceBuilder sources;

    /**
     * @param branches of the join, two or more
     */
    JoinedRows(
            Joining joining,
            List<List<Integer>> branches,
            PlannedRows rows,
            SourceBuilder sources) {
        this.branches = branches;
        this.joining = joining;
        this.rows = rows;
        this.sources = sources;
    }

    @Override
    public List<List<Integer>> branches() {
        return branches;
    }

    @Override
    public List<Stage> stages(
            List<? extends TupleWriter> collectors,
            Supplier<TupleMaker> maker,
            Runnable alone,
            List<OperatorMeter> timed) {
        int count = branches.size();
        SharedJoin shared = new SharedJoin(
                joining::whole,
                (whole, branch) -> joining.beside(whole, branches, branch),
                count,
                alone);
        List<OperatorMeter> alsoBelow = new ArrayList<>(timed);
        alsoBelow.add(sources.timed());
        alsoBelow.add(joining.joined());
        List<Supplier<Rows>> divided = new ArrayList<>();
        List<Stage.Branch> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            JoinOpener opener = shared.branch(i);
            divided.add(() -> TimedRows.of(opener.open(), joining.options(), joining.joined()));
            TupleWriter collector = collectors.get(i);
            // a scan takes no memory
            readers.add(new Stage.Branch(
                    new JoinedSource(sources.build(List.of(i), maker.get(), collector, 0), opener),
                    collector,
                    timed));
        }
        rows.divide(divided);
        return List.of(Stage.preparing(shared, alsoBelow), new Stage(readers));
    }
}
