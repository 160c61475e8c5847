package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/** Records that a scan moves over in one go: the same as one by one, and few moves. */
class RecordRunTest {
    private static final long COUNT = 4_000;

    @TempDir
    private Path directory;

    private Store store;
    private Dataset dataset;
    private final TreeMap<Long, Long> expected = new TreeMap<>();
    private long moves;

    @BeforeEach
    void open() {
        store = Store.open(
                directory,
                StoreOptions.builder().durability(Durability.BUFFERED).build());
        dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("value", "int64")
                .primaryKey("id")
                .mergePolicy(MergePolicySpec.parse("no-merge"))
                .partitions(1));
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void upsert(LongPredicate which, long value) {
        for (long id = 0; id < COUNT; id++) {
            if (which.test(id)) {
                dataset.upsert(Map.of("id", id, "value", value));
                expected.put(id, value);
            }
        }
    }

    private void check(ReadView view, Map<Long, Long> records) {
        check(view, KeyRange.all(), records);
    }

    private void check(ReadView view, KeyRange keys, Map<Long, Long> records) {
        TreeMap<Long, Long> found = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        Slice bytes = new Slice();
        RecordRun run = new RecordRun();
        moves = 0;
        try (RecordStream stream = view.scanUnordered(0, keys, FilterPredicate.none())) {
            while (stream.nextRun(run)) {
                moves++;
                for (int i = 0; i < run.count(); i++) {
                    record.wrap(run.record(i, bytes));
                    assertThat(found.put(record.getLong(0), record.getLong(1))).isNull();
                }
            }
            assertThat(stream.visitedCount()).isEqualTo(records.size());
        }
        assertThat(found).isEqualTo(records);
    }

    @Test
    void components_one_behind_the_other_are_read_page_by_page() {
        for (int part = 0; part < 4; part++) {
            long first = part * COUNT / 4;
            upsert(id -> id >= first && id < first + COUNT / 4, part);
            dataset.flush();
        }
        try (ReadView view = dataset.openView()) {
            check(view, expected);
        }
        assertThat(moves).isLessThan(COUNT / 16);
    }

    @Test
    void another_version_another_layer_and_what_is_deleted_come_between() {
        upsert(id -> id % 100 != 7, 1);
        dataset.flush();
        TreeMap<Long, Long> before = new TreeMap<>(expected);
        try (ReadView old = dataset.openView()) {
            upsert(id -> id % 200 == 7 || id % 50 == 3, 2);
            for (long id = 0; id < COUNT; id += 70) {
                dataset.delete(id);
                expected.remove(id);
            }
            dataset.flush();
            upsert(id -> id % 500 == 3, 3);
            try (ReadView view = dataset.openView()) {
                check(view, expected);
                assertThat(moves).isLessThan(COUNT / 4);
            }
            check(old, before);
        }
    }

    @Test
    void what_is_newer_than_the_view_lies_in_the_same_page() {
        upsert(id -> id % 2 == 0, 1);
        TreeMap<Long, Long> before = new TreeMap<>(expected);
        try (ReadView old = dataset.openView()) {
            upsert(id -> id % 16 == 1 || id % 32 == 4, 2);
            dataset.delete(6L);
            expected.remove(6L);
            dataset.flush();
            check(old, before);
        }
        try (ReadView view = dataset.openView()) {
            check(view, expected);
        }
    }

    @Test
    void a_few_newer_versions_in_another_component_cut_few_runs() {
        upsert(id -> true, 1);
        dataset.flush();
        upsert(id -> id % 100 == 50, 2);
        dataset.flush();
        try (ReadView view = dataset.openView()) {
            check(view, expected);
        }
        // one before each of them, and one of each
        assertThat(moves).isLessThan(3 * COUNT / 100 + COUNT / 32);
    }

    @Test
    void a_range_of_keys_is_read_by_runs_up_to_its_end() {
        upsert(id -> true, 1);
        dataset.flush();
        for (long end : new long[] {1, 2, 63, 64, 65, 1_000, COUNT - 1, COUNT, COUNT + 1}) {
            check(KeyRange.of(null, key(end)), expected.headMap(end));
            assertThat(moves).isLessThan(4 + end / 16);
        }
        check(KeyRange.between(key(500), false, key(900), true), expected.subMap(501L, 901L));
        assertThat(moves).isLessThan(4 + 400 / 16);
    }

    private byte[] key(long id) {
        return dataset.primaryKeySpec().encode(id);
    }

    private void check(KeyRange keys, Map<Long, Long> records) {
        try (ReadView view = dataset.openView()) {
            check(view, keys, records);
        }
    }

    @Test
    void where_layers_alternate_each_record_is_a_run() {
        upsert(id -> id % 2 == 0, 1);
        dataset.flush();
        upsert(id -> id % 2 == 1, 2);
        dataset.flush();
        try (ReadView view = dataset.openView()) {
            check(view, expected);
        }
        assertThat(moves).isEqualTo(COUNT);
    }
}
