package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Scans by a filter pass over the pages that an earlier scan has found to hold nothing wanted. */
class FilteredPagesTest {
    private static final long SEED = Long.getLong("turbidite.seed", 9);
    private static final String TEXT = "x".repeat(100);

    private final SimStore sim = SimStore.open(
            new SimDisk(SEED, Profile.STRICT),
            SEED,
            SimStore.options(Durability.SYNC).withCacheBytes(16 << 20));
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final TreeMap<Long, Row> rows = new TreeMap<>();
    private long pages;

    /** A record's value of the filter field. */
    private record Row(@Nullable Long at) {
        boolean isIn(long low, long end) {
            return at != null && at >= low && at < end;
        }
    }

    @AfterEach
    void close() {
        sim.close();
    }

    private Dataset create(Maintenance maintenance, String policy) {
        return sim.store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("at", "int64?")
                .field("text", "string")
                .primaryKey("id")
                .filter("at")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse(policy))
                .partitions(1));
    }

    private void upsert(Dataset dataset, long id, @Nullable Long at) {
        Map<String, @Nullable Object> fields = new HashMap<>(Map.of("id", id, "text", TEXT));
        fields.put("at", at);
        dataset.upsert(fields);
        rows.put(id, new Row(at));
    }

    /** Asks for what is in a range, and compares. */
    private void check(
            Dataset dataset, ReadView view, boolean isOrdered, Map<Long, Row> of, long... range) {
        FilterPredicate filter = filter(dataset, range[0], range[1]);
        Map<Long, Row> found = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        try (RecordStream stream = isOrdered
                ? view.scan(0, KeyRange.all(), filter)
                : view.scanUnordered(0, KeyRange.all(), filter)) {
            while (stream.next()) {
                record.wrap(stream.record());
                Row row = new Row(record.isAbsent(1) ? null : record.getLong(1));
                // what does not match may be old
                if (row.isIn(range[0], range[1])) {
                    assertThat(found.put(record.getLong(0), row)).isNull();
                }
            }
            pages = stream.layers().pageCount();
        }
        Map<Long, Row> expected = new TreeMap<>(of);
        expected.values().removeIf(row -> !row.isIn(range[0], range[1]));
        assertThat(found).isEqualTo(expected);
    }

    private void check(Dataset dataset, long... range) {
        try (ReadView view = dataset.openView()) {
            check(dataset, view, false, rows, range);
        }
    }

    @Test
    void a_second_scan_reads_the_pages_of_the_range_alone() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (long id = 0; id < 5_000; id++) {
            upsert(dataset, id, id % 100 == 3 ? null : Long.valueOf(1_000_000 + id));
        }
        dataset.flush();
        check(dataset, 1_000_000, 1_005_000);
        long all = pages;
        assertThat(all).isGreaterThan(30);
        check(dataset, 1_002_000, 1_002_100);
        assertThat(pages).isLessThan(5);
        check(dataset, 1_004_990, 2_000_000);
        assertThat(pages).isLessThan(5);
        check(dataset, 1_000_000, 1_005_000);
        assertThat(pages).isEqualTo(all);
    }

    @Test
    void records_without_a_value_are_found_where_they_are_wanted() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (long id = 0; id < 5_000; id++) {
            upsert(dataset, id, id == 2_500 ? null : Long.valueOf(id));
        }
        dataset.flush();
        KeySpec field = KeySpec.of(dataset.type(), List.of("at"), "test");
        FilterPredicate absent =
                new FilterPredicate(List.of(KeyRange.of(null, field.encode(Long.MIN_VALUE))));
        for (int i = 0; i < 2; i++) {
            try (ReadView view = dataset.openView();
                    RecordStream stream = view.scanUnordered(0, KeyRange.all(), absent)) {
                RecordView record = new RecordView(dataset.type());
                boolean isFound = false;
                while (stream.next()) {
                    record.wrap(stream.record());
                    isFound |= record.getLong(0) == 2_500;
                }
                assertThat(isFound).isTrue();
                pages = stream.layers().pageCount();
            }
        }
        assertThat(pages).isLessThan(5);
    }

    @Test
    void a_version_that_does_not_match_hides_an_older_one_on_the_next_page() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        int count = 1_000;
        for (long id = 0; id < count; id++) {
            upsert(dataset, id, id);
        }
        try (ReadView before = dataset.openView()) {
            Map<Long, Row> old = new TreeMap<>(rows);
            for (long id = 0; id < count; id++) {
                upsert(dataset, id, -1L);
            }
            dataset.flush();
            // some page ends with the new version of a record whose old one begins the next
            for (long id = 0; id < count; id++) {
                check(dataset, id, id + 1);
                check(dataset, before, true, old, id, id + 1);
            }
        }
    }

    @Test
    void a_version_that_does_not_match_hides_one_of_an_older_component() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (int round = 0; round < 2; round++) {
            for (long id = 0; id < 3_000; id++) {
                upsert(dataset, id, id + 1_000_000L * round);
            }
            dataset.flush();
        }
        for (int i = 0; i < 2; i++) {
            check(dataset, 0, 3_000);
            check(dataset, 1_000_000, 1_003_000);
        }
    }

    @Test
    void components_of_other_keys_are_passed_over_page_by_page_too() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (long id = 0; id < 6_000; id++) {
            upsert(dataset, id, id % 3_000);
            if (id == 2_999) {
                dataset.flush();
            }
        }
        dataset.flush();
        check(dataset, 1_000, 1_010);
        check(dataset, 1_000, 1_010);
        assertThat(pages).isLessThan(10);
    }

    /** A view, and what it must show. */
    private record Kept(ReadView view, TreeMap<Long, Row> rows) {}

    @ParameterizedTest
    @CsvSource({
        "EAGER,no-merge",
        "EAGER,tiering",
        "VALIDATION,tiering",
        "DEFERRED,correlated-tiering",
        "MUTABLE_BITMAP,correlated-tiering"
    })
    void scans_find_what_matches(Maintenance maintenance, String policy) {
        Dataset dataset = create(maintenance, policy);
        List<Kept> kept = new ArrayList<>();
        for (long id = 0; id < 2_000; id++) {
            upsert(dataset, id, id);
        }
        long wider = 0;
        long narrower = 0;
        for (int step = 0; step < 2_000; step++) {
            int what = random.nextInt(200);
            if (what == 0) {
                dataset.flush();
            } else if (what == 1) {
                kept.add(new Kept(dataset.openView(), new TreeMap<>(rows)));
            } else if (what < 4 && !kept.isEmpty()) {
                Kept one = kept.remove(random.nextInt(kept.size()));
                try (ReadView view = one.view()) {
                    long low = random.nextInt(2_000);
                    boolean isOrdered = random.nextBoolean();
                    check(dataset, view, isOrdered, one.rows(), low, low + 100);
                    wider += pages;
                    check(dataset, view, isOrdered, one.rows(), low, low + 100);
                    narrower += pages;
                }
            } else if (what < 40) {
                long id = random.nextInt(2_200);
                dataset.delete(id);
                rows.remove(id);
            } else {
                // mostly in the order of the keys, and some that go elsewhere
                long id = random.nextInt(2_200);
                boolean isFar = random.nextInt(3) == 0;
                upsert(dataset, id, isFar ? Long.valueOf(random.nextInt(2_000)) : null);
            }
        }
        for (Kept one : kept) {
            check(dataset, one.view(), true, one.rows(), 500, 600);
            one.view().close();
        }
        assertThat(narrower).isPositive().isLessThanOrEqualTo(wider);
    }

    private FilterPredicate filter(Dataset dataset, long low, long end) {
        KeySpec field = KeySpec.of(dataset.type(), List.of("at"), "test");
        return new FilterPredicate(List.of(KeyRange.of(field.encode(low), field.encode(end))));
    }

    private static Slice id(Dataset dataset, long id) {
        return Slice.of(KeySpec.of(dataset.type(), List.of("id"), "test").encode(id));
    }

    private static KeyRange ids(Dataset dataset, long low, long end) {
        KeySpec field = KeySpec.of(dataset.type(), List.of("id"), "test");
        return KeyRange.of(field.encode(low), field.encode(end));
    }

    @Test
    void what_comes_before_the_end_of_the_keys_is_among_them() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (long id = 0; id < 5_000; id++) {
            upsert(dataset, id, id);
        }
        dataset.flush();
        check(dataset, 0, 5_000);
        RecordView record = new RecordView(dataset.type());
        try (ReadView view = dataset.openView();
                RecordCursor cursor =
                        view.scan(0, ids(dataset, 0, 2_000), filter(dataset, 4_000, 4_100))) {
            while (cursor.next()) {}
            assertThat(cursor.previous()).isTrue();
            record.wrap(cursor.record());
            assertThat(record.getLong(0)).isEqualTo(1_999);
        }
    }

    @Test
    void what_comes_before_a_record_of_another_component_is_the_record_before_it() {
        Dataset dataset = create(Maintenance.EAGER, "no-merge");
        for (long id = 0; id < 5_000; id++) {
            upsert(dataset, id, id);
        }
        dataset.flush();
        upsert(dataset, 1_000, 4_005L);
        dataset.flush();
        check(dataset, 0, 5_000);
        RecordView record = new RecordView(dataset.type());
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), filter(dataset, 4_000, 4_100))) {
            long found = -1;
            while (found != 1_000) {
                assertThat(cursor.next()).isTrue();
                record.wrap(cursor.record());
                found = record.getLong(0);
            }
            assertThat(cursor.previous()).isTrue();
            record.wrap(cursor.record());
            assertThat(record.getLong(0)).isEqualTo(999);
            assertThat(cursor.next()).isTrue();
            record.wrap(cursor.record());
            assertThat(record.getLong(0)).isEqualTo(1_000);
        }
    }

    @ParameterizedTest
    @CsvSource({"EAGER,no-merge", "VALIDATION,tiering", "MUTABLE_BITMAP,correlated-tiering"})
    void cursors_that_turn_stay_in_order_and_range(Maintenance maintenance, String policy) {
        Dataset dataset = create(maintenance, policy);
        for (long id = 0; id < 3_000; id++) {
            upsert(dataset, id, id);
            if (id == 2_000) {
                dataset.flush();
            }
        }
        dataset.flush();
        for (int i = 0; i < 30; i++) {
            long id = random.nextInt(3_000);
            if (random.nextInt(4) == 0) {
                dataset.delete(id);
                rows.remove(id);
            } else {
                upsert(dataset, id, Long.valueOf(random.nextInt(3_000)));
            }
            if (i == 20) {
                dataset.flush();
            }
        }
        check(dataset, 0, 3_000);
        try (ReadView view = dataset.openView()) {
            for (int i = 0; i < 200; i++) {
                long at = random.nextInt(3_000);
                long low = random.nextInt(1_500);
                walk(dataset, view, low, low + 1 + random.nextInt(2_000), at, at + 100);
            }
        }
    }

    /** Moves to and fro between two IDs; a move may pass over what does not match, and no more. */
    private void walk(Dataset dataset, ReadView view, long low, long end, long... range) {
        RecordView record = new RecordView(dataset.type());
        TreeMap<Long, Row> wanted = new TreeMap<>(rows.subMap(low, end));
        wanted.values().removeIf(row -> !row.isIn(range[0], range[1]));
        // the smallest ID that may come next, and the largest that may come before
        long next = low;
        long previous = low - 1;
        try (RecordCursor cursor =
                view.scan(0, ids(dataset, low, end), filter(dataset, range[0], range[1]))) {
            for (int step = 0; step < 40; step++) {
                int what = random.nextInt(10);
                if (what == 0) {
                    next = random.nextLong(low, end);
                    previous = next - 1;
                    cursor.seek(id(dataset, next));
                    continue;
                }
                boolean forward = what < 6;
                if (what == 5) {
                    while (cursor.next()) {}
                    next = end;
                    previous = end - 1;
                }
                Long match = forward ? wanted.ceilingKey(next) : wanted.floorKey(previous);
                if (!(forward ? cursor.next() : cursor.previous())) {
                    assertThat(match).isNull();
                    next = forward ? end : low;
                    previous = next - 1;
                    continue;
                }
                record.wrap(cursor.record());
                long found = record.getLong(0);
                long first = forward ? next : match == null ? low : match;
                long last = !forward ? previous : match == null ? end - 1 : match;
                assertThat(found).isBetween(first, last);
                if (match != null && found == match) {
                    assertThat(wanted).containsEntry(found, new Row(record.getLong(1)));
                }
                next = found + 1;
                previous = found - 1;
            }
        }
    }
}
