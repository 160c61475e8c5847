package io.turbidite.core.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

class EntryKeyListTest {
    private static final Slice PRIMARY = Slice.of(new byte[] {7, 7, 7});

    private final EntryKeyList keys = new EntryKeyList();

    private boolean add(String secondary) {
        int start = keys.sink().length();
        keys.sink().putUtf8(secondary).putByte(1);
        return keys.addIfNew(start, PRIMARY, "test");
    }

    private static List<String> shown(EntryKeyList keys) {
        List<String> shown = new ArrayList<>();
        Slice key = new Slice();
        for (int i = 0; i < keys.count(); i++) {
            keys.key(i, key);
            assertThat(new Slice()
                            .set(key.segment(), key.offset() + key.length() - 3, 3)
                            .contentEquals(PRIMARY))
                    .isTrue();
            shown.add(new Slice()
                    .set(key.segment(), key.offset(), key.length() - 4)
                    .toUtf8());
        }
        return shown;
    }

    /** A set of strings as oracle; the list is reused, small and large by turns. */
    @Test
    void keys_are_distinct_and_in_order() {
        SplittableRandom random = new SplittableRandom(Seeds.of("EntryKeyListTest"));
        EntryKeyList loaded = new EntryKeyList();
        for (int round = 0; round < 60; round++) {
            TreeSet<String> expected = new TreeSet<>();
            int count = 1 << random.nextInt(12);
            for (int i = 0; i < count; i++) {
                String word = Integer.toString(random.nextInt(1 + count), 3)
                        + "x".repeat(random.nextInt(12));
                assertThat(add(word)).isEqualTo(expected.add(word));
            }
            keys.sort();
            assertThat(shown(keys)).containsExactlyElementsOf(expected);
            for (String word : expected) {
                assertThat(keys.contains(whole(word))).isTrue();
                assertThat(keys.contains(whole(word + "!"))).isFalse();
            }
            ByteSink saved = new ByteSink(16, 1 << 24);
            keys.save(saved.putInt(0));
            assertThat(loaded.load(saved.segment(), 4)).isEqualTo(saved.length());
            assertThat(shown(loaded)).isEqualTo(shown(keys));
            keys.clear();
            assertThat(keys.count()).isZero();
            assertThat(keys.byteCount()).isZero();
        }
    }

    private static Slice whole(String secondary) {
        ByteSink sink = new ByteSink(16, 1 << 10);
        sink.putBytes(secondary.getBytes(StandardCharsets.UTF_8)).putByte(1).putBytes(PRIMARY);
        return sink.asSlice(new Slice());
    }

    @Test
    void a_key_that_is_too_long_with_its_primary_key_is_refused() {
        assertThat(add("x".repeat(Limits.KEY_BYTES_MAX - 4))).isTrue();
        assertThatThrownBy(() -> add("y".repeat(Limits.KEY_BYTES_MAX - 3)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("test: a key of 1025 bytes");
    }
}
