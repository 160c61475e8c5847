package io.turbidite.lsm.strategy.bitmap;

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
    void hands_out_each_invalidation_once_in_order() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<String> added = new ArrayList<>();
        List<String> drained = new ArrayList<>();
        try (SideFile file = new SideFile(account)) {
            SideFile.Reader reader = file.reader();
            for (int i = 0; i < 2_000; i++) {
                byte[] key = new byte[random.nextInt(Limits.KEY_BYTES_MAX + 1)];
                random.nextBytes(key);
                file.add(Slice.of(key), i);
                added.add(text(Slice.of(key), i));
                if (random.nextInt(300) == 0) {
                    assertThat(reader.leftCount()).isEqualTo(i + 1L - drained.size());
                    reader.read((k, timestamp) -> drained.add(text(k, timestamp)));
                    assertThat(reader.leftCount()).isZero();
                }
            }
            reader.read((k, timestamp) -> drained.add(text(k, timestamp)));
            assertThat(drained).as("seed %d", SEED).isEqualTo(added);
        }
        assertThat(budget.bytesUsed()).isZero();
    }

    @Test
    void can_be_read_again_from_the_start() {
        try (SideFile file = new SideFile(account)) {
            file.add(Slice.of(new byte[] {1}), 7);
            for (int round = 0; round < 2; round++) {
                List<String> seen = new ArrayList<>();
                file.reader().read((key, timestamp) -> seen.add(text(key, timestamp)));
                assertThat(seen).containsExactly("\u0001@7");
            }
        }
    }

    @Test
    void what_is_added_while_it_is_read_comes_with_the_next() {
        List<Long> drained = new ArrayList<>();
        try (SideFile file = new SideFile(account)) {
            file.add(Slice.of(new byte[] {1}), 1);
            SideFile.Reader reader = file.reader();
            SideFile.Visitor adding = (key, timestamp) -> {
                drained.add(timestamp);
                file.add(key, timestamp + 1);
            };
            reader.read(adding);
            assertThat(drained).containsExactly(1L);
            assertThat(reader.leftCount()).isEqualTo(1);
            reader.read(adding);
            assertThat(drained).containsExactly(1L, 2L);
        }
    }
}
