package io.turbidite.ops.job;

import io.turbidite.core.Cleanup;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterController;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterNode;
import io.turbidite.ops.cluster.Placement;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.run.RunOptions;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A controller and nodes in this process, with the datasets of {@link JobFixture} among them. */
public final class HostedCluster implements AutoCloseable {
    public final ClusterController controller;
    public final List<ClusterNode> nodes = new ArrayList<>();
    public final List<MemorySource> sources = new ArrayList<>();

    /** The port on which the controller listens for nodes. */
    public final int port = freePort();

    public final ClusterAuthority authority =
            ClusterAuthority.create("test", Clock.system(), new SecureRandom());

    private final Path home;
    private final RunOptions options;

    /** Partitions of each dataset on each node: numbered alike in the whole, which has all. */
    private static final int FLIGHT_PARTITIONS = 2;

    public HostedCluster(Path directory, int nodeCount, int flights, RunOptions options)
            throws IOException {
        SerialFilter.install();
        this.home = directory;
        this.options = options;
        List<Placement.Node> placed = new ArrayList<>();
        for (int i = 0; i < nodeCount; i++) {
            placed.add(new Placement.Node(
                    "n" + i, Map.of("Flights", FLIGHT_PARTITIONS, "Airports", 1, "Uneven", 2)));
        }
        Placement placement = new Placement(placed);
        controller = ClusterController.start(
                new ClusterController.Settings(
                        directory(directory, "controller"),
                        port,
                        freePort(),
                        authority.identity(authority.issue(ClusterIdentity.CONTROLLER))),
                () -> placement);
        for (int i = 0; i < nodeCount; i++) {
            int node = i;
            MemorySource some = JobFixture.flights(
                    flights, FLIGHT_PARTITIONS, flight -> flight % nodeCount == node);
            MemorySource few = JobFixture.airports(1, airport -> airport % nodeCount == node);
            sources.add(some);
            sources.add(few);
            nodes.add(join(i));
        }
    }

    private ClusterNode join(int node) throws IOException {
        String name = "n" + node;
        return ClusterNode.start(
                new ClusterNode.Settings(
                        name,
                        directory(home, name),
                        "127.0.0.1",
                        port,
                        authority.identity(authority.issue(name))),
                JobParts.of(List.of(sources.get(2 * node), sources.get(2 * node + 1), uneven()))
                        .withOperator("pass", JobRunTestOperators.Passing::new)
                        .withOperator("fail", HostedFailureTest.Failing::new)
                        .withOperator("fatten", HostedFailureTest.Fattening::new)
                        .withOperator("endless", HostedFailureTest.Endless::new),
                options);
    }

    /** Starts a node again that was closed. */
    void joinAgain(int node) throws IOException {
        nodes.set(node, join(node));
    }

    /** A node has three partitions of it, and the placement says two. */
    static MemorySource uneven() {
        return new MemorySource(
                "Uneven", JobFixture.FLIGHT, List.of("id"), List.of(), List.of(), 3);
    }

    private static String directory(Path parent, String name) throws IOException {
        return Files.createDirectories(parent.resolve(name)).toString();
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        new Cleanup().addAll(nodes, ClusterNode::close).add(controller::close).run();
    }
}
