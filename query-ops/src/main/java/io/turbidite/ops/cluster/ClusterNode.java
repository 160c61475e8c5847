package io.turbidite.ops.cluster;

import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.io.IFileDeviceResolver;
import org.apache.hyracks.control.common.controllers.NCConfig;
import org.apache.hyracks.control.nc.BaseNCApplication;
import org.apache.hyracks.control.nc.NodeControllerService;
import org.apache.hyracks.control.nc.net.NetworkManager;
import org.apache.hyracks.ipc.impl.IPCSystem;

/**
 * A node of a cluster in this process: runs the stages of jobs over the datasets that it holds.
 * <em>Thread-safe.</em>
 *
 * <p>The engine's threads that wait for connections are daemons and end with the process.
 */
public final class ClusterNode implements AutoCloseable {
    private final NodeControllerService service;
    private final HostedNode hosted;

    private ClusterNode(NodeControllerService service, HostedNode hosted) {
        this.service = service;
        this.hosted = hosted;
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
     * @throws ClusterException if it can't start, or the controller can't be reached or refuses it
     */
    public static ClusterNode start(Settings settings, JobParts parts, RunOptions options) {
        settings.identity().checkName(settings.name());
        HostedNode hosted = new HostedNode(settings.name(), parts, options);
        return new ClusterNode(start(settings, hosted), hosted);
    }

    static NodeControllerService start(Settings settings, HostedNode hosted) {
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
        return Engine.call("start node '%s'".formatted(settings.name()), () -> {
            NodeControllerService service =
                    new NodeControllerService(config, new Application(hosted));
            Engine.secure(
                    NodeControllerService.class,
                    service,
                    new Members(
                            settings.identity(), (port, member) -> lets(service, port, member)));
            service.start();
            return service;
        });
    }

    /**
     * The controller alone may give orders, all members send rows, and nobody asks for results:
     * they go to the door as rows.
     */
    private static boolean lets(NodeControllerService service, int port, String member) {
        IPCSystem orders = service.getIpcSystem();
        if (orders != null && orders.getSocketAddress().getPort() == port) {
            return member.equals(ClusterIdentity.CONTROLLER);
        }
        NetworkManager rows = service.getNetworkManager();
        return rows != null && rows.getLocalNetworkAddress().getPort() == port;
    }

    /** How many jobs hold something on it. */
    public int jobCount() {
        return hosted.jobCount();
    }

    /** Leaves the cluster; jobs that need it fail. */
    @Override
    public void close() {
        Engine.call("stop node '%s'".formatted(hosted.name()), () -> {
            service.stop();
            return hosted;
        });
    }

    /** What the engine's node has of ours. */
    private static final class Application extends BaseNCApplication {
        private final HostedNode hosted;

        Application(HostedNode hosted) {
            this.hosted = hosted;
        }

        @Override
        public Object getApplicationContext() {
            return hosted;
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
