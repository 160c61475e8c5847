package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;

import org.apache.commons.lang3.tuple.Pair;
import org.apache.hyracks.api.application.ICCApplication;
import org.apache.hyracks.api.exceptions.HyracksException;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.job.JobStatus;
import org.apache.hyracks.api.util.JavaSerializationUtils;
import org.apache.hyracks.control.cc.ClusterControllerService;
import org.apache.hyracks.control.cc.NodeControllerState;
import org.apache.hyracks.control.cc.cluster.INodeManager;
import org.apache.hyracks.control.cc.cluster.NodeManager;
import org.apache.hyracks.control.cc.job.IJobManager;
import org.apache.hyracks.control.cc.job.JobManager;
import org.apache.hyracks.control.cc.job.JobRun;
import org.apache.hyracks.control.common.controllers.CCConfig;
import org.apache.hyracks.control.common.work.SynchronizableWork;
import org.apache.hyracks.ipc.impl.IPCSystem;
import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The engine's controller, with other habits:
 *
 * <ol>
 *   <li>It has no console.
 *   <li>A job's failure is told when it is known. The engine tells it when all nodes have done with
 *       the job, which a node that has died, or that could not read the job, never says.
 *   <li>A node that was silent for too long is taken off the list, and joins again when it speaks.
 *       The engine orders its process to exit.
 * </ol>
 *
 * <em>Thread-safe</em> as the engine's.
 */
final class EngineController extends ClusterControllerService {
    private final NodeGate gate;
    private final Members members;
    private final Nodes nodes;
    private final Jobs jobs;
    private final Consumer<String> left;

    /** @param left told of each node that is taken off the list */
    EngineController(
            CCConfig config,
            ICCApplication application,
            JobEnds ends,
            NodeGate gate,
            Members members,
            Consumer<String> left)
            throws Exception {
        super(config, application);
        this.gate = gate;
        this.members = members;
        this.left = left;
        this.nodes = new Nodes(config, application);
        this.jobs = new Jobs(config, application, ends);
        Engine.set(ClusterControllerService.class, this, Engine.SECURITY, members);
    }

    @Override
    public INodeManager getNodeManager() {
        return nodes;
    }

    @Override
    public IJobManager getJobManager() {
        return jobs;
    }

    /** None: it takes jars and tells everything without asking. Ports have just been opened. */
    @Override
    protected void startWebServers() throws ReflectiveOperationException {
        gate.guard(getClusterIPC(), members, node -> getWorkQueue().schedule(new Leaving(node)));
    }

    @Override
    protected void stopWebServers() {
        // none
    }

    /**
     * Sends a message to a node.
     *
     * @throws ClusterException if it is not there
     */
    void send(String node, byte[] message) throws Exception {
        NodeControllerState state;
        synchronized (nodes) {
            state = nodes.getNodeControllerState(node);
        }
        if (state == null) {
            throw new ClusterException("node '%s' is not there".formatted(node), null);
        }
        state.getNodeController()
                .sendApplicationMessageToNC(
                        JavaSerializationUtils.serialize(new MemberMessage(message)), null, node);
    }

    /** Takes nodes that were silent for so long off the list. */
    void failSilent(long nanos) throws HyracksException {
        nodes.failSilent(nanos);
    }

    /** Stops whatever has been started; nothing of it is left. */
    void stopAll() {
        new Cleanup()
                .add(() -> Engine.call("stop the controller", () -> {
                    if (getExecutor() == null) {
                        // it failed to start
                        stopPorts(getClusterIPC());
                        stopPorts((IPCSystem)
                                Engine.get(ClusterControllerService.class, this, "clientIPC"));
                    } else {
                        stop();
                    }
                    return this;
                }))
                .add(() -> getTimer().cancel())
                .add(members::close)
                .run();
    }

    private static void stopPorts(@Nullable IPCSystem system) {
        if (system == null) {
            return;
        }
        try {
            // what was opened is closed by its thread
            system.start();
        } catch (IllegalThreadStateException e) {
            // it runs
            Thread.onSpinWait();
        }
        system.stop();
    }

    /** A node leaves: its jobs fail now. */
    private final class Leaving extends SynchronizableWork {
        private final String node;

        Leaving(String node) {
            this.node = node;
        }

        @Override
        protected void doRun() throws HyracksException {
            nodes.failNode(node);
        }
    }

    private final class Nodes extends NodeManager {
        private final long silentNanos;

        Nodes(CCConfig config, ICCApplication application) {
            super(
                    EngineController.this,
                    config,
                    EngineController.this.getResourceManager(),
                    application.getGatekeeper());
            this.silentNanos = TimeUnit.MILLISECONDS.toNanos(
                    config.getHeartbeatPeriodMillis() * config.getHeartbeatMaxMisses());
        }

        @Override
        public synchronized Pair<Collection<String>, Collection<JobId>> removeDeadNodes()
                throws HyracksException {
            failSilent(silentNanos);
            return Pair.of(List.of(), List.of());
        }

        /** Whoever left, was silent, or joins anew. */
        @Override
        public synchronized void failNode(String node) throws HyracksException {
            super.failNode(node);
            left.accept(node);
        }

        synchronized void failSilent(long nanos) throws HyracksException {
            for (String name : List.copyOf(getAllNodeIds())) {
                if (getNodeControllerState(name).nanosSinceLastHeartbeat() >= nanos) {
                    failNode(name);
                }
            }
        }
    }

    private final class Jobs extends JobManager {
        private final JobEnds ends;

        Jobs(CCConfig config, ICCApplication application, JobEnds ends) {
            super(config, EngineController.this, application.getJobCapacityController());
            this.ends = ends;
        }

        /** All tasks have ended, or are ordered to; nodes are told to forget the job. */
        @Override
        public void prepareComplete(
                JobRun run, JobStatus status, @Nullable List<Exception> exceptions)
                throws HyracksException {
            if (status != JobStatus.TERMINATED) {
                ends.failed(run.getJobId(), status, exceptions);
            }
            super.prepareComplete(run, status, exceptions);
        }
    }
}
