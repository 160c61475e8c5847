package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QuarantinedException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A damaged component is set aside, and all that does not need it goes on. */
class QuarantineTest {
    private static final long SEED = 31;
    private static final int ROWS = 2_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();

    @AfterEach
    void close() {
        sim.close();
    }

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    private void reopen() {
        sim.close();
        sim = open();
    }

    private Dataset dataset(String name) {
        return sim.store.dataset(name);
    }

    private static Row row(long id, int round) {
        return new Row(
                id,
                "user" + id % 7,
                round,
                Instant.ofEpochSecond(1_000L * round + id),
                "b" + round);
    }

    /** Three components in each tree: the ids from 0, from {@link #ROWS} and from twice that. */
    private Dataset create(String name, Maintenance maintenance, String policy) {
        Dataset dataset = sim.store.createDataset(
                Row.spec(name).maintenance(maintenance).mergePolicy(MergePolicySpec.parse(policy)));
        for (int round = 0; round < 3; round++) {
            put(dataset, round);
            dataset.flush();
        }
        return dataset;
    }

    private static void put(Dataset dataset, int round) {
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row((long) round * ROWS + i, round).toMap());
        }
    }

    private IndexDescription tree(String dataset, String index) {
        return sim.store.describe().datasets().stream()
                .filter(described -> described.name().equals(dataset))
                .flatMap(described -> described.partitions().getFirst().indexes().stream())
                .filter(described -> described.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    private List<Long> files(String dataset, String index) {
        return tree(dataset, index).components().stream()
                .map(ComponentDescription::fileId)
                .toList();
    }

    private <E> List<E> events(Class<E> kind) {
        return sim.store.events().recent().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    private long gauge(String name) {
        return sim.store.meters().instruments().stream()
                .filter(Reading.class::isInstance)
                .map(Reading.class::cast)
                .filter(reading -> reading.name().equals(name))
                .mapToLong(reading -> reading.source().getAsLong())
                .sum();
    }

    private List<String> quarantined() {
        List<String> names = new ArrayList<>();
        for (var dataset : sim.store.describe().datasets()) {
            for (var partition : dataset.partitions()) {
                for (var index : partition.indexes()) {
                    index.components().stream()
                            .filter(component -> component.quarantine() != null)
                            .forEach(component ->
                                    names.add("%s.%s".formatted(dataset.name(), index.name())));
                }
            }
        }
        return names;
    }

    private void checkTakesWrites() {
        Dataset found = sim.store.findDataset("Other");
        Dataset other = found != null
                ? found
                : sim.store.createDataset(
                        Row.blindSpec("Other").mergePolicy(MergePolicySpec.parse("no-merge")));
        other.upsert(row(1, 1).toMap());
        other.flush();
        other.upsert(row(2, 2).toMap());
        other.flush();
        other.mergeAll();
    }

    @Test
    void a_damaged_input_fails_its_merge_alone() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        long middle = files("T", "primary").get(1);
        disk.flipBit(StoreFiles.component(middle), 5_000, 3);

        assertThatThrownBy(dataset::mergeAll)
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(StoreFiles.component(middle));

        assertThat(quarantined()).containsExactly("T.primary");
        assertThat(events(StoreEvent.Quarantined.class)).singleElement().satisfies(event -> {
            assertThat(event.dataset()).isEqualTo("T");
            assertThat(event.index()).isEqualTo("primary");
            assertThat(event.file()).isEqualTo(StoreFiles.component(middle));
            assertThat(event.cause()).contains("damaged");
        });
        assertThat(gauge("components.quarantined")).isEqualTo(1);
        checkTakesWrites();
        put(dataset, 3);
        dataset.flush();
        // the two above are merged, the one below stays
        dataset.mergeAll();
        assertThat(files("T", "primary")).hasSize(3).element(1).isEqualTo(middle);
    }

    @Test
    void what_is_set_aside_stays_so_after_reopening() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        long middle = files("T", "primary").get(1);
        disk.flipBit(StoreFiles.component(middle), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        reopen();

        assertThat(quarantined()).containsExactly("T.primary");
        assertThat(events(StoreEvent.Quarantined.class)).hasSize(1);
        assertThat(sim.store.verify().errors())
                .anySatisfy(error ->
                        assertThat(error).contains(StoreFiles.component(middle), "quarantine"));
        checkTakesWrites();
        dataset("T").mergeAll();
        assertThat(files("T", "primary")).contains(middle);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "MUTABLE_BITMAP"})
    void what_a_merge_found_damaged_and_was_put_back_is_there_after_reopening(
            Maintenance maintenance) {
        Dataset dataset = create("T", maintenance, "correlated-no-merge");
        List<String> files = new ArrayList<>();
        List<byte[]> whole = new ArrayList<>();
        for (String index : List.of("primary", "by_user")) {
            String file = StoreFiles.component(files("T", index).get(1));
            files.add(file);
            whole.add(disk.content(file));
            disk.flipBit(file, 5_000, 3);
            if (index.equals("primary")) {
                assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
            } else {
                // merges go around it already
                assertThat(sim.store.quarantine(file)).contains(file);
            }
        }
        dataset.upsert(row(7, 5).toMap());
        dataset.delete(8L);
        sim.close();
        for (int i = 0; i < files.size(); i++) {
            disk.delete(files.get(i));
            disk.put(files.get(i), whole.get(i));
        }
        SimClock clock = new SimClock();
        Store reading = Store.openForReading(
                disk, new SimTasks(SEED, clock), clock, SimStore.options(Durability.SYNC));
        assertThat(reading.describe().toString()).contains("quarantine");
        reading.close();

        sim = open();

        assertThat(quarantined()).isEmpty();
        sim.verify();
        assertThat(dataset("T").get(7L)).containsEntry("score", 5);
        assertThat(SimStore.rows(dataset("T"))).hasSize(3 * ROWS - 1);
        reopen();
        assertThat(events(StoreEvent.Quarantined.class)).isEmpty();
        dataset("T").mergeAll();
        assertThat(files("T", "primary")).hasSize(1);
    }

    @Test
    void what_verify_finds_damaged_is_set_aside_by_hand() {
        create("T", Maintenance.VALIDATION, "no-merge");
        String middle = StoreFiles.component(files("T", "primary").get(1));
        assertThatThrownBy(() -> sim.store.quarantine(middle))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(middle)
                .hasMessageContaining("index primary of T, partition 0")
                .hasMessageContaining("is whole");
        assertThat(quarantined()).isEmpty();
        disk.flipBit(middle, 5_000, 3);

        assertThat(sim.store.quarantine(middle)).contains(middle, "damaged");

        assertThat(quarantined()).containsExactly("T.primary");
        assertThatThrownBy(() -> sim.store.quarantine(middle))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("already");
        assertThatThrownBy(() -> sim.store.quarantine("data/no.component"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("data/no.component");
        checkTakesWrites();
        reopen();
        assertThat(quarantined()).containsExactly("T.primary");
        assertThatThrownBy(() -> SimStore.rows(dataset("T")))
                .isInstanceOf(QuarantinedException.class);
    }

    @Test
    void a_query_that_needs_it_fails_and_others_do_not() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        long middle = files("T", "primary").get(1);
        disk.flipBit(StoreFiles.component(middle), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        // found above it, and passed by its Bloom filter
        assertThat(dataset.get(2L * ROWS + 1)).isNotNull();
        assertThat(dataset.get(7L)).isNotNull();
        assertThatThrownBy(() -> dataset.get(ROWS + 7L))
                .isInstanceOf(QuarantinedException.class)
                .hasMessageContaining("restore");
        assertThatThrownBy(() -> SimStore.rows(dataset)).isInstanceOf(QuarantinedException.class);
        // a blind write of the same key needs no old record
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        assertThat(dataset.get(ROWS + 7L)).isNotNull();
    }

    @Test
    void a_write_that_needs_it_fails_and_others_do_not() {
        for (Maintenance maintenance : List.of(Maintenance.EAGER, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = create(name, maintenance, "correlated-no-merge");
            long middle = files(name, "primary").get(1);
            disk.flipBit(StoreFiles.component(middle), 5_000, 3);
            assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

            assertThatThrownBy(() -> dataset.upsert(row(ROWS + 7L, 5).toMap()))
                    .isInstanceOf(QuarantinedException.class);
            dataset.upsert(row(7L, 5).toMap());
            dataset.upsert(row(2L * ROWS + 7L, 5).toMap());
            dataset.delete(8L);
            assertThat(dataset.get(8L)).isNull();
            reopen();
            assertThat(dataset(name).get(8L)).isNull();
            assertThat(dataset(name).get(7L)).containsEntry("score", 5);
        }
        checkTakesWrites();
    }

    @Test
    void a_store_with_a_damaged_footer_opens() {
        create("T", Maintenance.VALIDATION, "no-merge");
        long middle = files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        sim.close();
        byte[] whole = disk.content(file);
        disk.flipBit(file, whole.length - 10, 3);

        sim = open();

        assertThat(quarantined()).containsExactly("T.primary");
        assertThat(events(StoreEvent.Quarantined.class)).hasSize(1);
        checkTakesWrites();
        Dataset dataset = dataset("T");
        assertThat(dataset.get(2L * ROWS + 1)).isNotNull();
        // nothing is known of it: it may have any key
        assertThatThrownBy(() -> dataset.get(7L)).isInstanceOf(QuarantinedException.class);
        assertThat(sim.store.verify().errors())
                .anySatisfy(error -> assertThat(error).contains(file));
        put(dataset, 3);
        dataset.flush();
        dataset.mergeAll();
        assertThat(files("T", "primary")).hasSize(3).element(1).isEqualTo(middle);

        // put back, it is there again
        sim.close();
        disk.delete(file);
        disk.put(file, whole);
        sim = open();
        assertThat(quarantined()).isEmpty();
        sim.verify();
        assertThat(SimStore.rows(dataset("T"))).hasSize(4 * ROWS);
    }

    @Test
    void what_the_log_supersedes_in_what_can_not_be_read_is_set_aside_too() {
        for (Maintenance maintenance : List.of(Maintenance.EAGER, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = create(name, maintenance, "correlated-no-merge");
            long middle = files(name, "primary").get(1);
            String file = StoreFiles.component(middle);
            // acknowledged, in the log alone
            dataset.upsert(row(ROWS + 7L, 5).toMap());
            dataset.upsert(row(8L, 5).toMap());
            dataset.delete(ROWS + 9L);
            sim.close();
            byte[] whole = disk.content(file);
            disk.delete(file);

            sim = open();

            Dataset reopened = dataset(name);
            assertThat(reopened.get(ROWS + 7L)).containsEntry("score", 5);
            assertThat(reopened.get(8L)).containsEntry("score", 5);
            assertThat(reopened.get(ROWS + 9L)).isNull();
            boolean eager = maintenance == Maintenance.EAGER;
            assertThat(quarantined().stream().filter(found -> found.startsWith(name)))
                    .containsExactlyElementsOf(
                            eager
                                    ? List.of(
                                            name + ".primary",
                                            name + ".by_user",
                                            name + ".by_user",
                                            name + ".by_user",
                                            name + ".by_score",
                                            name + ".by_score",
                                            name + ".by_score")
                                    : List.of(name + ".primary"));
            reopened.flush();
            checkTakesWrites();
            reopen();
            // the log does not tell it any more: the file alone would show what is superseded
            sim.close();
            disk.put(file, whole);
            sim = open();
            assertThat(quarantined()).contains(name + ".primary");
            assertThat(dataset(name).get(ROWS + 7L)).containsEntry("score", 5);
            assertThatThrownBy(() -> SimStore.rows(dataset(name)))
                    .isInstanceOf(QuarantinedException.class);
        }
    }

    @Test
    void a_component_comes_back_from_a_backup_with_the_marks_of_today() {
        for (Maintenance maintenance :
                List.of(Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = create(name, maintenance, "correlated-no-merge");
            SimDisk backup = new SimDisk(SEED, Profile.STRICT);
            sim.store.backup(backup, CopyMode.COPY);
            long middle = files(name, "primary").get(1);
            // in components and in memory, after the backup
            dataset.upsert(row(ROWS + 7L, 5).toMap());
            dataset.delete(ROWS + 9L);
            dataset.flush();
            dataset.upsert(row(ROWS + 11L, 5).toMap());
            disk.flipBit(StoreFiles.component(middle), 5_000, 3);
            assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
            assertThat(quarantined()).containsExactly(name + ".primary");
            dataset.upsert(row(12L, 5).toMap());

            QuarantineReport report = sim.store.restoreFrom(backup);

            assertThat(report.isEmptied()).isTrue();
            assertThat(report.components()).hasSize(1);
            assertThat(quarantined()).isEmpty();
            assertThat(events(StoreEvent.QuarantineLifted.class)).isNotEmpty();
            checkRestored(dataset);
            dataset.upsert(row(ROWS + 13L, 5).toMap());
            dataset.mergeAll();
            reopen();
            checkRestored(dataset(name));
            assertThat(quarantined()).isEmpty();
        }
    }

    private void checkRestored(Dataset dataset) {
        assertThat(SimStore.rows(dataset)).hasSize(3 * ROWS - 1);
        assertThat(dataset.get(ROWS + 7L)).containsEntry("score", 5);
        assertThat(dataset.get(ROWS + 11L)).containsEntry("score", 5);
        assertThat(dataset.get(ROWS + 9L)).isNull();
        sim.verify();
    }

    @Test
    void marks_that_the_log_could_not_make_are_made_by_the_restore() {
        Dataset dataset = create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        long middle = files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.upsert(row(ROWS + 11L, 5).toMap());
        dataset.delete(ROWS + 9L);
        sim.close();
        SimDisk elsewhere = disk.copy();
        disk.delete(file);
        sim = open();
        dataset("T").flush();
        reopen();
        sim.close();
        // the file alone is not enough, and it is more than enough
        disk.put(file, elsewhere.content(file));
        sim = open();
        assertThat(quarantined()).containsExactly("T.primary");

        assertThat(sim.store.restoreFrom(null).isEmptied()).isTrue();

        checkRestored(dataset("T"));
        reopen();
        checkRestored(dataset("T"));
    }

    @Test
    void a_restore_with_an_unknown_outcome_leaves_what_either_manifest_names() {
        Dataset dataset = create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        String file = StoreFiles.component(files("T", "primary").get(1));
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.upsert(row(ROWS + 11L, 5).toMap());
        dataset.delete(ROWS + 9L);
        sim.close();
        SimDisk elsewhere = disk.copy();
        disk.delete(file);
        sim = open();
        dataset("T").flush();
        sim.close();
        disk.put(file, elsewhere.content(file));
        sim = open();
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.SYNC_DIRECTORY)
                .named(String::isEmpty)
                .call(1));
        assertThatThrownBy(() -> sim.store.restoreFrom(null))
                .isInstanceOf(StoreFailedException.class);
        disk.clearFaults();
        reopen(); // the new manifest stands
        assertThat(quarantined()).isEmpty();
        checkRestored(dataset("T"));
    }

    /**
     * Where ours is missing there is no footer to compare, but the manifest knows size and
     * timestamps.
     */
    @Test
    void a_missing_file_is_not_replaced_by_one_of_a_copy_that_went_its_own_way() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk ours = disk.copy();
        List<SimDisk> copies = new ArrayList<>();
        // as many operations in other bytes; as many bytes of other operations
        for (boolean moreOperations : new boolean[] {false, true}) {
            SimDisk copy = ours.copy();
            copy.processDied();
            try (SimStore own = SimStore.open(copy, SEED, SimStore.options(Durability.SYNC))) {
                Dataset its = own.store.dataset("T");
                its.upsert(row(1, moreOperations ? 7 : 123_456).toMap());
                if (moreOperations) {
                    its.upsert(row(1, 7).toMap());
                }
                its.flush();
            }
            copies.add(copy);
        }
        dataset.upsert(row(1, 7).toMap());
        dataset.flush();
        String file = StoreFiles.component(files("T", "primary").getFirst());
        sim.close();
        disk.delete(file);
        sim = open();
        for (SimDisk copy : copies) {
            assertThat(copy.exists(file)).isTrue();
            QuarantineReport report = sim.store.restoreFrom(copy);
            assertThat(report.components())
                    .singleElement()
                    .satisfies(outcome -> assertThat(outcome.refusal())
                            .contains("not what is missing", "component should be"));
            assertThat(disk.exists(file)).isFalse();
        }
        assertThat(quarantined()).containsExactly("T.primary");
    }

    @Test
    void what_is_not_the_very_file_is_refused_and_says_what_is_lost() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk backup = new SimDisk(SEED, Profile.STRICT);
        sim.store.backup(backup, CopyMode.COPY);
        long middle = files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        disk.flipBit(file, 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        List<SimDisk> wrong = new ArrayList<>();
        SimDisk without = backup.copy();
        without.delete(file);
        wrong.add(without);
        SimDisk damaged = backup.copy();
        damaged.flipBit(file, 9_000, 1);
        wrong.add(damaged);
        SimDisk foreign = backup.copy();
        byte[] other = backup.content(StoreFiles.component(files("T", "primary").get(0)));
        foreign.delete(file);
        foreign.put(file, other);
        wrong.add(foreign);
        for (SimDisk from : wrong) {
            QuarantineReport report = sim.store.restoreFrom(from);
            assertThat(report.isEmptied()).isFalse();
            assertThat(report.components()).singleElement().satisfies(outcome -> {
                assertThat(outcome.file()).isEqualTo(file);
                assertThat(outcome.refusal()).isNotBlank();
                assertThat(outcome.lost()).contains("2000 entries", "operations");
            });
            assertThat(quarantined()).containsExactly("T.primary");
            assertThat(disk.list(StoreFiles.DATA)).noneMatch(StoreFiles::isSortRun);
        }
        assertThat(sim.store.restoreFrom(null).isEmptied()).isFalse();
        assertThat(sim.store.restoreFrom(backup).isEmptied()).isTrue();
        sim.verify();
    }

    @Test
    void backup_and_shipment_say_that_it_is_left_out() throws IOException {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        SimDisk whole = new SimDisk(SEED, Profile.STRICT);
        assertThat(sim.store.backup(whole, CopyMode.COPY).leftOut()).isEmpty();
        String file = StoreFiles.component(files("T", "primary").get(1));
        disk.flipBit(file, 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        SimDisk backup = new SimDisk(SEED, Profile.STRICT);
        assertThat(sim.store.backup(backup, CopyMode.COPY).leftOut()).containsExactly(file);
        try (Shipment shipment = sim.store.openShipment()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertThat(shipment.writeTo(out, 0).leftOut()).containsExactly(file);
        }

        // the copy opens as the store does, and can be made whole as well
        assertThat(backup.exists(file)).isFalse();
        try (SimStore copy = SimStore.open(backup, SEED, SimStore.options(Durability.SYNC))) {
            assertThatThrownBy(() -> copy.store.dataset("T").get(7L))
                    .isInstanceOf(QuarantinedException.class)
                    .hasMessageContaining(file);
        }
        try (SimStore copy = SimStore.open(backup, SEED, SimStore.options(Durability.SYNC))) {
            assertThat(copy.store.restoreFrom(whole).isEmptied()).isTrue();
            copy.verify();
            assertThat(SimStore.rows(copy.store.dataset("T"))).hasSize(3 * ROWS);
        }
    }

    @Test
    void a_damaged_index_is_rebuilt() {
        Dataset dataset = create("T", Maintenance.EAGER, "no-merge");
        disk.flipBit(StoreFiles.component(files("T", "by_user").get(1)), 2_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThat(quarantined()).containsExactly("T.by_user");

        dataset.rebuildIndex("by_user");

        assertThat(quarantined()).isEmpty();
        sim.verify();
        dataset.mergeAll();
        reopen();
        sim.verify();
    }

    @Test
    void an_index_is_not_given_up_for_one_that_can_not_be_built() {
        Dataset dataset = create("T", Maintenance.EAGER, "no-merge");
        disk.flipBit(StoreFiles.component(files("T", "primary").get(1)), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> dataset.rebuildIndex("by_user"))
                .isInstanceOf(QuarantinedException.class);
        assertThat(tree("T", "by_user").state()).isEqualTo("ready");
        assertThat(files("T", "by_user")).isNotEmpty();
    }

    /** A unique index that is given up lets duplicates in, and can't be built again afterwards. */
    @Test
    void a_unique_index_is_not_given_up_for_damage_that_nobody_has_met() {
        Dataset dataset = sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        put(dataset, 0);
        dataset.createIndex(IndexSpec.btree("by_body", "body", "id").asUnique());
        dataset.flush();
        disk.flipBit(StoreFiles.component(files("T", "primary").getFirst()), 5_000, 3);
        reopen();

        assertThatThrownBy(() -> dataset("T").rebuildIndex("by_body"))
                .isInstanceOf(CorruptionException.class);

        assertThat(tree("T", "by_body").state()).isEqualTo("ready");
    }

    /**
     * Why verify said ok right after a read had met damage: a merge reads records, and makes new
     * key pages.
     */
    @Test
    void damage_of_a_key_page_is_found_by_verify_told_and_healed_by_a_merge() {
        for (Maintenance maintenance :
                List.of(Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            create(name, maintenance, "correlated-no-merge");
            long middle = files(name, "primary").get(1);
            String file = StoreFiles.component(middle);
            reopen();
            long at = keyPageAt(file);
            disk.flipBit(file, at, 3);
            assertThat(sim.store.verify().errors())
                    .anySatisfy(error -> assertThat(error).contains(file, "key leaf"));
            assertThat(files(name, "primary")).contains(middle);

            Dataset reopened = dataset(name);
            reopened.upsert(row(3 * ROWS + 1L, 4).toMap());
            if (maintenance == Maintenance.VALIDATION) {
                assertThatThrownBy(() -> reopened.repair("by_user"))
                        .isInstanceOf(CorruptionException.class);
            } else {
                assertThatThrownBy(() -> reopened.upsert(row(ROWS + 7L, 5).toMap()))
                        .isInstanceOf(CorruptionException.class);
            }

            assertThat(events(StoreEvent.DamageMet.class)).anySatisfy(event -> {
                assertThat(event.file()).isEqualTo(file);
                assertThat(event.cause()).contains("key leaf");
            });
            sim.tasks.await(() -> !files(name, "primary").contains(middle));
            assertThat(quarantined()).isEmpty();
            sim.verify();
            assertThat(SimStore.rows(reopened)).hasSize(3 * ROWS + 1);
        }
    }

    /**
     * A byte of the first block of the kind: behind its header of 32 bytes, of which 8 to 11 are
     * its length.
     */
    private long keyPageAt(String file) {
        ByteBuffer bytes = ByteBuffer.wrap(disk.content(file)).order(ByteOrder.LITTLE_ENDIAN);
        int at = 64;
        while (bytes.get(at + 4) != 2) {
            at += 32 + bytes.getInt(at + 8);
        }
        return at + 40L;
    }

    @Test
    void a_damaged_bitmap_sets_aside_what_it_belongs_to() {
        Dataset dataset = create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.flush();
        String invalidEntries = onlyBitmap();
        sim.close();
        disk.flipBit(invalidEntries, disk.content(invalidEntries).length / 2, 1);
        sim = open();
        assertThat(quarantined()).containsExactly("T.primary");
        assertThat(sim.store.verify().errors())
                .anySatisfy(error -> assertThat(error).contains(invalidEntries));
        dataset("T").upsert(row(3L, 5).toMap());
        dataset("T").flush();
        assertThatThrownBy(() -> SimStore.rows(dataset("T")))
                .isInstanceOf(QuarantinedException.class);
        checkTakesWrites();
        // what is in the file was not written over
        sim.close();
        disk.flipBit(invalidEntries, disk.content(invalidEntries).length / 2, 1);
        sim = open();
        sim.verify();
        assertThat(SimStore.rows(dataset("T"))).hasSize(3 * ROWS);
    }

    @Test
    void a_damaged_bitmap_that_repair_made_is_done_without() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.flush();
        dataset.repair("by_user");
        String invalidEntries = onlyBitmap();
        sim.close();
        disk.flipBit(invalidEntries, disk.content(invalidEntries).length / 2, 1);
        sim = open();
        assertThat(quarantined()).isEmpty();
        assertThat(events(StoreEvent.DeadEntriesDropped.class)).hasSize(1);
        sim.verify();
        dataset("T").repair("by_user");
        reopen();
        assertThat(events(StoreEvent.DeadEntriesDropped.class)).isEmpty();
        sim.verify();
    }

    private String onlyBitmap() {
        List<String> bitmaps = disk.list(StoreFiles.DATA).stream()
                .filter(name -> name.endsWith(".dead"))
                .toList();
        assertThat(bitmaps).hasSize(1);
        return StoreFiles.DATA + "/" + bitmaps.getFirst();
    }

    @Test
    void a_secondary_that_is_damaged_is_nobody_elses_business() {
        Dataset dataset = create("T", Maintenance.EAGER, "no-merge");
        long middle = files("T", "by_user").get(1);
        disk.flipBit(StoreFiles.component(middle), 2_000, 3);

        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        assertThat(quarantined()).containsExactly("T.by_user");
        assertThat(SimStore.rows(dataset)).hasSize(3 * ROWS);
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.delete(3L);
        try (ReadView view = dataset.openView()) {
            assertThat(view).isNotNull();
        }
        dataset.dropIndex("by_user");
        assertThat(quarantined()).isEmpty();
        dataset.mergeAll();
        sim.verify();
    }

    @Test
    void a_correlated_merge_goes_around_what_is_damaged_in_one_tree() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "correlated-no-merge");
        long middle = files("T", "by_score").get(1);
        disk.flipBit(StoreFiles.component(middle), 2_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        put(dataset, 3);
        dataset.flush();
        put(dataset, 4);
        dataset.flush();
        dataset.mergeAll();

        assertThat(files("T", "by_score")).hasSize(3).element(1).isEqualTo(middle);
        assertThat(files("T", "primary")).hasSize(3);
        assertThat(files("T", "by_user")).hasSize(3);
        assertThat(SimStore.rows(dataset)).hasSize(5 * ROWS);
    }

    @Test
    void an_index_can_not_be_built_from_what_is_damaged_and_says_so() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge");
        disk.flipBit(StoreFiles.component(files("T", "primary").get(1)), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> dataset.createIndex(IndexSpec.btree("by_body", "body")))
                .isInstanceOf(CorruptionException.class);
        checkTakesWrites();
        assertThat(tree("T", "primary").components()).hasSize(3);
        // a repair is refused, nobody else is
        assertThatThrownBy(() -> dataset.repair("by_user")).isInstanceOf(CorruptionException.class);
        checkTakesWrites();
    }
}
