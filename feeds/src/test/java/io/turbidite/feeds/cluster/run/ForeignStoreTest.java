package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.cluster.agree.Message;
import io.turbidite.feeds.cluster.agree.NodeLog;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.ChangeLog;
import io.turbidite.feeds.cluster.change.Changes;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the cluster did not make in a store is safe from its changes. */
@LeaksOnPurpose("processes end with files open")
class ForeignStoreTest {
    private static final String NAME = "APPLIED";
    private static final String LOG = "CHANGES";
    private static final long CLUSTER = 0xC4;

    @TempDir
    Path directory;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final List<Entry> entries = new ArrayList<>();
    private ClusterMap map = ClusterMap.EMPTY;
    private Store store;
    private Catalog catalog;
    private StoreSchema schema;

    @BeforeEach
    void open() {
        store = Store.open(directory);
        catalog = StoreCatalog.of(store, false);
        schema = StoreSchema.open(disk, NAME, CLUSTER, "n1", catalog);
        if (entries.isEmpty()) {
            run(new NodeAdded("n1"));
            run(new NodeAdded("n2"));
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Entry next(Change change) {
        return entries.isEmpty()
                ? Entry.after(0, Entry.CHAIN_START, change)
                : Entry.after(entries.size(), entries.getLast().chain(), change);
    }

    private void recorded(Entry entry) {
        map = map.with(entry.change());
        entries.add(entry);
    }

    private void run(Change change) {
        Entry entry = next(change);
        assertThat(schema.prepare(entry, map)).isNull();
        schema.apply(entry, map);
        recorded(entry);
    }

    private void own(String name) {
        store.createDataset(DatasetSpec.named(name).field("id", "int64").primaryKey("id"));
        store.dataset(name).upsert(Map.of("id", 7L));
    }

    private void isSafe(String name) {
        assertThat(store.dataset(name).get(7L)).containsEntry("id", 7L);
    }

    private static Change trips() {
        return new DatasetCreated(
                StoreSchemaTest.trips("Trips", 3),
                new TreeMap<>(Map.of("n1", List.of(0, 2), "n2", List.of(1))));
    }

    private static Change far() {
        return new DatasetCreated(
                StoreSchemaTest.trips("Far", 2), new TreeMap<>(Map.of("n2", List.of(0, 1))));
    }

    private static String already(String name) {
        return "its store has dataset '%s' already, which no change of the cluster has created"
                .formatted(name);
    }

    private NodeLog openCopy(List<Entry> copied) {
        ChangeLog.replace(disk, LOG, CLUSTER, copied, Epoch.NONE).close();
        return NodeLog.open(disk, LOG, CLUSTER, schema, 1);
    }

    @Test
    void changes_of_a_dataset_that_lies_elsewhere_leave_the_stores_own_of_that_name() {
        run(far());
        own("Far");
        Change index = new IndexCreated("Far", StoreSchemaTest.byCity("by_city"));
        assertThat(schema.prepare(next(index), map)).isEqualTo(already("Far"));
        Entry drop = next(new DatasetDropped("Far"));
        assertThat(schema.prepare(drop, map)).isEqualTo(already("Far"));
        schema.apply(drop, map);
        isSafe("Far");
    }

    @Test
    void what_took_the_place_of_a_clusters_dataset_is_not_dropped() {
        run(trips());
        store.dropDataset("Trips");
        own("Trips");
        Entry drop = next(new DatasetDropped("Trips"));
        assertThat(schema.prepare(drop, map)).isEqualTo(already("Trips"));
        schema.apply(drop, map);
        isSafe("Trips");
    }

    /** All that a definition can have comes back from the store as it was given. */
    @Test
    void a_dataset_of_the_cluster_is_known_whatever_its_fields_are() {
        DatasetDefinition rich = Changes.dataset("Rich", 2);
        run(new DatasetCreated(rich, new TreeMap<>(Map.of("n1", List.of(0), "n2", List.of(1)))));
        store.close();
        open();
        schema.check(map);
        run(new DatasetDropped("Rich"));
        assertThat(catalog.datasets()).isEmpty();
    }

    @Test
    void a_name_that_the_store_has_is_refused_also_where_the_dataset_comes_to_others() {
        own("Far");
        Entry entry = next(far());
        assertThat(schema.prepare(entry, map)).isEqualTo(already("Far"));
        assertThatThrownBy(() -> schema.apply(entry, map))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'Far' (change 3)")
                .hasMessageEndingWith("if the datasets are your own, move them away first");
        assertThat(schema.applied()).isEqualTo(2);
        isSafe("Far");
    }

    @Test
    void a_node_whose_note_was_lost_does_not_open_and_its_store_is_as_it_was() {
        run(new DatasetCreated(
                StoreSchemaTest.trips("Gone", 1), new TreeMap<>(Map.of("n1", List.of(0)))));
        run(new DatasetDropped("Gone"));
        run(trips());
        store.dataset("Trips").upsert(Map.of("id", 1L, "city", "Beds"));
        recorded(next(new DatasetDropped("Trips")));
        disk.delete(NAME);
        schema = StoreSchema.open(disk, NAME, CLUSTER, "n1", catalog);
        int open = disk.openHandleCount();
        assertThatThrownBy(() -> openCopy(entries))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("the store of node 'n1' has datasets that the cluster"
                        + " creates, and no note that the cluster made them here: 'Trips'"
                        + " (change 5). The last change that its note (cluster/APPLIED) tells of"
                        + " is 0: ");
        assertThat(disk.openHandleCount()).as("files that are open").isEqualTo(open);
        assertThat(schema.applied()).isZero();
        assertThat(catalog.datasets()).extracting(one -> one.name()).containsExactly("Trips");
        assertThat(store.dataset("Trips").get(1L)).containsEntry("city", "Beds");
    }

    @Test
    void an_old_note_of_what_was_prepared_drops_no_records() {
        Entry entry = next(trips());
        assertThat(schema.prepare(entry, map)).isNull();
        byte[] old = disk.content(NAME);
        schema.apply(entry, map);
        recorded(entry);
        store.dataset("Trips").upsert(Map.of("id", 1L, "city", "Beds"));
        store.close();
        disk.put(NAME, old);
        open();
        assertThat(store.dataset("Trips").get(1L)).containsEntry("city", "Beds");
        assertThatThrownBy(() -> openCopy(entries))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'Trips' (change 3)");
        assertThat(store.dataset("Trips").get(1L)).containsEntry("city", "Beds");
    }

    @Test
    void a_store_that_is_empty_gets_all_changes_anew() {
        run(trips());
        store.dropDataset("Trips");
        disk.delete(NAME);
        schema = StoreSchema.open(disk, NAME, CLUSTER, "n1", catalog);
        try (NodeLog log = openCopy(entries)) {
            assertThat(log.number()).isEqualTo(3);
            schema.check(map);
        }
    }

    @Test
    void a_change_of_the_same_number_of_another_log_is_told() {
        run(trips());
        Entry other = Entry.after(2, entries.get(1).chain(), far());
        int open = disk.openHandleCount();
        assertThatThrownBy(() -> openCopy(List.of(entries.get(0), entries.get(1), other)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("the store has another change 3 of the cluster than the"
                        + " copy of its log: one of the two is an old copy");
        assertThat(disk.openHandleCount()).as("files that are open").isEqualTo(open);
        // a copy that has not come to it yet
        try (NodeLog log = openCopy(entries.subList(0, 2))) {
            assertThat(log.number()).isEqualTo(2);
        }
        assertThat(schema.chain()).isEqualTo(entries.getLast().chain());
    }

    @Test
    void a_copy_that_comes_again_must_come_to_the_change_that_the_store_has() {
        run(trips());
        Epoch epoch = Epoch.NONE.next(5);
        Entry other = Entry.after(2, entries.get(1).chain(), far());
        try (NodeLog log = openCopy(entries.subList(0, 2))) {
            Stamp three = new Stamp(CLUSTER, epoch, 1, 3);
            log.receive(new Message.Welcome(three, 1), (to, message) -> {});
            assertThat(log.isServing()).isFalse();
            Message wrong = new Message.Entries(three, List.of(other));
            assertThatThrownBy(() -> log.receive(wrong, (to, message) -> {}))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("the store has another change 3 of the cluster");
        }
        try (NodeLog log = openCopy(entries.subList(0, 2))) {
            Message behind = new Message.Welcome(new Stamp(CLUSTER, epoch, 1, 2), 1);
            assertThatThrownBy(() -> log.receive(behind, (to, message) -> {}))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("the store has change 3 of the cluster, and its"
                            + " controller ends with 2: ");
        }
        try (NodeLog log = openCopy(entries.subList(0, 2))) {
            Stamp three = new Stamp(CLUSTER, epoch, 1, 3);
            log.receive(new Message.Welcome(three, 1), (to, message) -> {});
            log.receive(
                    new Message.Entries(three, List.of(entries.getLast())), (to, message) -> {});
            assertThat(log.isServing()).isTrue();
        }
    }

    @Test
    void only_the_change_that_follows_is_prepared() {
        Entry third = next(trips());
        Entry fourth = Entry.after(3, third.chain(), far());
        assertThat(schema.prepare(entries.getLast(), map))
                .isEqualTo("its store has change 2, and 2 does not follow on it");
        assertThat(schema.prepare(fourth, map))
                .isEqualTo("its store has change 2, and 4 does not follow on it");
        assertThat(catalog.datasets()).isEmpty();
    }
}
