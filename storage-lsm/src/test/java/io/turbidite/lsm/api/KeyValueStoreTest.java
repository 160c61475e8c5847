package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.KeyValueStore;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** Bytes to bytes. */
class KeyValueStoreTest {
    @TempDir
    private Path directory;

    private static List<byte[]> keys(
            KeyValueStore map, byte @Nullable [] from, byte @Nullable [] to) {
        List<byte[]> keys = new ArrayList<>();
        map.forEach(from, to, (key, value) -> keys.add(key));
        return keys;
    }

    @Test
    void it_is_a_sorted_map_of_bytes() {
        Random random = new Random(19);
        TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        try (KeyValueStore map = KeyValueStore.open(directory)) {
            for (int i = 0; i < 3_000; i++) {
                byte[] key = new byte[random.nextInt(4)];
                random.nextBytes(key);
                if (random.nextInt(4) == 0) {
                    model.remove(key);
                    map.delete(key);
                } else {
                    byte[] value = new byte[random.nextInt(20)];
                    random.nextBytes(value);
                    model.put(key, value);
                    map.put(key, value);
                }
                if (i % 1_000 == 500) {
                    map.dataset().flush();
                }
            }
        }
        try (KeyValueStore map = KeyValueStore.open(directory)) {
            assertThat(keys(map, null, null)).containsExactlyElementsOf(model.keySet());
            model.forEach((key, value) -> assertThat(map.get(key)).isEqualTo(value));
            byte[] low = {(byte) 0x7F};
            byte[] high = {(byte) 0x80, 0};
            assertThat(keys(map, low, high))
                    .containsExactlyElementsOf(model.subMap(low, high).keySet());
            assertThat(map.deleteRange(low, high))
                    .isEqualTo(model.subMap(low, high).size());
            assertThat(keys(map, low, high)).isEmpty();
            assertThat(keys(map, high, null))
                    .containsExactlyElementsOf(model.tailMap(high).keySet());
        }
    }

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void changes_are_made_together_or_not_at_all() {
        byte[] a = {1};
        byte[] b = {2};
        try (Store store = Store.open(directory);
                KeyValueStore map = KeyValueStore.in(store, "Map")) {
            map.put(a, a);
            KeyValueStore.Batch batch = map.newBatch();
            assertThatThrownBy(() -> batch.put(b, b).delete(a).put(new byte[2_000], b))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(map.get(a)).isEqualTo(a);
            batch.write();
            assertThat(map.get(a)).isNull();
            assertThat(map.get(b)).isEqualTo(b);
            assertThat(map.putIfAbsent(b, a)).isFalse();
            assertThat(map.putIfAbsent(a, b)).isTrue();
            map.close();
            try (KeyValueStore again = KeyValueStore.in(store, "Map")) {
                assertThat(again.get(a)).isEqualTo(b);
            }
            List<byte[]> first = new ArrayList<>();
            map.forEach(null, null, (key, value) -> {
                first.add(key);
                return false;
            });
            assertThat(first).containsExactly(a);
        }
    }

    @Test
    void another_dataset_of_the_name_is_none() {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("Map").field("key", "int64").primaryKey("key"));
            assertThatThrownBy(() -> KeyValueStore.in(store, "Map"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("value");
        }
    }

    @Test
    void bytes_below_three_count_twice_in_the_length_of_a_key() {
        try (KeyValueStore map = KeyValueStore.open(directory)) {
            for (int value = 0; value < 256; value++) {
                int longest = value < 3 ? 511 : 1_022;
                byte[] key = new byte[longest];
                Arrays.fill(key, (byte) value);
                map.put(key, key);
                assertThat(map.get(key)).isEqualTo(key);
                byte[] longer = new byte[longest + 2];
                Arrays.fill(longer, (byte) value);
                assertThatThrownBy(() -> map.put(longer, key))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("the limit is 1024");
            }
        }
    }
}
