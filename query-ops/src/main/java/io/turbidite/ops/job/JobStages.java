package io.turbidite.ops.job;

import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.job.GraphCheck.Checked;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The stages of a graph, for a {@link JobHost}, which has instances of them run where it likes.
 *
 * <p>A host that can't put a source where the rest of its stage is cuts it off: the source is a
 * stage of its own then, and an exchange leads from it to the rest.
 *
 * <p><em>Immutable.</em>
 */
public final class JobStages {
    private final JobGraph graph;
    private final Set<String> cuts;
    private final Map<String, Checked> operators = new HashMap<>();
    private final List<JobStage> stages = new ArrayList<>();

    private JobStages(JobGraph graph, Set<String> cuts) {
        this.graph = graph;
        this.cuts = Set.copyOf(cuts);
        for (Checked operator : graph.checked()) {
            operators.put(operator.name(), operator);
        }
        for (Checked operator : graph.checked()) {
            if (isLast(operator)) {
                stages.add(stage(operator));
            }
        }
    }

    /**
     * Takes a graph apart.
     *
     * @param cuts sources whose rows go by an exchange although a one-to-one connector leads from
     *     them
     */
    public static JobStages of(JobGraph graph, Set<String> cuts) {
        return new JobStages(Given.notNull(graph, "the graph of a job"), cuts);
    }

    /** All stages, each behind those that it reads; the result's is the last. */
    public List<JobStage> all() {
        return List.copyOf(stages);
    }

    /**
     * The stage of this name.
     *
     * @throws io.turbidite.core.InvalidRequestException if there is none
     */
    public JobStage stage(String name) {
        return stages.stream()
                .filter(stage -> stage.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Settings.wrong(name, "no stage of the job ends with it"));
    }

    private boolean isLast(Checked operator) {
        return !operator.isFollowed() || cuts.contains(operator.name());
    }

    private Checked operator(String name) {
        Checked found = operators.get(name);
        if (found == null) {
            throw Settings.wrong(name, "the job has none of this name");
        }
        return found;
    }

    private JobStage stage(Checked last) {
        List<JobConnector> inputs = new ArrayList<>();
        List<JobOperator> sources = new ArrayList<>();
        int keeping = collect(last, inputs, sources);
        return new JobStage(
                last.name(),
                last.operator().partitions(),
                inputs,
                last.output(),
                sources,
                keeping,
                last.type());
    }

    /** What leads to an operator within its stage; returns how many of them keep rows. */
    private int collect(Checked operator, List<JobConnector> inputs, List<JobOperator> sources) {
        int keeping = operator.kind().keepsRows() ? 1 : 0;
        if (operator.kind().isSource()) {
            sources.add(operator.operator());
        }
        for (JobConnector connector : operator.inputs()) {
            Checked from = operator(connector.from());
            if (isLast(from)) {
                inputs.add(connector);
            } else {
                keeping += collect(from, inputs, sources);
            }
        }
        return keeping;
    }

    /**
     * What an instance of a stage reads, as its host has it. <em>Confined to one thread.</em>
     *
     * @param views of the datasets that its sources name
     * @param inputs the rows that come by a connector; each is asked for once
     * @param reads which partitions of a view a source reads
     */
    public record Feed(Map<String, ReadView> views, Inputs inputs, Reads reads) {
        public Feed {
            views = Map.copyOf(views);
        }
    }

    /** Gives the rows that come by the connectors of a stage. */
    @FunctionalInterface
    public interface Inputs {
        /** The rows of the connector that leads from this operator. */
        Rows of(String from);
    }

    /** Says what sources read. */
    @FunctionalInterface
    public interface Reads {
        /** The partitions that a source reads, of so many in its view. */
        List<Integer> of(String source, int partitionCount);
    }

    /**
     * The rows of one instance of a stage. They pause only where rows of an input are not there
     * yet. Opens nothing before the first row is asked for.
     *
     * @param options what each of its operators may use
     */
    public Rows rows(String stage, int partition, Feed feed, RunOptions options) {
        StageWorker.Turn turn = new StageWorker.Turn();
        InstanceBuilder builder = new InstanceBuilder(
                graph,
                graph.parts(),
                feed.views(),
                (from, _) -> arriving(from, feed.inputs()),
                (operator, _, view) -> feed.reads().of(operator.name(), view.partitionCount()),
                JobRun.Meters.of(graph, ChangedCounts.of(graph)),
                options);
        return new HostedStageRows(builder.rows(operator(stage), partition, turn), turn, options);
    }

    private @Nullable Supplier<Rows> arriving(Checked from, Inputs inputs) {
        return isLast(from) ? () -> inputs.of(from.name()) : null;
    }
}
