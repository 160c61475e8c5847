package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;

/** Arrays that are used again. */
class SpareBytesTest {
    @Test
    void oneThatIsGivenBackIsTakenAgainByWhoNeedsMoreThanHalfOfIt() {
        SpareBytes spare = new SpareBytes();
        byte[] first = spare.take(70_000);
        assertThat(first).hasSize(128 << 10);
        spare.give(first);
        assertThat(spare.take(64 << 10)).isNotSameAs(first);
        assertThat(spare.take(1)).isNotSameAs(first).hasSize(SpareBytes.LENGTH_MIN);
        assertThat(spare.take(128 << 10)).isSameAs(first);
        assertThat(spare.take(128 << 10)).isNotSameAs(first);
    }

    @Test
    void itKeepsNoMoreThanItMay() {
        SpareBytes spare = new SpareBytes();
        int length = SpareBytes.LENGTH_MAX;
        IdentityHashMap<byte[], Boolean> given = new IdentityHashMap<>();
        for (int i = 0; i < 2 * SpareBytes.BYTES_MAX / length; i++) {
            byte[] one = new byte[length];
            given.put(one, true);
            spare.give(one);
        }
        int kept = 0;
        while (given.containsKey(spare.take(length))) {
            kept++;
        }
        assertThat((long) kept * length).isEqualTo(SpareBytes.BYTES_MAX);
    }

    @Test
    void oneOfAnotherLengthIsNotKept() {
        SpareBytes spare = new SpareBytes();
        for (int length : List.of(0, 100, 5_000, 2 * SpareBytes.LENGTH_MAX)) {
            spare.give(new byte[length]);
        }
        byte[] odd = new byte[5_000];
        spare.give(odd);
        assertThat(spare.take(5_000)).hasSize(8 << 10).isNotSameAs(odd);
        assertThat(spare.take(SpareBytes.LENGTH_MAX + 1).length)
                .isBetween(SpareBytes.LENGTH_MAX + 1, 2 * SpareBytes.LENGTH_MAX);
    }

    @Test
    void nobodyGetsWhatAnotherHas() {
        Random random = new Random(7);
        SpareBytes spare = new SpareBytes();
        List<byte[]> held = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(3) == 0 && !held.isEmpty()) {
                spare.give(held.remove(random.nextInt(held.size())));
                continue;
            }
            int length = 1 + random.nextInt(40_000);
            byte[] taken = spare.take(length);
            assertThat(taken.length)
                    .isBetween(length, Math.max(SpareBytes.LENGTH_MIN, 2 * length - 1));
            for (byte[] other : held) {
                assertThat(taken).isNotSameAs(other);
            }
            held.add(taken);
            if (held.size() > 40) {
                spare.give(held.removeFirst());
            }
        }
    }

    @Test
    void long_arrays_that_nobody_wants_make_room_for_others() {
        SpareBytes spare = new SpareBytes();
        for (int i = 0; i < SpareBytes.BYTES_MAX / SpareBytes.LENGTH_MAX; i++) {
            spare.give(new byte[SpareBytes.LENGTH_MAX]);
        }
        byte[] wanted = new byte[SpareBytes.LENGTH_MIN];
        spare.give(wanted);
        assertThat(spare.take(SpareBytes.LENGTH_MIN)).isSameAs(wanted);
        byte[] kept = spare.take(SpareBytes.LENGTH_MAX);
        assertThat(kept).hasSize(SpareBytes.LENGTH_MAX);
    }
}
