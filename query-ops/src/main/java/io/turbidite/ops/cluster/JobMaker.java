package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;

import org.apache.hyracks.api.constraints.PartitionConstraintHelper;
import org.apache.hyracks.api.dataflow.IConnectorDescriptor;
import org.apache.hyracks.api.dataflow.IOperatorDescriptor;
import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.connectors.MToNBroadcastConnectorDescriptor;
import org.apache.hyracks.dataflow.std.connectors.MToNPartitioningConnectorDescriptor;
import org.apache.hyracks.dataflow.std.connectors.MToNPartitioningMergingConnectorDescriptor;

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
        Map<String, IOperatorDescriptor> made = new HashMap<>();
        IOperatorDescriptor last = null;
        for (HostPlan.Placed placed : plan.stages()) {
            StageDescriptor stage = new StageDescriptor(job, json, plan, placed);
            PartitionConstraintHelper.addAbsoluteLocationConstraint(
                    job, stage, placed.nodes().toArray(String[]::new));
            for (int i = 0; i < placed.stage().inputs().size(); i++) {
                JobConnector connector = placed.stage().inputs().get(i);
                job.connect(
                        connector(job, connector),
                        Objects.requireNonNull(made.get(connector.from()), connector.from()),
                        0,
                        stage,
                        i);
            }
            made.put(placed.stage().name(), stage);
            last = stage;
        }
        DeliveryDescriptor delivery = new DeliveryDescriptor(job, name);
        PartitionConstraintHelper.addAbsoluteLocationConstraint(job, delivery, door);
        job.connect(
                new MToNPartitioningConnectorDescriptor(job, new InTurn(false)),
                Objects.requireNonNull(last),
                0,
                delivery,
                0);
        job.addRoot(delivery);
        return job;
    }

    private static IConnectorDescriptor connector(JobSpecification job, JobConnector connector) {
        return switch (connector.kind()) {
            case HASH -> new MToNPartitioningConnectorDescriptor(job, new KeyHash());
            case BROADCAST -> new MToNBroadcastConnectorDescriptor(job);
            case ROUND_ROBIN -> new MToNPartitioningConnectorDescriptor(job, new InTurn(true));
            // a source that was cut off
            case ONE_TO_ONE -> new MToNPartitioningConnectorDescriptor(job, new InTurn(false));
            case MERGING ->
                new MToNPartitioningMergingConnectorDescriptor(
                        job,
                        new InTurn(false),
                        new int[] {0},
                        new IBinaryComparatorFactory[] {new KeyOrder()},
                        null);
        };
    }
}
