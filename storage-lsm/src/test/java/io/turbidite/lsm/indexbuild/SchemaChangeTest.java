package io.turbidite.lsm.indexbuild;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Indexes and datasets come and go while the store is in use. */
class SchemaChangeTest {
    private static final IndexSpec BY_BODY = IndexSpec.btree("by_body", "body");

    private SimDisk disk = new SimDisk(7, Profile.STRICT);
    private SimStore sim = SimStore.open(disk, 7, SimStore.options(Durability.BUFFERED));

    @BeforeEach
    void create() {
        sim.store.createDataset(
                Row.spec("T").partitions(2).mergePolicy(MergePolicySpec.parse("no-merge")));
    }

    @AfterEach
    void close() {
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private Dataset dataset() {
        return sim.store.dataset("T");
    }

    private void reopen() {
        sim.close();
        sim = SimStore.open(disk, 8, SimStore.options(Durability.BUFFERED));
    }

    private static Row row(long id, String body) {
        return new Row(id, "user" + id % 3, (int) id, null, body);
    }

    /** Versions in several components, updates and deletes across them, and some in memory. */
    private void fill() {
        for (long id = 0; id < 60; id++) {
            dataset().upsert(row(id, "a" + id % 7).toMap());
        }
        dataset().flush();
        for (long id = 0; id < 60; id += 2) {
            dataset().upsert(row(id, "b" + id % 5).toMap());
        }
        for (long id = 0; id < 60; id += 5) {
            dataset().delete(id);
        }
        dataset().flush();
        for (long id = 1; id < 60; id += 3) {
            dataset().upsert(row(id, id % 2 == 0 ? "c" : "a" + id % 7).toMap());
        }
    }

    private long count(String index) {
        long entries = 0;
        try (ReadView view = dataset().openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (IndexCursor cursor =
                        view.search(p, index, KeyRange.all(), FilterPredicate.none())) {
                    while (cursor.next()) {
                        entries++;
                    }
                }
            }
        }
        return entries;
    }

    private List<String> files() {
        // what nobody needs is deleted in the background
        sim.tasks.runForMicros(100_000);
        return disk.list("data");
    }

    private int schemaVersion() {
        return sim.store.describe().datasets().getFirst().schemaVersion();
    }

    private StoreDescription.IndexDescription describe(String index) {
        return sim.store.describe().datasets().getFirst().partitions().getFirst().indexes().stream()
                .filter(one -> one.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-merge", "tiering", "correlated-tiering"})
    void an_index_on_old_records_is_whole_and_stays_so(String policy) {
        sim.store.dropDataset("T");
        sim.store.createDataset(
                Row.spec("T").partitions(2).mergePolicy(MergePolicySpec.parse(policy)));
        fill();
        dataset().createIndex(BY_BODY);
        assertThat(count("by_body")).isEqualTo(count("by_user"));
        sim.verify();
        for (long id = 0; id < 60; id += 4) {
            dataset().upsert(row(id, "d").toMap());
        }
        dataset().delete(1L);
        sim.verify();
        dataset().flush();
        dataset().mergeAll();
        sim.verify();
        reopen();
        assertThat(dataset().indexes())
                .extracting(IndexDescription::name)
                .containsExactly("by_user", "by_score", "by_body");
        assertThat(count("by_body")).isEqualTo(count("by_user"));
    }

    @Test
    void components_are_aligned_with_the_primarys() {
        fill();
        dataset().createIndex(BY_BODY);
        dataset().upsert(row(1, "later").toMap());
        dataset().flush();
        for (StoreDescription.PartitionDescription partition :
                sim.store.describe().datasets().getFirst().partitions()) {
            assertThat(partition.indexes())
                    .hasSize(4)
                    .allSatisfy(index -> assertThat(index.components())
                            .extracting(c -> c.minTimestamp() + ".." + c.maxTimestamp())
                            .isEqualTo(partition.indexes().getFirst().components().stream()
                                    .map(c -> c.minTimestamp() + ".." + c.maxTimestamp())
                                    .toList()));
        }
    }

    @Test
    void an_index_is_built_while_records_come_and_go() {
        fill();
        dataset().flush();
        IndexBuild build = dataset().startIndex(BY_BODY);
        assertThat(build.isDone()).isFalse();
        assertThat(dataset().indexes()).hasSize(2);
        assertThat(describe("by_body").state()).isEqualTo("building");
        assertThatThrownBy(() -> count("by_body"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("building");
        for (long id = 0; id < 60; id++) {
            dataset().upsert(row(id, "new" + id % 11).toMap());
        }
        dataset().delete(7L);
        build.await();
        assertThat(build.entriesRead()).isEqualTo(build.entriesTotal()).isPositive();
        assertThat(count("by_body")).isEqualTo(59);
        assertThat(describe("by_body").state()).isEqualTo("ready");
        assertThat(sim.store.events().recent())
                .filteredOn(StoreEvent.IndexChanged.class::isInstance)
                .last()
                .satisfies(event ->
                        assertThat(((StoreEvent.IndexChanged) event).state()).isEqualTo("ready"));
    }

    @Test
    void a_build_that_is_stopped_leaves_nothing() {
        fill();
        dataset().flush();
        List<String> before = files();
        IndexBuild build = dataset().startIndex(BY_BODY);
        dataset().upsert(row(1, "x").toMap());
        build.stop();
        assertThatThrownBy(build::await).hasMessageContaining("stopped");
        assertThat(dataset().indexes()).hasSize(2);
        assertThat(files()).isEqualTo(before);
        dataset().createIndex(BY_BODY);
        assertThat(count("by_body")).isEqualTo(count("by_user"));
    }

    @Test
    void a_build_is_stopped_though_another_before_it_has_to_wait() {
        fill();
        Dataset first = sim.store.createDataset(Row.spec("First")
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                .retain(Duration.ofDays(1)));
        first.upsert(new Row(1, "user", 1, Instant.EPOCH, "a").toMap());
        first.flush();
        try (ReadView view = first.openView()) {
            // its component is going, and does not go as long as it is looked at
            sim.tasks.runForMicros(1_000_000);
            IndexBuild waiting = first.startIndex(BY_BODY);
            IndexBuild build = dataset().startIndex(BY_BODY);
            build.stop();
            assertThat(dataset().indexes()).hasSize(2);
            assertThat(waiting.isDone()).isFalse();
            assertThat(SimStore.rows(first, view)).hasSize(1);
        }
        first.dropIndex("by_body");
    }

    @Test
    void a_dropped_index_leaves_no_file_and_its_name_is_free() {
        fill();
        dataset().flush();
        List<String> before = files();
        int version = schemaVersion();
        dataset().createIndex(BY_BODY);
        assertThat(schemaVersion()).isEqualTo(version + 1);
        assertThat(files()).hasSizeGreaterThan(before.size());
        dataset().dropIndex("by_body");
        assertThat(schemaVersion()).isEqualTo(version + 2);
        assertThat(files()).isEqualTo(before);
        dataset().createIndex(IndexSpec.btree("by_body", "score"));
        assertThat(describe("by_body").fields()).containsExactly("score");
        reopen();
        assertThat(schemaVersion()).isEqualTo(version + 3);
    }

    @Test
    void a_disabled_index_is_neither_kept_nor_searched_and_is_built_anew() {
        fill();
        dataset().disableIndex("by_user");
        assertThat(dataset().indexes()).hasSize(1);
        assertThat(describe("by_user").state()).isEqualTo("disabled");
        assertThatThrownBy(() -> count("by_user")).hasMessageContaining("disabled");
        dataset().upsert(row(3, "while").toMap());
        reopen();
        assertThat(describe("by_user").state()).isEqualTo("disabled");
        dataset().enableIndex("by_user");
        assertThat(count("by_user")).isEqualTo(count("by_score"));
        assertThat(dataset().indexes())
                .extracting(IndexDescription::name)
                .containsExactly("by_user", "by_score");
    }

    @Test
    void a_dropped_dataset_is_gone_and_cursors_on_their_way_finish_or_fail() {
        fill();
        Dataset old = dataset();
        old.flush();
        try (ReadView view = old.openView();
                RecordCursor first = view.scan(0, KeyRange.all(), FilterPredicate.none());
                RecordCursor second = view.scan(1, KeyRange.all(), FilterPredicate.none())) {
            assertThat(first.next()).isTrue();
            assertThat(second.next()).isTrue();
            sim.store.dropDataset("T");
            assertFinishesOrFails(first);
            assertFinishesOrFails(second);
            assertThatThrownBy(() -> {
                        try (RecordCursor late =
                                view.scan(0, KeyRange.all(), FilterPredicate.none())) {
                            late.next();
                        }
                    })
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("dropped");
        }
        assertThatThrownBy(() -> old.upsert(row(1, "x").toMap())).hasMessageContaining("dropped");
        assertThatThrownBy(() -> old.get(1L)).hasMessageContaining("dropped");
        assertThatThrownBy(() -> sim.store.dataset("T"))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(files()).isEmpty();
        reopen();
        assertThat(sim.store.datasets()).isEmpty();
        sim.store.createDataset(Row.spec("T"));
        assertThat(SimStore.rows(dataset())).isEmpty();
    }

    private static void assertFinishesOrFails(RecordCursor cursor) {
        try {
            while (cursor.next()) {
                assertThat(cursor.record().length()).isPositive();
            }
        } catch (InvalidRequestException dropped) {
            assertThat(dropped).hasMessageContaining("dropped");
        }
    }

    @Test
    void a_search_that_was_planned_before_a_drop_fails_or_finishes() {
        fill();
        try (ReadView view = dataset().openView();
                IndexCursor cursor =
                        view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
            assertThat(view.indexes()).hasSize(2);
            assertThat(cursor.next()).isTrue();
            int userKeyBytes = cursor.secondaryKey().length();
            dataset().dropIndex("by_user");
            dataset().createIndex(IndexSpec.btree("by_user", "body"));
            assertOldOrFails(cursor, userKeyBytes);
            sim.tasks.runForMicros(1_000_000);
            try (IndexCursor late =
                    view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
                assertOldOrFails(late, userKeyBytes);
            }
        }
    }

    /** Entries of the index that was there, not of the one that has its name now. */
    private static void assertOldOrFails(IndexCursor cursor, int keyBytes) {
        try {
            while (cursor.next()) {
                assertThat(cursor.secondaryKey().length()).isEqualTo(keyBytes);
            }
        } catch (InvalidRequestException dropped) {
            assertThat(dropped).hasMessageContaining("no more");
        }
    }

    @Test
    void wrong_requests_change_nothing() {
        fill();
        int version = schemaVersion();
        assertThatThrownBy(() -> dataset().createIndex(IndexSpec.btree("x", "nothing")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("nothing");
        assertThatThrownBy(() -> dataset().createIndex(IndexSpec.btree("by_user", "body")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_user");
        assertThatThrownBy(() -> IndexSpec.btree("primary", "body"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("primary");
        assertThatThrownBy(() -> dataset().dropIndex("no"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_user");
        assertThatThrownBy(() -> dataset().disableIndex("no"))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> dataset().enableIndex("by_user"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("not disabled");
        assertThatThrownBy(() -> sim.store.dropDataset("No"))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(schemaVersion()).isEqualTo(version);
        IndexBuild build = dataset().startIndex(BY_BODY);
        assertThatThrownBy(() -> dataset().dropIndex("by_user"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("being changed");
        build.await();
    }

    @Test
    void a_record_too_long_for_the_index_is_named_and_nothing_is_left() {
        dataset().upsert(row(1, "short").toMap());
        dataset().upsert(row(77, "x".repeat(40_000)).toMap());
        assertThatThrownBy(() -> dataset().createIndex(BY_BODY))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("77");
        assertThat(dataset().indexes()).hasSize(2);
        // and one that was put into a batch before the index came
        dataset().delete(77L);
        WriteBatch batch = sim.store.newBatch();
        Slice record =
                dataset().newRecordWriter().write(row(5, "y".repeat(40_000)).toMap());
        batch.upsert(dataset(), record);
        dataset().createIndex(BY_BODY);
        assertThatThrownBy(() -> sim.store.write(batch))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(dataset().get(5L)).isNull();
    }

    @Test
    void a_unique_index_over_duplicates_names_both_records() {
        Map<Long, String> bodies = Map.of(1L, "one", 2L, "two", 3L, "one", 4L, "four");
        bodies.forEach((id, body) -> dataset().upsert(row(id, body).toMap()));
        assertThatThrownBy(() -> dataset().createIndex(BY_BODY.asUnique()))
                .isInstanceOf(DuplicateKeyException.class)
                .hasMessageContaining("[1]")
                .hasMessageContaining("[3]")
                .hasMessageContaining("one");
        assertThat(dataset().indexes()).hasSize(2);
        dataset().delete(3L);
        dataset().createIndex(BY_BODY.asUnique());
        assertThat(count("by_body")).isEqualTo(3);
    }

    private void unique(long id, String body) {
        dataset().upsert(row(id, body).toMap());
    }

    private void swap(long a, String bodyOfA, long b, String bodyOfB) {
        WriteBatch batch = sim.store.newBatch();
        batch.upsert(
                dataset(), dataset().newRecordWriter().write(row(a, bodyOfA).toMap()));
        batch.upsert(
                dataset(), dataset().newRecordWriter().write(row(b, bodyOfB).toMap()));
        sim.store.write(batch);
    }

    @Test
    void a_unique_key_is_taken_once_in_all_partitions() {
        dataset().createIndex(BY_BODY.asUnique());
        for (long id = 0; id < 20; id++) {
            unique(id, "k" + id);
            if (id % 5 == 0) {
                dataset().flush();
            }
        }
        for (long id = 0; id < 20; id++) {
            String taken = "k" + (id + 1) % 20;
            long writer = id;
            assertThatThrownBy(() -> unique(writer, taken))
                    .isInstanceOf(DuplicateKeyException.class)
                    .hasMessageContaining("by_body")
                    .hasMessageContaining(taken)
                    .hasMessageContaining("[" + writer + "]");
            assertThat(Row.of(dataset().get(writer)).body()).isEqualTo("k" + writer);
            unique(writer, "k" + writer);
        }
        unique(3, "free");
        unique(100, "k3");
        dataset().delete(100L);
        unique(101, "k3");
        assertThat(describe("by_body").unique()).isTrue();
        reopen();
        assertThatThrownBy(() -> unique(102, "k3")).isInstanceOf(DuplicateKeyException.class);
    }

    @Test
    void a_batch_counts_as_a_whole_for_unique_keys() {
        dataset().createIndex(BY_BODY.asUnique());
        assertThatThrownBy(() -> swap(1, "same", 2, "same"))
                .isInstanceOf(DuplicateKeyException.class)
                .satisfies(
                        e -> assertThat(((DuplicateKeyException) e).operation()).isEqualTo(1));
        assertThat(dataset().get(1L)).isNull();
        unique(1, "a");
        unique(2, "b");
        swap(1, "b", 2, "a");
        assertThat(Row.of(dataset().get(1L)).body()).isEqualTo("b");
        swap(1, "c", 3, "b");
        assertThatThrownBy(() -> swap(4, "d", 5, "c")).isInstanceOf(DuplicateKeyException.class);
        assertThat(dataset().get(4L)).isNull();
    }

    @Test
    void a_bulk_load_leaves_unique_indexes_for_later() {
        dataset().createIndex(BY_BODY.asUnique());
        assertThatThrownBy(() -> dataset().bulkLoad(10))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_body is unique");
        dataset().disableIndex("by_body");
        try (BulkLoader loader = dataset().bulkLoad(10)) {
            assertThatThrownBy(() -> dataset().createIndex(IndexSpec.btree("x", "body")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("being changed");
            for (long id = 0; id < 10; id++) {
                loader.add(dataset().newRecordWriter().write(row(id, "b" + id).toMap()));
            }
            loader.finish();
        }
        dataset().enableIndex("by_body");
        assertThat(count("by_body")).isEqualTo(10);
    }

    @Test
    void a_rebuild_that_ends_midway_says_that_the_index_is_left_disabled() {
        dataset().createIndex(BY_BODY.asUnique());
        for (long id = 0; id < 10; id++) {
            unique(id, "u" + id);
        }
        IndexBuild build = dataset().startRebuildIndex("by_body");
        build.stop();
        assertThatThrownBy(build::await)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("was stopped")
                .satisfies(SchemaChangeTest::tellsThatItIsDisabled);
        assertThat(describe("by_body").state()).isEqualTo("disabled");
        unique(10, "u1");
        for (boolean rebuild : new boolean[] {true, false}) {
            assertThatThrownBy(() -> {
                        if (rebuild) {
                            dataset().rebuildIndex("by_body");
                        } else {
                            dataset().enableIndex("by_body");
                        }
                    })
                    .isInstanceOf(DuplicateKeyException.class)
                    .satisfies(SchemaChangeTest::tellsThatItIsDisabled);
        }
        dataset().delete(10L);
        dataset().enableIndex("by_body");
        assertThat(count("by_body")).isEqualTo(10);
        // of an index that was not there before, nothing is left to be told of
        unique(11, "w");
        assertThatThrownBy(
                        () -> dataset().createIndex(IndexSpec.btree("u", "user").asUnique()))
                .isInstanceOf(DuplicateKeyException.class)
                .hasNoSuppressedExceptions();
    }

    private static void tellsThatItIsDisabled(Throwable failure) {
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(note -> assertThat(note)
                        .hasMessageContaining("index by_body of dataset")
                        .hasMessageContaining("is disabled")
                        .hasMessageContaining("not enforced")
                        .hasMessageContaining("enable it"));
    }

    @Test
    void null_and_missing_never_collide() {
        dataset().createIndex(IndexSpec.btree("u", "user", "score").asUnique());
        Row first = new Row(1, null, 5, null, "x");
        dataset().upsert(first.toMap());
        dataset().upsert(new Row(2, null, 5, null, "x").toMap());
        dataset().upsert(new Row(3, "ann", 5, null, "x").toMap());
        assertThatThrownBy(() -> dataset().upsert(new Row(4, "ann", 5, null, "x").toMap()))
                .isInstanceOf(DuplicateKeyException.class);
        dataset().disableIndex("u");
        dataset().upsert(new Row(4, "ann", 5, null, "x").toMap());
        assertThatThrownBy(() -> dataset().enableIndex("u"))
                .isInstanceOf(DuplicateKeyException.class);
        assertThat(describe("u").state()).isEqualTo("disabled");
        dataset().delete(4L);
        dataset().enableIndex("u");
        assertThat(count("u")).isEqualTo(3);
    }

    @Test
    void a_unique_index_is_enforced_while_it_is_built() {
        fill();
        for (long id = 0; id < 60; id++) {
            unique(id, "u" + id);
        }
        dataset().flush();
        IndexBuild build = dataset().startIndex(BY_BODY.asUnique());
        int refused = 0;
        for (long id = 100; id < 400 && !build.isDone(); id++) {
            try {
                unique(id, "v" + id % 50);
            } catch (DuplicateKeyException taken) {
                refused++;
            }
        }
        build.await();
        assertThat(refused + count("by_body")).isGreaterThan(60);
    }
}
