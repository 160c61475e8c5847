package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The store as its users meet it: what it does, and what it says to wrong requests. */
class StoreTest {
    private static final long SEED = 7;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = SimStore.open(disk, SEED, OPTIONS);

    @AfterEach
    void close() {
        sim.close();
    }

    private Dataset create() {
        return sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
    }

    private static Row row(long id, String user, int day) {
        return new Row(id, user, (int) id, Instant.ofEpochSecond(86_400L * day), "body " + id);
    }

    private static List<Long> idsByUser(ReadView view, Dataset dataset, String user) {
        byte[] prefix = io.turbidite.core.key.KeySpec.of(dataset.type(), List.of("user"), "test")
                .encode(user);
        List<Long> ids = new ArrayList<>();
        for (int p = 0; p < view.partitionCount(); p++) {
            KeyBatch keys = new KeyBatch(1 << 20);
            try (IndexCursor cursor = view.search(
                    p, "by_user", KeyRange.startingWith(prefix), FilterPredicate.none())) {
                while (cursor.next()) {
                    assertThat(keys.add(cursor.primaryKey())).isTrue();
                }
            }
            keys.sortDistinct();
            try (RecordStream cursor = view.fetch(p, keys)) {
                while (cursor.next()) {
                    ids.add((Long)
                            dataset.primaryKeySpec().decode(cursor.key(), 0).get(0));
                }
            }
        }
        ids.sort(null);
        return ids;
    }

    @Test
    void a_record_is_there_after_a_power_cut() {
        Dataset dataset = create();
        dataset.upsert(row(1, "ann", 1).toMap());
        SimDisk image = disk.crashImage(1);
        try (SimStore again = SimStore.open(image, SEED, OPTIONS)) {
            assertThat(Row.of(again.store.dataset("T").get(1L))).isEqualTo(row(1, "ann", 1));
        }
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void damage_below_a_sync_is_noticed_in_every_mode(Durability durability) {
        SimDisk own = new SimDisk(SEED, Profile.STRICT);
        try (SimStore synced = SimStore.open(own, SEED, SimStore.options(durability))) {
            Dataset dataset = synced.store.createDataset(Row.spec("T"));
            for (int i = 0; i < 50; i++) {
                dataset.upsert(row(i, "ann", 1).toMap());
            }
            synced.store.sync();
            SimDisk image = own.crashImage(1);
            try (SimStore again = SimStore.open(image.copy(), SEED, SimStore.options(durability))) {
                assertThat(SimStore.rows(again.store.dataset("T"))).hasSize(50);
            }
            String segment = image.files().stream()
                    .filter(name -> name.startsWith("log/")
                            && image.content(name)[FileHeader.BYTES + 150] != 0)
                    .findFirst()
                    .orElseThrow();
            image.flipBit(segment, FileHeader.BYTES + 150, 3);
            assertThatThrownBy(() -> SimStore.open(image, SEED, SimStore.options(durability)))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining(segment);
        }
    }

    @Test
    void an_update_moves_the_record_in_every_index() {
        Dataset dataset = create();
        dataset.upsert(row(1, "ann", 1).toMap());
        dataset.upsert(row(2, "ann", 1).toMap());
        dataset.flush();
        dataset.upsert(row(1, "bob", 1).toMap());
        try (ReadView view = dataset.openView()) {
            assertThat(idsByUser(view, dataset, "ann")).containsExactly(2L);
            assertThat(idsByUser(view, dataset, "bob")).containsExactly(1L);
        }
        dataset.delete(2L);
        dataset.flush();
        dataset.mergeAll();
        try (ReadView view = dataset.openView()) {
            assertThat(idsByUser(view, dataset, "ann")).isEmpty();
        }
        assertThat(dataset.get(2L)).isNull();
        sim.verify();
    }

    @Test
    void a_snapshot_shows_every_index_at_its_moment_through_flush_and_merge() {
        Dataset dataset = create();
        dataset.upsert(row(1, "ann", 1).toMap());
        try (Snapshot snapshot = sim.store.openSnapshot()) {
            dataset.upsert(row(1, "bob", 2).toMap());
            dataset.delete(1L);
            dataset.upsert(row(3, "ann", 3).toMap());
            dataset.flush();
            dataset.upsert(row(4, "ann", 3).toMap());
            dataset.flush();
            dataset.mergeAll();
            try (ReadView view = snapshot.view(dataset)) {
                assertThat(SimStore.rows(dataset, view)).containsOnlyKeys(1L);
                assertThat(idsByUser(view, dataset, "ann")).containsExactly(1L);
            }
        }
        // nobody reads the old versions any more: a merge lets them go
        dataset.upsert(row(5, "ann", 4).toMap());
        dataset.flush();
        dataset.mergeAll();
        long entries = sim
                .store
                .describe()
                .datasets()
                .get(0)
                .partitions()
                .get(0)
                .indexes()
                .get(0)
                .components()
                .stream()
                .mapToLong(StoreDescription.ComponentDescription::entries)
                .sum();
        assertThat(entries).isEqualTo(3);
    }

    @Test
    void a_filter_prunes_components_and_stays_right_under_updates() {
        Dataset dataset = create();
        for (long id = 0; id < 50; id++) {
            dataset.upsert(row(id, "ann", 1).toMap());
        }
        dataset.flush();
        for (long id = 50; id < 100; id++) {
            dataset.upsert(row(id, "ann", 100).toMap());
        }
        dataset.flush();
        assertThat(scanDay(dataset, 100)).containsExactly(50L, 50L);
        // an update moves a record out of the old day: its new component must hide the old version
        dataset.upsert(row(7, "ann", 100).toMap());
        dataset.flush();
        assertThat(scanDay(dataset, 1)[0]).isEqualTo(49);
        assertThat(scanDay(dataset, 100)[0]).isEqualTo(51);
        dataset.delete(8L);
        dataset.flush();
        assertThat(scanDay(dataset, 1)[0]).isEqualTo(48);
    }

    /** How many records are of a day, and how many were looked at to know. */
    private static Long[] scanDay(Dataset dataset, int day) {
        var spec = io.turbidite.core.key.KeySpec.of(dataset.type(), List.of("created"), "test");
        byte[] key = spec.encode(Instant.ofEpochSecond(86_400L * day));
        FilterPredicate filter = new FilterPredicate(List.of(KeyRange.closed(key, key)));
        long count = 0;
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), filter)) {
            var record = new io.turbidite.core.record.RecordView(dataset.type());
            while (cursor.next()) {
                Object created = record.wrap(cursor.record()).get("created");
                count += Instant.ofEpochSecond(86_400L * day).equals(created) ? 1 : 0;
            }
            return new Long[] {count, cursor.visitedCount()};
        }
    }

    @Test
    void a_batch_is_there_as_a_whole_or_not_at_all() {
        Dataset dataset = create();
        dataset.upsert(row(1, "ann", 1).toMap());
        WriteBatch batch = sim.store.newBatch();
        batch.upsert(dataset, dataset.newRecordWriter().write(row(2, "bob", 1).toMap()));
        batch.insert(dataset, dataset.newRecordWriter().write(row(1, "bob", 1).toMap()));
        assertThatThrownBy(() -> sim.store.write(batch))
                .isInstanceOf(DuplicateKeyException.class)
                .hasMessageContaining("T")
                .hasMessageContaining("1");
        assertThat(SimStore.rows(dataset)).containsOnlyKeys(1L);
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
    }

    @Test
    void of_several_operations_on_one_key_in_a_batch_the_last_counts() {
        Dataset dataset = create();
        WriteBatch batch = sim.store.newBatch();
        Slice key = Slice.of(dataset.primaryKeySpec().encode(1L));
        batch.insert(dataset, dataset.newRecordWriter().write(row(1, "ann", 1).toMap()));
        batch.upsert(dataset, dataset.newRecordWriter().write(row(1, "bob", 1).toMap()));
        batch.delete(dataset, key);
        batch.insert(dataset, dataset.newRecordWriter().write(row(1, "cyd", 1).toMap()));
        sim.store.write(batch);
        assertThat(SimStore.rows(dataset).get(1L)).isEqualTo(row(1, "cyd", 1));
        sim.verify();
    }

    @Test
    void a_cursor_of_a_closed_store_throws() {
        Dataset dataset = create();
        dataset.upsert(row(1, "ann", 1).toMap());
        dataset.flush();
        ReadView view = dataset.openView();
        RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none());
        sim.close();
        assertThatThrownBy(cursor::next).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> dataset.get(1L)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> dataset.delete(1L)).isInstanceOf(ClosedException.class);
        cursor.close();
        view.close();
        assertThat(disk.openHandles()).isEmpty();
        sim.close();
    }

    @Test
    void a_bulk_load_is_there_as_a_whole_and_survives() {
        Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(2));
        try (BulkLoader loader = dataset.bulkLoad(3_000)) {
            var writer = dataset.newRecordWriter();
            for (long id = 0; id < 3_000; id++) {
                loader.add(
                        writer.write(row(id, "user" + id % 7, (int) (id % 30)).toMap()));
            }
            assertThatThrownBy(() -> dataset.upsert(row(1, "x", 1).toMap()))
                    .hasMessageContaining("bulk loaded");
            assertThatThrownBy(() -> loader.add(writer.write(row(5, "x", 1).toMap())))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("5");
            assertThat(dataset.get(5L)).isNull();
            loader.finish();
        }
        assertThat(SimStore.rows(dataset)).hasSize(3_000);
        sim.verify();
        dataset.upsert(row(5, "other", 1).toMap());
        try (SimStore again = SimStore.open(disk.crashImage(3), SEED, OPTIONS)) {
            assertThat(SimStore.rows(again.store.dataset("T"))).hasSize(3_000);
            assertThat(Row.of(again.store.dataset("T").get(5L)).user()).isEqualTo("other");
            again.verify();
        }
        assertThatThrownBy(() -> dataset.bulkLoad(1)).hasMessageContaining("not empty");
    }

    @Test
    void a_bulk_load_that_is_given_up_leaves_nothing() {
        Dataset dataset = create();
        try (BulkLoader loader = dataset.bulkLoad(3_000)) {
            loader.add(dataset.newRecordWriter().write(row(1, "ann", 1).toMap()));
        }
        assertThat(SimStore.rows(dataset)).isEmpty();
        dataset.upsert(row(2, "ann", 1).toMap());
        sim.verify();
        assertThat(disk.files().stream().filter(name -> name.endsWith(".component")))
                .isEmpty();
    }

    @Test
    void wrong_requests_are_refused_by_name_and_change_nothing() {
        Dataset dataset = create();
        Map<String, Object> wrongType = new HashMap<>(row(1, "ann", 1).toMap());
        wrongType.put("score", "seven");
        assertThatThrownBy(() -> dataset.upsert(wrongType))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("score");
        Map<String, Object> missing = new HashMap<>(row(1, "ann", 1).toMap());
        missing.remove("body");
        assertThatThrownBy(() -> dataset.upsert(missing))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("body");
        Row longUser = new Row(1, "u".repeat(Limits.KEY_BYTES_MAX), 1, null, "b");
        assertThatThrownBy(() -> dataset.upsert(longUser.toMap()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(String.valueOf(Limits.KEY_BYTES_MAX));
        Row large = new Row(1, "u", 1, null, "b".repeat(Limits.RECORD_BYTES_MAX));
        assertThatThrownBy(() -> dataset.upsert(large.toMap()))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> dataset.get("text")).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> dataset.get(1L, 2L)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> sim.store.dataset("nope"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("nope")
                .hasMessageContaining("T");
        assertThat(SimStore.rows(dataset)).isEmpty();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
    }

    @Test
    void wrong_specs_are_refused_by_name_and_create_nothing() {
        for (String name : List.of("", "..", "a/b", "a b", "ü", "x".repeat(65))) {
            assertThatThrownBy(() -> DatasetSpec.named(name))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> IndexSpec.btree(name, "user"))
                    .isInstanceOf(InvalidRequestException.class);
        }
        refused(Row.spec("T").index(IndexSpec.btree("bad", "nope")), "nope");
        refused(Row.spec("T").index(IndexSpec.btree("by_user", "body")), "by_user");
        refused(Row.spec("T").filter("nope"), "nope");
        refused(Row.spec("T").primaryKey("user"), "user");
        refused(Row.spec("T").primaryKey(new String[0]), "primary key");
        refused(Row.spec("T").partitions(0), "partitions");
        refused(Row.spec("T").field("id", "int64"), "id");
        refused(Row.spec("T").maintenance(Maintenance.MUTABLE_BITMAP), "correlated");
        IndexSpec unique = IndexSpec.btree("once", "user").asUnique();
        refused(Row.spec("T").maintenance(Maintenance.VALIDATION).index(unique), "once");
        refused(
                Row.spec("T").index(unique.withMaintenance(Maintenance.DEFERRED)),
                "needs maintenance eager, not deferred");
        refused(
                Row.spec("T")
                        .index(IndexSpec.btree("b", "user")
                                .withMaintenance(Maintenance.MUTABLE_BITMAP)),
                "is for a dataset, not for index b");
        assertThat(sim.store.datasets()).isEmpty();
        create();
        refused(Row.spec("T"), "T");
    }

    private void refused(DatasetSpec spec, String named) {
        assertThatThrownBy(() -> sim.store.createDataset(spec))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(named);
    }

    @Test
    void a_second_opening_is_refused() {
        assertThatThrownBy(() -> SimStore.open(disk, SEED, OPTIONS))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("in use");
        create().upsert(row(1, "ann", 1).toMap());
    }

    @Test
    void a_directory_with_something_else_is_refused_and_left_alone() {
        SimDisk other = new SimDisk(SEED, Profile.STRICT);
        other.put("letter.txt", new byte[] {1});
        assertThatThrownBy(() -> SimStore.open(other, SEED, OPTIONS))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("letter.txt");
        assertThat(other.files()).containsExactly("letter.txt");
    }

    @Test
    void a_store_of_a_newer_format_is_refused_by_version() {
        sim.close();
        byte[] manifest = disk.content("MANIFEST");
        FileHeader header = FileHeader.read("MANIFEST", MemorySegment.ofArray(manifest), 0);
        new FileHeader(header.format(), 99, 0, header.storeId(), header.fileId())
                .write(MemorySegment.ofArray(manifest), 0);
        disk.delete("MANIFEST");
        disk.put("MANIFEST", manifest);
        assertThatThrownBy(() -> SimStore.open(disk, SEED, OPTIONS))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 99");
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_full_disk_refuses_writes_keeps_the_store_and_resumes() {
        Dataset dataset = create();
        dataset.upsert(row(8_888, "ann", 1).toMap());
        disk.capacity(disk.usedBytes() + 1_000);
        assertThatThrownBy(dataset::flush).isInstanceOf(StorageIoException.class);
        int written = 1;
        StorageIoException refused = null;
        for (long id = 0; id < 5_000 && refused == null; id++) {
            try {
                dataset.upsert(row(id, "ann", 1).toMap());
                written++;
            } catch (StorageIoException full) {
                refused = full;
            }
        }
        assertThat(refused).isNotNull();
        assertThat(Objects.requireNonNull(refused).kind())
                .isEqualTo(StorageIoException.Kind.NO_SPACE);
        assertThat(SimStore.rows(dataset)).hasSize(written);
        disk.capacity(Long.MAX_VALUE);
        // background work looks again after a pause
        sim.tasks.runForMicros(5_000_000);
        dataset.upsert(row(9_999, "ann", 1).toMap());
        dataset.flush();
        sim.verify();
        assertThat(SimStore.rows(dataset)).hasSize(written + 1);
        // what was dropped is deleted: every file is a component that the store names
        long named = sim.store.describe().datasets().get(0).partitions().get(0).indexes().stream()
                .mapToLong(index -> index.components().size())
                .sum();
        assertThat(disk.files().stream().filter(name -> name.endsWith(".component")))
                .hasSize((int) named);
    }

    @Test
    void every_flipped_byte_of_the_manifest_is_found() {
        create().upsert(row(1, "ann", 1).toMap());
        sim.store.dataset("T").flush();
        sim.close();
        int size = disk.content("MANIFEST").length;
        for (int at = 0; at < size; at++) {
            SimDisk damaged = disk.copy();
            damaged.flipBit("MANIFEST", at, at % 8);
            assertThatThrownBy(() -> SimStore.open(damaged, SEED, OPTIONS))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("MANIFEST");
            assertThat(damaged.openHandles()).isEmpty();
        }
        for (int length = 0; length < size; length++) {
            SimDisk damaged = disk.copy();
            byte[] cut = java.util.Arrays.copyOf(disk.content("MANIFEST"), length);
            damaged.delete("MANIFEST");
            damaged.put("MANIFEST", cut);
            assertThatThrownBy(() -> SimStore.open(damaged, SEED, OPTIONS))
                    .isInstanceOf(CorruptionException.class);
        }
    }
}
