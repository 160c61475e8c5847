package io.turbidite.ops.cluster;

import io.turbidite.ops.job.JobStage;

import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.IOperatorNodePushable;
import org.apache.hyracks.api.dataflow.value.IRecordDescriptorProvider;
import org.apache.hyracks.api.dataflow.value.ISerializerDeserializer;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.base.AbstractSingleActivityOperatorDescriptor;
import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A stage of a job on its way to the nodes: the job's graph as JSON, and which of its stages it is.
 * With {@link DeliveryDescriptor} it is all of ours that travels by Java serialization.
 */
final class StageDescriptor extends AbstractSingleActivityOperatorDescriptor {
    private static final long serialVersionUID = 1L;

    private final String graph;
    private final String[] cuts;
    private final String stage;
    private final String[] sources;

    /** By source, by instance: the partitions of its node that it reads. */
    private final int[][][] reads;

    /** By source, by instance: how many partitions its node holds, as the placement says. */
    private final int[][] counts;

    /** By instance: how many operators on its node keep rows. */
    private final int[] keeping;

    /** By instance: how many tasks the job has on its node. */
    private final int[] tasks;

    /** By instance: the mark for its node ({@link JobMark#toNumbers}); empty: it has none. */
    private final long[][] marks;

    StageDescriptor(JobSpecification job, String graph, HostPlan plan, HostPlan.Placed placed) {
        super(job, placed.stage().inputs().size(), 1);
        JobStage of = placed.stage();
        this.graph = graph;
        this.cuts = plan.cuts().toArray(String[]::new);
        this.stage = of.name();
        this.sources = placed.reads().keySet().toArray(String[]::new);
        this.reads = new int[sources.length][][];
        for (int i = 0; i < sources.length; i++) {
            reads[i] = Objects.requireNonNull(placed.reads().get(sources[i])).stream()
                    .map(all -> all.stream().mapToInt(Integer::intValue).toArray())
                    .toArray(int[][]::new);
        }
        this.counts = new int[sources.length][];
        for (int i = 0; i < sources.length; i++) {
            counts[i] = Objects.requireNonNull(placed.counts().get(sources[i])).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
        }
        this.keeping = placed.nodes().stream().mapToInt(plan::keepingOn).toArray();
        this.tasks = placed.nodes().stream().mapToInt(plan::tasksOn).toArray();
        this.marks = placed.nodes().stream()
                .map(plan::markFor)
                .map(mark -> mark == null ? new long[0] : mark.toNumbers())
                .toArray(long[][]::new);
        outRecDescs[0] = fields(StageOutput.Head.of(of.output()).fieldCount());
        setDisplayName("stage " + stage);
    }

    /** So many fields of bytes. */
    private static RecordDescriptor fields(int count) {
        return new RecordDescriptor(new ISerializerDeserializer<?>[count]);
    }

    @Override
    public IOperatorNodePushable createPushRuntime(
            IHyracksTaskContext context,
            IRecordDescriptorProvider types,
            int instance,
            int instanceCount)
            throws HyracksDataException {
        HostedNode node = HostedNode.of(context.getJobletContext());
        try {
            HostedJob job = node.job(
                    context.getJobletContext().getJobId(), graph, List.of(cuts), mark(instance));
            return job.task(
                    context,
                    node.name(),
                    new HostedJob.Work(
                            stage,
                            instance,
                            source -> share(source, instance),
                            keeping[instance],
                            tasks[instance]));
        } catch (RuntimeException | Error e) {
            // an Error would end the thread by which the engine gives work to its node
            throw Failures.toEngine(Senders.where(node.name(), stage), e);
        }
    }

    private @Nullable JobMark mark(int instance) {
        long[] numbers = marks[instance];
        return numbers.length == 0 ? null : JobMark.ofNumbers(numbers);
    }

    private HostedJob.Share share(String source, int instance) {
        int at = Arrays.asList(sources).indexOf(source);
        return new HostedJob.Share(
                Arrays.stream(reads[at][instance]).boxed().toList(), counts[at][instance]);
    }
}
