package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;

/** What a view knows of the number of its records: that of a scan, or nothing. */
class RecordCountTest {
    private static final long BASE = 4_000;

    @TempDir
    private Path directory;

    private Store store;
    private Dataset dataset;
    private int known;

    @BeforeEach
    void open() {
        store = Store.open(
                directory,
                StoreOptions.builder().durability(Durability.BUFFERED).build());
        dataset = create("T", Maintenance.EAGER, 1);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Dataset create(String name, Maintenance maintenance, int partitions) {
        return store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("value", "int64")
                .primaryKey("id")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                .partitions(partitions));
    }

    private void upsert(long from, long to) {
        for (long id = from; id < to; id++) {
            dataset.upsert(Map.of("id", id, "value", id));
        }
    }

    private static long scanned(ReadView view) {
        long count = 0;
        for (int p = 0; p < view.partitionCount(); p++) {
            try (RecordStream records =
                    view.scanUnordered(p, KeyRange.all(), FilterPredicate.none())) {
                while (records.next()) {
                    count++;
                }
            }
        }
        return count;
    }

    private OptionalLong counted() {
        try (ReadView view = dataset.openView()) {
            return counted(view);
        }
    }

    private OptionalLong counted(ReadView view) {
        boolean isTold = view.tellsRecordCount();
        OptionalLong count = view.countRecords(() -> {});
        assertThat(count.isPresent()).isEqualTo(isTold);
        if (count.isPresent()) {
            known++;
            assertThat(count.getAsLong()).isEqualTo(scanned(view));
        }
        return count;
    }

    @Test
    void one_component_knows_its_records() {
        upsert(0, BASE);
        dataset.flush();
        assertThat(counted()).hasValue(BASE);
    }

    @Test
    void components_one_behind_the_other_are_added_up() {
        for (int part = 0; part < 4; part++) {
            upsert(part * BASE, (part + 1) * BASE);
            dataset.flush();
        }
        assertThat(counted()).hasValue(4 * BASE);
    }

    @Test
    void keys_in_memory_are_looked_up() {
        upsert(0, BASE);
        dataset.flush();
        upsert(BASE - 10, BASE + 10); // ten of them are new
        for (long id = 0; id < 30; id++) {
            dataset.delete(id);
        }
        dataset.delete(BASE + 5);
        dataset.delete(BASE + 1_000); // was never there
        assertThat(counted()).hasValue(BASE + 10 - 30 - 1);
    }

    @Test
    void a_small_component_is_looked_up() {
        upsert(0, BASE);
        dataset.flush();
        for (long id = 100; id < 150; id++) {
            dataset.delete(id);
        }
        upsert(BASE + 1, BASE + 11);
        dataset.flush();
        upsert(100, 110); // back again
        assertThat(counted()).hasValue(BASE + 10 - 50 + 10);
    }

    @Test
    void where_much_overlaps_only_a_scan_can_tell() {
        upsert(0, BASE);
        dataset.flush();
        upsert(0, BASE / 2);
        dataset.flush();
        assertThat(counted()).isEmpty();
        dataset.mergeAll();
        assertThat(counted()).hasValue(BASE);
    }

    @Test
    void a_view_counts_what_it_shows() {
        upsert(0, BASE);
        dataset.flush();
        try (ReadView old = dataset.openView()) {
            for (long id = 0; id < 40; id++) {
                dataset.delete(id);
            }
            assertThat(counted(old)).hasValue(BASE);
            assertThat(counted()).hasValue(BASE - 40);
            dataset.flush();
            dataset.mergeAll(); // keeps both versions of the forty
            counted(old);
            counted();
        }
        upsert(0, 1); // a merge wants something to do
        dataset.flush();
        dataset.mergeAll();
        assertThat(counted()).hasValue(BASE - 39);
    }

    @Test
    void a_large_component_above_a_small_one_has_deletions() {
        upsert(0, 50);
        dataset.flush();
        for (long id = 0; id < 10; id++) {
            dataset.delete(id);
        }
        upsert(20, 30);
        upsert(100, 100 + BASE);
        dataset.flush();
        assertThat(counted()).hasValue(BASE + 40);
    }

    @Test
    void a_view_does_not_count_components_that_came_after_it() {
        upsert(0, 50);
        dataset.flush();
        try (ReadView old = dataset.openView()) {
            upsert(100, 100 + BASE);
            dataset.flush();
            counted(old);
            assertThat(counted()).hasValue(BASE + 50);
        }
    }

    /** As an explanation asks; the count itself would look up a thousand keys. */
    @Test
    void whether_it_is_told_is_known_without_a_read() {
        upsert(0, 20 * BASE);
        dataset.flush();
        upsert(0, 1_000);
        try (ReadView view = dataset.openView()) {
            long before = pagesAskedFor();
            assertThat(view.tellsRecordCount()).isTrue();
            assertThat(pagesAskedFor()).isEqualTo(before);
            assertThat(counted(view)).hasValue(20 * BASE);
            assertThat(pagesAskedFor()).isGreaterThan(before);
        }
    }

    private long pagesAskedFor() {
        return store.meters().instruments().stream()
                .filter(one -> one instanceof Reading)
                .map(Reading.class::cast)
                .filter(one -> Set.of("cache.hits", "cache.loads").contains(one.name()))
                .mapToLong(Reading::value)
                .sum();
    }

    @Test
    void who_stops_is_asked_and_a_closed_view_counts_nothing() {
        upsert(0, 10 * BASE);
        dataset.flush();
        upsert(0, 1_000);
        ReadView view = dataset.openView();
        assertThatThrownBy(() -> view.countRecords(() -> {
                    throw new CancellationException("stopped");
                }))
                .isInstanceOf(CancellationException.class);
        assertThat(view.countRecords(() -> {})).hasValue(10 * BASE);
        assertThatThrownBy(() -> view.countRecords(view::close)) // in the middle
                .isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.countRecords(() -> {})).isInstanceOf(ClosedException.class);
        assertThatThrownBy(view::tellsRecordCount).isInstanceOf(ClosedException.class);
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void any_history_counts_as_it_scans(Maintenance maintenance) {
        for (int seed = 0; seed < 4; seed++) {
            Random random = new Random(seed);
            dataset = create("S" + seed, maintenance, 1 + seed % 2);
            upsert(0, BASE);
            dataset.flush();
            List<ReadView> views = new ArrayList<>();
            for (int step = 0; step < 24; step++) {
                step(random);
                counted();
                if (views.size() < 3 && random.nextInt(4) == 0) {
                    views.add(dataset.openView());
                }
                views.forEach(this::counted);
            }
            views.forEach(ReadView::close);
        }
        // marks of superseded records are for the scan to tell
        assertThat(known)
                .as("times it was known")
                .isGreaterThan(maintenance == Maintenance.MUTABLE_BITMAP ? 4 : 60);
    }

    private void step(Random random) {
        switch (random.nextInt(8)) {
            case 0 -> dataset.flush();
            case 1 -> {
                dataset.flush();
                dataset.mergeAll();
            }
            case 2 -> upsert(2 * BASE + random.nextInt(100), 2 * BASE + 100);
            default -> {
                for (int i = 0; i < 12; i++) {
                    long id = random.nextLong(BASE + 100);
                    if (random.nextBoolean()) {
                        upsert(id, id + 1);
                    } else {
                        dataset.delete(id);
                    }
                }
            }
        }
    }
}
