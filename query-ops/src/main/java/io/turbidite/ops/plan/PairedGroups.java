package io.turbidite.ops.plan;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.aggregate.PairTuples.Origin;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.group.GroupCollector;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.join.JoinOpener;
import io.turbidite.ops.join.PairField;
import io.turbidite.ops.join.PairSource;
import io.turbidite.ops.join.SharedJoin;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.Stage;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Groups of the rows of an inner join, where all that is grouped by and aggregated are fields as
 * they are: they are taken from both rows of a pair where these lie. Where the side that passes by
 * has partitions, several workers read them, each into a collector of its own. <em>Confined to one
 * thread.</em>
 */
final class PairedGroups implements JoinStages {
    /** With more workers a note for each of them would take more than most rows. */
    private static final int NOTES_MAX = 4;

    private final CheckedQuery query;
    private final JoinPlan.Pairs pairs;
    private final List<Origin> keys;
    private final List<Origin> arguments;
    private final List<List<Integer>> branches;

    private PairedGroups(
            CheckedQuery query,
            JoinPlan.Pairs pairs,
            List<Origin> keys,
            List<Origin> arguments,
            List<List<Integer>> branches) {
        this.branches = branches;
        this.query = query;
        this.pairs = pairs;
        this.keys = keys;
        this.arguments = arguments;
    }

    /**
     * The pairs of a join as they are grouped; null where rows must be made.
     *
     * @param query without conditions on the rows
     * @param options of the query
     * @param bytesOfEach what each who reads the join must have of its memory
     */
    static @Nullable PairedGroups of(
            CheckedQuery query, JoinPlan join, RunOptions options, long bytesOfEach) {
        JoinPlan.Pairs pairs = query.cellField() >= 0 ? null : join.pairs();
        if (pairs == null) {
            return null;
        }
        List<Origin> keys = new ArrayList<>();
        for (GroupField group : query.groups()) {
            if (group.expression() != null
                    || !add(group.field(), query.type(), pairs.fields(), keys)) {
                return null;
            }
        }
        List<Origin> arguments = new ArrayList<>();
        for (BoundAggregates.Argument argument : query.aggregates().arguments()) {
            if (argument.expression() != null
                    || !add(argument.field(), query.type(), pairs.fields(), arguments)) {
                return null;
            }
        }
        return new PairedGroups(
                query, pairs, keys, arguments, pairs.joining().branches(options, bytesOfEach));
    }

    /** Whether it is known where a field comes from: what lies in another one is not. */
    private static boolean add(
            int field, RecordType type, List<PairField> fields, List<Origin> origins) {
        if (type.isEach(field) || type.parent(field) != RecordType.TOP) {
            return false;
        }
        for (PairField one : fields) {
            if (one.target() == field) {
                origins.add(new Origin(one.isOfLeft(), one.field()));
                return true;
            }
        }
        return false;
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
        if (branches.isEmpty()) {
            TupleWriter collector = collectors.getFirst();
            return List.of(
                    Stage.of(source(() -> inPairs(collector, 1), collector), collector, timed));
        }
        SharedJoin shared = new SharedJoin(
                () -> inPairs(collectors.getFirst(), branches.size()),
                (whole, branch) -> pairs.joining().beside(whole, branches, branch),
                branches.size(),
                alone);
        List<OperatorMeter> alsoOfJoin = new ArrayList<>(timed);
        alsoOfJoin.add(pairs.joining().joined());
        List<Stage.Branch> readers = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            TupleWriter collector = collectors.get(i);
            readers.add(new Stage.Branch(source(shared.branch(i), collector), collector, timed));
        }
        return List.of(Stage.preparing(shared, alsoOfJoin), new Stage(readers));
    }

    private HashJoin inPairs(TupleWriter collector, int readers) {
        HashJoin join = pairs.joining().whole();
        boolean hasNotes = collector instanceof GroupCollector groups
                && groups.givesNotes()
                && !keys.isEmpty() // the one group of all is at hand anyway
                && readers <= NOTES_MAX
                && tuples().areKeysOf(join.holdsLeft());
        boolean takesBatches = !(collector instanceof GroupCollector groups)
                || (groups.takesBatches() && tuples().hasColumns());
        return join.inPairs(hasNotes ? readers : 0, takesBatches ? tuples() : null);
    }

    private PairSource source(JoinOpener opener, TupleWriter collector) {
        return new PairSource(
                opener,
                tuples(),
                collector,
                pairs.joining().newTimer(),
                pairs.joining().newBatchTimer());
    }

    private PairTuples tuples() {
        return query.aggregates().isEmpty()
                ? PairTuples.ofKeys(pairs.left(), pairs.right(), keys)
                : PairTuples.of(pairs.left(), pairs.right(), keys, query.aggregates(), arguments);
    }
}
