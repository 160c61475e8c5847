package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.engine.WriteMemory;
import io.turbidite.lsm.harness.BatchCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.partition.Partition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/** Cursors as users of a store meet them: both directions, ranges, idle ones, closed ones. */
class CursorTest {
    private static final long SEED = 11;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    private final Dataset dataset =
            sim.store.createDataset(Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));

    @AfterEach
    void close() {
        sim.close();
    }

    private static Row row(long id, String user) {
        return new Row(id, user, (int) id % 10, null, "body " + id);
    }

    private void put(long from, long to, String user) {
        for (long id = from; id < to; id++) {
            dataset.upsert(row(id, user).toMap());
        }
    }

    private Partition partition() {
        return Inside.partitions(dataset).get(0);
    }

    private int heldChunks() {
        return ((WriteMemory) Inside.core(sim.store).chunks()).heldCount();
    }

    private long id(RecordCursor cursor) {
        return (Long) dataset.primaryKeySpec().decode(cursor.key(), 0).get(0);
    }

    private @Nullable String user(RecordCursor cursor) {
        return Row.of(new RecordView(dataset.type()).wrap(cursor.record()).toMap())
                .user();
    }

    private Slice key(long id) {
        return Slice.of(dataset.primaryKeySpec().encode(id));
    }

    @Test
    void a_scan_goes_down_from_the_end_as_it_goes_up_from_the_start() {
        put(0, 100, "old");
        dataset.flush();
        put(50, 70, "new");
        dataset.delete(60L);
        List<Long> up = new ArrayList<>();
        List<Long> down = new ArrayList<>();
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                up.add(id(cursor));
            }
            while (cursor.previous()) {
                down.addFirst(id(cursor));
                assertThat(user(cursor))
                        .isEqualTo(id(cursor) >= 50 && id(cursor) < 70 ? "new" : "old");
            }
        }
        assertThat(up).hasSize(99).doesNotContain(60L).isSorted();
        assertThat(down).isEqualTo(up);
    }

    @Test
    void a_seek_leads_to_the_neighbours_of_a_key_that_is_not_there() {
        put(0, 10, "ann");
        put(20, 30, "ann");
        dataset.flush();
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(
                        0,
                        KeyRange.between(bytes(5), false, bytes(25), true),
                        FilterPredicate.none())) {
            cursor.seek(key(15));
            assertThat(cursor.next()).isTrue();
            assertThat(id(cursor)).isEqualTo(20);
            assertThat(cursor.previous()).isTrue();
            assertThat(id(cursor)).isEqualTo(9);
            cursor.seek(key(1));
            assertThat(cursor.previous()).isFalse();
            assertThat(cursor.previous()).isFalse();
            assertThat(cursor.next()).isTrue();
            assertThat(id(cursor)).isEqualTo(6);
            cursor.seekEnd();
            assertThat(cursor.next()).isFalse();
            assertThat(cursor.previous()).isTrue();
            assertThat(id(cursor)).isEqualTo(25);
        }
    }

    private byte[] bytes(long id) {
        return dataset.primaryKeySpec().encode(id);
    }

    @Test
    void a_prefix_of_a_composite_key_is_a_range_in_both_directions() {
        put(0, 40, "ann");
        KeySpec score = KeySpec.of(dataset.type(), List.of("score"), "test");
        List<Long> ids = new ArrayList<>();
        try (ReadView view = dataset.openView();
                IndexCursor cursor = view.search(
                        0,
                        "by_score",
                        KeyRange.startingWith(score.encode(7)),
                        FilterPredicate.none())) {
            cursor.seekEnd();
            while (cursor.previous()) {
                ids.add((Long)
                        dataset.primaryKeySpec().decode(cursor.primaryKey(), 0).get(0));
            }
        }
        assertThat(ids).containsExactly(37L, 27L, 17L, 7L);
    }

    @Test
    void an_idle_cursor_gives_the_write_memory_back_and_goes_on_from_its_place() {
        int chunksOfEmptyLayer = heldChunks();
        put(0, 500, "old");
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none());
                RecordCursor backwards = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            backwards.seekEnd();
            for (long i = 0; i < 100; i++) {
                assertThat(cursor.next()).isTrue();
                assertThat(backwards.previous()).isTrue();
            }
            assertThat(partition().versionCount()).isEqualTo(1);
            put(0, 500, "new");
            dataset.flush();
            // nobody moved the cursors; the layer is on disk and its memory is free
            assertThat(partition().versionCount()).isEqualTo(1);
            assertThat(heldChunks()).isEqualTo(chunksOfEmptyLayer);
            put(500, 600, "newer");
            // what they stand on is still there, and so is what they have not seen yet
            assertThat(id(cursor)).isEqualTo(99);
            assertThat(id(backwards)).isEqualTo(400);
            assertThat(user(cursor)).isEqualTo("old");
            assertThat(user(backwards)).isEqualTo("old");
            for (long i = 100; i < 500; i++) {
                assertThat(cursor.next()).isTrue();
                assertThat(id(cursor)).isEqualTo(i);
                assertThat(user(cursor)).isEqualTo("old");
                assertThat(backwards.previous()).isTrue();
                assertThat(id(backwards)).isEqualTo(499 - i);
            }
            assertThat(cursor.next()).isFalse();
            assertThat(backwards.previous()).isFalse();
            // each once as the layer was frozen: it held nothing any more as that was flushed
            assertThat(letGoCount()).isEqualTo(2);
        }
    }

    private long letGoCount() {
        return sim.store.meters().instruments().stream()
                .filter(instrument ->
                        instrument instanceof Counter && instrument.name().equals("cursors.let.go"))
                .mapToLong(instrument -> ((Counter) instrument).sum())
                .sum();
    }

    @Test
    void an_idle_cursor_on_a_page_keeps_no_file_alive() {
        put(0, 300, "old");
        dataset.flush();
        put(0, 300, "new");
        dataset.flush();
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            for (long i = 0; i < 10; i++) {
                assertThat(cursor.next()).isTrue();
            }
            Slice record = cursor.record();
            byte[] before = record.toByteArray();
            dataset.mergeAll();
            sim.tasks.runForMicros(100_000);
            assertThat(disk.files().stream().filter(name -> name.endsWith(".component")))
                    .hasSize(3);
            assertThat(record.toByteArray()).isEqualTo(before);
            assertThat(cursor.next()).isTrue();
            assertThat(id(cursor)).isEqualTo(10);
            assertThat(user(cursor)).isEqualTo("new");
        }
    }

    @Test
    void an_idle_fetch_gives_the_write_memory_back_and_goes_on() {
        int chunksOfEmptyLayer = heldChunks();
        put(0, 50, "old");
        KeyBatch keys = new KeyBatch(1 << 16);
        for (long i = 0; i < 60; i++) {
            keys.add(key(i));
        }
        try (ReadView view = dataset.openView();
                RecordStream records = view.fetch(0, keys)) {
            assertThat(records.next()).isTrue();
            dataset.flush();
            assertThat(heldChunks()).isEqualTo(chunksOfEmptyLayer);
            for (long i = 1; i < 50; i++) {
                assertThat(records.next()).isTrue();
            }
            assertThat(records.next()).isFalse();
        }
    }

    @Test
    void a_batch_of_keys_is_answered_in_its_own_order_at_one_moment() {
        Dataset parts = sim.store.createDataset(Row.spec("P").partitions(3));
        for (long id = 0; id < 200; id++) {
            parts.upsert(row(id, "old").toMap());
        }
        parts.flush();
        RecordBatch records = new RecordBatch(1 << 20);
        try (Snapshot snapshot = sim.store.openSnapshot();
                ReadView view = snapshot.view(parts)) {
            for (long id = 0; id < 200; id += 3) {
                parts.delete(id);
            }
            parts.flush();
            parts.upsert(row(7, "new").toMap());
            BatchCheck.run(parts, view, SimStore.rows(parts, view));
            try (ReadView now = parts.openView()) {
                BatchCheck.run(parts, now, SimStore.rows(parts, now));
            }
        }
        KeyBatch keys = new KeyBatch(1 << 10);
        for (long id : new long[] {7, 6, 500, 7, 8}) {
            keys.add(key(id));
        }
        parts.getRecords(keys, records);
        List<Boolean> present = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            present.add(records.isPresent(i));
        }
        assertThat(present).containsExactly(true, false, false, true, true);
        assertThatThrownBy(() -> records.record(1, new Slice()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> parts.getRecords(keys, new RecordBatch(100)))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
    }

    @Test
    void whatever_is_closed_first_the_others_say_so() {
        put(0, 20, "ann");
        dataset.flush();
        put(20, 40, "ann");
        KeyBatch keys = new KeyBatch(1 << 16);
        keys.add(key(3));
        for (int first = 0; first < 4; first++) {
            Snapshot snapshot = sim.store.openSnapshot();
            ReadView view = snapshot.view(dataset);
            RecordCursor records = view.scan(0, KeyRange.all(), FilterPredicate.none());
            IndexCursor entries = view.search(0, "by_user", KeyRange.all(), FilterPredicate.none());
            RecordStream fetched = view.fetch(0, keys);
            assertThat(records.next()).isTrue();
            assertThat(entries.next()).isTrue();
            assertThat(fetched.next()).isTrue();
            switch (first) {
                case 0 -> snapshot.close();
                case 1 -> view.close();
                case 2 -> {
                    records.close();
                    entries.close();
                    fetched.close();
                    assertClosed(records::key, entries::primaryKey, fetched::record);
                    assertThat(view.scan(0, KeyRange.all(), FilterPredicate.none())
                                    .next())
                            .isTrue();
                }
                default -> sim.store.close();
            }
            assertClosed(records::next, entries::previous, fetched::next);
            assertClosed(records::previous, () -> records.seek(key(1)), entries::seekEnd);
            if (first != 2) {
                assertClosed(
                        () -> view.scan(0, KeyRange.all(), FilterPredicate.none()),
                        () -> view.fetch(0, keys),
                        () -> view.estimateScan(KeyRange.all(), FilterPredicate.none()));
            }
            records.close();
            records.close();
            fetched.close();
            view.close();
            snapshot.close();
            entries.close();
            snapshot.close();
        }
        assertClosed(() -> sim.store.openSnapshot(), () -> dataset.openView());
        assertThat(disk.openHandles()).isEmpty();
    }

    private static void assertClosed(
            org.assertj.core.api.ThrowableAssert.ThrowingCallable... calls) {
        for (var call : calls) {
            assertThatThrownBy(call).isInstanceOf(ClosedException.class);
        }
    }
}
