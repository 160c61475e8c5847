package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;

import org.apache.hyracks.api.constraints.PartitionConstraintHelper;
import org.apache.hyracks.api.dataflow.IConnectorDescriptor;
import org.apache.hyracks.api.dataflow.IOperatorDescriptor;
import org.apache.hyracks.api.job.JobSpecification;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Makes the engine's job of a graph: a task for each instance of a stage. Static. */
final class JobMaker {
    /** The property of a job that has its name. */
    static final String NAME = "turbidite.job";

    /**
     * The unit of the engine's frames. Each connector has one for each of its receivers at a
     * sender, and they travel whole.
     */
    static final int FRAME_BYTES = 32 << 10;

    /** A graph is in a message to each of its nodes, of which a connection holds 1 MiB at once. */
    private static final int GRAPH_CHARS_MAX = 256 << 10;

    private JobMaker() {}

    /** A stage that others read. */
    private record Made(IOperatorDescriptor operator, Senders senders) {}

    /**
     * Makes a job.
     *
     * @param name by which its reader is known
     * @param door the node that the rows of its result go to
     */
    static JobSpecification make(JobGraph graph, HostPlan plan, String name, String door) {
        String json = graph.toJson();
        if (json.length() > GRAPH_CHARS_MAX) {
            throw new InvalidRequestException(
                    "a job of %d characters of JSON is above the limit of %d of a cluster"
                            .formatted(json.length(), GRAPH_CHARS_MAX));
        }
        JobSpecification job = new JobSpecification(FRAME_BYTES);
        job.setProperty(NAME, name);
        job.setJobletEventListenerFactory(new JobletEnd());
        Map<String, Made> made = new HashMap<>();
        Made last = null;
        for (HostPlan.Placed placed : plan.stages()) {
            StageDescriptor stage = new StageDescriptor(job, json, plan, placed);
            PartitionConstraintHelper.addAbsoluteLocationConstraint(
                    job, stage, placed.nodes().toArray(String[]::new));
            for (int i = 0; i < placed.stage().inputs().size(); i++) {
                JobConnector connector = placed.stage().inputs().get(i);
                Made from = Objects.requireNonNull(made.get(connector.from()), connector.from());
                job.connect(
                        connector(job, connector, from.senders()), from.operator(), 0, stage, i);
            }
            last = new Made(stage, new Senders(placed));
            made.put(placed.stage().name(), last);
        }
        Made result = Objects.requireNonNull(last);
        DeliveryDescriptor delivery = new DeliveryDescriptor(job, name);
        PartitionConstraintHelper.addAbsoluteLocationConstraint(job, delivery, door);
        job.connect(
                new RowConnector(job, new InTurn(false), result.senders()),
                result.operator(),
                0,
                delivery,
                0);
        job.addRoot(delivery);
        return job;
    }

    private static IConnectorDescriptor connector(
            JobSpecification job, JobConnector connector, Senders senders) {
        return switch (connector.kind()) {
            case HASH -> new RowConnector(job, new KeyHash(), senders);
            case BROADCAST -> new BroadcastConnector(job, senders);
            case ROUND_ROBIN -> new RowConnector(job, new InTurn(true), senders);
            // a source that was cut off
            case ONE_TO_ONE -> new RowConnector(job, new InTurn(false), senders);
            case MERGING -> new MergingConnector(job, senders);
        };
    }
}
