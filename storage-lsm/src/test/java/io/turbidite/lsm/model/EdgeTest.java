package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The ends of what is allowed: keys of no byte and of the most, nothing but 0xFF, nothing at all.
 */
class EdgeTest {
    private final SimDisk disk = new SimDisk(7, Profile.STRICT);
    private SimStore sim = SimStore.open(disk, 7, SimStore.options(Durability.SYNC));

    @AfterEach
    void close() {
        sim.close();
    }

    private void reopen() {
        sim.close();
        sim = SimStore.open(disk, 8, SimStore.options(Durability.SYNC));
    }

    /** What the index puts before the primary key of a record without a value. */
    private static final int NOTHING_BYTES = 1;

    /** Keys of bytes, which an index holds too. */
    private Dataset byteKeys(int pageBytes) {
        return sim.store.createDataset(DatasetSpec.named("Bytes")
                .field("k", "bytes")
                .field("v", "bytes?")
                .primaryKey("k")
                .partitions(1)
                .index(IndexSpec.btree("by_v", "v"))
                .components(ComponentOptions.primary().withPageBytes(pageBytes))
                .mergePolicy(MergePolicySpec.parse("no-merge")));
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    /** In their order. */
    private static final List<String> KEYS = List.of(
            "",
            "00",
            "0000",
            "00ff",
            "01",
            "7f",
            "80",
            "fe",
            "fe00",
            "ff",
            "ff00",
            "fffe",
            "ffff",
            "ffff00",
            "ffffff",
            "ffffffffffffffffff");

    private List<String> keys(Dataset dataset, KeyRange range, boolean backwards) {
        List<String> found = new ArrayList<>();
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, range, FilterPredicate.none())) {
            if (backwards) {
                cursor.seekEnd();
            }
            while (backwards ? cursor.previous() : cursor.next()) {
                found.add(HexFormat.of().formatHex((byte[])
                        dataset.primaryKeySpec().decode(cursor.key(), 0).getFirst()));
            }
        }
        return backwards ? found.reversed() : found;
    }

    @Test
    void keys_of_no_byte_and_of_all_ones_are_keys_like_others() {
        Dataset dataset = byteKeys(4096);
        for (String key : KEYS.reversed()) {
            dataset.upsert(Map.of("k", bytes(key), "v", bytes(key)));
        }
        for (int round = 0; round < 4; round++) {
            KeySpec spec = dataset.primaryKeySpec();
            assertThat(keys(dataset, KeyRange.all(), false)).isEqualTo(KEYS);
            assertThat(keys(dataset, KeyRange.all(), true)).isEqualTo(KEYS);
            for (String low : KEYS) {
                byte[] encoded = spec.encode((Object) bytes(low));
                int at = KEYS.indexOf(low);
                KeyRange above = KeyRange.between(encoded, false, null, false);
                KeyRange below = KeyRange.between(null, false, encoded, false);
                for (boolean backwards : new boolean[] {false, true}) {
                    assertThat(keys(dataset, above, backwards))
                            .isEqualTo(KEYS.subList(at + 1, KEYS.size()));
                    assertThat(keys(dataset, below, backwards)).isEqualTo(KEYS.subList(0, at));
                    assertThat(keys(dataset, KeyRange.startingWith(encoded), backwards))
                            .containsExactly(low);
                }
                assertThat(dataset.get((Object) bytes(low))).isNotNull();
                assertThat(bySecondary(dataset, low)).isEqualTo(1);
            }
            assertThat(sim.store.verify().errors()).isEmpty();
            switch (round) {
                case 0 -> dataset.flush();
                case 1 -> dataset.mergeAll();
                default -> {
                    reopen();
                    dataset = sim.store.dataset("Bytes");
                }
            }
        }
        dataset.delete((Object) bytes(""));
        dataset.delete((Object) bytes("ffffffffffffffffff"));
        dataset.flush();
        dataset.mergeAll();
        assertThat(keys(dataset, KeyRange.all(), true)).isEqualTo(KEYS.subList(1, KEYS.size() - 1));
    }

    private static int bySecondary(Dataset dataset, String value) {
        KeySpec spec = KeySpec.of(dataset.type(), List.of("v"), "test");
        int count = 0;
        try (ReadView view = dataset.openView();
                IndexCursor cursor = view.search(
                        0,
                        "by_v",
                        KeyRange.startingWith(spec.encode((Object) bytes(value))),
                        FilterPredicate.none())) {
            while (cursor.next()) {
                count++;
            }
        }
        return count;
    }

    @Test
    void a_prefix_of_all_ones_has_no_end_and_ranges_may_be_empty() {
        assertThat(KeyRange.startingWith(bytes("ffff")).high()).isNull();
        assertThat(KeyRange.startingWith(bytes("ffff")).contains(Slice.of(bytes("ffffff"))))
                .isTrue();
        assertThat(KeyRange.startingWith(bytes("fe")).contains(Slice.of(bytes("ff"))))
                .isFalse();
        Dataset dataset = byteKeys(4096);
        for (String key : KEYS) {
            dataset.upsert(Map.of("k", bytes(key)));
        }
        KeySpec spec = dataset.primaryKeySpec();
        byte[] low = spec.encode((Object) bytes("80"));
        byte[] high = spec.encode((Object) bytes("01"));
        for (boolean backwards : new boolean[] {false, true}) {
            assertThat(keys(dataset, KeyRange.of(low, high), backwards)).isEmpty();
            assertThat(keys(dataset, KeyRange.of(low, low), backwards)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4 << 10, 128 << 10})
    void keys_of_the_greatest_length_fill_pages_of_every_size(int pageBytes) {
        Dataset dataset = byteKeys(pageBytes);
        List<byte[]> keys = new ArrayList<>();
        int longest = longestKey(dataset) - NOTHING_BYTES;
        for (int i = 0; i < 300; i++) {
            byte[] key = new byte[longest];
            // the last bytes tell them apart, so that nothing can be cut from separators
            Arrays.fill(key, (byte) 0xFF);
            key[longest - 1] = (byte) (0x80 | (i & 0x3F));
            key[longest - 2] = (byte) (0x80 | i >> 6);
            keys.add(key);
            dataset.upsert(Map.of("k", key));
            if (i == 100) {
                dataset.flush();
            }
        }
        dataset.flush();
        dataset.mergeAll();
        reopen();
        Dataset again = sim.store.dataset("Bytes");
        for (byte[] key : keys) {
            assertThat(again.get((Object) key)).isNotNull();
        }
        assertThat(keys(again, KeyRange.all(), true)).hasSize(keys.size());
        assertThat(sim.store.verify().errors()).isEmpty();
        assertThatThrownBy(() -> again.upsert(Map.of("k", new byte[Limits.KEY_BYTES_MAX + 1])))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("limit");
    }

    /** All ones, which no encoding makes shorter; what fits into the limit when it is encoded. */
    private static int longestKey(Dataset dataset) {
        byte[] key = new byte[500];
        Arrays.fill(key, (byte) 0xFF);
        int some = dataset.primaryKeySpec().encode((Object) key).length;
        int less = dataset.primaryKeySpec().encode((Object) Arrays.copyOf(key, 499)).length;
        int each = some - less;
        return (Limits.KEY_BYTES_MAX - (some - key.length * each)) / each;
    }

    @Test
    void keys_that_are_none_are_refused_by_a_batch_too() {
        Dataset dataset = byteKeys(4096);
        WriteBatch batch = sim.store.newBatch();
        for (byte[] key : List.of(new byte[Limits.KEY_BYTES_MAX + 1], new byte[70_000])) {
            assertThatThrownBy(() -> batch.delete(dataset, Slice.of(key)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Bytes")
                    .hasMessageContaining("limit");
        }
        for (int bytes : new int[] {0, 3, 100}) {
            assertThatThrownBy(() -> batch.upsert(dataset, Slice.of(new byte[bytes])))
                    .isInstanceOf(StorageException.class);
        }
        assertThat(batch.size()).isZero();
        sim.store.write(batch);
        dataset.flush();
        assertThat(sim.store.verify().errors()).isEmpty();
    }

    @Test
    void a_record_larger_than_memory_is_written_or_refused_with_what_would_help() {
        Dataset dataset = sim.store.createDataset(Row.spec("T"));
        for (int bytes : new int[] {100_000, 300_000, 700_000, 1 << 20, 3 << 20, 15 << 20}) {
            Row row = new Row(bytes, "u", 1, null, "x".repeat(bytes));
            try {
                dataset.upsert(row.toMap());
                assertThat(Row.of(dataset.get((long) bytes)).body()).hasSize(bytes);
                dataset.flush();
                assertThat(Row.of(dataset.get((long) bytes)).body()).hasSize(bytes);
            } catch (InvalidRequestException refused) {
                assertThat(refused).hasMessageContaining("larger than the limit");
                assertThat(dataset.get((long) bytes)).isNull();
            }
        }
        assertThatThrownBy(() -> dataset.upsert(
                        new Row(1, "u", 1, null, "x".repeat(Limits.RECORD_BYTES_MAX)).toMap()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("limit");
        assertThat(sim.store.verify().errors()).isEmpty();
        // and it goes on
        dataset.upsert(new Row(2, "u", 1, null, "small").toMap());
        assertThat(dataset.get(2L)).isNotNull();
    }

    @Test
    void a_record_larger_than_the_cache_is_read_and_merged() {
        sim.close();
        StoreOptions options = SimStore.options(Durability.SYNC)
                .withWriteMemoryBytes(64L << 20)
                .withLog(64L << 20, LogOptions.defaults().withDurability(Durability.SYNC));
        sim = SimStore.open(disk, 8, options);
        Dataset dataset = sim.store.createDataset(Row.spec("T"));
        for (long id = 1; id <= 3; id++) {
            dataset.upsert(large(id).toMap());
            dataset.upsert(new Row(10 + id, "v", 1, null, "small").toMap());
            dataset.flush();
        }
        for (int round = 0; round < 2; round++) {
            for (long id = 1; id <= 3; id++) {
                assertThat(Row.of(dataset.get(id))).isEqualTo(large(id));
            }
            assertThat(SimStore.rows(dataset)).hasSize(6).containsEntry(2L, large(2));
            dataset.mergeAll();
        }
        assertThat(sim.store.verify().errors()).isEmpty();
        sim.close();
        sim = SimStore.open(disk, 9, options);
        assertThat(SimStore.rows(sim.store.dataset("T"))).hasSize(6).containsEntry(3L, large(3));
    }

    private static Row large(long id) {
        return new Row(id, "u", 1, null, ("" + id).repeat(3 << 20));
    }

    @Test
    void what_holds_nothing_can_be_asked_everything() {
        Dataset dataset = sim.store.createDataset(Row.spec("Nothing").partitions(2));
        for (int round = 0; round < 3; round++) {
            dataset.flush();
            dataset.mergeAll();
            assertThatThrownBy(dataset::repair)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Nothing");
            dataset.createIndex(IndexSpec.btree("once" + round, "body").asUnique());
            assertThat(SimStore.rows(dataset)).isEmpty();
            assertThat(dataset.get(1L)).isNull();
            dataset.delete(1L);
            try (ReadView view = dataset.openView();
                    RecordCursor cursor = view.scan(1, KeyRange.all(), FilterPredicate.none())) {
                cursor.seekEnd();
                assertThat(cursor.previous()).isFalse();
                assertThat(cursor.next()).isFalse();
                cursor.seek(Slice.of(new byte[0]));
                assertThat(cursor.previous()).isFalse();
                assertThat(cursor.next()).isFalse();
            }
            RecordBatch records = new RecordBatch(16);
            dataset.getRecords(new KeyBatch(16), records);
            assertThat(records.size()).isZero();
            assertThat(sim.store.verify().errors()).isEmpty();
            assertThat(sim.store.verifyQuickly().errors()).isEmpty();
            sim.store.write(sim.store.newBatch());
            var _ = dataset.advise();
            var _ = sim.store.describe();
            reopen();
            dataset = sim.store.dataset("Nothing");
        }
        SimDisk target = new SimDisk(9, Profile.STRICT);
        assertThat(sim.store.backup(target, CopyMode.COPY)).isNotNull();
        try (SimStore copy = SimStore.open(target, 9, SimStore.options(Durability.SYNC))) {
            assertThat(SimStore.rows(copy.store.dataset("Nothing"))).isEmpty();
            copy.verify();
        }
    }

    @Test
    void a_snapshot_knows_nothing_of_a_dataset_that_took_the_name_of_another() {
        Dataset old = sim.store.createDataset(Row.spec("T"));
        old.upsert(new Row(1, "u", 1, null, "old").toMap());
        try (Snapshot snapshot = sim.store.openSnapshot();
                ReadView view = snapshot.view(old)) {
            for (int i = 0; i < 20; i++) {
                old.upsert(new Row(1, "u", i, null, "newer").toMap());
                old.flush();
            }
            old.mergeAll();
            assertThat(Objects.requireNonNull(SimStore.rows(old, view).get(1L)).body())
                    .isEqualTo("old");
            sim.store.dropDataset("T");
            assertThatThrownBy(() -> SimStore.rows(old, view))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("dropped");
            Dataset fresh = sim.store.createDataset(Row.spec("T"));
            fresh.upsert(new Row(1, "u", 1, null, "fresh").toMap());
            fresh.flush();
            try (ReadView of = snapshot.view(fresh)) {
                assertThat(SimStore.rows(fresh, of)).isEmpty();
            }
            assertThatThrownBy(() -> {
                        try (ReadView late = snapshot.view(old)) {
                            SimStore.rows(old, late);
                        }
                    })
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("dropped");
        }
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
    }
}
