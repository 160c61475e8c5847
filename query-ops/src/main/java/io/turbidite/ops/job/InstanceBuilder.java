package io.turbidite.ops.job;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.GraphCheck.Checked;
import io.turbidite.ops.plan.GivenPlan;
import io.turbidite.ops.plan.JoinPlan;
import io.turbidite.ops.plan.Plan;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.SkippedPlan;
import io.turbidite.ops.plan.ValuesPlan;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Makes the instances of operators: plans of queries and joins above one another, which end at
 * sources and at exchanges. Opens nothing. <em>Confined to one thread.</em>
 */
final class InstanceBuilder {
    private final Map<String, Checked> operators = new HashMap<>();
    private final JobGraph graph;
    private final JobParts parts;
    private final Map<String, ReadView> views;
    private final Arriving arriving;
    private final Reading reading;
    private final JobRun.Meters meters;
    private final RunOptions options;

    /** Where the rows of operators come from that others run. */
    @FunctionalInterface
    interface Arriving {
        /** Makes the rows of an operator for this partition of its reader; null: it is run here. */
        @Nullable
        Supplier<Rows> of(Checked operator, int partition);
    }

    /** Which partitions of its dataset an instance of a source reads. */
    @FunctionalInterface
    interface Reading {
        List<Integer> of(Checked operator, int partition, ReadView view);
    }

    /**
     * @param views what sources read, by dataset
     * @param arriving the rows that others make
     * @param options of each instance
     */
    InstanceBuilder(
            JobGraph graph,
            JobParts parts,
            Map<String, ReadView> views,
            Arriving arriving,
            Reading reading,
            JobRun.Meters meters,
            RunOptions options) {
        graph.checked().forEach(operator -> operators.put(operator.name(), operator));
        this.graph = graph;
        this.parts = parts;
        this.views = views;
        this.arriving = arriving;
        this.reading = reading;
        this.meters = meters;
        this.options = options;
    }

    /**
     * The rows of an instance.
     *
     * @param turn of the worker that pulls them
     */
    Rows rows(Checked operator, int partition, StageWorker.Turn turn) {
        return plan(operator, partition, turn).rows();
    }

    private ResultPlan plan(Checked operator, int partition, StageWorker.Turn turn) {
        Settings settings = operator.settings();
        List<ResultPlan> inputs = new ArrayList<>();
        for (JobConnector connector : operator.inputs()) {
            inputs.add(input(connector, partition, turn));
        }
        boolean isSource = inputs.isEmpty();
        ResultPlan plan = switch (operator.kind()) {
            case QueryKind kind when kind.isSource() -> source(operator, kind, partition);
            case QueryKind kind ->
                SkippedPlan.of(
                        Plan.over(
                                inputs.getFirst(),
                                kind.request(settings, inputs.getFirst().rowType()),
                                options),
                        QueryKind.offset(settings),
                        options);
            case JoinOperator _ ->
                JoinPlan.of(inputs.get(0), inputs.get(1), JoinOperator.request(settings), options);
            case OperatorKinds.ValuesOperator _ ->
                new ValuesPlan(
                        operator.type(),
                        OperatorKinds.ValuesOperator.encoded(settings, operator.type()),
                        options);
            case OperatorKinds.UnionOperator _ ->
                new GivenPlan(
                        operator.type(), () -> new UnitedRows(operator.type(), rowsOf(inputs)));
            case SinkKind sink ->
                new GivenPlan(
                        operator.type(),
                        () -> sink.rows(
                                settings,
                                inputs.getFirst().rowType(),
                                parts,
                                new SinkRows.Input(inputs.getFirst().rows(), partition, options),
                                meters.changed()));
            case OperatorKinds.OwnOperator own ->
                new GivenPlan(operator.type(), () -> own(own, operator, rowsOf(inputs), partition));
            default -> inputs.getFirst();
        };
        return new GivenPlan(
                operator.type(),
                () -> new OperatorRows(
                        plan.rows(), meters.of(operator.name()), isSource ? turn : null));
    }

    private static List<Rows> rowsOf(List<ResultPlan> plans) {
        return plans.stream().map(ResultPlan::rows).toList();
    }

    private ResultPlan input(JobConnector connector, int partition, StageWorker.Turn turn) {
        Checked from = Objects.requireNonNull(operators.get(connector.from()));
        Supplier<Rows> rows = arriving.of(from, partition);
        return rows == null ? plan(from, partition, turn) : new GivenPlan(from.type(), rows);
    }

    private Rows own(
            OperatorKinds.OwnOperator kind, Checked operator, List<Rows> inputs, int partition) {
        List<RecordType> types = operator.inputs().stream()
                .map(connector -> graph.type(connector.from()))
                .toList();
        return new OwnRows(
                new OwnRows.Maker(kind.maker(), operator.operator(), types, partition),
                operator.type(),
                inputs,
                options);
    }

    private ResultPlan source(Checked operator, QueryKind kind, int partition) {
        Settings settings = operator.settings();
        String dataset = settings.text("dataset");
        ReadView view = Objects.requireNonNull(views.get(dataset), dataset);
        List<Integer> reads = reading.of(operator, partition, view);
        Plan plan = Plan.of(kind.request(settings, parts.dataset(dataset).type()), view, options);
        return new GivenPlan(operator.type(), () -> plan.rows(reads, 1));
    }

    /** The partitions of a dataset that is here as a whole. */
    static List<Integer> reads(JobGraph graph, Checked operator, int partition, ReadView view) {
        int count = view.partitionCount();
        List<JobConstraint> constraints = graph.constraints().stream()
                .filter(one -> one.operator().equals(operator.name()))
                .toList();
        List<Integer> reads = new ArrayList<>();
        if (constraints.isEmpty()) {
            for (int i = partition; i < count; i += operator.operator().partitions()) {
                reads.add(i);
            }
            return reads;
        }
        Set<Integer> all = new HashSet<>();
        for (JobConstraint constraint : constraints) {
            all.addAll(constraint.reads());
            if (constraint.partition() == partition) {
                reads.addAll(constraint.reads());
            }
        }
        for (int i = 0; i < count; i++) {
            if (!all.remove(i)) {
                throw operator.settings()
                        .wrong("no constraint lets it read partition %d of the dataset"
                                .formatted(i));
            }
        }
        if (!all.isEmpty()) {
            throw operator.settings()
                    .wrong("a constraint names partition %d of the dataset: it has %d, from 0"
                            .formatted(all.iterator().next(), count));
        }
        return reads;
    }
}
