package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** An index whose disk part is a region of a kind that the store was given. */
class RegionIndexTest {
    private final HeapIndexKind kind = HeapIndexKind.persistent();
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    private static StoreOptions options(IndexKind... kinds) {
        return SimStore.options(Durability.SYNC).withIndexKinds(kinds);
    }

    private SimStore open() {
        return SimStore.open(disk, 1, options(kind));
    }

    private static Dataset create(SimStore sim) {
        return sim.store.createDataset(Row.blindSpec("Visits")
                .maintenance(Maintenance.VALIDATION)
                .partitions(2)
                .index(IndexSpec.pm("by_user", "user")));
    }

    private static Row row(long id, String user) {
        return new Row(id, user, null, null, "body " + id);
    }

    private static void put(Dataset dataset, long id, String user) {
        dataset.upsert(row(id, user).toMap());
    }

    private static void check(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            assertThat(dataset.indexes()).extracting(IndexDescription::name).contains("by_user");
            AnswerCheck.run(dataset, view, SimStore.rows(dataset, view));
        }
    }

    @Test
    void answers_come_from_memory_and_region_together() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            for (int round = 0; round < 4; round++) {
                for (int id = 0; id < 50; id++) {
                    put(dataset, id, "user " + (id + round) % 7);
                }
                dataset.delete((long) round);
                check(dataset);
                dataset.flush();
                check(dataset);
            }
            dataset.mergeAll();
            check(dataset);
            assertThat(kind.absorptionCount()).isEqualTo(8);
            // one entry a record, once nobody reads what was superseded
            assertThat(kind.entryCount()).isEqualTo(SimStore.rows(dataset).size());
            sim.verify();
        }
    }

    @Test
    void a_snapshot_keeps_its_entries_whatever_is_absorbed() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            for (int id = 0; id < 20; id++) {
                put(dataset, id, "early " + id % 3);
            }
            dataset.flush();
            try (ReadView old = dataset.openView()) {
                Map<Long, Row> then = SimStore.rows(dataset, old);
                for (int round = 0; round < 3; round++) {
                    for (int id = 0; id < 20; id++) {
                        put(dataset, id, "late " + (id + round) % 4);
                    }
                    AnswerCheck.run(dataset, old, then);
                    dataset.flush();
                    AnswerCheck.run(dataset, old, then);
                }
                check(dataset);
            }
        }
    }

    @Test
    void a_store_that_is_opened_again_has_its_region() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
            put(dataset, 1, "b");
            put(dataset, 2, "b");
        }
        try (SimStore sim = open()) {
            assertThat(kind.absorptionCount()).isEqualTo(1);
            check(sim.store.dataset("Visits"));
            sim.store.dataset("Visits").flush();
            check(sim.store.dataset("Visits"));
        }
    }

    /** The flush after it fails: the manifest knows nothing of what the region holds. */
    @Test
    void what_a_failed_flush_had_absorbed_is_taken_back_at_opening() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
            put(dataset, 1, "b");
            put(dataset, 3, "b");
            SimDisk image = disk.crashImage(7);
            dataset.flush();
            assertThat(kind.entryCount()).isEqualTo(2);
            try (SimStore again = SimStore.open(image, 2, options(kind.image()))) {
                check(again.store.dataset("Visits"));
                put(again.store.dataset("Visits"), 1, "c");
                check(again.store.dataset("Visits"));
                again.store.dataset("Visits").flush();
                check(again.store.dataset("Visits"));
            }
        }
    }

    @Test
    void regions_that_are_not_sound_are_built_anew_and_nobody_gets_a_wrong_answer() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            for (int id = 0; id < 30; id++) {
                put(dataset, id, "user " + id % 4);
            }
            dataset.delete(3L);
            dataset.flush();
            put(dataset, 40, "user 1");
        }
        kind.damage();
        try (SimStore sim = open()) {
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .isNotEmpty();
            Dataset dataset = sim.store.dataset("Visits");
            put(dataset, 5, "user 2");
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
            dataset.flush();
            check(dataset);
            sim.verify();
        }
        long absorbed = kind.absorptionCount();
        try (SimStore sim = open()) {
            check(sim.store.dataset("Visits"));
            assertThat(kind.absorptionCount()).isEqualTo(absorbed);
            assertThat(kind.regionCount()).isEqualTo(2);
        }
    }

    @Test
    void a_kind_that_keeps_nothing_is_built_at_each_opening() {
        HeapIndexKind passing = HeapIndexKind.passing();
        try (SimStore sim = SimStore.open(disk, 1, options(passing))) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
        }
        for (int i = 0; i < 2; i++) {
            try (SimStore sim = SimStore.open(disk, 1, options(passing))) {
                Dataset dataset = sim.store.dataset("Visits");
                sim.tasks.await(() -> dataset.indexes().size() == 1);
                check(dataset);
            }
        }
    }

    @Test
    void a_region_that_is_full_disables_its_index_and_nothing_else() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
            put(dataset, 1, "b");
            kind.failAfter(
                    0,
                    () -> new StorageIoException(
                            StorageIoException.Kind.NO_SPACE, "grow", "region", "full", null));
            dataset.flush();
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .hasSize(1);
            sim.tasks.await(() -> dataset.indexes().isEmpty());
            put(dataset, 2, "c");
            dataset.flush();
            assertThat(SimStore.rows(dataset)).hasSize(2);
            dataset.rebuildIndex("by_user");
            check(dataset);
        }
        try (SimStore sim = open()) {
            check(sim.store.dataset("Visits"));
        }
    }

    /** The edit that disables the index finds no room: it is made when there is some. */
    @Test
    void a_disk_that_is_full_when_an_index_is_to_be_disabled_breaks_nothing() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            kind.failAfter(0, () -> ioFailure(StorageIoException.Kind.NO_SPACE));
            dataset.flush();
            assertThat(dataset.indexes()).hasSize(1);
            FaultScript full = disk.fault(FaultScript.with(Fault.ENOSPC)
                    .on(OperationKind.CREATE, OperationKind.WRITE)
                    .named(name -> name.startsWith("MANIFEST"))
                    .forever());
            sim.tasks.await(() -> full.hitCount() > 1);
            put(dataset, 2, "b");
            disk.clearFaults();
            sim.tasks.await(() -> dataset.indexes().isEmpty());
            assertThat(SimStore.rows(dataset)).hasSize(2);
        }
    }

    private static StorageIoException ioFailure(StorageIoException.Kind what) {
        return new StorageIoException(what, "grow", "region", "the disk said so", null);
    }

    /** Of one dataset they are built one after the other; a crash in between forgets none. */
    @Test
    void two_indexes_with_unsound_regions_are_both_built_anew() {
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("Visits")
                    .maintenance(Maintenance.VALIDATION)
                    .partitions(2)
                    .index(IndexSpec.pm("by_user", "user"))
                    .index(IndexSpec.pm("also_by_user", "user")));
            for (int id = 0; id < 30; id++) {
                put(dataset, id, "user " + id % 4);
            }
            dataset.flush();
        }
        kind.damage();
        SimDisk between;
        HeapIndexKind memory;
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> !dataset.indexes().isEmpty());
            assertThat(dataset.indexes()).hasSize(1);
            between = disk.crashImage(7);
            memory = kind.image();
            sim.tasks.await(() -> dataset.indexes().size() == 2);
            check(dataset);
        }
        try (SimStore sim = SimStore.open(between, 2, options(memory))) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> dataset.indexes().size() == 2);
            check(dataset);
        }
    }

    @Test
    void a_region_that_fails_while_the_store_runs_is_built_anew_at_the_next_opening() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            kind.failAfter(0, () -> ioFailure(StorageIoException.Kind.IO));
            dataset.flush();
            sim.tasks.await(() -> dataset.indexes().isEmpty());
        }
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
        }
    }

    /** Somebody else writes to the same memory, and the kind meets what it can't have written. */
    @Test
    void what_a_region_throws_ends_its_index_and_not_the_store() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            kind.failAfter(1, () -> new IllegalStateException("a leaf that was never written"));
            dataset.flush();
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .singleElement()
                    .asString()
                    .contains("a leaf that was never written");
            sim.tasks.await(() -> dataset.indexes().isEmpty());
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            put(dataset, 2, "b");
            dataset.flush();
            check(dataset);
        }
    }

    /** The JVM tells it when the call into the region has returned; the store lives on. */
    @Test
    void a_fault_in_the_mapping_of_a_region_disables_its_index_alone() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            kind.faultAfter(1);
            dataset.flush();
            sim.tasks.await(() -> dataset.indexes().isEmpty());
            put(dataset, 2, "b");
            dataset.flush();
            assertThat(dataset.get(2L)).isNotNull();
        }
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
        }
    }

    @Test
    void a_bulk_load_that_fails_when_a_region_has_it_has_the_region_built_anew() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            try (BulkLoader load = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                for (int id = 0; id < 40; id++) {
                    load.add(dataset.newRecordWriter()
                            .write(row(id, "user " + id % 5).toMap()));
                }
                disk.fault(FaultScript.with(Fault.ENOSPC)
                        .on(OperationKind.CREATE, OperationKind.WRITE)
                        .named(name -> name.startsWith("MANIFEST")));
                assertThatThrownBy(load::finish).isInstanceOf(StorageIoException.class);
            }
            sim.tasks.await(() -> dataset.indexes().isEmpty());
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .isNotEmpty();
            put(dataset, 3, "late");
            check(dataset);
            dataset.flush();
            check(dataset);
        }
    }

    @Test
    void an_index_is_created_on_records_that_are_there_and_dropped_again() {
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.createDataset(
                    Row.blindSpec("Visits").maintenance(Maintenance.VALIDATION).partitions(2));
            for (int round = 0; round < 3; round++) {
                for (int id = round; id < 30; id++) {
                    put(dataset, id, "user " + (id + round) % 4);
                }
                dataset.delete((long) round);
                dataset.flush();
            }
            put(dataset, 50, "user 1");
            dataset.createIndex(IndexSpec.pm("by_user", "user"));
            check(dataset);
            put(dataset, 51, "user 1");
            dataset.flush();
            dataset.mergeAll();
            check(dataset);
            dataset.disableIndex("by_user");
            put(dataset, 52, "user 1");
            dataset.enableIndex("by_user");
            check(dataset);
            dataset.dropIndex("by_user");
            assertThat(dataset.indexes()).isEmpty();
            assertThat(kind.regionCount()).isZero();
        }
    }

    /** Its region is there when it is built: until then its index has nothing on disk. */
    @Test
    void all_is_merged_while_a_region_is_not_there_yet() {
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.createDataset(
                    Row.blindSpec("Visits").maintenance(Maintenance.VALIDATION).partitions(2));
            putTwice(dataset);
            IndexBuild build = dataset.startIndex(IndexSpec.pm("by_user", "user"));
            askAll(sim, dataset);
            dataset.mergeAll();
            build.await();
            check(dataset);
            sim.verify();
        }
    }

    @Test
    void all_is_merged_while_a_region_is_built_anew() {
        try (SimStore sim = open()) {
            putTwice(create(sim));
        }
        kind.damage();
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> sim.store.describe().datasets().stream()
                    .flatMap(described -> described.partitions().getFirst().indexes().stream())
                    .anyMatch(index -> index.state().equals("building")));
            dataset.mergeAll();
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
            sim.verify();
        }
    }

    @Test
    void all_is_merged_beside_an_index_that_is_disabled() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            putTwice(dataset);
            dataset.disableIndex("by_user");
            askAll(sim, dataset);
            dataset.mergeAll();
            dataset.enableIndex("by_user");
            check(dataset);
        }
    }

    private static void putTwice(Dataset dataset) {
        for (int round = 0; round < 2; round++) {
            for (int id = 0; id < 40; id++) {
                put(dataset, id, "user " + (id + round) % 4);
            }
            dataset.flush();
        }
    }

    /** What looks at all indexes of a store, built or not. */
    private static void askAll(SimStore sim, Dataset dataset) {
        assertThat(dataset.indexes()).isEmpty();
        assertThat(SimStore.rows(dataset)).hasSize(40);
        sim.verify();
        assertThat(sim.store.describe().datasets()).hasSize(1);
        assertThat(dataset.advise()).isNotNull();
        assertThat(sim.store.backup(new SimDisk(9, Profile.STRICT), CopyMode.COPY))
                .isNotNull();
        assertThatThrownBy(dataset::repair).hasMessageContaining("no index to repair");
        assertThat(dataset.indexes()).isEmpty();
    }

    /** The build begins inside the wait of a write, in some of the orders of the workers. */
    @Test
    void a_region_is_built_anew_while_writes_wait_whatever_the_order() {
        for (long seed = 1; seed <= 20; seed++) {
            SimDisk own = new SimDisk(seed, Profile.STRICT);
            HeapIndexKind passing = HeapIndexKind.passing();
            try (SimStore sim = SimStore.open(own, seed, options(passing))) {
                Dataset dataset = create(sim);
                put(dataset, 1, "a");
                dataset.flush();
            }
            try (SimStore sim = SimStore.open(own, seed, options(passing))) {
                Dataset dataset = sim.store.dataset("Visits");
                for (int i = 0; i < 30; i++) {
                    put(dataset, i % 10, "user " + i % 3);
                }
                sim.tasks.await(() -> dataset.indexes().size() == 1);
                check(dataset);
                dataset.flush();
                check(dataset);
                sim.verify();
            }
        }
    }

    /** What was collected since the store's files were copied is missing in a region of today. */
    @Test
    void a_region_that_is_newer_than_the_store_that_was_put_back_is_built_anew() {
        SimDisk before;
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            for (int id = 0; id < 30; id++) {
                put(dataset, id, "early " + id % 4);
            }
            dataset.flush();
        }
        before = disk.copy();
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            for (int id = 0; id < 30; id++) {
                put(dataset, id, "late");
            }
            dataset.flush();
            check(dataset);
        }
        try (SimStore sim = SimStore.open(before, 3, options(kind.image()))) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.runForMicros(5_000_000);
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .isNotEmpty();
            check(dataset);
            sim.verify();
        }
    }

    /**
     * What the store draws after it was opened makes its last timestamp larger than what the region
     * had absorbed: the region stays refused, though the process ends before it is built.
     */
    @Test
    void a_region_that_was_refused_as_newer_is_never_believed_again() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "early");
            dataset.flush();
        }
        SimDisk before = disk.copy();
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            put(dataset, 1, "late");
            put(dataset, 1, "later");
            dataset.flush();
        }
        SimDisk killed;
        HeapIndexKind left;
        HeapIndexKind newer = kind.image();
        try (SimStore sim = SimStore.open(before, 3, options(newer))) {
            for (long id = 2; id < 6; id++) {
                put(sim.store.dataset("Visits"), id, "early");
            }
            killed = before.copy();
            left = newer.image();
        }
        try (SimStore sim = SimStore.open(killed, 3, options(left))) {
            Dataset dataset = sim.store.dataset("Visits");
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
            sim.verify();
        }
    }

    /** An opening ends before it has read the log: the next one refuses the region all the same. */
    @Test
    void a_region_that_is_newer_is_refused_by_each_opening() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "early");
            dataset.flush();
        }
        SimDisk before = disk.copy();
        try (SimStore sim = open()) {
            Dataset dataset = sim.store.dataset("Visits");
            put(dataset, 1, "late");
            dataset.flush();
        }
        var _ = before.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.READ, OperationKind.OPEN)
                .named(name -> name.startsWith("log/"))
                .forever());
        assertThatThrownBy(() -> SimStore.open(before, 3, options(kind)))
                .isInstanceOf(StorageIoException.class);
        before.clearFaults();
        try (SimStore sim = SimStore.open(before, 3, options(kind))) {
            Dataset dataset = sim.store.dataset("Visits");
            assertThat(sim.store.events().recent())
                    .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                    .isNotEmpty();
            sim.tasks.await(() -> dataset.indexes().size() == 1);
            check(dataset);
            sim.verify();
        }
    }

    @Test
    void an_entry_that_a_region_lost_or_has_at_the_wrong_key_is_found_by_verify() {
        for (boolean isLost : List.of(true, false)) {
            HeapIndexKind damaged = HeapIndexKind.persistent();
            SimDisk own = new SimDisk(2, Profile.STRICT);
            try (SimStore sim = SimStore.open(own, 2, options(damaged))) {
                Dataset dataset = create(sim);
                for (long id = 0; id < 20; id++) {
                    put(dataset, id, "user " + id % 3);
                }
                dataset.flush();
                assertThat(sim.store.verify().errors()).isEmpty();
                if (isLost) {
                    damaged.loseAnEntry();
                } else {
                    damaged.misplaceAnEntry();
                }
                assertThat(sim.store.verify().errors())
                        .anyMatch(error -> error.contains(
                                isLost ? "entries for" : "is not one that its record gives"));
            }
        }
    }

    @Test
    void a_region_looks_after_what_readers_met_while_nobody_writes() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            for (long id = 0; id < 20; id++) {
                put(dataset, id, "user 1");
            }
            dataset.flush();
            try (ReadView before = dataset.openView()) {
                for (long id = 0; id < 20; id++) {
                    put(dataset, id, "user 2");
                }
                dataset.flush();
                check(dataset);
                assertThat(before.timestamp()).isPositive();
            }
            assertThat(kind.tidiedCount()).isZero();
            sim.tasks.runForMicros(3_000_000);
            assertThat(kind.tidiedCount()).isPositive();
        }
    }

    @Test
    void a_bulk_load_goes_into_the_region() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            try (BulkLoader load = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                for (int id = 0; id < 40; id++) {
                    load.add(dataset.newRecordWriter()
                            .write(row(id, "user " + id % 5).toMap()));
                }
                load.finish();
            }
            check(dataset);
            put(dataset, 3, "late");
            dataset.flush();
            check(dataset);
        }
        try (SimStore sim = open()) {
            check(sim.store.dataset("Visits"));
        }
    }

    @Test
    void a_dataset_that_is_dropped_leaves_no_region() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
            sim.store.dropDataset("Visits");
            assertThat(kind.regionCount()).isZero();
        }
    }

    @Test
    void a_kind_that_was_not_handed_in_is_named() {
        assertThatThrownBy(() -> {
                    try (SimStore sim = SimStore.open(disk, 1, options())) {
                        create(sim);
                    }
                })
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index by_user")
                .hasMessageContaining("kind pm")
                .hasMessageContaining("withIndexKinds");
        try (SimStore sim = open()) {
            create(sim);
        }
        assertThatThrownBy(() -> SimStore.open(disk, 1, options()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index by_user of dataset Visits is of kind pm");
    }

    @Test
    void what_does_not_go_together_is_refused_and_nothing_is_changed() {
        try (SimStore sim = open()) {
            for (Maintenance maintenance : List.of(
                    Maintenance.EAGER,
                    Maintenance.DELETED_KEY,
                    Maintenance.AUTO,
                    Maintenance.MUTABLE_BITMAP)) {
                assertThatThrownBy(() -> sim.store.createDataset(Row.blindSpec("Visits")
                                .index(IndexSpec.pm("by_user", "user")
                                        .withMaintenance(maintenance))))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining(maintenance.label());
            }
            assertThatThrownBy(() -> IndexSpec.pm("by_user", "user").asUnique())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("unique");
            assertThatThrownBy(() -> sim.store.createDataset(Row.withPlaces(Row.blindSpec("Visits"))
                            .index(IndexSpec.pm("by_tag", "tags[]"))))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("elements of an array");
            assertThatThrownBy(() -> sim.store.createDataset(Row.blindSpec("Visits")
                            .index(IndexSpec.pm("by_user", "user").withParameter("speed", "high"))))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("speed");
            assertThat(sim.store.datasets()).isEmpty();
            assertThat(kind.regionCount()).isZero();
        }
    }

    @Test
    void a_store_that_is_opened_for_reading_leaves_regions_alone() {
        try (SimStore sim = open()) {
            Dataset dataset = create(sim);
            put(dataset, 1, "a");
            dataset.flush();
        }
        SimClock clock = new SimClock();
        try (Store store =
                Store.openForReading(disk, new SimTasks(1, clock), clock, options(kind))) {
            check(store.dataset("Visits"));
            assertThat(SimStore.rows(store.dataset("Visits"))).hasSize(1);
        }
        // one that is not sound is not searched, and not mended
        HeapIndexKind damaged = kind.image();
        damaged.damage();
        try (Store store =
                Store.openForReading(disk, new SimTasks(1, clock), clock, options(damaged))) {
            assertThat(store.dataset("Visits").indexes()).isEmpty();
            assertThat(SimStore.rows(store.dataset("Visits"))).hasSize(1);
        }
        try (SimStore sim = open()) {
            check(sim.store.dataset("Visits"));
        }
    }
}
