package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Cursor;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.TreeId;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** From sorted keys to records, with each of the ways to get there switched on and off. */
class LookupTest {
    /** What is right for any candidate, valid or not. */
    private static final Pruning[] ANY_CANDIDATE = {Pruning.NONE, Pruning.OLDER, Pruning.CHECKED};

    private static final long SEED = 41;
    private static final int ID_LIMIT = 400;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED));
    private final Dataset dataset = sim.store.createDataset(
            Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge", Map.of())));

    /** The versions of each id by timestamp; null body is a delete. */
    private final Map<Long, TreeMap<Long, Row>> history = new HashMap<>();

    private static final Row DELETED = new Row(0, null, null, null, "deleted");

    @AfterEach
    void close() {
        sim.close();
    }

    private Slice key(long id) {
        return Slice.of(dataset.primaryKeySpec().encode(id));
    }

    private long now() {
        return Inside.core(sim.store).timestamps().lastDrawn();
    }

    private void put(long id, int bodyBytes) {
        Row row = new Row(id, "u" + id % 7, (int) id % 10, null, "b".repeat(bodyBytes));
        dataset.upsert(row.toMap());
        history.computeIfAbsent(id, none -> new TreeMap<>()).put(now(), row);
    }

    private void delete(long id) {
        dataset.delete(id);
        history.computeIfAbsent(id, none -> new TreeMap<>()).put(now(), DELETED);
    }

    /** Layers of every kind: six components, a frozen look at some, and what is in memory. */
    private void fill(SplittableRandom random, List<ReadView> views) {
        for (int layer = 0; layer < 7; layer++) {
            for (int i = 0; i < 120; i++) {
                long id = random.nextInt(ID_LIMIT);
                if (random.nextInt(5) == 0) {
                    delete(id);
                } else {
                    put(id, 1 + random.nextInt(300));
                }
            }
            if (layer % 2 == 0) {
                views.add(dataset.openView());
            }
            if (layer < 6) {
                dataset.flush();
            }
        }
        views.add(dataset.openView());
    }

    private Map<Long, Row> shown(ReadView view) {
        Map<Long, Row> rows = new TreeMap<>();
        history.forEach((id, versions) -> {
            var version = versions.floorEntry(view.timestamp());
            if (version != null && !version.getValue().equals(DELETED)) {
                rows.put(id, version.getValue());
            }
        });
        return rows;
    }

    private List<Row> fetch(ReadView view, KeyBatch keys, FetchOptions options) {
        List<Row> rows = new ArrayList<>();
        RecordView record = new RecordView(dataset.type());
        try (RecordStream records = view.fetch(0, keys, options)) {
            while (records.next()) {
                Row row = Row.of(record.wrap(records.record()).toMap());
                assertThat(records.key().contentEquals(key(row.id()))).isTrue();
                TreeMap<Long, Row> versions = history.getOrDefault(row.id(), new TreeMap<>());
                assertThat(versions.get(records.timestamp())).isEqualTo(row);
                rows.add(row);
            }
            assertThat(records.next()).isFalse();
        }
        return rows;
    }

    @Test
    void every_way_to_look_keys_up_finds_the_same_records_at_every_snapshot() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<ReadView> views = new ArrayList<>();
        fill(random, views);
        for (ReadView view : views) {
            Map<Long, Row> shown = shown(view);
            KeyBatch keys = new KeyBatch(1 << 20);
            Map<Long, Row> wanted = new TreeMap<>();
            for (long id = -1; id <= ID_LIMIT; id++) {
                if (random.nextInt(3) > 0) {
                    long timestamp = entryTimestamp(id, view, random);
                    keys.add(key(id), timestamp, checkedUntil(id, timestamp, random));
                    if (shown.containsKey(id)) {
                        wanted.put(id, shown.get(id));
                    }
                }
            }
            keys.sortDistinct();
            for (int batchBytes : new int[] {0, 64, 1 << 20}) {
                for (Cursor cursor : Cursor.values()) {
                    for (int orderBytes : new int[] {0, 2_000, 1 << 20}) {
                        for (int way = 0; way < 6; way++) {
                            FetchOptions options = new FetchOptions(
                                    batchBytes,
                                    cursor,
                                    way % 2 == 0,
                                    ANY_CANDIDATE[way / 2],
                                    orderBytes,
                                    FilterPredicate.none());
                            List<Row> found = fetch(view, keys, options);
                            if (!options.isOrdered()) {
                                found.sort((a, b) -> Long.compare(a.id(), b.id()));
                            }
                            assertThat(found)
                                    .as("%s at %d", options, view.timestamp())
                                    .containsExactlyElementsOf(wanted.values());
                        }
                    }
                }
            }
        }
        views.forEach(ReadView::close);
    }

    /**
     * The timestamp that some entry of the key may have had: of any version that the view shows.
     */
    private long entryTimestamp(long id, ReadView view, SplittableRandom random) {
        TreeMap<Long, Row> versions = history.get(id);
        if (versions == null || versions.firstKey() > view.timestamp()) {
            return 1;
        }
        List<Long> known =
                new ArrayList<>(versions.headMap(view.timestamp(), true).keySet());
        return known.get(random.nextInt(known.size()));
    }

    /**
     * Up to where the entry may be known to have no successor: anything below its successor's
     * timestamp.
     */
    private long checkedUntil(long id, long timestamp, SplittableRandom random) {
        Long next = history.getOrDefault(id, new TreeMap<>()).higherKey(timestamp);
        long known = next == null ? now() : next - 1;
        return switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> timestamp + random.nextLong(Math.max(1, known - timestamp + 1));
            default -> next == null ? Long.MAX_VALUE : known;
        };
    }

    private long written(long id) {
        return Objects.requireNonNull(history.get(id)).firstKey();
    }

    @Test
    void layers_up_to_which_the_candidate_was_checked_are_not_asked() {
        for (int layer = 0; layer < 5; layer++) {
            for (long id = 0; id < 50; id++) {
                put(100L * layer + id, 10);
            }
            dataset.flush();
        }
        FetchOptions checked = FetchOptions.defaults().withPruning(Pruning.CHECKED);
        try (ReadView view = dataset.openView()) {
            KeyBatch keys = new KeyBatch(1 << 12);
            for (long id = 0; id < 50; id++) {
                keys.add(key(id), written(id), now());
            }
            FetchWork work = work(view, keys, checked);
            assertThat(work.layerVisitCount()).isEqualTo(1);
            assertThat(work.searchCount()).isEqualTo(50);
            assertThat(work.bloomTestCount()).isZero();
            keys.clear();
            for (long id = 0; id < 50; id++) {
                keys.add(key(id), written(id), written(id));
            }
            // of what is newer all are asked, of its own layer nothing
            assertThat(work(view, keys, checked).bloomTestCount()).isEqualTo(4 * 50);
        }
    }

    @Test
    void an_exact_lookup_visits_the_covering_layer_alone_and_finds_that_version_or_none() {
        SplittableRandom random = new SplittableRandom(SEED + 1);
        List<ReadView> views = new ArrayList<>();
        fill(random, views);
        FetchOptions exact = FetchOptions.defaults().withPruning(Pruning.EXACT);
        for (ReadView view : views) {
            for (long id = 0; id < ID_LIMIT; id++) {
                TreeMap<Long, Row> versions = history.getOrDefault(id, new TreeMap<>());
                var newest = versions.floorEntry(view.timestamp());
                if (newest == null) {
                    continue;
                }
                KeyBatch keys = new KeyBatch(1 << 12);
                keys.add(key(id), newest.getKey());
                List<Row> valid =
                        newest.getValue().equals(DELETED) ? List.of() : List.of(newest.getValue());
                assertThat(fetch(view, keys, exact)).as("id %d", id).isEqualTo(valid);
                // no version has the timestamp between two
                keys.clear();
                keys.add(key(id), newest.getKey() - 1);
                if (!versions.containsKey(newest.getKey() - 1)) {
                    assertThat(fetch(view, keys, exact)).isEmpty();
                }
                try (RecordStream records = view.fetch(0, keys, exact)) {
                    while (records.next()) {}
                    FetchWork work = records.work();
                    assertThat(work.layerVisitCount()).isLessThanOrEqualTo(1);
                    assertThat(work.bloomTestCount()).isZero();
                }
            }
        }
        views.forEach(ReadView::close);
    }

    @Test
    void layers_that_are_older_than_the_candidate_are_not_visited() {
        for (int layer = 0; layer < 5; layer++) {
            for (long id = 0; id < 50; id++) {
                put(id, 10);
            }
            dataset.flush();
        }
        for (long id = 0; id < 50; id++) {
            delete(id);
        }
        dataset.flush();
        KeyBatch keys = new KeyBatch(1 << 12);
        for (long id = 0; id < 50; id++) {
            // above every layer but the one with the deletes; and of one key that is nowhere
            keys.add(key(id == 49 ? 999 : id), now() - 1);
        }
        keys.sortDistinct();
        FetchOptions all = FetchOptions.defaults().withBloom(false);
        try (ReadView view = dataset.openView()) {
            assertThat(layersVisited(view, keys, all)).isEqualTo(6);
            assertThat(layersVisited(view, keys, all.withPruning(Pruning.OLDER)))
                    .isEqualTo(1);
            assertThat(layersVisited(view, keys, FetchOptions.naive().withBloom(false)))
                    .isEqualTo(49 + 6);
        }
    }

    private static long layersVisited(ReadView view, KeyBatch keys, FetchOptions options) {
        try (RecordStream records = view.fetch(0, keys, options)) {
            assertThat(records.next()).isFalse();
            return records.work().layerVisitCount();
        }
    }

    @Test
    void a_batch_reads_each_page_once_where_one_key_after_the_other_reads_it_again() {
        for (int layer = 0; layer < 4; layer++) {
            for (long id = layer; id < 4_000; id += 4) {
                put(id, 200);
            }
            dataset.flush();
        }
        KeyBatch keys = new KeyBatch(1 << 20);
        for (long id = 0; id < 4_000; id++) {
            keys.add(key(id));
        }
        FetchOptions stateful = FetchOptions.defaults().withCursor(Cursor.STATEFUL);
        try (ReadView view = dataset.openView()) {
            int pages = Inside.partitions(dataset).get(0).components(TreeId.PRIMARY).stream()
                    .mapToInt(handle -> handle.component().recordPageCount())
                    .sum();
            assertThat(work(view, keys, stateful).pageCount()).isEqualTo(pages);
            FetchWork naive = work(view, keys, FetchOptions.naive());
            assertThat(naive.pageCount()).isGreaterThanOrEqualTo(4_000);
            assertThat(naive.statefulVisitCount()).isZero();
            assertThat(sim.store.meters().counter("lookup.keys").sum()).isEqualTo(8_000);
            assertThat(sim.store.meters().counter("lookup.pages").sum())
                    .isEqualTo(pages + naive.pageCount());
        }
    }

    @Test
    void records_that_come_in_order_are_looked_up_once() {
        for (long id = 0; id < 2_000; id++) {
            put(id, 100);
        }
        dataset.flush();
        KeyBatch keys = new KeyBatch(1 << 20);
        for (long id = 0; id < 2_000; id++) {
            keys.add(key(id));
        }
        // in many batches, or in two
        for (int orderBytes : new int[] {32 << 10, 1 << 20}) {
            FetchOptions ordered = FetchOptions.defaults().withOrderBytes(orderBytes);
            try (ReadView view = dataset.openView()) {
                // and a few in vain, where a Bloom filter errs
                assertThat(work(view, keys, ordered).searchCount()).isBetween(2_000L, 2_040L);
            }
        }
    }

    @Test
    void a_batch_reads_pages_that_lie_near_one_another_at_once() {
        SimDisk cold = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.BUFFERED).withCacheBytes(16 << 20);
        try (SimStore other = SimStore.open(cold, SEED, options)) {
            Dataset rows = other.store.createDataset(Row.spec("T"));
            for (long id = 0; id < 10_000; id++) {
                rows.upsert(new Row(id, "u", 1, null, "b".repeat(300)).toMap());
            }
            rows.flush();
            KeyBatch keys = new KeyBatch(1 << 20);
            for (long id = 0; id < 10_000; id += 150) {
                keys.add(key(id)); // every other page
            }
            FaultScript reads =
                    FaultScript.with(Fault.EIO).on(OperationKind.READ).call(Long.MAX_VALUE);
            cold.fault(reads);
            try (ReadView view = rows.openView()) {
                FetchWork work = work(view, keys, FetchOptions.defaults());
                assertThat(work.pageCount()).isGreaterThan(40);
                assertThat(reads.matchCount()).isBetween(2L, work.pageCount() / 4);
                // what comes one by one is read one by one
                long before = reads.matchCount();
                keys.clear();
                keys.add(key(75));
                work(view, keys, FetchOptions.defaults());
                assertThat(reads.matchCount() - before).isLessThanOrEqualTo(1);
            }
        }
    }

    private static FetchWork work(ReadView view, KeyBatch keys, FetchOptions options) {
        try (RecordStream records = view.fetch(0, keys, options)) {
            while (records.next()) {}
            return records.work();
        }
    }

    @Test
    void a_flush_in_the_middle_of_a_batch_loses_and_repeats_nothing() {
        for (long id = 0; id < 100; id += 2) {
            put(id, 10);
        }
        dataset.flush();
        for (long id = 1; id < 100; id += 2) {
            put(id, 10);
        }
        KeyBatch keys = new KeyBatch(1 << 12);
        for (long id = 0; id < 110; id++) {
            keys.add(key(id));
        }
        for (int flushAt = 0; flushAt <= 100; flushAt += 5) {
            put(1_000 + flushAt, 10);
            List<Long> ids = new ArrayList<>();
            try (ReadView view = dataset.openView();
                    RecordStream records = view.fetch(0, keys, FetchOptions.defaults())) {
                while (records.next()) {
                    ids.add((Long)
                            dataset.primaryKeySpec().decode(records.key(), 0).get(0));
                    if (ids.size() == flushAt) {
                        put(2_000 + flushAt, 10);
                        dataset.flush();
                    }
                }
            }
            assertThat(ids).hasSize(100).doesNotHaveDuplicates();
        }
    }

    @Test
    void a_fetch_that_met_an_error_goes_on_where_it_was() {
        for (long id = 0; id < 3_000; id++) {
            put(id, 1_000);
        }
        dataset.flush();
        KeyBatch keys = new KeyBatch(1 << 20);
        for (long id = 0; id < 3_000; id += 10) {
            keys.add(key(id));
        }
        int errors = 0;
        for (int orderBytes : new int[] {0, 4_000, 1 << 20}) {
            FetchOptions options = FetchOptions.defaults().withOrderBytes(orderBytes);
            int rows = 0;
            try (ReadView view = dataset.openView();
                    RecordStream records = view.fetch(0, keys, options)) {
                // the first read: one may bring all that is asked for
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ).call(1));
                for (boolean more = true; more; ) {
                    try {
                        more = records.next();
                        rows += more ? 1 : 0;
                    } catch (StorageIoException e) {
                        errors++;
                    }
                }
            }
            assertThat(rows).isEqualTo(300);
        }
        assertThat(errors).isPositive();
    }

    @Test
    void pruning_by_timestamps_that_the_keys_lack_is_refused() {
        put(1, 10);
        KeyBatch keys = new KeyBatch(1 << 12);
        keys.add(key(1));
        try (ReadView view = dataset.openView()) {
            assertThatThrownBy(() ->
                            view.fetch(0, keys, FetchOptions.defaults().withPruning(Pruning.OLDER)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("added without");
            keys.clear(); // of no key there is nothing to lack
            assertThat(fetch(view, keys, FetchOptions.defaults().withPruning(Pruning.EXACT)))
                    .isEmpty();
        }
    }
}
