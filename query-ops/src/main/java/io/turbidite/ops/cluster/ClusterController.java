package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobHost;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.application.ICCServiceContext;
import org.apache.hyracks.api.application.IClusterLifecycleListener;
import org.apache.hyracks.api.application.IServiceContext;
import org.apache.hyracks.api.client.impl.JobSpecificationActivityClusterGraphGeneratorFactory;
import org.apache.hyracks.api.config.IOption;
import org.apache.hyracks.api.control.IGatekeeper;
import org.apache.hyracks.api.exceptions.HyracksException;
import org.apache.hyracks.api.job.IJobLifecycleListener;
import org.apache.hyracks.api.job.JobFlag;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.api.job.JobStatus;
import org.apache.hyracks.api.util.JavaSerializationUtils;
import org.apache.hyracks.control.cc.BaseCCApplication;
import org.apache.hyracks.control.cc.ClusterControllerService;
import org.apache.hyracks.control.cc.work.CancelJobWork;
import org.apache.hyracks.control.cc.work.JobStartWork;
import org.apache.hyracks.control.common.controllers.CCConfig;
import org.apache.hyracks.control.common.work.IResultCallback;
import org.apache.hyracks.control.nc.NodeControllerService;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

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

    private final Service service;
    private final NodeControllerService doorService;
    private final HostedNode door;
    private final Ends ends;
    private final Members members;
    private final Supplier<Placement> placement;
    private final AtomicLong jobNumber = new AtomicLong();
    private volatile boolean closed;

    private ClusterController(
            Service service,
            NodeControllerService doorService,
            HostedNode door,
            Ends ends,
            Members members,
            Supplier<Placement> placement) {
        this.service = service;
        this.doorService = doorService;
        this.door = door;
        this.ends = ends;
        this.members = members;
        this.placement = placement;
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
     * @throws ClusterException if it can't start
     */
    public static ClusterController start(Settings settings, Supplier<Placement> placement) {
        settings.identity().checkName(ClusterIdentity.CONTROLLER);
        Ends ends = new Ends();
        CCConfig config = new CCConfig();
        config.setClusterListenAddress(Engine.LOOPBACK);
        config.setClusterPublicAddress(Engine.LOOPBACK);
        config.setClusterListenPort(settings.nodePort());
        config.setClientListenAddress(Engine.LOOPBACK);
        config.setClientPublicAddress(Engine.LOOPBACK);
        config.setClientListenPort(settings.idlePort());
        config.setRootDir(settings.directory());
        config.setJobHistorySize(HISTORY_COUNT);
        Members members = new Members(
                settings.identity(),
                (port, member) -> port == settings.nodePort() && isNode(placement, member));
        Service service = Engine.call("start the controller", () -> {
            Application application = new Application(ends, placement);
            Service made = new Service(config, application);
            application.joins = new Joins(made, members);
            Engine.secure(ClusterControllerService.class, made, members);
            made.start();
            return made;
        });
        HostedNode door = new HostedNode(DOOR, JobParts.of(List.of()), RunOptions.defaults());
        try {
            NodeControllerService doorService = ClusterNode.start(
                    new ClusterNode.Settings(
                            DOOR,
                            settings.directory(),
                            Engine.LOOPBACK,
                            settings.nodePort(),
                            settings.identity()),
                    door);
            return new ClusterController(service, doorService, door, ends, members, placement);
        } catch (RuntimeException e) {
            try {
                service.stop();
            } catch (Exception other) {
                e.addSuppressed(other);
            }
            throw e;
        }
    }

    private static boolean isNode(Supplier<Placement> placement, String member) {
        return member.equals(ClusterIdentity.CONTROLLER)
                || placement.get().nodes().stream().anyMatch(node -> node.name().equals(member));
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

    @Override
    public Rows run(JobGraph graph, RunOptions options) {
        checkNotClosed();
        Placement placed = placement.get();
        List<String> joined = nodes();
        for (Placement.Node node : placed.nodes()) {
            if (!joined.contains(node.name())) {
                throw new InvalidRequestException("node '%s' is not there".formatted(node.name()));
            }
        }
        String name = "job " + jobNumber.incrementAndGet();
        JobSpecification job = JobMaker.make(graph, HostPlan.of(graph, placed), name, DOOR);
        Delivery delivery = new Delivery(graph.type(), options);
        door.expect(name, delivery);
        ends.expect(name, cause -> {
            door.forget(name);
            delivery.finished(cause);
        });
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
        try {
            Engine.call("stop the controller", () -> {
                doorService.stop();
                service.stop();
                return service;
            });
        } finally {
            // the engine, which has stopped, tells nobody any more
            ends.tellAll(new ClusterException(CLOSED, null));
        }
    }

    /** Who is told that a job has ended, by its name. <em>Thread-safe.</em> */
    private static final class Ends implements IJobLifecycleListener {
        private final Map<String, Consumer<@Nullable Throwable>> waiting =
                new ConcurrentHashMap<>();
        private final Map<JobId, String> names = new ConcurrentHashMap<>();

        void expect(String name, Consumer<@Nullable Throwable> end) {
            waiting.put(name, end);
        }

        void tell(String name, @Nullable Throwable cause) {
            Consumer<@Nullable Throwable> end = waiting.remove(name);
            if (end != null) {
                end.accept(cause);
            }
        }

        void tellAll(Throwable cause) {
            waiting.keySet().forEach(name -> tell(name, cause));
        }

        @Override
        public void notifyJobCreation(JobId id, JobSpecification job) {
            names.put(id, String.valueOf(job.getProperty(JobMaker.NAME)));
        }

        @Override
        public void notifyJobStart(JobId id) {
            // its reader waits for rows
        }

        @Override
        public void notifyJobFinish(JobId id, JobStatus status, List<Exception> exceptions) {
            String name = names.remove(id);
            if (name != null) {
                tell(name, causeOf(status, exceptions));
            }
        }

        private static @Nullable Throwable causeOf(
                JobStatus status, @Nullable List<Exception> exceptions) {
            if (exceptions == null || exceptions.isEmpty()) {
                return status == JobStatus.TERMINATED
                        ? null
                        : new ClusterException("the job ended as " + status, null);
            }
            Exception first = exceptions.getFirst();
            for (Exception other : exceptions.subList(1, exceptions.size())) {
                first.addSuppressed(other);
            }
            return first;
        }
    }

    /** Refuses a node whose certificate has another name than it gave to the engine. */
    private static final class Joins implements IClusterLifecycleListener {
        private final Service service;
        private final Members members;

        Joins(Service service, Members members) {
            this.service = service;
            this.members = members;
        }

        @Override
        public void notifyNodeJoin(String name, Map<IOption, Object> configuration)
                throws HyracksException {
            String member = Engine.call(
                    "look who joins",
                    () -> members.memberAt(Engine.addressOf(service.getNodeManager()
                            .getNodeControllerState(name)
                            .getNodeController())));
            String expected = name.equals(DOOR) ? ClusterIdentity.CONTROLLER : name;
            if (!expected.equals(member)) {
                throw HyracksException.create(new ClusterException(
                        "the certificate of node '%s' is that of '%s'".formatted(name, member),
                        null));
            }
        }

        @Override
        public void notifyNodeFailure(Collection<String> names) {
            // its jobs are ended by the engine
        }
    }

    /** The engine's controller without its console. */
    private static final class Service extends ClusterControllerService {
        Service(CCConfig config, Application application) throws Exception {
            super(config, application);
        }

        @Override
        protected void startWebServers() {
            // none: it takes jars and tells everything without asking who it is
        }

        @Override
        protected void stopWebServers() {
            // none
        }
    }

    /** What the engine's controller has of ours. */
    private static final class Application extends BaseCCApplication {
        private final Ends ends;
        private final Supplier<Placement> placement;
        private @Nullable Joins joins;

        Application(Ends ends, Supplier<Placement> placement) {
            this.ends = ends;
            this.placement = placement;
        }

        @Override
        public void init(IServiceContext context) throws Exception {
            super.init(context);
            ICCServiceContext of = (ICCServiceContext) context;
            of.addJobLifecycleListener(ends);
            of.addClusterLifecycleListener(Objects.requireNonNull(joins));
        }

        @Override
        public void startupCompleted() {
            // no hook of the JVM: whoever started it stops it
        }

        @Override
        public void stop() {
            // no hook
        }

        @Override
        public IGatekeeper getGatekeeper() {
            return name -> name.equals(DOOR) || isNode(placement, name);
        }
    }
}
