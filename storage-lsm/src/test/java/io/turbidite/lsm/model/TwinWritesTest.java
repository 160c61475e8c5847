package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.ReadHook;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.write.Write;
import io.turbidite.lsm.write.WriteInside;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Map;

/**
 * Writes into a dataset whose keys tell the two zeros apart, as older releases made them: what a
 * write asks for holds when it is written, for both zeros, whatever came since it was put into its
 * batch.
 */
class TwinWritesTest {
    private static final long SEED = 23;
    private static final double[] ZEROS = {0.0, -0.0};
    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final ReadHook hook = new ReadHook(disk);
    private SimStore sim = open();

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC), _ -> hook);
    }

    @AfterEach
    void close() {
        sim.close();
    }

    /** The dataset as an older release would have made it. */
    private Dataset older(DatasetSpec spec) {
        sim.store.createDataset(spec);
        sim.close();
        Manifest.open(disk)
                .edit(
                        state -> {
                            DatasetState made = state.datasets().getFirst();
                            return state.withReplaced(new DatasetState(
                                    old(made.schema()), made.partitions(), made.counts()));
                        },
                        () -> {});
        sim = open();
        Dataset dataset = sim.store.datasets().getFirst();
        assertThat(dataset.keyForm()).isEqualTo(KeyForm.SIGNED_ZEROS);
        return dataset;
    }

    private static DatasetSchema old(DatasetSchema made) {
        return new DatasetSchema(
                made.id(),
                made.version(),
                made.name(),
                made.type(),
                made.primaryKey().withForm(KeyForm.SIGNED_ZEROS),
                made.filter(),
                made.catalog(),
                made.partitions(),
                made.options());
    }

    private Dataset older(Maintenance maintenance) {
        return older(spec(maintenance).primaryKey("d").partitions(4));
    }

    private static DatasetSpec spec(Maintenance maintenance) {
        return DatasetSpec.named("T")
                .field("d", "double")
                .field("e", "double")
                .field("text", "string")
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .maintenance(maintenance);
    }

    private static Slice record(Dataset dataset, double d, String text) {
        return dataset.newRecordWriter().write(Map.of("d", d, "e", d, "text", text));
    }

    private static void assertText(Dataset dataset, String text) {
        for (double zero : ZEROS) {
            assertThat(dataset.get(zero)).isNotNull().extracting("text").isEqualTo(text);
        }
    }

    private void assertRefused(WriteBatch batch) {
        // the second time is not better than the first
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> sim.store.write(batch))
                    .isInstanceOf(DuplicateKeyException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void an_insert_is_refused_if_another_put_the_other_zero_since(Maintenance maintenance) {
        Dataset dataset = older(maintenance);
        for (double zero : ZEROS) {
            WriteBatch batch = sim.store.newBatch().insert(dataset, record(dataset, zero, "batch"));
            dataset.insert(Map.of("d", -zero, "e", 1.0, "text", "other"));
            assertRefused(batch);
            assertText(dataset, "other");
            dataset.flush();
            assertRefused(batch);
            assertText(dataset, "other");
            dataset.delete(zero);
            sim.store.write(batch);
            assertText(dataset, "batch");
            dataset.delete(-zero);
            assertThat(dataset.get(zero)).isNull();
        }
        sim.verify();
    }

    /**
     * A write that moves the record to the other zero, between a reader's looks at the two, hides
     * it from neither.
     */
    @Test
    void a_record_that_moves_to_the_other_zero_is_there_all_the_while() {
        Dataset dataset = older(Maintenance.EAGER);
        for (double zero : ZEROS) {
            dataset.upsert(Map.of("d", zero, "e", 1.0, "text", "first"));
            dataset.flush();
            dataset.upsert(Map.of("d", -zero, "e", 1.0, "text", "second"));
            dataset.flush();
            // nothing is in the cache: the look at the first zero reads that it was deleted
            sim.close();
            sim = open();
            Dataset again = sim.store.datasets().getFirst();
            hook.inNextRead(() -> again.upsert(Map.of("d", zero, "e", 1.0, "text", "third")));
            assertThat(again.get(zero)).isNotNull();
            assertThat(hook.hasRun()).isTrue();
            assertText(again, "third");
            dataset = again;
        }
    }

    /**
     * Who holds the same stripes waits: so of two inserts of the two zeros at once, one sees the
     * other.
     */
    @Test
    void writes_of_the_two_zeros_lock_the_same_stripes() {
        Dataset dataset = older(spec(Maintenance.EAGER).primaryKey("d", "e").partitions(4));
        int[] expected = stripes(sim.store.newBatch().delete(dataset, key(dataset, 0.0)));
        assertThat(expected).hasSize(4);
        for (double zero : ZEROS) {
            assertThat(stripes(sim.store.newBatch().insert(dataset, record(dataset, zero, ""))))
                    .isEqualTo(expected);
            assertThat(stripes(sim.store.newBatch().upsert(dataset, record(dataset, zero, ""))))
                    .isEqualTo(expected);
            assertThat(stripes(sim.store.newBatch().delete(dataset, key(dataset, zero))))
                    .isEqualTo(expected);
        }
    }

    private static Slice key(Dataset dataset, double zero) {
        return Slice.of(dataset.primaryKeySpec().encode(zero, zero));
    }

    private int[] stripes(WriteBatch batch) {
        sim.store.write(batch);
        return WriteInside.stripes(Inside.write(batch));
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void the_zeros_are_one_key_in_a_batch(Maintenance maintenance) {
        Dataset dataset = older(maintenance);
        for (double zero : ZEROS) {
            Slice key = Slice.of(dataset.primaryKeySpec().encode(zero));
            Slice first = record(dataset, zero, "first");
            Slice second = record(dataset, -zero, "second");
            assertRefused(sim.store.newBatch().insert(dataset, first).insert(dataset, second));
            assertRefused(sim.store.newBatch().upsert(dataset, first).insert(dataset, second));
            assertThat(dataset.get(zero)).isNull();

            // free as long as nothing is there, and an insert asks for that whatever follows
            WriteBatch deleted = sim.store.newBatch().insert(dataset, second).delete(dataset, key);
            WriteBatch replaced =
                    sim.store.newBatch().insert(dataset, first).upsert(dataset, second);
            WriteBatch again = sim.store
                    .newBatch()
                    .insert(dataset, first)
                    .delete(dataset, key)
                    .insert(dataset, second);
            sim.store.write(deleted);
            assertThat(dataset.get(zero)).isNull();
            sim.store.write(replaced);
            assertText(dataset, "second");
            assertRefused(deleted);
            assertRefused(replaced);
            assertRefused(again);
            assertText(dataset, "second");

            // deleted before it is inserted, under either zero
            WriteBatch moved = sim.store.newBatch().delete(dataset, key).insert(dataset, first);
            sim.store.write(moved);
            assertText(dataset, "first");
            sim.store.write(sim.store.newBatch().delete(dataset, key).insert(dataset, second));
            assertText(dataset, "second");
            dataset.delete(zero);
            sim.store.write(again);
            assertText(dataset, "second");
            dataset.delete(zero);
            assertThat(dataset.get(-zero)).isNull();
        }
        sim.verify();
    }

    /** Feeds refuse the record of that number, and deliver the others. */
    @Test
    void a_key_that_is_taken_is_told_with_the_number_of_its_record() {
        Dataset dataset = older(spec(Maintenance.EAGER)
                .primaryKey("d")
                .index(IndexSpec.btree("by_text", "text").asUnique()));
        dataset.upsert(Map.of("d", 3.0, "e", 1.0, "text", "taken"));
        WriteBatch batch = sim.store
                .newBatch()
                .upsert(dataset, record(dataset, 0.0, "zero"))
                .insert(dataset, record(dataset, 1.0, "one"))
                .delete(dataset, Slice.of(dataset.primaryKeySpec().encode(-0.0)))
                .insert(dataset, record(dataset, -0.0, "zero again"))
                .insert(dataset, record(dataset, 2.0, "taken"));
        assertThatThrownBy(() -> sim.store.write(batch))
                .isInstanceOfSatisfying(
                        DuplicateKeyException.class,
                        taken -> assertThat(taken.operation()).isEqualTo(4));
    }

    @Test
    void a_batch_without_room_for_the_other_zero_takes_neither() {
        Dataset dataset = older(Maintenance.EAGER);
        // fill until one more does not fit, byte by byte: at some length the twin alone is too much
        WriteBatch batch = io.turbidite.lsm.Inside.batch(sim.store, new Write(1 << 10));
        for (int length = 0; length < 1 << 10; length++) {
            batch.clear();
            int before = batch.size();
            try {
                batch.insert(dataset, record(dataset, 0.0, "x".repeat(length)));
                assertThat(batch.size()).isEqualTo(2);
            } catch (InvalidRequestException full) {
                assertThat(full).hasMessageContaining("larger than the limit");
                assertThat(batch.size()).isEqualTo(before);
                assertThat(batch.byteCount()).isZero();
            }
        }
        assertThatCode(() -> sim.store.write(batch)).doesNotThrowAnyException();
        assertThat(dataset.get(0.0)).isNull();
    }

    @Test
    void a_batch_is_checked_again_after_a_change_of_schema() {
        Dataset dataset = older(Maintenance.EAGER);
        WriteBatch batch = sim.store.newBatch().insert(dataset, record(dataset, 0.0, "batch"));
        dataset.createIndex(IndexSpec.btree("by_text", "text"));
        sim.store.write(batch);
        assertText(dataset, "batch");
        sim.verify();
    }
}
