package io.turbidite.lsm.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class KeyFilterTest {
    private static final long SEED = Long.getLong("turbidite.seed", 4_711);
    private static final int KEYS = 20_000;

    @Test
    void lets_every_added_key_through_whoever_added_it() throws Exception {
        try (TestChunks chunks = new TestChunks(64 << 10);
                KeyFilter filter = KeyFilter.create(chunks);
                ExecutorService pool = Executors.newCachedThreadPool()) {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                long seed = SEED + i;
                writers.add(pool.submit(() -> {
                    SplittableRandom hashes = new SplittableRandom(seed);
                    for (int k = 0; k < KEYS; k++) {
                        long hash = hashes.nextLong();
                        filter.add(hash);
                        assertThat(filter.mayContain(hash)).isTrue();
                    }
                }));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            for (int i = 0; i < 3; i++) {
                SplittableRandom hashes = new SplittableRandom(SEED + i);
                for (int k = 0; k < KEYS; k++) {
                    assertThat(filter.mayContain(hashes.nextLong()))
                            .as("seed %d", SEED)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void keeps_most_absent_keys_back_at_26_bits_a_key() {
        try (TestChunks chunks = new TestChunks(64 << 10);
                KeyFilter filter = KeyFilter.create(chunks)) {
            SplittableRandom hashes = new SplittableRandom(SEED);
            for (int k = 0; k < KEYS; k++) {
                filter.add(hashes.nextLong());
            }
            int passed = 0;
            for (int k = 0; k < KEYS; k++) {
                passed += filter.mayContain(hashes.nextLong()) ? 1 : 0;
            }
            // 2.4 keys a word on average: about 0.7 % by simulation
            assertThat(passed / (double) KEYS).as("seed %d", SEED).isLessThan(0.015);
        }
    }

    @Test
    void gives_its_chunk_back() {
        TestChunks chunks = new TestChunks(64 << 10);
        KeyFilter.create(chunks).close();
        assertThat(chunks.taken()).isZero();
    }
}
