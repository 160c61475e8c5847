package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;

import org.apache.hyracks.api.application.IServiceContext;
import org.apache.hyracks.api.io.IFileDeviceResolver;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.control.common.controllers.NCConfig;
import org.apache.hyracks.control.nc.BaseNCApplication;
import org.apache.hyracks.control.nc.NodeControllerService;
import org.apache.hyracks.control.nc.heartbeat.HeartbeatManager;
import org.apache.hyracks.control.nc.net.NetworkManager;
import org.apache.hyracks.ipc.exceptions.IPCException;
import org.apache.hyracks.ipc.impl.IPCSystem;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** A node of the engine that runs our tasks, of a cluster or the door. <em>Thread-safe.</em> */
final class EngineNode implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(EngineNode.class.getName());

    private final NodeControllerService service;
    private final Members members;
    private final String name;
    private final AtomicBoolean closed = new AtomicBoolean();

    private EngineNode(NodeControllerService service, Members members, String name) {
        this.service = service;
        this.members = members;
        this.name = name;
    }

    /**
     * Starts a node, and has it join.
     *
     * @throws ClusterException if it can't start, or can't reach the controller; nothing is left
     */
    static EngineNode start(
            ClusterNode.Settings settings, HostedNode hosted, ClusterMessages messages) {
        SerialFilter.check();
        String what = "start node '%s'".formatted(settings.name());
        NodeControllerService service = Engine.make(
                what,
                () -> new NodeControllerService(
                        config(settings), new Application(hosted, messages)));
        Members members =
                new Members(settings.identity(), new Doorman(service, addressOf(settings)));
        hosted.use(members);
        EngineNode node = new EngineNode(service, members, settings.name());
        try {
            return Engine.call(what, () -> {
                Engine.set(NodeControllerService.class, service, Engine.SECURITY, members);
                service.start();
                return node;
            });
        } catch (RuntimeException | Error e) {
            new Cleanup().add(node::close).runAfter(e);
            throw e;
        }
    }

    private static InetSocketAddress addressOf(ClusterNode.Settings settings) {
        return new InetSocketAddress(settings.controllerAddress(), settings.controllerPort());
    }

    private static NCConfig config(ClusterNode.Settings settings) {
        NCConfig config = new NCConfig(settings.name());
        String address = Engine.LOOPBACK;
        config.setPublicAddress(address);
        config.setClusterListenAddress(address);
        config.setDataListenAddress(address);
        config.setResultListenAddress(address);
        config.setMessagingListenAddress(address);
        config.setClusterAddress(settings.controllerAddress());
        config.setClusterPort(settings.controllerPort());
        config.setNCServicePort(NCConfig.NCSERVICE_PORT_DISABLED);
        config.setIODevices(new String[] {settings.directory()});
        config.setNetBufferCount(Engine.BUFFERS_A_CHANNEL);
        config.setResultTTL(Engine.RESULT_MILLIS);
        return config;
    }

    /** Sends a message to the controller. */
    void send(byte[] message) throws Exception {
        service.sendApplicationMessageToCC(service.getPrimaryCcId(), message, null);
    }

    /** Leaves the cluster, and stops whatever has been started; nothing of it is left. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        new Cleanup()
                .add(() -> Engine.call("stop node '%s'".formatted(name), () -> {
                    stop();
                    return this;
                }))
                .add(() -> service.getTimer().cancel())
                .add(members::close)
                .add(() -> EngineSockets.close(service))
                .run();
    }

    private void stop() throws Exception {
        if (service.getNodeRegistration() != null) {
            service.stop();
            return;
        }
        // it failed before it spoke with the controller
        IPCSystem orders = service.getIpcSystem();
        if (orders != null) {
            orders.stop();
        }
        if (service.getExecutor() != null) {
            service.getExecutor().shutdownNow();
        }
        service.getIoManager().close();
    }

    /**
     * Who may speak with a node: the controller alone gives orders, all members send rows, and
     * nobody asks for results: they go to the door as rows.
     */
    private record Doorman(NodeControllerService service, SocketAddress controller)
            implements Members.Doorman {
        @Override
        public boolean lets(int port, String member) {
            IPCSystem orders = service.getIpcSystem();
            if (orders != null && orders.getSocketAddress().getPort() == port) {
                return member.equals(ClusterIdentity.CONTROLLER);
            }
            NetworkManager rows = service.getNetworkManager();
            return rows != null
                    && rows.getLocalNetworkAddress() != null
                    && rows.getLocalNetworkAddress().getPort() == port;
        }

        /** Whoever sends rows is asked for his name when they are wanted ({@link HostedNode}). */
        @Override
        public boolean meets(SocketAddress address, String member) {
            return !address.equals(controller) || member.equals(ClusterIdentity.CONTROLLER);
        }
    }

    /** What the engine's node has of ours. */
    private static final class Application extends BaseNCApplication {
        private final HostedNode hosted;
        private final ClusterMessages messages;

        Application(HostedNode hosted, ClusterMessages messages) {
            this.hosted = hosted;
            this.messages = messages;
        }

        @Override
        public void init(IServiceContext context) throws Exception {
            super.init(context);
            context.setThreadFactory(Engine.threads("cluster node " + hosted.name()));
            // nobody but the controller may speak on the port that they come by
            context.setMessageBroker((message, _) -> messages.arrived(
                    ClusterIdentity.CONTROLLER, ((MemberMessage) message).bytes()));
        }

        @Override
        public Object getApplicationContext() {
            return hosted;
        }

        /** The controller is told before tasks are ended, so that it knows why they fail. */
        @Override
        public void preStop() throws Exception {
            NodeControllerService service =
                    (NodeControllerService) ncServiceCtx.getControllerService();
            if (service.getJobletMap().isEmpty()) {
                return;
            }
            // a sign of life behind its farewell would have it join again
            for (JobId job : service.getJobletMap().keySet()) {
                HeartbeatManager signs = service.getHeartbeatManager(job.getCcId());
                if (signs != null) {
                    signs.shutdown();
                }
            }
            try {
                service.getPrimaryClusterController().notifyShutdown(service.getId());
            } catch (IPCException e) {
                LOG.log(System.Logger.Level.INFO, "the controller is not there to be told", e);
            }
            TaskStop.run(service);
        }

        /** Whoever started the node stops it; the engine would by a hook of the JVM. */
        @Override
        public void startupCompleted() {
            // no hook
        }

        @Override
        public void stop() {
            // no hook
        }

        /** Paths lie in the only directory. */
        @Override
        public IFileDeviceResolver getFileDeviceResolver() {
            return (_, devices) -> devices.getFirst();
        }
    }
}
