package io.turbidite.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.run.ControllerProcess;
import io.turbidite.feeds.cluster.run.ControllerRun;
import io.turbidite.feeds.cluster.run.NodeProcess;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterMessages;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Changes of a cluster go over the engine's connections, and jobs run over what they made. */
@LeaksOnPurpose("the engine keeps its threads and the log of its jobs")
class ClusterProcessTest {
    private static final long CLUSTER = 0xC1;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration EVERY = Duration.ofMillis(50);

    private final ClusterAuthority authority =
            ClusterAuthority.create("beds", Clock.system(), new SecureRandom());
    private final Tasks tasks = ThreadTasks.create("cluster");
    private final Map<String, Store> stores = new TreeMap<>();
    private final Map<String, NodeProcess> nodes = new TreeMap<>();

    @TempDir
    Path home;

    private int port;
    private int idlePort;
    private ControllerProcess controller;
    private @Nullable DatasetDefinition made;

    @BeforeEach
    void start() throws IOException {
        SerialFilter.install();
        port = freePort();
        idlePort = freePort();
        controller = startController();
        for (String node : List.of("n1", "n2")) {
            controller.changes().change(new NodeAdded(node), PATIENCE);
            startNode(node);
            await("all have it", () -> controller.changes().behind().isEmpty());
        }
    }

    @AfterEach
    void stop() {
        new Cleanup()
                .addAll(List.copyOf(nodes.keySet()), this::endNode)
                .add(controller::close)
                .add(tasks::close)
                .run();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private ControllerProcess startController() {
        return ControllerProcess.start(
                new ControllerProcess.Settings(
                        home.resolve("controller"),
                        port,
                        idlePort,
                        authority.identity(authority.issue(ClusterIdentity.CONTROLLER)),
                        CLUSTER,
                        new ControllerRun.Settings(EVERY, Duration.ofSeconds(10))),
                tasks,
                Clock.system());
    }

    private void startNode(String name) {
        Store store = Store.open(home.resolve(name).resolve("store"));
        try {
            nodes.put(
                    name,
                    NodeProcess.start(
                            new NodeProcess.Settings(
                                    name,
                                    home.resolve(name),
                                    "127.0.0.1",
                                    port,
                                    authority.identity(authority.issue(name)),
                                    CLUSTER,
                                    EVERY,
                                    RunOptions.defaults()),
                            store,
                            tasks,
                            Clock.system()));
            stores.put(name, store);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
    }

    private void endNode(String name) {
        new Cleanup()
                .add(nodes.remove(name)::close)
                .add(stores.remove(name)::close)
                .run();
    }

    private void await(String what, BooleanSupplier condition) {
        long end = Clock.system().monotonicNanos() + TimeUnit.SECONDS.toNanos(30);
        tasks.await(() -> {
            if (Clock.system().monotonicNanos() > end) {
                throw new AssertionError("it takes too long until " + what);
            }
            return condition.getAsBoolean();
        });
    }

    private void awaitAllServe() {
        await(
                "all serve",
                () -> controller.changes().behind().isEmpty()
                        && nodes.values().stream()
                                .allMatch(node -> node.changes().isServing()
                                        && node.changes().number()
                                                == controller.changes().number()));
    }

    /** As a store has it that is no node's. */
    private DatasetDefinition trips() {
        DatasetDefinition before = made;
        if (before != null) {
            return before;
        }
        try (Store other = Store.open(home.resolve("other"))) {
            Dataset trips = other.createDataset(DatasetSpec.named("Trips")
                    .field("id", "int64")
                    .field("city", "string")
                    .primaryKey("id")
                    .partitions(5));
            trips.createIndex(IndexSpec.btree("by_city", "city"));
            made = StoreCatalog.of(other, false).describe("Trips");
            return made;
        }
    }

    private DatasetCreated created() {
        DatasetDefinition with = trips();
        return DatasetCreated.inTurn(
                new DatasetDefinition(
                        with.name(),
                        with.type(),
                        with.primaryKey(),
                        with.filterFields(),
                        with.partitions(),
                        with.options(),
                        List.of()),
                controller.changes().map());
    }

    private long change(Change change) {
        return controller.changes().change(change, PATIENCE);
    }

    private long count(String operator, Map<String, Object> settings) {
        return count(graph(operator, settings));
    }

    private long count(JobGraph graph) {
        try (QueryResult rows = JobQuery.of(graph).on(controller.jobs()).run()) {
            return rows.count();
        }
    }

    private JobGraph graph(String operator, Map<String, Object> settings) {
        JobOperator source =
                JobOperator.of("trips", operator).with("dataset", "Trips").on(5);
        for (Map.Entry<String, Object> setting : settings.entrySet()) {
            source = source.with(setting.getKey(), setting.getValue());
        }
        return JobGraph.builder(JobParts.of(stores.get("n1").datasets()))
                .add(source)
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.roundRobin("trips", "out"))
                .build();
    }

    @Test
    void what_changes_make_is_on_all_nodes_and_jobs_read_it_also_after_a_restart_of_all() {
        change(created());
        stores.forEach((node, store) -> {
            for (long id = 0; id < 100; id++) {
                store.dataset("Trips").upsert(Map.of("id", id, "city", node));
            }
        });
        assertThat(count("scan", Map.of())).isEqualTo(200);
        IndexDefinition byCity = trips().indexes().getFirst();
        long number = change(new IndexCreated("Trips", byCity));
        awaitAllServe();
        Map<String, Object> search = Map.of("index", "by_city", "where", "city = 'n2'");
        assertThat(count("search", search)).isEqualTo(100);
        for (String node : List.of("n1", "n2")) {
            endNode(node);
        }
        controller.close();
        controller = startController();
        assertThat(controller.changes().number()).isEqualTo(number);
        startNode("n1");
        startNode("n2");
        awaitAllServe();
        assertThat(count("search", search)).isEqualTo(100);
    }

    /** A job that a node refuses, since it has another change, is made anew by the controller. */
    @Test
    void jobs_go_on_while_the_schema_changes() {
        change(created());
        for (long id = 0; id < 100; id++) {
            stores.get(id % 2 == 0 ? "n1" : "n2")
                    .dataset("Trips")
                    .upsert(Map.of("id", id, "city", "x"));
        }
        IndexDefinition byCity = trips().indexes().getFirst();
        for (int i = 0; i < 20; i++) {
            change(new IndexCreated("Trips", byCity));
            assertThat(count("scan", Map.of())).isEqualTo(100);
            change(new IndexDropped("Trips", byCity.name()));
            assertThat(count("scan", Map.of())).isEqualTo(100);
        }
    }

    /** Its rows would be read by the fields of before. */
    @Test
    void a_job_that_was_made_before_its_dataset_was_made_anew_with_other_fields_is_refused() {
        change(created());
        awaitAllServe();
        stores.get("n1").dataset("Trips").upsert(Map.of("id", 1L, "city", "x"));
        JobGraph before = graph("scan", Map.of());
        assertThat(count(before)).isEqualTo(1);
        change(new DatasetDropped("Trips"));
        DatasetDefinition then = trips();
        try (Store other = Store.open(home.resolve("others"))) {
            other.createDataset(DatasetSpec.named("Trips")
                    .field("city", "string")
                    .field("id", "int64")
                    .primaryKey("city")
                    .partitions(5));
            made = StoreCatalog.of(other, false).describe("Trips");
        }
        change(created());
        awaitAllServe();
        stores.get("n1").dataset("Trips").upsert(Map.of("id", 1L, "city", "x"));
        assertThatThrownBy(() -> count(before))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("dataset 'Trips' was made anew with other fields or another key since"
                        + " the job was made: make the job anew");
        assertThat(count("scan", Map.of())).isEqualTo(1);
        made = then;
        change(new DatasetDropped("Trips"));
        change(created());
        awaitAllServe();
        assertThat(count(before)).as("it is as it was").isZero();
    }

    @Test
    void a_change_needs_all_nodes_and_names_the_one_that_has_left() {
        endNode("n2");
        await("n2 is away", () -> {
            try {
                controller.changes().change(created(), Duration.ofMillis(100));
                return false;
            } catch (InvalidRequestException e) {
                return String.valueOf(e.getMessage()).endsWith("and n2 is away");
            }
        });
        assertThat(stores.get("n1").datasets()).isEmpty();
        startNode("n2");
        awaitAllServe();
        change(created());
        awaitAllServe();
        change(new DatasetDropped("Trips"));
        awaitAllServe();
        assertThat(stores.get("n2").datasets()).isEmpty();
    }

    @Test
    void a_store_that_lacks_what_the_cluster_made_is_told_and_its_node_does_not_start() {
        change(created());
        awaitAllServe();
        stores.get("n2").dropDataset("Trips");
        endNode("n2");
        assertThatThrownBy(() -> startNode("n2"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("the store of node 'n2' is not what change 3 of the cluster says: it"
                        + " lacks dataset 'Trips'");
        Store store = Store.open(home.resolve("n2").resolve("store"));
        store.createDataset(DatasetSpec.named("Own").field("id", "int64").primaryKey("id"));
        store.createDataset(DatasetSpec.named("Trips")
                .field("id", "int64")
                .field("city", "string")
                .primaryKey("id")
                .partitions(2));
        store.close();
        startNode("n2");
        awaitAllServe();
    }

    @Test
    void messages_are_bounded_and_one_to_nobody_is_lost() {
        assertThatThrownBy(
                        () -> controller.jobs().send("n1", new byte[ClusterMessages.BYTES_MAX + 1]))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("a message to 'n1' has 1044481 bytes, and may have 1044480");
        long lost = controller.jobs().lostMessageCount();
        controller.jobs().send("n9", new byte[10]);
        // what is no message of the protocol is dropped, and the longest one arrives
        controller.jobs().send("n1", new byte[ClusterMessages.BYTES_MAX]);
        nodes.get("n1").jobs().send(new byte[ClusterMessages.BYTES_MAX]);
        await(
                "both have come",
                () -> nodes.get("n1").changes().refusedCount() == 1
                        && controller.changes().refusedCount() == 1);
        awaitAllServe();
        await("one is lost", () -> controller.jobs().lostMessageCount() == lost + 1);
    }

    @Test
    void a_node_that_holds_nothing_is_in_no_job_and_in_nobodys_way() {
        change(created());
        stores.get("n1").dataset("Trips").upsert(Map.of("id", 1L, "city", "x"));
        change(new NodeAdded("a0"));
        assertThat(count("scan", Map.of())).isEqualTo(1);
        startNode("a0");
        awaitAllServe();
        assertThat(count("scan", Map.of())).isEqualTo(1);
        assertThatThrownBy(() -> change(new NodeAdded("door")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("can't add node 'door': that is the controller's process");
    }

    @Test
    void a_directory_is_one_process_s() {
        assertThatThrownBy(this::startController).isInstanceOf(StoreInUseException.class);
        change(created());
        controller.close();
        controller = startController();
        awaitAllServe();
        assertThat(controller.changes().map().datasets()).containsOnlyKeys("Trips");
    }

    @Test
    void a_node_closes_soon_though_its_controller_is_gone() throws Exception {
        controller.close();
        // its messages have no way now
        assertThat(new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS)).isFalse();
        Thread closing = new Thread(() -> List.copyOf(nodes.keySet()).forEach(this::endNode));
        closing.start();
        closing.join(TimeUnit.SECONDS.toMillis(60));
        assertThat(closing.isAlive()).isFalse();
        controller = startController();
    }
}
