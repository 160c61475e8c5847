package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import java.util.function.Supplier;

/**
 * A node of a cluster in this process: runs the stages of jobs over the datasets that it holds.
 * <em>Thread-safe.</em>
 */
public final class ClusterNode implements AutoCloseable {
    private final EngineNode node;
    private final HostedNode hosted;
    private final Outbox outbox;

    private ClusterNode(EngineNode node, HostedNode hosted) {
        this.node = node;
        this.hosted = hosted;
        this.outbox = new Outbox(hosted.name(), (_, message) -> node.send(message));
    }

    /**
     * Where a node is, and whose.
     *
     * @param name by which the cluster knows it
     * @param directory for the engine's files; it is there
     * @param controllerAddress of the controller, a number, not a name
     * @param controllerPort the port on which the controller listens for nodes
     * @param identity who it is
     */
    public record Settings(
            String name,
            String directory,
            String controllerAddress,
            int controllerPort,
            ClusterIdentity identity) {}

    /**
     * Starts a node, and has it join.
     *
     * @param parts the datasets that it holds, and operators of the embedder's own
     * @param options what each job may use on it
     * @throws ClusterException if {@link SerialFilter} is not installed, or it can't start, or the
     *     controller can't be reached or refuses it; nothing is left of it then
     */
    public static ClusterNode start(Settings settings, JobParts parts, RunOptions options) {
        return start(settings, () -> parts, JobCheck.none(), options, ClusterMessages.none());
    }

    /**
     * As {@link #start(Settings, JobParts, RunOptions)}.
     *
     * @param parts asked for each job
     * @param check asked for each job, before
     * @param messages takes those that the controller {@linkplain ClusterController#send sends},
     *     from before this returns on
     */
    public static ClusterNode start(
            Settings settings,
            Supplier<JobParts> parts,
            JobCheck check,
            RunOptions options,
            ClusterMessages messages) {
        settings.identity().checkName(settings.name());
        HostedNode hosted = new HostedNode(settings.name(), parts, check, options);
        return new ClusterNode(EngineNode.start(settings, hosted, messages), hosted);
    }

    /**
     * Sends a message to the controller, and does not wait: it may be lost.
     *
     * @param message at most {@link ClusterMessages#BYTES_MAX}; not the caller's any more
     * @throws InvalidRequestException if it is too long
     */
    public void send(byte[] message) {
        outbox.send(ClusterIdentity.CONTROLLER, message);
    }

    /** Messages that were not sent: no room, or no way to the controller. */
    public long lostMessageCount() {
        return outbox.lostCount();
    }

    /** How many jobs hold something on it. */
    public int jobCount() {
        return hosted.jobCount();
    }

    /** Leaves the cluster; jobs that need it fail. */
    @Override
    public void close() {
        // the outbox first: what it sends ends while the engine is there
        new Cleanup().add(outbox::close).add(node::close).run();
    }
}
