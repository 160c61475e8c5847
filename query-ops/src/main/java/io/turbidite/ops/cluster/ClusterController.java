package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobHost;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.application.ICCServiceContext;
import org.apache.hyracks.api.application.IServiceContext;
import org.apache.hyracks.api.client.impl.JobSpecificationActivityClusterGraphGeneratorFactory;
import org.apache.hyracks.api.control.IGatekeeper;
import org.apache.hyracks.api.job.JobFlag;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.api.util.JavaSerializationUtils;
import org.apache.hyracks.control.cc.BaseCCApplication;
import org.apache.hyracks.control.cc.work.CancelJobWork;
import org.apache.hyracks.control.cc.work.JobStartWork;
import org.apache.hyracks.control.common.controllers.CCConfig;
import org.apache.hyracks.control.common.work.IResultCallback;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The controller of a cluster in this process: nodes join it, and it has them run the stages of
 * jobs. It is a node itself, the <em>door</em>, which holds nothing and takes the rows of results,
 * so that these come as those of any other exchange do: no file, and a sender that waits for a slow
 * reader.
 *
 * <p>Jobs are given to it by calls, never through the port on which the engine would take them:
 * nobody may speak there. <em>Thread-safe.</em>
 */
public final class ClusterController implements JobHost, AutoCloseable {
    /** The name of the node in the controller's process. */
    public static final String DOOR = "door";

    /** The engine forgets how older jobs ended; nobody asks. */
    private static final int HISTORY_COUNT = 10;

    private static final String CLOSED = "the controller was closed";

    private final EngineController service;
    private final EngineNode doorNode;
    private final HostedNode door;
    private final JobEnds ends;
    private final Members members;
    private final Placements placement;
    private final Outbox outbox;
    private final AtomicLong jobNumber = new AtomicLong();
    private volatile boolean closed;

    private ClusterController(
            EngineController service,
            EngineNode doorNode,
            HostedNode door,
            JobEnds ends,
            Members members,
            Placements placement) {
        this.service = service;
        this.doorNode = doorNode;
        this.door = door;
        this.ends = ends;
        this.members = members;
        this.placement = placement;
        this.outbox = new Outbox("controller", service::send);
    }

    /**
     * Where a controller is.
     *
     * @param directory for the engine's files; it is there
     * @param nodePort the port on which it listens for nodes
     * @param idlePort a port that the engine opens for clients, on which nobody is let in
     * @param identity who it is
     */
    public record Settings(
            String directory, int nodePort, int idlePort, ClusterIdentity identity) {}

    /**
     * Starts a controller.
     *
     * @param placement asked for each job
     * @throws ClusterException if {@link SerialFilter} is not installed, or it can't start; nothing
     *     is left of it then
     */
    public static ClusterController start(Settings settings, Placements placement) {
        return start(settings, placement, ClusterMessages.none());
    }

    /**
     * As {@link #start(Settings, Placements)}.
     *
     * @param messages takes those that nodes {@linkplain ClusterNode#send send}, from before this
     *     returns on
     */
    public static ClusterController start(
            Settings settings, Placements placement, ClusterMessages messages) {
        settings.identity().checkName(ClusterIdentity.CONTROLLER);
        SerialFilter.check();
        checkFree(settings.nodePort());
        checkFree(settings.idlePort());
        JobEnds ends = new JobEnds();
        NodeGate gate = new NodeGate(
                settings.nodePort(), member -> isNode(placement, member), ends, messages);
        Members members = new Members(settings.identity(), gate);
        EngineController service = Engine.make(
                "start the controller",
                () -> new EngineController(
                        config(settings),
                        new Application(ends),
                        ends,
                        gate,
                        members,
                        messages::left));
        ends.forgetIn(service.getResultDirectoryService());
        try {
            Engine.call("start the controller", () -> {
                service.start();
                return service;
            });
            HostedNode door = new HostedNode(
                    DOOR, () -> JobParts.of(List.of()), JobCheck.none(), RunOptions.defaults());
            EngineNode doorNode = EngineNode.start(
                    new ClusterNode.Settings(
                            DOOR,
                            settings.directory(),
                            Engine.LOOPBACK,
                            settings.nodePort(),
                            settings.identity()),
                    door,
                    ClusterMessages.none());
            return new ClusterController(service, doorNode, door, ends, members, placement);
        } catch (RuntimeException | Error e) {
            new Cleanup().add(service::stopAll).runAfter(e);
            throw e;
        }
    }

    private static CCConfig config(Settings settings) {
        CCConfig config = new CCConfig();
        config.setClusterListenAddress(Engine.LOOPBACK);
        config.setClusterPublicAddress(Engine.LOOPBACK);
        config.setClusterListenPort(settings.nodePort());
        config.setClientListenAddress(Engine.LOOPBACK);
        config.setClientPublicAddress(Engine.LOOPBACK);
        config.setClientListenPort(settings.idlePort());
        config.setRootDir(settings.directory());
        config.setJobHistorySize(HISTORY_COUNT);
        config.setResultTTL(Engine.RESULT_MILLIS);
        config.setHeartbeatPeriodMillis(Engine.HEARTBEAT_MILLIS);
        config.setHeartbeatMaxMisses(Engine.MISSES_MAX);
        config.setDeadNodeSweepThreshold(Engine.HEARTBEAT_MILLIS);
        return config;
    }

    /** Says so in one line; the engine would leave half of a controller. */
    private static void checkFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new ClusterException(
                    "can't start the controller: port %d is in use".formatted(port), e);
        }
    }

    private static boolean isNode(Placements placement, String member) {
        return member.equals(ClusterIdentity.CONTROLLER)
                || placement.now().nodes().stream().anyMatch(node -> node.name().equals(member));
    }

    /** Connections that were closed since who was there is no member, or may not speak there. */
    public long refusedCount() {
        return members.refusedCount();
    }

    /** The names of the nodes that have joined, without the door. */
    public List<String> nodes() {
        List<String> names;
        // the engine's threads change it under this lock
        synchronized (service.getNodeManager()) {
            names = new ArrayList<>(service.getNodeManager().getAllNodeIds());
        }
        names.remove(DOOR);
        return names;
    }

    /**
     * Sends a message to a node, and does not wait: it may be lost.
     *
     * @param message at most {@link ClusterMessages#BYTES_MAX}; not the caller's any more
     * @throws InvalidRequestException if it is too long
     */
    public void send(String node, byte[] message) {
        outbox.send(node, message);
    }

    /** Messages that were not sent: no room, or no way to the node. */
    public long lostMessageCount() {
        return outbox.lostCount();
    }

    /**
     * A job that a node refuses, since it was made for another state of the cluster, is made anew
     * once.
     */
    @Override
    public Rows run(JobGraph graph, RunOptions options) {
        RecordView row = new RecordView(graph.type());
        return new TriedRows(row, () -> begin(graph, options, row));
    }

    private Rows begin(JobGraph graph, RunOptions options, RecordView row) {
        checkNotClosed();
        Placement placed = placement.now();
        if (placed.nodes().isEmpty()) {
            throw new InvalidRequestException("a cluster needs a node");
        }
        placed.check(graph);
        HostPlan plan = HostPlan.of(graph, placed);
        List<String> joined = nodes();
        for (String node : plan.nodes()) {
            if (!joined.contains(node)) {
                throw new InvalidRequestException("node '%s' is not there".formatted(node));
            }
        }
        String name = "job " + jobNumber.incrementAndGet();
        JobSpecification job = JobMaker.make(graph, plan, name, DOOR);
        Delivery delivery = new Delivery(row, options);
        door.expect(name, delivery);
        ends.expect(name, new JobEnds.Waiting(delivery::failed, cause -> {
            door.forget(name);
            delivery.finished(cause);
        }));
        try {
            checkNotClosed();
            start(name, job, delivery);
        } catch (RuntimeException e) {
            ends.tell(name, e);
            throw e;
        }
        return delivery;
    }

    private void checkNotClosed() {
        if (closed) {
            throw new ClusterException(CLOSED, null);
        }
    }

    private void start(String name, JobSpecification job, Delivery delivery) {
        byte[] bytes = Engine.call(
                "send " + name,
                () -> JavaSerializationUtils.serialize(
                        new JobSpecificationActivityClusterGraphGeneratorFactory(job)));
        service.getWorkQueue()
                .schedule(new JobStartWork(
                        service,
                        null,
                        bytes,
                        EnumSet.noneOf(JobFlag.class),
                        service.getJobIdFactory(),
                        Map.of(),
                        new IResultCallback<>() {
                            @Override
                            public void setValue(JobId id) {
                                delivery.startedAs(() -> cancel(id));
                            }

                            @Override
                            public void setException(Exception e) {
                                ends.tell(name, e);
                            }
                        },
                        null));
    }

    private void cancel(JobId id) {
        service.getWorkQueue()
                .schedule(new CancelJobWork(service.getJobManager(), id, new IResultCallback<>() {
                    @Override
                    public void setValue(Void nothing) {
                        // the end of the job is told by itself
                    }

                    @Override
                    public void setException(Exception e) {
                        // it had ended
                    }
                }));
    }

    /** Ends all jobs and lets no node in any more. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        ClusterException cause = new ClusterException(CLOSED, null);
        ends.failAll(cause);
        try {
            // the outbox first: what it sends ends while the engine is there
            new Cleanup()
                    .add(outbox::close)
                    .add(doorNode::close)
                    .add(service::stopAll)
                    .run();
        } finally {
            // the engine, which has stopped, tells nobody any more
            ends.tellAll(cause);
        }
    }

    /** What the engine's controller has of ours. */
    private static final class Application extends BaseCCApplication {
        private final JobEnds ends;

        Application(JobEnds ends) {
            this.ends = ends;
        }

        @Override
        public void init(IServiceContext context) throws Exception {
            super.init(context);
            ICCServiceContext of = (ICCServiceContext) context;
            of.addJobLifecycleListener(ends);
            of.setThreadFactory(Engine.threads("cluster controller"));
        }

        @Override
        public void startupCompleted() {
            // no hook of the JVM: whoever started it stops it
        }

        @Override
        public void stop() {
            // no hook
        }

        /** Others do not get as far ({@link NodeGate}); a node that is refused here would exit. */
        @Override
        public IGatekeeper getGatekeeper() {
            return _ -> true;
        }
    }
}
