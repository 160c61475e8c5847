package io.turbidite.lsm.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

class MemoryComponentTest {
    private final TestChunks chunks = new TestChunks(64 << 10);
    private final MemoryComponent component = MemoryComponent.create(chunks);
    private final Found found = new Found(32 << 20);

    @AfterEach
    void allMemoryComesBack() {
        component.close();
        assertThat(chunks.taken()).isZero();
        chunks.close();
    }

    private static Slice utf8(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private void put(String key, long timestamp, String value) {
        component.put(utf8(key), timestamp, false, utf8(value));
    }

    private void delete(String key, long timestamp) {
        component.put(utf8(key), timestamp, true, new Slice());
    }

    private String find(String key, long snapshot) {
        return switch (component.find(utf8(key), snapshot, found, true)) {
            case Found.ABSENT -> "absent";
            case Found.ANTIMATTER -> "deleted@" + found.timestamp;
            default -> found.value.asSlice(new Slice()).toUtf8() + "@" + found.timestamp;
        };
    }

    private List<String> rest(EntryCursor cursor) {
        List<String> entries = new ArrayList<>();
        while (cursor.next()) {
            entries.add(cursor.key().toUtf8()
                    + (cursor.isAntimatter() ? "-" : "+")
                    + cursor.timestamp()
                    + cursor.value().toUtf8());
        }
        return entries;
    }

    @Test
    void an_empty_component_has_nothing() {
        assertThat(find("a", Long.MAX_VALUE)).isEqualTo("absent");
        assertThat(rest(component.cursor())).isEmpty();
        assertThat(component.entryCount()).isZero();
    }

    @Test
    void a_reader_sees_the_newest_version_at_or_below_its_snapshot() {
        put("k", 5, "five");
        delete("k", 7);
        put("k", 9, "nine");
        assertThat(find("k", 4)).isEqualTo("absent");
        assertThat(find("k", 5)).isEqualTo("five@5");
        assertThat(find("k", 6)).isEqualTo("five@5");
        assertThat(find("k", 8)).isEqualTo("deleted@7");
        assertThat(find("k", Long.MAX_VALUE)).isEqualTo("nine@9");
        assertThat(found.position).isPositive();
    }

    @Test
    void versions_may_arrive_in_any_order() {
        for (long timestamp : new long[] {5, 1, 3, 9, 2, 8, 4, 7, 6}) {
            put("k", timestamp, "");
        }
        assertThat(rest(component.cursor()))
                .containsExactly("k+9", "k+8", "k+7", "k+6", "k+5", "k+4", "k+3", "k+2", "k+1");
        assertThat(find("k", 6)).isEqualTo("@6");
    }

    @Test
    void of_two_puts_with_one_timestamp_the_last_counts() {
        put("k", 3, "old");
        delete("k", 5);
        put("k", 5, "again");
        put("k", 5, "and again");
        put("k", 8, "new");
        put("k", 8, "newest");
        put("k", 3, "older");
        assertThat(find("k", 5)).isEqualTo("and again@5");
        assertThat(find("k", 4)).isEqualTo("older@3");
        assertThat(rest(component.cursor()))
                .containsExactly("k+8newest", "k+5and again", "k+3older");
        assertThat(component.entryCount()).isEqualTo(3);
    }

    @Test
    void a_put_finds_its_place_although_it_has_changed_since_it_was_sought() {
        Place behind = new Place();
        Place known = new Place();
        component.seek(utf8("k500x"), behind);
        component.seek(utf8("k700"), known);
        for (int i = 0; i < 1_000; i++) {
            put("k%03d".formatted(i), 1, "one");
        }
        component.put(utf8("k500x"), 2, false, utf8("two"), behind);
        component.put(utf8("k700"), 3, false, utf8("three"), known);
        assertThat(find("k500x", Long.MAX_VALUE)).isEqualTo("two@2");
        assertThat(find("k700", Long.MAX_VALUE)).isEqualTo("three@3");
        assertThat(find("k700", 2)).isEqualTo("one@1");
        assertThat(rest(component.cursor())).hasSize(1_002).contains("k500x+2two");
        assertThat(component.entryCount()).isEqualTo(1_002);
    }

    @Test
    void a_place_is_good_while_its_leaf_stays_as_it_is() {
        put("a", 1, "one");
        Place place = new Place();
        component.seek(utf8("a"), place);
        component.put(utf8("a"), 2, false, utf8("two"), place);
        component.put(utf8("b"), 3, false, utf8("three"), place);
        assertThat(rest(component.cursor())).containsExactly("a+2two", "a+1one", "b+3three");
    }

    @Test
    void any_bytes_are_keys() {
        List<byte[]> keys = List.of(
                new byte[0],
                new byte[] {0},
                new byte[] {0, 0},
                new byte[] {0, 0, 0, 0, 0, 0, 0, 0},
                new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0},
                new byte[] {0, 1},
                new byte[] {127},
                new byte[] {(byte) 128},
                new byte[] {-1, -1, -1, -1, -1, -1, -1, -1},
                new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, 0},
                new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1});
        for (int i = keys.size() - 1; i >= 0; i--) {
            component.put(Slice.of(keys.get(i)), i, false, new Slice());
        }
        for (int i = 0; i < keys.size(); i++) {
            assertThat(component.find(Slice.of(keys.get(i)), 100, found, true))
                    .isEqualTo(Found.MATTER);
            assertThat(found.timestamp).isEqualTo(i);
        }
        List<byte[]> seen = new ArrayList<>();
        EntryCursor cursor = component.cursor();
        while (cursor.next()) {
            seen.add(cursor.key().toByteArray());
        }
        assertThat(seen).usingRecursiveComparison().isEqualTo(keys);
    }

    @Test
    void a_cursor_stands_before_the_first_entry_at_or_above_what_it_sought() {
        put("b", 1, "");
        put("d", 1, "");
        put("d", 2, "");
        EntryCursor cursor = component.cursor();
        cursor.seek(utf8("c"));
        assertThat(rest(cursor)).containsExactly("d+2", "d+1");
        cursor.seek(utf8("b"));
        assertThat(rest(cursor)).containsExactly("b+1", "d+2", "d+1");
        cursor.seek(utf8("e"));
        assertThat(rest(cursor)).isEmpty();
        assertThat(cursor.next()).isFalse();
        cursor.seek(utf8(""));
        assertThat(rest(cursor)).hasSize(3);
    }

    @Test
    void values_may_be_larger_than_a_chunk() {
        for (int bytes :
                new int[] {0, 1, 4_000, 16_000, 65_000, 65_450, 65_536, Limits.RECORD_BYTES_MAX}) {
            byte[] value = new byte[bytes];
            for (int i = 0; i < bytes; i++) {
                value[i] = (byte) (i * 31 + bytes);
            }
            Slice key = utf8("value of " + bytes);
            component.put(key, 1, false, Slice.of(value));
            assertThat(component.find(key, 1, found, true)).isEqualTo(Found.MATTER);
            assertThat(found.value.asSlice(new Slice()).toByteArray()).isEqualTo(value);
            EntryCursor cursor = component.cursor();
            cursor.seek(key);
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.value().toByteArray()).isEqualTo(value);
        }
        assertThat(component.bytesUsed()).isGreaterThan(Limits.RECORD_BYTES_MAX);
    }

    @Test
    void what_is_too_large_or_out_of_range_is_refused() {
        Slice longKey = Slice.of(new byte[Entry.KEY_LENGTH_MAX + 1]);
        assertThatThrownBy(() -> component.put(longKey, 1, false, new Slice()))
                .isInstanceOf(InvalidRequestException.class);
        Slice longValue = Slice.of(new byte[Limits.RECORD_BYTES_MAX + 1]);
        assertThatThrownBy(() -> component.put(utf8("k"), 1, false, longValue))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> put("k", Limits.TIMESTAMP_MAX + 1, ""))
                .isInstanceOf(IllegalArgumentException.class);
        put("k", Limits.TIMESTAMP_MAX, "last");
        assertThat(find("k", Long.MAX_VALUE)).isEqualTo("last@" + Limits.TIMESTAMP_MAX);
    }

    @Test
    void a_small_component_takes_little() {
        put("k", 1, "v");
        assertThat(component.bytesUsed()).isLessThan(16 << 10);
        assertThat(component.entryCount()).isEqualTo(1);
    }

    @Test
    void an_old_snapshot_finds_its_version_among_many() {
        for (int i = 1; i <= 100_000; i++) {
            put("hot", i, "");
        }
        for (int snapshot = 1; snapshot <= 100_000; snapshot += 997) {
            assertThat(find("hot", snapshot)).isEqualTo("@" + snapshot);
        }
        assertThat(rest(component.cursor())).hasSize(100_000);
    }

    @Test
    void use_after_close_throws() {
        put("k", 1, "v");
        EntryCursor cursor = component.cursor();
        component.close();
        component.close();
        assertThatThrownBy(() -> put("k", 2, "v")).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> find("k", 2)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(component::cursor).isInstanceOf(ClosedException.class);
        assertThatThrownBy(cursor::next).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> cursor.seek(utf8("k"))).isInstanceOf(ClosedException.class);
    }

    @Test
    void when_memory_runs_out_the_put_fails_and_the_rest_stays() {
        TestChunks few = new TestChunks(64 << 10, true, 3);
        try (MemoryComponent small = MemoryComponent.create(few)) {
            int[] put = {0};
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100_000; i++) {
                            small.put(utf8("key" + i), i, false, utf8("value"));
                            put[0]++;
                        }
                    })
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("no chunk left");
            assertThat(put[0]).isGreaterThan(1_000);
            for (int i = 0; i < put[0]; i++) {
                assertThat(small.find(utf8("key" + i), i, found, true)).isEqualTo(Found.MATTER);
            }
        }
        assertThat(few.taken()).isZero();
        few.close();
    }
}
