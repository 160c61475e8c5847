package io.turbidite.lsm.bitmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class SideFileTest {
    private static final long SEED = Long.getLong("turbidite.seed", 12);

    private final MemoryBudget budget = MemoryBudget.of(1 << 24);
    private final MemoryBudget.Account account = budget.account("side-files");

    private static String text(Slice key, long timestamp) {
        return new String(key.toByteArray(), StandardCharsets.ISO_8859_1) + "@" + timestamp;
    }

    @Test
    void hands_out_each_kill_once_in_order() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<String> added = new ArrayList<>();
        List<String> drained = new ArrayList<>();
        try (SideFile file = new SideFile(account)) {
            for (int i = 0; i < 2_000; i++) {
                byte[] key = new byte[random.nextInt(Limits.KEY_BYTES_MAX + 1)];
                random.nextBytes(key);
                file.add(Slice.of(key), i);
                added.add(text(Slice.of(key), i));
                if (random.nextInt(300) == 0) {
                    file.drain((k, timestamp) -> drained.add(text(k, timestamp)));
                    assertThat(file.count()).isZero();
                }
            }
            file.drain((k, timestamp) -> drained.add(text(k, timestamp)));
            assertThat(drained).as("seed %d", SEED).isEqualTo(added);
        }
        assertThat(budget.bytesUsed()).isZero();
    }

    @Test
    void uses_its_memory_again() {
        try (SideFile file = new SideFile(account)) {
            for (int round = 0; round < 1_000; round++) {
                file.add(Slice.of(new byte[100]), round);
                file.drain((key, timestamp) -> {});
            }
            assertThat(budget.bytesUsed()).isLessThanOrEqualTo(128 << 10);
        }
    }

    @Test
    void what_is_added_while_it_is_drained_comes_with_the_next() {
        List<Long> drained = new ArrayList<>();
        try (SideFile file = new SideFile(account)) {
            file.add(Slice.of(new byte[] {1}), 1);
            file.drain((key, timestamp) -> {
                drained.add(timestamp);
                file.add(key, timestamp + 1);
            });
            assertThat(drained).containsExactly(1L);
            assertThat(file.count()).isEqualTo(1);
        }
    }
}
