package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
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

/**
 * A job on one node: its graph, read once, and a view of each dataset that its stages read there,
 * so that all of them see one moment of the node. Closed when the job's last task on the node has
 * ended, as a part of that task, so that a failure to close is one of the job. <em>Thread-safe
 * by its monitor.</em>
 */
final class HostedJob implements AutoCloseable {
    private final JobGraph graph;
    private final JobStages stages;
    private final RunOptions options;
    private final Map<String, ReadView> views = new HashMap<>();
    private int endedCount;
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
     * What a task does.
     *
     * @param stage its name
     * @param shares what the sources of the instance read
     * @param keeping how many operators of the job on this node keep rows: they share its memory
     * @param taskCount how many tasks the job has on this node
     */
    record Work(String stage, int instance, Shares shares, int keeping, int taskCount) {}

    /** Says what sources of an instance read. */
    @FunctionalInterface
    interface Shares {
        /** What a source reads. */
        Share of(String source);
    }

    /**
     * What a source of an instance reads.
     *
     * @param partitions of those that its node holds, from 0
     * @param placedCount how many the node holds as the placement says
     */
    record Share(List<Integer> partitions, int placedCount) {}

    /** A task that runs an instance of a stage. */
    StageTask task(IHyracksTaskContext context, String node, Work work) {
        JobStage stage = stages.stage(work.stage());
        List<RecordType> types = stage.inputs().stream()
                .map(connector -> graph.type(connector.from()))
                .toList();
        RunOptions each = options.toBuilder()
                .memoryBytesMax(Math.max(
                        RunOptions.MEMORY_BYTES_MIN,
                        options.memoryBytesMax() / Math.max(1, work.keeping())))
                .tasks(null)
                // the engine stops a task by interrupting its threads
                .stop(() ->
                        Thread.currentThread().isInterrupted() || options.stop().getAsBoolean())
                .build();
        return new StageTask(
                context,
                stage,
                types,
                work.instance(),
                Senders.where(node, work.stage()),
                new StageTask.Life(
                        task -> rows(stage, node, work, task, each),
                        () -> ended(work.taskCount())));
    }

    private Rows rows(JobStage stage, String node, Work work, StageTask task, RunOptions each) {
        Map<String, ReadView> own = new HashMap<>();
        Map<String, String> datasets = new HashMap<>();
        for (JobOperator source : stage.sources()) {
            String dataset = String.valueOf(source.settings().get("dataset"));
            datasets.put(source.name(), dataset);
            own.put(dataset, view(dataset));
        }
        return stages.rows(
                stage.name(),
                work.instance(),
                new JobStages.Feed(
                        own,
                        task::input,
                        (source, count) -> checked(
                                work.shares().of(source),
                                count,
                                node,
                                String.valueOf(datasets.get(source)))),
                each);
    }

    /** A node with more partitions than it was placed with would be read in part. */
    private static List<Integer> checked(Share share, int count, String node, String dataset) {
        if (count != share.placedCount()) {
            throw new InvalidRequestException(
                    "node '%s' has %d partitions of dataset '%s', and the placement says %d"
                            .formatted(node, count, dataset, share.placedCount()));
        }
        return share.partitions();
    }

    /** A task has ended; the last one closes what they have read. */
    private synchronized void ended(int taskCount) {
        endedCount++;
        if (endedCount == taskCount) {
            close();
        }
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
