package io.turbidite.lsm.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.RecordScan;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

class CatalogChangesTest {
    private static final long SEED = Seeds.of("CatalogChangesTest");

    private final SimStore sim = SimStore.open(
            new SimDisk(SEED, Profile.STRICT), SEED, SimStore.options(Durability.BUFFERED));
    private final StoreCatalog catalog = StoreCatalog.of(sim.store, false);

    @BeforeEach
    void nothing() {
        assertThat(catalog.datasets()).isEmpty();
    }

    @AfterEach
    void close() {
        sim.verify();
        sim.close();
    }

    private Dataset create(Maintenance maintenance) {
        catalog.createDataset(new DatasetDefinition(
                "Pets",
                RecordType.builder()
                        .field("id", "int64")
                        .field("name", "string")
                        .build(),
                List.of("id"),
                List.of(),
                2,
                Map.of(
                        "maintenance",
                        maintenance.label(),
                        "mergePolicy",
                        "correlated-tiering(sizeRatio=4)"),
                List.of()));
        return catalog.datasets().getFirst();
    }

    private static Slice pet(Source pets, long id, String name) {
        return Slice.of(new RecordWriter(pets.type())
                .write(Map.of("id", id, "name", name))
                .toByteArray());
    }

    private static Map<Object, Object> names(Dataset pets) {
        Map<Object, Object> names = new TreeMap<>();
        try (RecordScan records = pets.scan(KeyRange.all())) {
            for (Map<String, @Nullable Object> pet : records) {
                names.put(
                        Objects.requireNonNull(pet.get("id")),
                        Objects.requireNonNull(pet.get("name")));
            }
        }
        return names;
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_batch_is_done_while_its_records_are_those_of_the_moment(Maintenance maintenance) {
        Dataset pets = create(maintenance);
        for (long id = 0; id < 6; id++) {
            pets.upsert(Map.of("id", id, "name", "a"));
        }
        pets.flush();
        ChangeBatch batch = catalog.newBatch(pets);
        try (Moment moment = catalog.openMoment()) {
            pets.upsert(Map.of("id", 1L, "name", "b"));
            pets.delete(3L);
            pets.delete(4L);
            pets.upsert(Map.of("id", 4L, "name", "c"));
            for (long id = 0; id < 7; id++) {
                if (id == 5) {
                    batch.delete(Slice.of(pets.primaryKeySpec().encode(id)));
                } else {
                    batch.upsert(pet(pets, id, "d"));
                }
            }
            // 6 was not there
            assertThat(batch.writeIfUnchangedSince(moment.timestamp()))
                    .isEqualTo(BitSet.valueOf(new long[] {0b1011010}));
            assertThat(pets.get(0L)).containsEntry("name", "a");
            batch.clear();
            batch.upsert(pet(pets, 0, "d"));
            batch.upsert(pet(pets, 2, "d"));
            batch.delete(Slice.of(pets.primaryKeySpec().encode(5L)));
            assertThat(batch.writeIfUnchangedSince(moment.timestamp()).isEmpty())
                    .isTrue();
            // now they are others
            assertThat(batch.writeIfUnchangedSince(moment.timestamp()))
                    .isEqualTo(BitSet.valueOf(new long[] {0b111}));
        }
        batch.clear();
        batch.upsert(pet(pets, 1, "e"));
        batch.write();
        assertThat(names(pets)).isEqualTo(Map.of(0L, "d", 1L, "e", 2L, "d", 4L, "c"));
    }

    @Test
    void an_insert_needs_a_free_key() {
        Dataset pets = create(Maintenance.EAGER);
        ChangeBatch batch = catalog.newBatch(pets);
        batch.insert(pet(pets, 1, "a"));
        batch.write();
        batch.clear();
        batch.insert(pet(pets, 2, "a"));
        batch.insert(pet(pets, 1, "b"));
        assertThatThrownBy(batch::write)
                .isInstanceOf(DuplicateKeyException.class)
                .hasMessageContaining("[1]");
        assertThat(names(pets)).isEqualTo(Map.of(1L, "a"));
        assertThat(batch.hasRoom(1 << 20)).isFalse();
        batch.clear();
        assertThat(batch.hasRoom(1 << 20)).isTrue();
    }

    @Test
    void what_is_described_can_be_created() {
        Dataset pets = create(Maintenance.VALIDATION);
        catalog.createIndex(
                "Pets",
                new IndexDefinition(
                        "by_name",
                        IndexDescription.Kind.BTREE,
                        List.of("name"),
                        true,
                        Map.of("maintenance", "eager", "pageBytes", "4KiB"),
                        IndexDefinition.READY));
        catalog.createIndex(
                "Pets",
                new IndexDefinition(
                        "by_word",
                        IndexDescription.Kind.INVERTED,
                        List.of("name"),
                        false,
                        Map.of("tokenizer", "ngram(3)"),
                        IndexDefinition.READY));
        DatasetDefinition definition = catalog.describe("Pets");
        assertThat(definition.indexes()).hasSize(2);
        assertThat(definition.options()).containsEntry("maintenance", "validation");
        assertThat(pets.indexes()).hasSize(2);
        catalog.dropDataset("Pets");
        assertThat(catalog.datasets()).isEmpty();
        catalog.createDataset(definition);
        assertThat(catalog.describe("Pets")).isEqualTo(definition);
        pets = catalog.datasets().getFirst();
        pets.upsert(Map.of("id", 1L, "name", "Rex"));
        pets.disableIndex("by_word");
        assertThat(catalog.describe("Pets").indexes())
                .extracting(IndexDefinition::state)
                .containsExactlyInAnyOrder("ready", "disabled");
        catalog.dropIndex("Pets", "by_word");
        assertThat(catalog.describe("Pets").indexes()).hasSize(1);
    }

    @Test
    void the_stores_own_is_left_alone() {
        Dataset pets = create(Maintenance.EAGER);
        DatasetDefinition own = new DatasetDefinition(
                "_own", pets.type(), List.of("id"), List.of(), 1, Map.of(), List.of());
        assertThatThrownBy(() -> catalog.createDataset(own))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("the store's own");
        assertThatThrownBy(() -> catalog.dropDataset("_own"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("the store's own");
    }
}
