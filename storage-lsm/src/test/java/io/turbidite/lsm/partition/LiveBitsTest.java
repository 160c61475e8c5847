package io.turbidite.lsm.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

class LiveBitsTest {
    private static final long FROM = 3L * LiveBits.CHUNK_TIMESTAMPS + 100;
    private static final int RANGE = 4 * LiveBits.CHUNK_TIMESTAMPS;

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);
    private final MemoryBudget.Account account = budget.account("test");

    private static LiveBits some(MemoryBudget.Account account, long last, Set<Long> live) {
        LiveBits bits = new LiveBits(account, FROM);
        assertThat(bits.begin(last)).isTrue();
        live.forEach(timestamp -> assertThat(bits.set(timestamp)).isTrue());
        bits.complete();
        return bits;
    }

    @Test
    void are_those_of_a_set() {
        long seed = Seeds.of("LiveBitsTest");
        SplittableRandom random = new SplittableRandom(seed);
        LiveBits bits = new LiveBits(account, FROM);
        Set<Long> live = new HashSet<>();
        long known = FROM;
        for (int pass = 0; pass < 40; pass++) {
            long target = known + 1 + random.nextInt(random.nextBoolean() ? 200 : RANGE / 16);
            assertThat(bits.begin(target)).isTrue();
            assertThat(bits.target()).isEqualTo(target);
            for (int i = 0; i < 60; i++) {
                long timestamp = known + 1 + random.nextLong(target - known);
                assertThat(bits.set(timestamp)).isTrue();
                live.add(timestamp);
                long other = FROM + random.nextLong(target - FROM + 1);
                bits.clear(other);
                live.remove(other);
            }
            // ranges that begin and end anywhere, and below what is asked for
            long first = FROM - 50 + random.nextLong(target - FROM);
            long last = first + random.nextLong(target - first + 1);
            Set<Long> kept = new HashSet<>(live);
            kept.removeIf(timestamp -> timestamp < first || random.nextInt(3) > 0);
            try (Scratch scratch = new Scratch(account, Math.max(0, first), last, kept)) {
                bits.retain(first, last, scratch.bits);
            }
            live.removeIf(timestamp ->
                    timestamp >= first && timestamp <= last && !kept.contains(timestamp));
            bits.complete();
            assertThat(bits.known()).isEqualTo(target);
            known = target;
            long seen = known;
            for (long timestamp = FROM - 2; timestamp <= seen; timestamp++) {
                assertThat(bits.isLive(timestamp))
                        .as("%d, seed %d", timestamp, seed)
                        .isEqualTo(live.contains(timestamp));
            }
        }
        bits.close();
        assertThat(account.bytesUsed()).isZero();
    }

    private record Scratch(LiveBits bits) implements AutoCloseable {
        Scratch(MemoryBudget.Account account, long first, long last, Set<Long> kept) {
            this(new LiveBits(account, first));
            assertThat(bits.begin(last)).isTrue();
            kept.stream()
                    .filter(timestamp -> timestamp <= last)
                    .forEach(timestamp -> assertThat(bits.set(timestamp)).isTrue());
        }

        @Override
        public void close() {
            bits.close();
        }
    }

    @Test
    void nothing_beyond_their_ends_is_live() {
        LiveBits bits = some(account, FROM + 10, Set.of(FROM, FROM + 10));
        assertThat(bits.isLive(FROM + 10)).isTrue();
        assertThat(bits.isLive(0)).isFalse();
        assertThat(bits.isLive(FROM - 1)).isFalse();
        assertThat(bits.isLive(FROM + 11)).isFalse();
        assertThat(bits.isLive(FROM + (1L << 46))).isFalse();
        bits.clear(1);
        bits.clear(1L << 46);
        bits.close();
    }

    @Test
    void memory_is_taken_for_what_is_live_and_given_back() {
        LiveBits bits = new LiveBits(account, FROM);
        assertThat(bits.begin(FROM + 1_000L * LiveBits.CHUNK_TIMESTAMPS)).isTrue();
        long empty = account.bytesUsed();
        assertThat(empty).isBetween(1_000L, 20_000L);
        assertThat(bits.set(FROM + 5)).isTrue();
        assertThat(bits.set(FROM + 6)).isTrue();
        assertThat(account.bytesUsed() - empty).isEqualTo(LiveBits.CHUNK_TIMESTAMPS / 8);
        assertThat(account.reserve(account.bytesFree())).isTrue();
        assertThat(bits.set(FROM + 7)).as("of a chunk that is there").isTrue();
        assertThat(bits.set(FROM + LiveBits.CHUNK_TIMESTAMPS)).isFalse();
        assertThat(bits.begin(FROM + (1L << 46))).isFalse();
        assertThat(bits.isLive(FROM + 5)).isTrue();
        long others = account.bytesUsed() - empty - LiveBits.CHUNK_TIMESTAMPS / 8;
        bits.close();
        assertThat(account.bytesUsed()).isEqualTo(others);
        assertThat(bits.set(FROM + 2L * LiveBits.CHUNK_TIMESTAMPS)).as("closed").isFalse();
        account.release(others);
    }
}
