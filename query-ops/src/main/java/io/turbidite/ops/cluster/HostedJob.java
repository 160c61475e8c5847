package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.job.JobStage;
import io.turbidite.ops.job.JobStages;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.context.IHyracksTaskContext;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * A job on one node: its graph, read once, and a view of each dataset that its stages read there,
 * so that all of them see one moment of the node. Closed when the job's last task on the node has
 * ended. <em>Thread-safe by its monitor.</em>
 */
final class HostedJob implements AutoCloseable {
    private final JobGraph graph;
    private final JobStages stages;
    private final RunOptions options;
    private final Map<String, ReadView> views = new HashMap<>();
    private boolean closed;

    private HostedJob(JobGraph graph, JobStages stages, RunOptions options) {
        this.graph = graph;
        this.stages = stages;
        this.options = options;
    }

    static HostedJob of(String json, List<String> cuts, JobParts parts, RunOptions options) {
        JobGraph graph = JobGraph.fromJson(json, parts);
        return new HostedJob(
                graph, JobStages.of(graph, new HashSet<>(cuts)), options.of(graph.means()));
    }

    /**
     * A task that runs an instance of a stage.
     *
     * @param reads the partitions that a source reads, by its name and the number of the instance
     * @param keeping how many operators of the job on this node keep rows: they share its memory
     */
    StageTask task(
            IHyracksTaskContext context,
            String name,
            int instance,
            String where,
            BiFunction<String, Integer, List<Integer>> reads,
            int keeping) {
        JobStage stage = stages.stage(name);
        List<RecordType> types = stage.inputs().stream()
                .map(connector -> graph.type(connector.from()))
                .toList();
        RunOptions each = options.toBuilder()
                .memoryBytesMax(Math.max(
                        RunOptions.MEMORY_BYTES_MIN,
                        options.memoryBytesMax() / Math.max(1, keeping)))
                .tasks(null)
                // the engine stops a task by interrupting its threads
                .stop(() -> Thread.currentThread().isInterrupted())
                .build();
        return new StageTask(
                context,
                stage,
                types,
                instance,
                where,
                task -> rows(stage, instance, task, reads, each));
    }

    private Rows rows(
            JobStage stage,
            int instance,
            StageTask task,
            BiFunction<String, Integer, List<Integer>> reads,
            RunOptions each) {
        Map<String, ReadView> own = new HashMap<>();
        for (JobOperator source : stage.sources()) {
            String dataset = String.valueOf(source.settings().get("dataset"));
            own.put(dataset, view(dataset));
        }
        return stages.rows(
                stage.name(),
                instance,
                new JobStages.Feed(own, task::input, (source, _) -> reads.apply(source, instance)),
                each);
    }

    private synchronized ReadView view(String dataset) {
        if (closed) {
            throw new IllegalStateException("a task begins when its job has ended");
        }
        return views.computeIfAbsent(dataset, name -> graph.dataset(name).openView());
    }

    @Override
    public synchronized void close() {
        closed = true;
        Cleanup cleanup = new Cleanup().addAll(views.values(), ReadView::close);
        views.clear();
        cleanup.run();
    }
}
