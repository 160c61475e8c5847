package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState.DatasetState;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;

/**
 * Datasets and indexes whose keys tell the two zeros apart keep them as one: bulk loads and unique
 * indexes.
 */
class OldZerosTest {
    private static final long SEED = 33;
    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    @AfterEach
    void close() {
        sim.close();
    }

    /** The dataset as an older release would have made it. */
    private Dataset older(DatasetSpec spec) {
        sim.store.createDataset(spec);
        sim.close();
        Manifest manifest = Manifest.open(disk);
        manifest.edit(
                state -> {
                    DatasetState made = state.datasets().getFirst();
                    return state.withReplaced(
                            new DatasetState(old(made.schema()), made.partitions(), made.counts()));
                },
                () -> {});
        sim = open();
        Dataset dataset = sim.store.datasets().getFirst();
        assertThat(dataset.keyForm()).isEqualTo(KeyForm.SIGNED_ZEROS);
        return dataset;
    }

    private static DatasetSchema old(DatasetSchema made) {
        List<IndexSchema> indexes = made.catalog().all().stream()
                .map(index -> new IndexSchema(
                        index.id(),
                        index.name(),
                        index.kind(),
                        new FieldKeys(index.fieldKey().withForm(KeyForm.SIGNED_ZEROS), "index"),
                        index.maintenance(),
                        index.unique(),
                        index.pages(),
                        index.state()))
                .toList();
        return new DatasetSchema(
                made.id(),
                made.version(),
                made.name(),
                made.type(),
                made.primaryKey().withForm(KeyForm.SIGNED_ZEROS),
                made.filter(),
                IndexCatalog.of(made.name(), indexes, made.catalog().nextId()),
                made.partitions(),
                made.options());
    }

    private static DatasetSpec spec() {
        return DatasetSpec.named("T").field("d", "double").field("n", "int64");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void a_bulk_load_of_both_zeros_is_refused(int partitions) {
        Dataset dataset = older(spec().primaryKey("d", "n").partitions(partitions));
        for (boolean sorted : new boolean[] {true, false}) {
            assertThatThrownBy(() -> load(dataset, sorted, -0.0, 0.0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("-0.0")
                    .hasMessageContaining("equal");
            assertThat(dataset.get(0.0, 1L)).isNull();
        }
        load(dataset, true, -0.0, 1.0);
        assertThat(dataset.get(0.0, 1L)).isNotNull();
        sim.verify();
    }

    private static void load(Dataset dataset, boolean sorted, double first, double second) {
        try (BulkLoader loader = sorted
                ? dataset.bulkLoad(4)
                : dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
            for (double d : new double[] {first, second}) {
                for (long n = 0; n < 2; n++) {
                    loader.add(dataset.newRecordWriter().write(Map.of("d", d, "n", n)));
                }
            }
            loader.finish();
        }
    }

    @Test
    void a_unique_index_has_one_record_for_both_zeros() {
        Dataset dataset =
                older(spec().primaryKey("n").index(IndexSpec.btree("by_d", "d").asUnique()));
        dataset.upsert(Map.of("n", 1L, "d", -0.0));
        for (boolean flushed : new boolean[] {false, true}) {
            assertThatThrownBy(() -> dataset.upsert(Map.of("n", 2L, "d", 0.0)))
                    .isInstanceOf(DuplicateKeyException.class);
            assertThatThrownBy(() -> dataset.upsert(Map.of("n", 2L, "d", -0.0)))
                    .isInstanceOf(DuplicateKeyException.class);
            if (!flushed) {
                dataset.flush();
            }
        }
        // its own record may take the other, and the next one finds that
        dataset.upsert(Map.of("n", 1L, "d", 0.0));
        assertThatThrownBy(() -> dataset.upsert(Map.of("n", 2L, "d", -0.0)))
                .isInstanceOf(DuplicateKeyException.class);
        dataset.delete(1L);
        WriteBatch both = sim.store
                .newBatch()
                .upsert(dataset, dataset.newRecordWriter().write(Map.of("n", 3L, "d", 0.0)))
                .upsert(dataset, dataset.newRecordWriter().write(Map.of("n", 4L, "d", -0.0)));
        assertThatThrownBy(() -> sim.store.write(both)).isInstanceOf(DuplicateKeyException.class);
        sim.verify();
    }
}
