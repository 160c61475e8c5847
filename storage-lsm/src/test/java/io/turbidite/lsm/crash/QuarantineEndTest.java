package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.QuarantinedException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.backup.QuarantineReport;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What was set aside comes back from a backup, or its index is built anew. */
class QuarantineEndTest {
    private final DamagedStore tried = new DamagedStore();

    @AfterEach
    void close() {
        tried.close();
    }

    @Test
    void a_component_comes_back_from_a_backup_with_the_marks_of_today() {
        for (Maintenance maintenance :
                List.of(Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = tried.create(name, maintenance, "correlated-no-merge");
            SimDisk backup = new SimDisk(DamagedStore.SEED, Profile.STRICT);
            tried.sim.store.backup(backup, CopyMode.COPY);
            long middle = tried.files(name, "primary").get(1);
            // in components and in memory, after the backup
            dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
            dataset.delete(DamagedStore.ROWS + 9L);
            dataset.flush();
            dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 11L, 5).toMap());
            tried.disk.flipBit(StoreFiles.component(middle), 5_000, 3);
            assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
            assertThat(tried.quarantined()).containsExactly(name + ".primary");
            dataset.upsert(DamagedStore.row(12L, 5).toMap());

            QuarantineReport report = tried.sim.store.restoreFrom(backup);

            assertThat(report.isEmptied()).isTrue();
            assertThat(report.components()).hasSize(1);
            assertThat(tried.quarantined()).isEmpty();
            assertThat(tried.events(StoreEvent.QuarantineLifted.class)).isNotEmpty();
            checkRestored(dataset);
            dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 13L, 5).toMap());
            dataset.mergeAll();
            tried.reopen();
            checkRestored(tried.dataset(name));
            assertThat(tried.quarantined()).isEmpty();
        }
    }

    private void checkRestored(Dataset dataset) {
        assertThat(SimStore.rows(dataset)).hasSize(3 * DamagedStore.ROWS - 1);
        assertThat(dataset.get(DamagedStore.ROWS + 7L)).containsEntry("score", 5);
        assertThat(dataset.get(DamagedStore.ROWS + 11L)).containsEntry("score", 5);
        assertThat(dataset.get(DamagedStore.ROWS + 9L)).isNull();
        tried.sim.verify();
    }

    @Test
    void marks_that_the_log_could_not_make_are_made_by_the_restore() {
        Dataset dataset = tried.create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        long middle = tried.files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 11L, 5).toMap());
        dataset.delete(DamagedStore.ROWS + 9L);
        tried.sim.close();
        SimDisk elsewhere = tried.disk.copy();
        tried.disk.delete(file);
        tried.sim = tried.open();
        tried.dataset("T").flush();
        tried.reopen();
        tried.sim.close();
        // the file alone is not enough, and it is more than enough
        tried.disk.put(file, elsewhere.content(file));
        tried.sim = tried.open();
        assertThat(tried.quarantined()).containsExactly("T.primary");

        assertThat(tried.sim.store.restoreFrom(null).isEmptied()).isTrue();

        checkRestored(tried.dataset("T"));
        tried.reopen();
        checkRestored(tried.dataset("T"));
    }

    @Test
    void a_restore_with_an_unknown_outcome_leaves_what_either_manifest_names() {
        Dataset dataset = tried.create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        String file = StoreFiles.component(tried.files("T", "primary").get(1));
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 11L, 5).toMap());
        dataset.delete(DamagedStore.ROWS + 9L);
        tried.sim.close();
        SimDisk elsewhere = tried.disk.copy();
        tried.disk.delete(file);
        tried.sim = tried.open();
        tried.dataset("T").flush();
        tried.sim.close();
        tried.disk.put(file, elsewhere.content(file));
        tried.sim = tried.open();
        tried.disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.SYNC_DIRECTORY)
                .named(String::isEmpty)
                .call(1));
        assertThatThrownBy(() -> tried.sim.store.restoreFrom(null))
                .isInstanceOf(StoreFailedException.class);
        tried.disk.clearFaults();
        tried.reopen(); // the new manifest stands
        assertThat(tried.quarantined()).isEmpty();
        checkRestored(tried.dataset("T"));
    }

    /**
     * Where ours is missing there is no footer to compare, but the manifest knows size and
     * timestamps.
     */
    @Test
    void a_missing_file_is_not_replaced_by_one_of_a_copy_that_went_its_own_way() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk ours = tried.disk.copy();
        List<SimDisk> copies = new ArrayList<>();
        // as many operations in other bytes; as many bytes of other operations
        for (boolean moreOperations : new boolean[] {false, true}) {
            SimDisk copy = ours.copy();
            copy.processDied();
            try (SimStore own =
                    SimStore.open(copy, DamagedStore.SEED, SimStore.options(Durability.SYNC))) {
                Dataset its = own.store.dataset("T");
                its.upsert(DamagedStore.row(1, moreOperations ? 7 : 123_456).toMap());
                if (moreOperations) {
                    its.upsert(DamagedStore.row(1, 7).toMap());
                }
                its.flush();
            }
            copies.add(copy);
        }
        dataset.upsert(DamagedStore.row(1, 7).toMap());
        dataset.flush();
        String file = StoreFiles.component(tried.files("T", "primary").getFirst());
        tried.sim.close();
        tried.disk.delete(file);
        tried.sim = tried.open();
        for (SimDisk copy : copies) {
            assertThat(copy.exists(file)).isTrue();
            QuarantineReport report = tried.sim.store.restoreFrom(copy);
            assertThat(report.components())
                    .singleElement()
                    .satisfies(outcome -> assertThat(outcome.refusal())
                            .contains("not what is missing", "component should be"));
            assertThat(tried.disk.exists(file)).isFalse();
        }
        assertThat(tried.quarantined()).containsExactly("T.primary");
    }

    @Test
    void what_is_not_the_very_file_is_refused_and_says_what_is_lost() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk backup = new SimDisk(DamagedStore.SEED, Profile.STRICT);
        tried.sim.store.backup(backup, CopyMode.COPY);
        long middle = tried.files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        tried.disk.flipBit(file, 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        List<SimDisk> wrong = new ArrayList<>();
        SimDisk without = backup.copy();
        without.delete(file);
        wrong.add(without);
        SimDisk damaged = backup.copy();
        damaged.flipBit(file, 9_000, 1);
        wrong.add(damaged);
        SimDisk foreign = backup.copy();
        byte[] other =
                backup.content(StoreFiles.component(tried.files("T", "primary").get(0)));
        foreign.delete(file);
        foreign.put(file, other);
        wrong.add(foreign);
        for (SimDisk from : wrong) {
            QuarantineReport report = tried.sim.store.restoreFrom(from);
            assertThat(report.isEmptied()).isFalse();
            assertThat(report.components()).singleElement().satisfies(outcome -> {
                assertThat(outcome.file()).isEqualTo(file);
                assertThat(outcome.refusal()).isNotBlank();
                assertThat(outcome.lost()).contains("2000 entries", "operations");
            });
            assertThat(tried.quarantined()).containsExactly("T.primary");
            assertThat(tried.disk.list(StoreFiles.DATA)).noneMatch(StoreFiles::isSortRun);
        }
        assertThat(tried.sim.store.restoreFrom(null).isEmptied()).isFalse();
        assertThat(tried.sim.store.restoreFrom(backup).isEmptied()).isTrue();
        tried.sim.verify();
    }

    @Test
    void backup_and_shipment_say_that_it_is_left_out() throws IOException {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk whole = new SimDisk(DamagedStore.SEED, Profile.STRICT);
        assertThat(tried.sim.store.backup(whole, CopyMode.COPY).leftOut()).isEmpty();
        String file = StoreFiles.component(tried.files("T", "primary").get(1));
        tried.disk.flipBit(file, 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        SimDisk backup = new SimDisk(DamagedStore.SEED, Profile.STRICT);
        assertThat(tried.sim.store.backup(backup, CopyMode.COPY).leftOut()).containsExactly(file);
        try (Shipment shipment = tried.sim.store.openShipment()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertThat(shipment.writeTo(out, 0).leftOut()).containsExactly(file);
        }

        // the copy opens as the store does, and can be made whole as well
        assertThat(backup.exists(file)).isFalse();
        try (SimStore copy =
                SimStore.open(backup, DamagedStore.SEED, SimStore.options(Durability.SYNC))) {
            assertThatThrownBy(() -> copy.store.dataset("T").get(7L))
                    .isInstanceOf(QuarantinedException.class)
                    .hasMessageContaining(file);
        }
        try (SimStore copy =
                SimStore.open(backup, DamagedStore.SEED, SimStore.options(Durability.SYNC))) {
            assertThat(copy.store.restoreFrom(whole).isEmptied()).isTrue();
            copy.verify();
            assertThat(SimStore.rows(copy.store.dataset("T"))).hasSize(3 * DamagedStore.ROWS);
        }
    }

    @Test
    void a_damaged_index_is_rebuilt() {
        Dataset dataset = tried.create("T", Maintenance.EAGER, "no-merge");
        tried.disk.flipBit(StoreFiles.component(tried.files("T", "by_user").get(1)), 2_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThat(tried.quarantined()).containsExactly("T.by_user");

        dataset.rebuildIndex("by_user");

        assertThat(tried.quarantined()).isEmpty();
        tried.sim.verify();
        dataset.mergeAll();
        tried.reopen();
        tried.sim.verify();
    }

    @Test
    void an_index_is_not_given_up_for_one_that_can_not_be_built() {
        Dataset dataset = tried.create("T", Maintenance.EAGER, "no-merge");
        tried.disk.flipBit(StoreFiles.component(tried.files("T", "primary").get(1)), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> dataset.rebuildIndex("by_user"))
                .isInstanceOf(QuarantinedException.class);
        assertThat(tried.tree("T", "by_user").state()).isEqualTo("ready");
        assertThat(tried.files("T", "by_user")).isNotEmpty();
    }

    /** A unique index that is given up lets duplicates in, and can't be built again afterwards. */
    @Test
    void a_unique_index_is_not_given_up_for_damage_that_nobody_has_met() {
        Dataset dataset = tried.sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        DamagedStore.put(dataset, 0);
        dataset.createIndex(IndexSpec.btree("by_body", "body", "id").asUnique());
        dataset.flush();
        tried.disk.flipBit(StoreFiles.component(tried.files("T", "primary").getFirst()), 5_000, 3);
        tried.reopen();

        assertThatThrownBy(() -> tried.dataset("T").rebuildIndex("by_body"))
                .isInstanceOf(CorruptionException.class);

        assertThat(tried.tree("T", "by_body").state()).isEqualTo("ready");
    }
}
