package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordScan;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.LongStream;

/** Ranges of primary keys, read as maps without queries. */
class RecordScanTest {
    private static final long COUNT = 500;

    @TempDir
    private Path directory;

    private Store store;
    private Dataset dataset;

    @BeforeEach
    void fill() {
        store = Store.open(directory);
        dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("text", "string?")
                .primaryKey("id")
                .partitions(3));
        for (long id = 0; id < COUNT; id++) {
            dataset.upsert(Map.of("id", id, "text", "t" + id, "more", id));
            if (id == COUNT / 2) {
                dataset.flush();
            }
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static List<Object> ids(RecordScan scan) {
        List<Object> ids = new ArrayList<>();
        for (Map<String, Object> record : scan) {
            assertThat(record).containsEntry("text", "t" + record.get("id"));
            ids.add(record.get("id"));
        }
        return ids;
    }

    private KeyRange range(long low, boolean lowIncluded, long high, boolean highIncluded) {
        KeySpec key = dataset.primaryKeySpec();
        return KeyRange.between(key.encode(low), lowIncluded, key.encode(high), highIncluded);
    }

    private static Object[] from(long low, long high) {
        return LongStream.rangeClosed(low, high).boxed().toArray();
    }

    @Test
    void records_of_all_partitions_come_in_key_order() {
        try (RecordScan scan = dataset.scan(KeyRange.all())) {
            assertThat(ids(scan)).containsExactly(from(0, COUNT - 1));
            assertThat(scan.next()).isFalse();
        }
        try (RecordScan scan = dataset.scan(range(10, true, 20, false))) {
            assertThat(ids(scan)).containsExactly(from(10, 19));
        }
        try (RecordScan scan = dataset.scan(range(10, false, 20, true))) {
            assertThat(ids(scan)).containsExactly(from(11, 20));
        }
        try (RecordScan scan = dataset.scan(range(600, true, 700, true))) {
            assertThat(ids(scan)).isEmpty();
        }
    }

    @Test
    void a_scan_shows_one_moment() {
        try (RecordScan scan = dataset.scan(range(0, true, 2, true));
                Snapshot snapshot = store.openSnapshot()) {
            dataset.delete(1L);
            assertThat(ids(scan)).containsExactly(from(0, 2));
            try (ReadView view = snapshot.view(dataset);
                    RecordScan ofView = view.records(range(0, true, 2, true))) {
                assertThat(ids(ofView)).containsExactly(from(0, 2));
            }
        }
        try (RecordScan scan = dataset.scan(range(0, true, 2, true))) {
            assertThat(ids(scan)).containsExactly(0L, 2L);
        }
        assertThat(store.describe().snapshots()).isEmpty();
    }

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void a_scan_that_stands_nowhere_says_so() {
        try (RecordScan scan = dataset.scan(KeyRange.all())) {
            assertThatThrownBy(scan::map).isInstanceOf(InvalidRequestException.class);
            assertThat(scan.next()).isTrue();
            assertThat(scan.record().get("more")).isEqualTo(0L);
            assertThat(scan.key().toByteArray())
                    .isEqualTo(dataset.primaryKeySpec().encode(0L));
            scan.close();
            assertThatThrownBy(scan::next).isInstanceOf(ClosedException.class);
            assertThatThrownBy(scan::key).isInstanceOf(InvalidRequestException.class);
        }
        try (RecordScan scan = dataset.scan(range(3, true, 3, true))) {
            Iterator<Map<String, @Nullable Object>> records = scan.iterator();
            assertThat(records.next()).containsEntry("id", 3L);
            assertThat(records.hasNext()).isFalse();
            assertThatThrownBy(records::next).isInstanceOf(NoSuchElementException.class);
        }
        store.close();
        assertThatThrownBy(() -> dataset.scan(KeyRange.all())).isInstanceOf(ClosedException.class);
    }
}
