package io.turbidite.ops;

import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.job.ChangedCounts;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobHost;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/**
 * The rows of a job's result.
 *
 * <pre>{@code
 * JobGraph graph = JobGraph.fromJson(json, JobParts.of(store.datasets()));
 * try (QueryResult rows = JobQuery.of(graph).with(options).run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>Its workers come from {@link RunOptions#tasks}; without, the thread that reads the rows does
 * all the work. <em>Confined to one thread.</em>
 */
public final class JobQuery extends Relation {
    private final JobGraph graph;
    private @Nullable JobHost host;
    private ChangedCounts changed;

    private JobQuery(JobGraph graph) {
        this.graph = graph;
        this.changed = graph.changedCounts();
    }

    /** The result of this graph. */
    public static JobQuery of(JobGraph graph) {
        return new JobQuery(Given.notNull(graph, "the graph of a job"));
    }

    /**
     * Runs it on a host, such as a cluster's nodes, instead of here.
     *
     * @return this
     */
    public JobQuery on(JobHost newHost) {
        host = Given.notNull(newHost, "the host of a job");
        return this;
    }

    @Override
    public RecordType type() {
        return graph.type();
    }

    @Override
    public JobQuery with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of a job"));
        return this;
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        JobHost elsewhere = host;
        if (elsewhere != null) {
            return graph.hosted(elsewhere, given);
        }
        // A worker for each instance, however little it does, is had by those who ask for it. What
        // a dataset has for its queries comes without lookup workers.
        boolean areGiven = ownOptions().tasks() != null || given.lookupWorkers() > 0;
        changed = graph.changedCounts();
        return graph.plan(
                moments::of, areGiven ? given : given.toBuilder().tasks(null).build(), changed);
    }

    /**
     * How many records each sink of the last run has changed so far, by the names of the sinks,
     * also where it failed: a batch counts once it is done. A run as a part of a query counts too.
     */
    public Map<String, Long> changed() {
        return changed.all();
    }

    @Override
    @Nullable
    QueryMeans means() {
        // a host's operators have its memory
        return host == null ? graph.means() : null;
    }

    @Override
    List<Relation> inputs() {
        return List.of();
    }

    @Override
    boolean keepsRows() {
        return true;
    }
}
