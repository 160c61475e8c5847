package io.turbidite.ops.job;

import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.GivenPlan;
import io.turbidite.ops.plan.PlanStep;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * A job: operators, and connectors between them. It is checked when it is built, and travels as
 * JSON.
 *
 * <pre>{@code
 * JobGraph graph = JobGraph.builder(JobParts.of(store.datasets()))
 *         .add(JobOperator.of("flights", "scan").with("dataset", "Flights").on(2))
 *         .add(JobOperator.of("groups", "group").with("by", List.of("dest")).on(2))
 *         .add(JobOperator.of("out", "result"))
 *         .connect(JobConnector.hash("flights", "groups", "dest"))
 *         .connect(JobConnector.merging("groups", "out", "dest"))
 *         .build();
 * }</pre>
 *
 * <p>Each operator runs on its partitions side by side. Operators behind one another by one-to-one
 * connectors are run by one worker; other connectors lead from workers to workers.
 *
 * <p><em>Immutable.</em> Graphs of the same operators, connectors and constraints are equal.
 */
public final class JobGraph {
    private final List<JobOperator> operators;
    private final List<JobConnector> connectors;
    private final List<JobConstraint> constraints;
    private final JobParts parts;

    /** Each behind those that it reads; the result is the last. */
    private final List<GraphCheck.Checked> checked;

    private JobGraph(Builder builder) {
        this.operators = List.copyOf(builder.operators);
        this.connectors = List.copyOf(builder.connectors);
        this.constraints = List.copyOf(builder.constraints);
        this.parts = builder.parts;
        this.checked = GraphCheck.check(operators, connectors, constraints, parts);
    }

    /**
     * A graph without operators.
     *
     * @param parts the datasets and own operators that it may name
     */
    public static Builder builder(JobParts parts) {
        return new Builder(Given.notNull(parts, "the parts of a job"));
    }

    /**
     * Reads what {@link #toJson} wrote, or a user.
     *
     * @throws io.turbidite.core.InvalidRequestException if it is no JSON, with line and column; if
     *     it is of a version that is not known; and for each mistake that {@link Builder#build}
     *     finds
     */
    public static JobGraph fromJson(String json, JobParts parts) {
        return GraphJson.read(Given.notNull(json, "the JSON of a job"), builder(parts));
    }

    /** The graph as JSON, for people too. */
    public String toJson() {
        return GraphJson.write(this);
    }

    /** The graph as text: its stages, each with its operators and where their rows go. */
    public String draw() {
        return GraphText.of(checked);
    }

    /** In the order in which they were added. */
    public List<JobOperator> operators() {
        return operators;
    }

    /** In the order in which they were added. */
    public List<JobConnector> connectors() {
        return connectors;
    }

    /** In the order in which they were added. */
    public List<JobConstraint> constraints() {
        return constraints;
    }

    /** The type of the rows of the result. */
    public RecordType type() {
        return checked.getLast().type();
    }

    /** The type of the rows that an operator gives. */
    public RecordType type(String operator) {
        return checked.stream()
                .filter(one -> one.name().equals(operator))
                .findFirst()
                .orElseThrow(() -> Settings.wrong(operator, "the job has none of this name"))
                .type();
    }

    /**
     * Plans a run, for {@code JobQuery}, which users have.
     *
     * @param views opens what is read: each dataset once
     * @param changed counts what its sinks do
     */
    @SuppressWarnings("exports") // plans are for our own rooms
    public ResultPlan plan(
            Function<? super Source, ? extends ReadView> views,
            RunOptions options,
            ChangedCounts changed) {
        return plan(views, options, changed, JobRun.CAPACITY);
    }

    /** Counts what the sinks of a run have done; a run has its own. */
    public ChangedCounts changedCounts() {
        return ChangedCounts.of(this);
    }

    /**
     * Whether a text is of a job that changes a dataset.
     *
     * @throws io.turbidite.core.InvalidRequestException if it is no JSON
     */
    public static boolean changes(String json) {
        return GraphJson.kinds(Given.notNull(json, "the JSON of a job")).stream()
                .anyMatch(kind -> OperatorKinds.BUILT_IN.get(kind) instanceof SinkKind);
    }

    /** As the other, with so many frames that wait for a consumer. */
    ResultPlan plan(
            Function<? super Source, ? extends ReadView> views, RunOptions options, int capacity) {
        return plan(views, options, changedCounts(), capacity);
    }

    private ResultPlan plan(
            Function<? super Source, ? extends ReadView> views,
            RunOptions options,
            ChangedCounts changed,
            int capacity) {
        Map<String, ReadView> opened = new HashMap<>();
        for (GraphCheck.Checked operator : checked) {
            if (operator.kind().isSource()) {
                String dataset = operator.settings().text("dataset");
                opened.computeIfAbsent(dataset, name -> views.apply(parts.dataset(name)));
            }
        }
        JobRun.Meters meters = JobRun.Meters.of(this, changed);
        return new GivenPlan(
                type(),
                "job of %d operators".formatted(operators.size()),
                () -> steps(meters),
                () -> new JobRun(this, parts, opened, meters, options, capacity));
    }

    /**
     * Plans a run on a host, for {@code JobQuery}.
     *
     * @param options who may stop it
     */
    @SuppressWarnings("exports") // as plan
    public ResultPlan hosted(JobHost host, RunOptions options) {
        for (GraphCheck.Checked operator : checked) {
            if (operator.kind() instanceof SinkKind) {
                throw operator.settings()
                        .wrong("%s changes a dataset, which jobs of a host do not"
                                .formatted(operator.operator().kind()));
            }
        }
        return new GivenPlan(
                type(),
                "job of %d operators, hosted".formatted(operators.size()),
                List::of,
                () -> host.run(this, options));
    }

    /** A dataset that it reads, as its parts have it. */
    public Source dataset(String name) {
        return parts.dataset(name);
    }

    /** What the first dataset that it reads has for queries; null: none has anything. */
    @SuppressWarnings("exports") // as plan
    public @Nullable QueryMeans means() {
        for (GraphCheck.Checked operator : checked) {
            if (operator.kind().isSource()) {
                QueryMeans means =
                        parts.dataset(operator.settings().text("dataset")).means();
                if (means != null) {
                    return means;
                }
            }
        }
        return null;
    }

    /** From the result down to the sources. */
    private List<PlanStep> steps(JobRun.Meters meters) {
        Map<String, Integer> depths = new HashMap<>();
        List<PlanStep> steps = new ArrayList<>();
        for (GraphCheck.Checked operator : checked.reversed()) {
            JobConnector output = operator.output();
            int depth = output == null ? 0 : Objects.requireNonNull(depths.get(output.to())) + 1;
            depths.put(operator.name(), depth);
            String detail = operator.kind().detail(operator.settings());
            steps.add(new PlanStep(
                    operator.operator().kind(),
                    detail.isEmpty()
                            ? operator.name()
                            : "%s, %s".formatted(operator.name(), detail),
                    PlanStep.UNKNOWN,
                    meters.of(operator.name()),
                    depth));
        }
        return steps;
    }

    /** What its operators may name. */
    JobParts parts() {
        return parts;
    }

    /** The operators, each behind those that it reads; the result is the last. */
    List<GraphCheck.Checked> checked() {
        return checked;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JobGraph graph
                && operators.equals(graph.operators)
                && connectors.equals(graph.connectors)
                && constraints.equals(graph.constraints);
    }

    @Override
    public int hashCode() {
        return Objects.hash(operators, connectors, constraints);
    }

    @Override
    public String toString() {
        return "JobGraph[%d operators, %d connectors]"
                .formatted(operators.size(), connectors.size());
    }

    /** Collects the parts of a graph. <em>Confined to one thread.</em> */
    public static final class Builder {
        private final JobParts parts;
        private final List<JobOperator> operators = new ArrayList<>();
        private final List<JobConnector> connectors = new ArrayList<>();
        private final List<JobConstraint> constraints = new ArrayList<>();

        private Builder(JobParts parts) {
            this.parts = parts;
        }

        /**
         * Adds an operator.
         *
         * @return this
         */
        public Builder add(JobOperator operator) {
            operators.add(Given.notNull(operator, "an operator"));
            return this;
        }

        /**
         * Adds a connector.
         *
         * @return this
         */
        public Builder connect(JobConnector connector) {
            connectors.add(Given.notNull(connector, "a connector"));
            return this;
        }

        /**
         * Adds a constraint.
         *
         * @return this
         */
        public Builder constrain(JobConstraint constraint) {
            constraints.add(Given.notNull(constraint, "a constraint"));
            return this;
        }

        /**
         * Checks the graph.
         *
         * @throws io.turbidite.core.InvalidRequestException for the first mistake, with the name of
         *     the operator
         */
        public JobGraph build() {
            return new JobGraph(this);
        }
    }
}
