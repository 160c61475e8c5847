package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.cluster.agree.NodeSchema;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Processes with real stores agree on their changes, whoever ends and whatever line is cut. */
class ClusterRunTest {
    private static final String TEST = "ClusterRunTest";
    private static final int NODES = 3;
    private static final int STEPS = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(300);

    /** A change, a cut, a change that can't be, a node's end, the controller's, and all again. */
    private static final int[] SURE = {0, 60, 0, 85, 99, 70, 90};

    @TempDir
    Path home;

    private static Change created(String name, ClusterMap map) {
        return DatasetCreated.inTurn(StoreSchemaTest.trips(name, 5), map);
    }

    @Test
    void a_change_comes_to_all_stores_and_is_there_after_all_have_started_anew() {
        try (ClusterOfStores cluster =
                new ClusterOfStores(home, NODES, 1, UnaryOperator.identity())) {
            ControllerRun controller = cluster.controller();
            assertThat(controller.change(created("Trips", controller.map()), PATIENCE))
                    .isEqualTo(NODES + 1);
            for (String node : cluster.names()) {
                cluster.store(node).dataset("Trips").upsert(Map.of("id", 1L, "city", node));
            }
            controller.change(
                    new IndexCreated("Trips", StoreSchemaTest.byCity("by_city")), PATIENCE);
            cluster.heal();
            cluster.check();
            assertThat(cluster.catalog("n1").describe("Trips").partitions()).isEqualTo(2);
            assertThat(cluster.catalog("n3").describe("Trips").partitions()).isEqualTo(1);
            for (String node : List.copyOf(cluster.names())) {
                cluster.end(node);
            }
            cluster.restartController();
            cluster.heal();
            cluster.check();
            assertThat(cluster.store("n2").dataset("Trips").get(1L)).containsEntry("city", "n2");
        }
    }

    @Test
    void a_node_that_was_away_gets_what_it_missed_and_a_change_without_it_is_refused() {
        try (ClusterOfStores cluster =
                new ClusterOfStores(home, NODES, 2, UnaryOperator.identity())) {
            ControllerRun controller = cluster.controller();
            cluster.cut("n2");
            assertThatThrownBy(() -> controller.change(created("Trips", controller.map()), SHORT))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("can't create dataset 'Trips': not all nodes were ready"
                            + " within 300 ms: ")
                    .hasMessageContaining("n2");
            cluster.end("n2");
            cluster.await("it is away", () -> isAway(controller));
            cluster.join("n2");
            cluster.heal();
            controller.change(created("Trips", controller.map()), PATIENCE);
            cluster.end("n2");
            cluster.start("n2");
            cluster.heal();
            cluster.check();
        }
    }

    private static boolean isAway(ControllerRun controller) {
        try {
            controller.change(created("Never", controller.map()), SHORT);
            return false;
        } catch (InvalidRequestException e) {
            return String.valueOf(e.getMessage())
                    .endsWith("a change needs all nodes, and n2 is away");
        }
    }

    @Test
    void what_one_store_refuses_is_refused_everywhere_in_its_words() {
        try (ClusterOfStores cluster =
                new ClusterOfStores(home, NODES, 3, UnaryOperator.identity())) {
            ControllerRun controller = cluster.controller();
            controller.change(created("Trips", controller.map()), PATIENCE);
            IndexDefinition wrong = new IndexDefinition(
                    "wrong",
                    IndexDescription.Kind.BTREE,
                    List.of("no_field"),
                    false,
                    Map.of(),
                    IndexDefinition.READY);
            assertThatThrownBy(() -> controller.change(new IndexCreated("Trips", wrong), PATIENCE))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith(
                            "can't create index 'wrong' of dataset 'Trips': node 'n")
                    .hasMessageContaining("no_field");
            cluster.heal();
            cluster.check();
            assertThat(controller.number()).isEqualTo(NODES + 1);
        }
    }

    @Test
    void bytes_that_are_no_message_are_counted_and_nothing_else() {
        try (ClusterOfStores cluster = new ClusterOfStores(home, 1, 4, UnaryOperator.identity())) {
            cluster.controller().arrived("n1", new byte[40]);
            cluster.node("n1").arrived("nothing".getBytes(StandardCharsets.UTF_8));
            assertThat(cluster.controller().refusedCount()).isEqualTo(1);
            assertThat(cluster.node("n1").refusedCount()).isEqualTo(1);
            cluster.controller().change(created("Trips", cluster.controller().map()), PATIENCE);
        }
    }

    @Test
    void an_argument_that_nothing_can_be_made_of_is_refused_and_ends_nothing() {
        try (ClusterOfStores cluster = new ClusterOfStores(home, 1, 5, UnaryOperator.identity())) {
            ControllerRun controller = cluster.controller();
            Change change = created("Trips", controller.map());
            for (Duration no : List.of(Duration.ofSeconds(Long.MAX_VALUE), Duration.ofMillis(-1))) {
                assertThatThrownBy(() -> controller.change(change, no))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessage("can't create dataset 'Trips': its limit may be 0 to 292 years,"
                                + " and not " + no);
            }
            Change tooLong = new IndexCreated(
                    "Trips",
                    new IndexDefinition(
                            "wide",
                            IndexDescription.Kind.BTREE,
                            List.of("city"),
                            false,
                            Map.of("option", "x".repeat(70_000)),
                            IndexDefinition.READY));
            assertThatThrownBy(() -> controller.change(tooLong, PATIENCE))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageEndingWith("a name or option is too long");
            assertThat(controller.stopped()).isNull();
            controller.change(change, Duration.ofNanos(Long.MAX_VALUE));
        }
    }

    @Test
    void all_stores_are_alike_in_the_end() {
        long base = Seeds.of(TEST);
        int runs = Seeds.isReplay() ? 1 : Tier.count(1, 2, 40);
        Map<String, Integer> met = new TreeMap<>();
        for (int i = 0; i < runs; i++) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, i);
            try {
                run(home.resolve("run" + i), seed, UnaryOperator.identity(), met);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "%s; %s; %s".formatted(e.getMessage(), met, Seeds.replay(TEST, seed)), e);
            }
        }
        System.out.printf("%s: %s%n", TEST, met);
        if (!Seeds.isReplay()) {
            assertThat(met)
                    .containsKeys("controller anew", "cut", "node ends", "recorded", "refused");
        }
    }

    /** A node takes the numbers of drops, and drops nothing. */
    private record Forgetful(NodeSchema schema) implements NodeSchema {
        @Override
        public long applied() {
            return schema.applied();
        }

        @Override
        public long chain() {
            return schema.chain();
        }

        @Override
        public void checkFits(List<Entry> missing) {
            schema.checkFits(missing);
        }

        @Override
        public @Nullable String prepare(Entry entry, ClusterMap before) {
            return schema.prepare(entry, before);
        }

        @Override
        public void discard() {
            schema.discard();
        }

        @Override
        public void apply(Entry entry, ClusterMap before) {
            schema.apply(
                    entry.change() instanceof DatasetDropped
                                    || entry.change() instanceof IndexDropped
                            ? new Entry(entry.number(), entry.chain(), new NodeAdded("nobody"))
                            : entry,
                    before);
        }
    }

    @Test
    void stores_that_do_not_apply_are_found() {
        assertThatThrownBy(() -> run(home, 7, Forgetful::new, new TreeMap<>()))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("is not what change");
    }

    private void run(Path at, long seed, UnaryOperator<NodeSchema> bent, Map<String, Integer> met) {
        SplittableRandom random = new SplittableRandom(seed);
        try (ClusterOfStores cluster = new ClusterOfStores(at, NODES, seed, bent)) {
            cluster.losesMail = true;
            for (int i = 0; i < STEPS; i++) {
                met.merge(step(cluster, random, i), 1, Integer::sum);
            }
            cluster.heal();
            cluster.check();
            ControllerRun controller = cluster.controller();
            controller.change(created("Last", controller.map()), PATIENCE);
            cluster.heal();
            cluster.check();
        }
    }

    private static String step(ClusterOfStores cluster, SplittableRandom random, int number) {
        String node = "n" + random.nextInt(1, NODES + 1);
        // one of each at least, and the rest by chance
        int what = number < SURE.length ? SURE[number] : random.nextInt(100);
        if (what < 55) {
            return propose(cluster, random, "d" + number);
        } else if (what < 62) {
            cluster.cut(node);
            return "cut";
        } else if (what < 82) {
            cluster.names().forEach(cluster::join);
            return "joined";
        } else if (what < 86) {
            cluster.end(node);
            return "node ends";
        } else if (what < 96) {
            cluster.names().stream()
                    .filter(name -> !cluster.isUp(name))
                    .toList()
                    .forEach(cluster::start);
            return "nodes start";
        }
        cluster.restartController();
        return "controller anew";
    }

    private static String propose(ClusterOfStores cluster, SplittableRandom random, String name) {
        if (cluster.isWhole() && random.nextInt(3) > 0) {
            cluster.settle();
        }
        ClusterMap map = cluster.controller().map();
        try {
            cluster.controller()
                    .change(any(random, map, name), cluster.isWhole() ? PATIENCE : SHORT);
            return "recorded";
        } catch (InvalidRequestException e) {
            return "refused";
        } catch (StoreFailedException e) {
            throw new AssertionError("no disk has failed", e);
        } catch (StorageException e) {
            throw new AssertionError("not expected", e);
        }
    }

    private static Change any(SplittableRandom random, ClusterMap map, String name) {
        List<PlacedDataset> all = List.copyOf(map.datasets().values());
        if (all.isEmpty() || random.nextInt(3) == 0) {
            return created(name, map);
        }
        PlacedDataset placed = all.get(random.nextInt(all.size()));
        String dataset = placed.definition().name();
        List<IndexDefinition> indexes = placed.definition().indexes();
        return switch (random.nextInt(4)) {
            case 0 -> new DatasetDropped(dataset);
            case 1 ->
                indexes.isEmpty()
                        ? new DatasetDropped(dataset)
                        : new IndexDropped(dataset, indexes.getFirst().name());
            default -> new IndexCreated(dataset, StoreSchemaTest.byCity("i" + name));
        };
    }
}
