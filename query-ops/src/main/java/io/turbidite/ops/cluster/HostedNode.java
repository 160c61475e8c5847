package io.turbidite.ops.cluster;

import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.context.IHyracksJobletContext;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobId;
import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * What the tasks on a node find there: datasets, memory, what jobs hold, and readers of results.
 * <em>Thread-safe.</em>
 */
final class HostedNode {
    private final String name;
    private final Supplier<JobParts> parts;
    private final JobCheck check;
    private final RunOptions options;
    private final Map<JobId, HostedJob> jobs = new ConcurrentHashMap<>();
    private final Map<String, Delivery> deliveries = new ConcurrentHashMap<>();

    /** Null: it has not started. */
    private volatile @Nullable Members members;

    /**
     * @param parts the datasets that it holds, and operators of the embedder's own; asked for each
     *     job
     * @param check asked for each job, before
     * @param options what a job may use on it
     */
    HostedNode(String name, Supplier<JobParts> parts, JobCheck check, RunOptions options) {
        this.name = name;
        this.parts = parts;
        this.check = check;
        this.options = options;
    }

    /** The node that a task runs on. */
    static HostedNode of(IHyracksJobletContext context) throws HyracksDataException {
        Object found = context.getServiceContext().getControllerService().getApplicationContext();
        if (found instanceof HostedNode node) {
            return node;
        }
        throw HyracksDataException.create(
                new IllegalStateException("a task runs on a node that is none of ours: " + found));
    }

    String name() {
        return name;
    }

    /** Its sockets. */
    void use(Members of) {
        members = of;
    }

    /**
     * Checks who is at an address from which rows are to come.
     *
     * @throws ClusterException if it is not this node
     */
    void checkSender(SocketAddress address, String sender) {
        Members of = members;
        String found = of == null ? null : of.memberAt(address);
        if (!Members.certified(sender).equals(found)) {
            throw new ClusterException(
                    "node '%s' is not at %s: %s"
                            .formatted(
                                    sender,
                                    address,
                                    found == null ? "nobody is" : "'" + found + "' is"),
                    null);
        }
    }

    /**
     * What a job has on the node, until {@link #end}.
     *
     * @param mark that the job carries
     * @throws io.turbidite.ops.job.StaleJobException if it is not for the cluster of now
     */
    HostedJob job(JobId id, String graph, List<String> cuts, @Nullable JobMark mark) {
        return jobs.computeIfAbsent(id, _ -> {
            check.check(mark);
            return HostedJob.of(graph, cuts, parts.get(), options);
        });
    }

    /** The last task of a job has ended. */
    void end(JobId id) {
        HostedJob job = jobs.remove(id);
        if (job != null) {
            job.close();
        }
    }

    /** How many jobs hold something. */
    int jobCount() {
        return jobs.size();
    }

    /** Makes a reader known, by the name that its job has. */
    void expect(String job, Delivery delivery) {
        deliveries.put(job, delivery);
    }

    void forget(String job) {
        deliveries.remove(job);
    }

    @Nullable
    Delivery delivery(String job) {
        return deliveries.get(job);
    }

    @Override
    public String toString() {
        return "node '%s' with %d jobs"
                .formatted(name, Objects.requireNonNull(jobs).size());
    }
}
