package io.turbidite.feeds.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Which changes fit a cluster, and what is said of those that don't. */
class ClusterMapTest {
    private static final ClusterMap MAP = after(Changes.all());

    private static ClusterMap after(List<Change> changes) {
        ClusterMap map = ClusterMap.EMPTY;
        for (Change change : changes) {
            map = map.with(change);
        }
        return map;
    }

    private static void refused(Change change, String why) {
        assertThatThrownBy(() -> MAP.with(change))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(why);
    }

    private static DatasetCreated placed(int partitions, Map<String, List<Integer>> placement) {
        return new DatasetCreated(Changes.dataset("New", partitions), new TreeMap<>(placement));
    }

    @Test
    void a_map_is_what_its_changes_say() {
        assertThat(MAP.nodes()).containsExactly("n1", "n2");
        assertThat(MAP.datasets()).containsOnlyKeys("Trips");
        assertThat(MAP.datasets().get("Trips")).satisfies(trips -> {
            assertThat(trips.owners()).containsExactly("n1", "n2", "n2");
            assertThat(trips.definition().indexes())
                    .extracting(IndexDefinition::name)
                    .containsExactly("by_two");
        });
    }

    @Test
    void each_partition_has_one_owner_that_is_there() {
        refused(
                placed(2, Map.of("n1", List.of(0, 1), "n2", List.of(1))),
                "can't create dataset 'New': partition 1 has two owners, 'n1' and 'n2'");
        refused(
                placed(2, Map.of("n1", List.of(0, 0, 1))),
                "can't create dataset 'New': partition 0 has two owners, 'n1' and 'n1'");
        refused(
                placed(3, Map.of("n1", List.of(0, 2))),
                "can't create dataset 'New': partition 1 has no owner");
        refused(
                placed(1, Map.of("n3", List.of(0))),
                "can't create dataset 'New': there is no node 'n3'");
        refused(
                placed(2, Map.of("n1", List.of(0, 1, 2))),
                "can't create dataset 'New': there is no partition 2: it has 2, from 0");
        refused(
                placed(2, Map.of("n1", List.of(-1))),
                "can't create dataset 'New': there is no partition -1: it has 2, from 0");
    }

    @Test
    void a_dataset_has_1_to_256_partitions() {
        refused(
                placed(0, Map.of()),
                "can't create dataset 'New': it can have 1 to 256 partitions, and not 0");
        refused(
                DatasetCreated.inTurn(Changes.dataset("New", 257), MAP),
                "can't create dataset 'New': it can have 1 to 256 partitions, and not 257");
        assertThat(ClusterMap.partitionsFor(1)).isEqualTo(16);
        assertThat(ClusterMap.partitionsFor(5)).isEqualTo(20);
        assertThat(ClusterMap.partitionsFor(1_000)).isEqualTo(256);
    }

    @Test
    void partitions_go_to_the_nodes_in_turn() {
        assertThat(DatasetCreated.inTurn(Changes.dataset("New", 5), MAP).placement())
                .isEqualTo(Map.of("n1", List.of(0, 2, 4), "n2", List.of(1, 3)));
        assertThatThrownBy(() -> DatasetCreated.inTurn(Changes.dataset("New", 5), ClusterMap.EMPTY))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("the cluster has none");
    }

    @Test
    void no_secondary_is_unique() {
        String why = "index 'u' can't be unique on a cluster: another record with its key may be"
                + " on another node";
        refused(
                new IndexCreated("Trips", Changes.index("u", true)),
                "can't create index 'u' of dataset 'Trips': " + why);
        DatasetDefinition plain = Changes.dataset("New", 1);
        refused(
                DatasetCreated.inTurn(
                        new DatasetDefinition(
                                "New",
                                plain.type(),
                                plain.primaryKey(),
                                plain.filterFields(),
                                1,
                                plain.options(),
                                List.of(Changes.index("u", true))),
                        MAP),
                "can't create dataset 'New': " + why);
    }

    @Test
    void what_is_not_there_does_not_go_and_what_is_there_does_not_come() {
        refused(new NodeAdded("n1"), "can't add node 'n1': there is a node of this name");
        refused(
                DatasetCreated.inTurn(Changes.dataset("Trips", 1), MAP),
                "can't create dataset 'Trips': there is a dataset of this name");
        refused(
                DatasetCreated.inTurn(Changes.dataset("_own", 1), MAP),
                "can't create dataset '_own': names that begin with '_' are the store's own");
        refused(
                new DatasetDropped("Gone"),
                "can't drop dataset 'Gone': there is no dataset of this name");
        refused(
                new IndexCreated("Gone", Changes.index("i")),
                "can't create index 'i' of dataset 'Gone': there is no dataset of this name");
        refused(
                new IndexCreated("Trips", Changes.index("by_two")),
                "can't create index 'by_two' of dataset 'Trips': there is an index of this name");
        refused(
                new IndexDropped("Trips", "by_lang"),
                "can't drop index 'by_lang' of dataset 'Trips': there is no index of this name");
    }

    @Test
    void a_partition_moves_from_its_owner_to_another_node() {
        String move = "can't move partition %d of dataset 'Trips' from '%s' to '%s': ";
        refused(
                new PartitionMoved("Trips", 0, "n2", "n1"),
                move.formatted(0, "n2", "n1") + "its owner is 'n1'");
        refused(
                new PartitionMoved("Trips", 0, "n1", "n1"),
                move.formatted(0, "n1", "n1") + "it is there already");
        refused(
                new PartitionMoved("Trips", 0, "n1", "n3"),
                move.formatted(0, "n1", "n3") + "there is no node 'n3'");
        refused(
                new PartitionMoved("Trips", 3, "n1", "n2"),
                move.formatted(3, "n1", "n2") + "there is no partition 3: it has 3, from 0");
    }

    @Test
    void names_are_names() {
        assertThatThrownBy(() -> new NodeAdded("no/de"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("node name 'no/de' must be");
    }
}
