package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class KeysReadTest {
    private static final long SEED = Long.getLong("turbidite.seed", 4);

    private record Range(int min, int max) {
        boolean meets(Range other) {
            return min <= other.max && max >= other.min;
        }
    }

    private static Slice key(int key) {
        return Slice.of(new byte[] {(byte) key});
    }

    @Test
    void they_meet_what_one_of_them_meets() {
        SplittableRandom random = new SplittableRandom(SEED);
        int met = 0;
        for (int round = 0; round < 2_000; round++) {
            KeysRead read = new KeysRead();
            List<Range> ranges = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                int min = random.nextInt(250);
                Range range = new Range(min, min + random.nextInt(6));
                boolean meets = ranges.stream().anyMatch(range::meets);
                assertThat(read.meet(key(range.min), key(range.max))).isEqualTo(meets);
                met += meets ? 1 : 0;
                read.add(key(range.min), key(range.max));
                ranges.add(range);
            }
        }
        assertThat(met).isBetween(1_000, 20_000);
    }
}
