package io.turbidite.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.Cleanup;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterController;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterNode;
import io.turbidite.ops.cluster.Placement;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Nodes with a store on disk each answer as one store with all rows does. */
@LeaksOnPurpose("the engine keeps its threads and the log of its jobs")
class HostedStoresTest {
    private static final int NODES = 2;
    private static final int FLIGHTS = 5_000;
    private static final int PARTITIONS = 4;

    private static final List<Store> STORES = new ArrayList<>();
    private static final List<ClusterNode> MEMBERS = new ArrayList<>();
    private static final ClusterAuthority AUTHORITY =
            ClusterAuthority.create("beds", Clock.system(), new SecureRandom());

    private static int port;
    private static Path home;
    private static Store whole;
    private static ClusterController controller;

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        SerialFilter.install();
        home = directory;
        whole = store(directory.resolve("whole"), 0, 1);
        List<Placement.Node> placed = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            placed.add(new Placement.Node(
                    "n" + i, Map.of("Flights", PARTITIONS, "Airports", PARTITIONS)));
        }
        port = freePort();
        controller = ClusterController.start(
                new ClusterController.Settings(
                        made("controller"), port, freePort(), identity(ClusterIdentity.CONTROLLER)),
                () -> new Placement(placed));
        for (int i = 0; i < NODES; i++) {
            Store store = store(directory.resolve("store" + i), i, NODES);
            STORES.add(store);
            MEMBERS.add(join("n" + i, store));
        }
    }

    @AfterAll
    static void stop() {
        new Cleanup()
                .addAll(MEMBERS, ClusterNode::close)
                .add(controller::close)
                .addAll(STORES, Store::close)
                .add(whole::close)
                .run();
    }

    private static String made(String name) throws IOException {
        return Files.createDirectories(home.resolve(name)).toString();
    }

    private static ClusterIdentity identity(String name) {
        return AUTHORITY.identity(AUTHORITY.issue(name));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static ClusterNode join(String name, Store store) throws IOException {
        return ClusterNode.start(
                new ClusterNode.Settings(name, made(name), "127.0.0.1", port, identity(name)),
                JobParts.of(store.datasets()),
                RunOptions.defaults());
    }

    /** Every n-th flight and airport. */
    private static Store store(Path directory, int which, int of) {
        Store store = Store.open(directory);
        Dataset flights = store.createDataset(DatasetSpec.named("Flights")
                .field("id", "int64")
                .field("dest", "string")
                .field("tail", "string?")
                .field("delay", "int32?")
                .primaryKey("id")
                .partitions(PARTITIONS));
        flights.createIndex(IndexSpec.btree("by_dest", "dest"));
        Dataset airports = store.createDataset(DatasetSpec.named("Airports")
                .field("code", "string")
                .field("city", "string?")
                .primaryKey("code")
                .partitions(PARTITIONS));
        for (int i = which; i < FLIGHTS; i += of) {
            flights.upsert(
                    i % 7 == 0
                            ? Map.of("id", (long) i, "dest", "D" + i % 100)
                            : Map.of(
                                    "id",
                                    (long) i,
                                    "dest",
                                    "D" + i % 100,
                                    "tail",
                                    "N" + i % 1_000,
                                    "delay",
                                    i * 31 % 500 - 100));
        }
        for (int i = which; i < 80; i += of) {
            airports.upsert(Map.of("code", "D" + i, "city", "City " + i % 9));
        }
        flights.flush();
        return store;
    }

    private static List<String> lines(JobQuery query) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryResult rows = query.run()) {
            rows.forEachJson(out);
        }
        return Arrays.asList(out.toString(StandardCharsets.UTF_8).split("\n", -1));
    }

    private static void check(JobGraph graph) {
        assertThat(lines(JobQuery.of(graph).on(controller)))
                .isEqualTo(lines(JobQuery.of(graph)))
                .hasSizeGreaterThan(2);
        assertThat(MEMBERS).allSatisfy(node -> assertThat(node.jobCount()).isZero());
    }

    private static JobGraph.Builder graph() {
        return JobGraph.builder(JobParts.of(whole.datasets()));
    }

    @Test
    void groups_by_a_hash_edge_and_merged() {
        checkGroups();
    }

    private static void checkGroups() {
        check(graph().add(JobOperator.of("f", "scan")
                        .with("dataset", "Flights")
                        .with("where", "delay > 30")
                        .on(4))
                .add(JobOperator.of("g", "group")
                        .with("by", List.of("tail"))
                        .with("aggregates", List.of("count", "sum(delay)", "max(id)"))
                        .on(3))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.hash("f", "g", "tail"))
                .connect(JobConnector.merging("g", "out", "tail"))
                .build());
    }

    @Test
    void a_search_of_a_secondary_index_and_a_join_with_a_broadcast() {
        check(graph().add(JobOperator.of("s", "search")
                        .with("dataset", "Flights")
                        .with("index", "by_dest")
                        .with("where", "dest = 'D42'")
                        .on(2))
                .add(JobOperator.of("a", "scan").with("dataset", "Airports").on(2))
                .add(JobOperator.of("j", "join")
                        .with("type", "left")
                        .with("on", List.of("dest = code"))
                        .on(2))
                .add(JobOperator.of("o", "sort").with("by", List.of("id")).on(2))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.oneToOne("s", "j"))
                .connect(JobConnector.broadcast("a", "j").into(1))
                .connect(JobConnector.oneToOne("j", "o"))
                .connect(JobConnector.merging("o", "out", "id"))
                .build());
    }

    /** One instance can't read what two nodes hold: the source is cut off. */
    @Test
    void a_source_on_one_partition_reads_all_nodes() {
        check(graph().add(JobOperator.of("f", "scan").with("dataset", "Flights"))
                .add(JobOperator.of("o", "sort")
                        .with("by", List.of("delay:desc", "id"))
                        .with("limit", 50))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.oneToOne("f", "o"))
                .connect(JobConnector.oneToOne("o", "out"))
                .build());
    }

    /** They have connected to the port for nodes before, and hold it open. */
    @Test
    void jobs_run_while_a_hundred_strangers_say_nothing_and_others_say_anything()
            throws IOException {
        List<Socket> strangers = new ArrayList<>();
        Random random = new Random(5);
        try {
            for (int i = 0; i < 100; i++) {
                Socket stranger = new Socket();
                stranger.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
                strangers.add(stranger);
                if (i % 10 == 0) {
                    byte[] noise = new byte[1_000];
                    random.nextBytes(noise);
                    OutputStream out = stranger.getOutputStream();
                    out.write(noise);
                }
            }
            MEMBERS.getFirst().close();
            MEMBERS.set(0, join("n0", STORES.getFirst()));
            checkGroups();
            assertThat(controller.refusedCount()).isPositive();
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }
}
