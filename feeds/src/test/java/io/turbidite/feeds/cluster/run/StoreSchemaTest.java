package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
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

/** What a real store does with changes: unseen, once, and whatever step its process ends at. */
@LeaksOnPurpose("processes end with files open")
class StoreSchemaTest {
    private static final String NAME = "APPLIED";
    private static final long CLUSTER = 0xC2;

    @TempDir
    Path directory;

    private SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final List<Entry> entries = new ArrayList<>();
    private ClusterMap map = ClusterMap.EMPTY;
    private Store store;
    private Catalog catalog;
    private StoreSchema schema;

    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @BeforeEach
    void open() {
        store = Store.open(directory);
        catalog = StoreCatalog.of(store, false);
        schema = StoreSchema.open(disk, NAME, CLUSTER, "n1", catalog);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void reopen() {
        store.close();
        disk = disk.copy();
        open();
    }

    static DatasetDefinition trips(String name, int partitions) {
        return new DatasetDefinition(
                name,
                RecordType.of(List.of(Field.parse("id", "int64"), Field.parse("city", "string?"))),
                List.of("id"),
                List.of(),
                partitions,
                Map.of(),
                List.of());
    }

    static IndexDefinition byCity(String name) {
        return new IndexDefinition(
                name,
                IndexDescription.Kind.BTREE,
                List.of("city"),
                false,
                Map.of(),
                IndexDefinition.READY);
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
        schema.check(map);
    }

    private static Change created(String name) {
        return new DatasetCreated(
                trips(name, 3), new TreeMap<>(Map.of("n1", List.of(0, 2), "n2", List.of(1))));
    }

    private void twoNodes() {
        run(new NodeAdded("n1"));
        run(new NodeAdded("n2"));
    }

    @Test
    void a_change_is_prepared_applied_and_there_after_a_restart() {
        twoNodes();
        run(created("Trips"));
        assertThat(catalog.describe("Trips").partitions()).isEqualTo(2);
        store.dataset("Trips").upsert(Map.of("id", 1L, "city", "Beds"));
        run(new IndexCreated("Trips", byCity("by_city")));
        reopen();
        assertThat(schema.applied()).isEqualTo(4);
        schema.check(map);
        run(new IndexDropped("Trips", "by_city"));
        run(new DatasetDropped("Trips"));
        assertThat(catalog.datasets()).isEmpty();
        reopen();
        schema.check(map);
    }

    @Test
    void a_dataset_that_lies_elsewhere_is_not_here() {
        twoNodes();
        run(new DatasetCreated(trips("Far", 2), new TreeMap<>(Map.of("n2", List.of(0, 1)))));
        run(new IndexCreated("Far", byCity("by_city")));
        assertThat(catalog.datasets()).isEmpty();
        run(new IndexDropped("Far", "by_city"));
        run(new DatasetDropped("Far"));
    }

    @Test
    void what_was_prepared_is_gone_when_it_is_given_up_or_its_process_has_ended() {
        twoNodes();
        assertThat(schema.prepare(next(created("Trips")), map)).isNull();
        schema.discard();
        assertThat(catalog.datasets()).isEmpty();
        run(created("Trips"));
        store.dataset("Trips").upsert(Map.of("id", 1L, "city", "Beds"));
        Entry index = next(new IndexCreated("Trips", byCity("by_city")));
        assertThat(schema.prepare(index, map)).isNull();
        reopen();
        schema.check(map);
        // it was recorded before it came back
        schema.apply(index, map);
        recorded(index);
        schema.check(map);
    }

    @Test
    void another_change_than_the_prepared_one_leaves_nothing_of_that() {
        twoNodes();
        assertThat(schema.prepare(next(created("Trips")), map)).isNull();
        Entry other = next(created("Other"));
        schema.apply(other, map);
        recorded(other);
        schema.check(map);
        assertThat(catalog.datasets()).extracting(one -> one.name()).containsExactly("Other");
    }

    @Test
    void what_the_store_refuses_is_told_in_its_words_and_leaves_nothing() {
        twoNodes();
        run(created("Trips"));
        IndexDefinition wrong = new IndexDefinition(
                "wrong",
                IndexDescription.Kind.BTREE,
                List.of("no_field"),
                false,
                Map.of(),
                IndexDefinition.READY);
        assertThat(schema.prepare(next(new IndexCreated("Trips", wrong)), map))
                .contains("no_field");
        schema.check(map);
        assertThat(disk.exists(NAME)).isTrue();
        reopen();
        schema.check(map);
        assertThat(schema.prepare(next(new PartitionMoved("Trips", 0, "n1", "n2")), map))
                .isEqualTo("partitions can't be moved yet");
        store.createDataset(DatasetSpec.named("Own").field("id", "int64").primaryKey("id"));
        assertThat(schema.prepare(next(created("Own")), map))
                .isEqualTo("its store has dataset 'Own' already,"
                        + " which no change of the cluster has created");
        assertThat(catalog.describe("Own").partitions()).isEqualTo(1);
        assertThatThrownBy(() -> schema.check(map))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("the store of node 'n1' is not what change 3 of the cluster says:"
                        + " it has dataset 'Own', which should not be here");
    }

    @Test
    void a_store_that_was_changed_beside_the_cluster_is_told() {
        twoNodes();
        run(created("Trips"));
        store.dropDataset("Trips");
        assertThatThrownBy(() -> schema.check(map))
                .hasMessageEndingWith("it lacks dataset 'Trips'");
    }

    @Test
    void each_bit_of_the_file_counts_and_it_is_of_one_cluster() {
        twoNodes();
        Entry entry = next(created("Trips"));
        schema.prepare(entry, map);
        byte[] bytes = disk.content(NAME);
        for (int at = 0; at < bytes.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = bytes.clone();
                damaged[at] ^= (byte) (1 << bit);
                SimDisk bad = new SimDisk(1, Profile.STRICT);
                bad.put(NAME, damaged);
                assertThatThrownBy(() -> new AppliedFile(bad, NAME, CLUSTER).read())
                        .as("bit %d of byte %d", bit, at)
                        .isInstanceOf(StorageException.class);
            }
        }
        assertThatThrownBy(() -> new AppliedFile(disk, NAME, CLUSTER + 1).read())
                .isInstanceOf(CorruptionException.class);
    }

    /** Each step of the disk at which its note is written, and around it the store's own work. */
    @Test
    void a_process_that_ends_at_any_step_goes_on_from_there() {
        twoNodes();
        int ends = 0;
        for (Change change : List.of(
                created("Trips"),
                new IndexCreated("Trips", byCity("by_city")),
                new IndexDropped("Trips", "by_city"),
                new DatasetDropped("Trips"))) {
            Entry entry = next(change);
            for (int step = 0; endedAt(step, entry); step++) {
                ends++;
                store.close();
                disk = disk.crashImage(step);
                open();
                if (schema.applied() == entry.number()) {
                    schema.check(map.with(change));
                    break;
                }
                if (entry.change() instanceof DatasetCreated
                        || entry.change() instanceof IndexCreated) {
                    schema.check(map);
                }
            }
            reopen();
            if (schema.applied() < entry.number()) {
                schema.apply(entry, map);
            }
            recorded(entry);
            schema.check(map);
        }
        assertThat(ends).isGreaterThan(15);
    }

    /** Whether it came to that step. */
    private boolean endedAt(int step, Entry entry) {
        int[] left = {step};
        disk.onOperation(operation -> {
            if (left[0]-- == 0) {
                throw new Ended();
            }
        });
        try {
            assertThat(schema.prepare(entry, map)).isNull();
            schema.apply(entry, map);
            return false;
        } catch (Ended e) {
            return true;
        }
    }
}
