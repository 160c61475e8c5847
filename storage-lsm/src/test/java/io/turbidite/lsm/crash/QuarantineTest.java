package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QuarantinedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A damaged component is set aside, and all that does not need it goes on. */
class QuarantineTest {
    private final DamagedStore tried = new DamagedStore();

    @AfterEach
    void close() {
        tried.close();
    }

    @Test
    void a_damaged_input_fails_its_merge_alone() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        long middle = tried.files("T", "primary").get(1);
        tried.disk.flipBit(StoreFiles.component(middle), 5_000, 3);

        assertThatThrownBy(dataset::mergeAll)
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(StoreFiles.component(middle));

        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThat(tried.events(StoreEvent.Quarantined.class)).singleElement().satisfies(event -> {
            assertThat(event.dataset()).isEqualTo("T");
            assertThat(event.index()).isEqualTo("primary");
            assertThat(event.file()).isEqualTo(StoreFiles.component(middle));
            assertThat(event.cause()).contains("damaged");
        });
        assertThat(tried.gauge("components.quarantined")).isEqualTo(1);
        tried.checkTakesWrites();
        DamagedStore.put(dataset, 3);
        dataset.flush();
        // the two above are merged, the one below stays
        dataset.mergeAll();
        assertThat(tried.files("T", "primary")).hasSize(3).element(1).isEqualTo(middle);
    }

    @Test
    void what_is_set_aside_stays_so_after_reopening() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        long middle = tried.files("T", "primary").get(1);
        tried.disk.flipBit(StoreFiles.component(middle), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        tried.reopen();

        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThat(tried.events(StoreEvent.Quarantined.class)).hasSize(1);
        assertThat(tried.sim.store.verify().errors())
                .anySatisfy(error ->
                        assertThat(error).contains(StoreFiles.component(middle), "quarantine"));
        tried.checkTakesWrites();
        tried.dataset("T").mergeAll();
        assertThat(tried.files("T", "primary")).contains(middle);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "MUTABLE_BITMAP"})
    void what_a_merge_found_damaged_and_was_put_back_is_there_after_reopening(
            Maintenance maintenance) {
        Dataset dataset = tried.create("T", maintenance, "correlated-no-merge");
        List<String> files = new ArrayList<>();
        List<byte[]> whole = new ArrayList<>();
        for (String index : List.of("primary", "by_user")) {
            String file = StoreFiles.component(tried.files("T", index).get(1));
            files.add(file);
            whole.add(tried.disk.content(file));
            tried.disk.flipBit(file, 5_000, 3);
            if (index.equals("primary")) {
                assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
            } else {
                // merges go around it already
                assertThat(tried.sim.store.quarantine(file)).contains(file);
            }
        }
        dataset.upsert(DamagedStore.row(7, 5).toMap());
        dataset.delete(8L);
        tried.sim.close();
        for (int i = 0; i < files.size(); i++) {
            tried.disk.delete(files.get(i));
            tried.disk.put(files.get(i), whole.get(i));
        }
        SimClock clock = new SimClock();
        Store reading = Store.openForReading(
                tried.disk,
                new SimTasks(DamagedStore.SEED, clock),
                clock,
                SimStore.options(Durability.SYNC));
        assertThat(reading.describe().toString()).contains("quarantine");
        reading.close();

        tried.sim = tried.open();

        assertThat(tried.quarantined()).isEmpty();
        tried.sim.verify();
        assertThat(tried.dataset("T").get(7L)).containsEntry("score", 5);
        assertThat(SimStore.rows(tried.dataset("T"))).hasSize(3 * DamagedStore.ROWS - 1);
        tried.reopen();
        assertThat(tried.events(StoreEvent.Quarantined.class)).isEmpty();
        tried.dataset("T").mergeAll();
        assertThat(tried.files("T", "primary")).hasSize(1);
    }

    @Test
    void what_verify_finds_damaged_is_set_aside_by_hand() {
        tried.create("T", Maintenance.VALIDATION, "no-merge");
        String middle = StoreFiles.component(tried.files("T", "primary").get(1));
        assertThatThrownBy(() -> tried.sim.store.quarantine(middle))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(middle)
                .hasMessageContaining("index primary of T, partition 0")
                .hasMessageContaining("is whole");
        assertThat(tried.quarantined()).isEmpty();
        tried.disk.flipBit(middle, 5_000, 3);

        assertThat(tried.sim.store.quarantine(middle)).contains(middle, "damaged");

        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThatThrownBy(() -> tried.sim.store.quarantine(middle))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("already");
        assertThatThrownBy(() -> tried.sim.store.quarantine("data/no.component"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("data/no.component");
        tried.checkTakesWrites();
        tried.reopen();
        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThatThrownBy(() -> SimStore.rows(tried.dataset("T")))
                .isInstanceOf(QuarantinedException.class);
    }

    @Test
    void a_query_that_needs_it_fails_and_others_do_not() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        long middle = tried.files("T", "primary").get(1);
        tried.disk.flipBit(StoreFiles.component(middle), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        // found above it, and passed by its Bloom filter
        assertThat(dataset.get(2L * DamagedStore.ROWS + 1)).isNotNull();
        assertThat(dataset.get(7L)).isNotNull();
        assertThatThrownBy(() -> dataset.get(DamagedStore.ROWS + 7L))
                .isInstanceOf(QuarantinedException.class)
                .hasMessageContaining("restore");
        assertThatThrownBy(() -> SimStore.rows(dataset)).isInstanceOf(QuarantinedException.class);
        // a blind write of the same key needs no old record
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        assertThat(dataset.get(DamagedStore.ROWS + 7L)).isNotNull();
    }

    @Test
    void a_write_that_needs_it_fails_and_others_do_not() {
        for (Maintenance maintenance : List.of(Maintenance.EAGER, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = tried.create(name, maintenance, "correlated-no-merge");
            long middle = tried.files(name, "primary").get(1);
            tried.disk.flipBit(StoreFiles.component(middle), 5_000, 3);
            assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

            assertThatThrownBy(() -> dataset.upsert(
                            DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap()))
                    .isInstanceOf(QuarantinedException.class);
            dataset.upsert(DamagedStore.row(7L, 5).toMap());
            dataset.upsert(DamagedStore.row(2L * DamagedStore.ROWS + 7L, 5).toMap());
            dataset.delete(8L);
            assertThat(dataset.get(8L)).isNull();
            tried.reopen();
            assertThat(tried.dataset(name).get(8L)).isNull();
            assertThat(tried.dataset(name).get(7L)).containsEntry("score", 5);
        }
        tried.checkTakesWrites();
    }

    @Test
    void a_store_with_a_damaged_footer_opens() {
        tried.create("T", Maintenance.VALIDATION, "no-merge");
        long middle = tried.files("T", "primary").get(1);
        String file = StoreFiles.component(middle);
        tried.sim.close();
        byte[] whole = tried.disk.content(file);
        tried.disk.flipBit(file, whole.length - 10, 3);

        tried.sim = tried.open();

        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThat(tried.events(StoreEvent.Quarantined.class)).hasSize(1);
        tried.checkTakesWrites();
        Dataset dataset = tried.dataset("T");
        assertThat(dataset.get(2L * DamagedStore.ROWS + 1)).isNotNull();
        // nothing is known of it: it may have any key
        assertThatThrownBy(() -> dataset.get(7L)).isInstanceOf(QuarantinedException.class);
        assertThat(tried.sim.store.verify().errors())
                .anySatisfy(error -> assertThat(error).contains(file));
        DamagedStore.put(dataset, 3);
        dataset.flush();
        dataset.mergeAll();
        assertThat(tried.files("T", "primary")).hasSize(3).element(1).isEqualTo(middle);

        // put back, it is there again
        tried.sim.close();
        tried.disk.delete(file);
        tried.disk.put(file, whole);
        tried.sim = tried.open();
        assertThat(tried.quarantined()).isEmpty();
        tried.sim.verify();
        assertThat(SimStore.rows(tried.dataset("T"))).hasSize(4 * DamagedStore.ROWS);
    }

    @Test
    void what_the_log_supersedes_in_what_can_not_be_read_is_set_aside_too() {
        for (Maintenance maintenance : List.of(Maintenance.EAGER, Maintenance.MUTABLE_BITMAP)) {
            String name = "T" + maintenance;
            Dataset dataset = tried.create(name, maintenance, "correlated-no-merge");
            long middle = tried.files(name, "primary").get(1);
            String file = StoreFiles.component(middle);
            // acknowledged, in the log alone
            dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
            dataset.upsert(DamagedStore.row(8L, 5).toMap());
            dataset.delete(DamagedStore.ROWS + 9L);
            tried.sim.close();
            byte[] whole = tried.disk.content(file);
            tried.disk.delete(file);

            tried.sim = tried.open();

            Dataset reopened = tried.dataset(name);
            assertThat(reopened.get(DamagedStore.ROWS + 7L)).containsEntry("score", 5);
            assertThat(reopened.get(8L)).containsEntry("score", 5);
            assertThat(reopened.get(DamagedStore.ROWS + 9L)).isNull();
            boolean eager = maintenance == Maintenance.EAGER;
            assertThat(tried.quarantined().stream().filter(found -> found.startsWith(name)))
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
            tried.checkTakesWrites();
            tried.reopen();
            // the log does not tell it any more: the file alone would show what is superseded
            tried.sim.close();
            tried.disk.put(file, whole);
            tried.sim = tried.open();
            assertThat(tried.quarantined()).contains(name + ".primary");
            assertThat(tried.dataset(name).get(DamagedStore.ROWS + 7L)).containsEntry("score", 5);
            assertThatThrownBy(() -> SimStore.rows(tried.dataset(name)))
                    .isInstanceOf(QuarantinedException.class);
        }
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
            tried.create(name, maintenance, "correlated-no-merge");
            long middle = tried.files(name, "primary").get(1);
            String file = StoreFiles.component(middle);
            tried.reopen();
            long at = keyPageAt(file);
            tried.disk.flipBit(file, at, 3);
            assertThat(tried.sim.store.verify().errors())
                    .anySatisfy(error -> assertThat(error).contains(file, "key leaf"));
            assertThat(tried.files(name, "primary")).contains(middle);

            Dataset reopened = tried.dataset(name);
            reopened.upsert(DamagedStore.row(3 * DamagedStore.ROWS + 1L, 4).toMap());
            if (maintenance == Maintenance.VALIDATION) {
                assertThatThrownBy(() -> reopened.repair("by_user"))
                        .isInstanceOf(CorruptionException.class);
            } else {
                assertThatThrownBy(() -> reopened.upsert(
                                DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap()))
                        .isInstanceOf(CorruptionException.class);
            }

            assertThat(tried.events(StoreEvent.DamageMet.class)).anySatisfy(event -> {
                assertThat(event.file()).isEqualTo(file);
                assertThat(event.cause()).contains("key leaf");
            });
            tried.sim.tasks.await(() -> !tried.files(name, "primary").contains(middle));
            assertThat(tried.quarantined()).isEmpty();
            tried.sim.verify();
            assertThat(SimStore.rows(reopened)).hasSize(3 * DamagedStore.ROWS + 1);
        }
    }

    /**
     * A byte of the first block of the kind: behind its header of 32 bytes, of which 8 to 11 are
     * its length.
     */
    private long keyPageAt(String file) {
        ByteBuffer bytes = ByteBuffer.wrap(tried.disk.content(file)).order(ByteOrder.LITTLE_ENDIAN);
        int at = 64;
        while (bytes.get(at + 4) != 2) {
            at += 32 + bytes.getInt(at + 8);
        }
        return at + 40L;
    }

    @Test
    void a_damaged_bitmap_sets_aside_what_it_belongs_to() {
        Dataset dataset = tried.create("T", Maintenance.MUTABLE_BITMAP, "correlated-no-merge");
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        dataset.flush();
        String invalidEntries = onlyBitmap();
        tried.sim.close();
        tried.disk.flipBit(invalidEntries, tried.disk.content(invalidEntries).length / 2, 1);
        tried.sim = tried.open();
        assertThat(tried.quarantined()).containsExactly("T.primary");
        assertThat(tried.sim.store.verify().errors())
                .anySatisfy(error -> assertThat(error).contains(invalidEntries));
        tried.dataset("T").upsert(DamagedStore.row(3L, 5).toMap());
        tried.dataset("T").flush();
        assertThatThrownBy(() -> SimStore.rows(tried.dataset("T")))
                .isInstanceOf(QuarantinedException.class);
        tried.checkTakesWrites();
        // what is in the file was not written over
        tried.sim.close();
        tried.disk.flipBit(invalidEntries, tried.disk.content(invalidEntries).length / 2, 1);
        tried.sim = tried.open();
        tried.sim.verify();
        assertThat(SimStore.rows(tried.dataset("T"))).hasSize(3 * DamagedStore.ROWS);
    }

    @Test
    void a_damaged_bitmap_that_repair_made_is_done_without() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        dataset.flush();
        dataset.repair("by_user");
        String invalidEntries = onlyBitmap();
        tried.sim.close();
        tried.disk.flipBit(invalidEntries, tried.disk.content(invalidEntries).length / 2, 1);
        tried.sim = tried.open();
        assertThat(tried.quarantined()).isEmpty();
        assertThat(tried.events(StoreEvent.DeadEntriesDropped.class)).hasSize(1);
        tried.sim.verify();
        tried.dataset("T").repair("by_user");
        tried.reopen();
        assertThat(tried.events(StoreEvent.DeadEntriesDropped.class)).isEmpty();
        tried.sim.verify();
    }

    private String onlyBitmap() {
        List<String> bitmaps = tried.disk.list(StoreFiles.DATA).stream()
                .filter(name -> name.endsWith(".dead"))
                .toList();
        assertThat(bitmaps).hasSize(1);
        return StoreFiles.DATA + "/" + bitmaps.getFirst();
    }

    @Test
    void a_secondary_that_is_damaged_is_nobody_elses_business() {
        Dataset dataset = tried.create("T", Maintenance.EAGER, "no-merge");
        long middle = tried.files("T", "by_user").get(1);
        tried.disk.flipBit(StoreFiles.component(middle), 2_000, 3);

        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        assertThat(tried.quarantined()).containsExactly("T.by_user");
        assertThat(SimStore.rows(dataset)).hasSize(3 * DamagedStore.ROWS);
        dataset.upsert(DamagedStore.row(DamagedStore.ROWS + 7L, 5).toMap());
        dataset.delete(3L);
        try (ReadView view = dataset.openView()) {
            assertThat(view).isNotNull();
        }
        dataset.dropIndex("by_user");
        assertThat(tried.quarantined()).isEmpty();
        dataset.mergeAll();
        tried.sim.verify();
    }

    @Test
    void a_correlated_merge_goes_around_what_is_damaged_in_one_tree() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "correlated-no-merge");
        long middle = tried.files("T", "by_score").get(1);
        tried.disk.flipBit(StoreFiles.component(middle), 2_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);

        DamagedStore.put(dataset, 3);
        dataset.flush();
        DamagedStore.put(dataset, 4);
        dataset.flush();
        dataset.mergeAll();

        assertThat(tried.files("T", "by_score")).hasSize(3).element(1).isEqualTo(middle);
        assertThat(tried.files("T", "primary")).hasSize(3);
        assertThat(tried.files("T", "by_user")).hasSize(3);
        assertThat(SimStore.rows(dataset)).hasSize(5 * DamagedStore.ROWS);
    }

    @Test
    void an_index_can_not_be_built_from_what_is_damaged_and_says_so() {
        Dataset dataset = tried.create("T", Maintenance.VALIDATION, "no-merge");
        tried.disk.flipBit(StoreFiles.component(tried.files("T", "primary").get(1)), 5_000, 3);
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> dataset.createIndex(IndexSpec.btree("by_body", "body")))
                .isInstanceOf(CorruptionException.class);
        tried.checkTakesWrites();
        assertThat(tried.tree("T", "primary").components()).hasSize(3);
        // a repair is refused, nobody else is
        assertThatThrownBy(() -> dataset.repair("by_user")).isInstanceOf(CorruptionException.class);
        tried.checkTakesWrites();
    }
}
