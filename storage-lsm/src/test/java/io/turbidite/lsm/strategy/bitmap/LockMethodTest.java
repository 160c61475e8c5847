package io.turbidite.lsm.strategy.bitmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Meeting;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A writer and a builder at the same entry at the same time, as often as
 * {@link LockMethodLincheckTest} can't have them.
 */
class LockMethodTest {
    private static final int ROUNDS = Tier.count(6, 50, 5_000);
    private static final int ENTRIES = 2_000;
    private static final Slice NO_KEY = Slice.of(new byte[0]);

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);
    private final MemoryBudget.Account account = budget.account("test");

    @Test
    void a_invalidation_is_in_the_copy_whether_it_came_before_or_after() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < ROUNDS; round++) {
                oneRound(pool);
            }
        }
        assertThat(budget.bytesUsed()).isZero();
    }

    private void oneRound(ExecutorService pool) throws Exception {
        try (MutableValidityBitmap source = MutableValidityBitmap.create(
                        new MutableValidityBitmap.Memory(account, account), ENTRIES);
                MutableValidityBitmap target = MutableValidityBitmap.create(
                        new MutableValidityBitmap.Memory(account, account), ENTRIES)) {
            ComponentEntryCopies copies = Objects.requireNonNull(
                    ComponentEntryCopies.create(source, account, () -> Long.MAX_VALUE));
            copies.begin(target);
            Meeting meeting = new Meeting();
            Callable<Integer> builder = () -> {
                for (int i = 0; i < ENTRIES; i++) {
                    meeting.come(i + 1);
                    copies.copied(i, i, MutableValidityBitmap.VALID);
                }
                return 0;
            };
            Callable<Integer> writer = () -> {
                for (int i = 0; i < ENTRIES; i++) {
                    meeting.come(i + 1);
                    source.invalidate(i, 1, () -> Long.MAX_VALUE);
                    copies.invalidated(i, NO_KEY, 1);
                }
                return 0;
            };
            for (Future<Integer> one : pool.invokeAll(List.of(builder, writer))) {
                one.get();
            }
            copies.end();
            copies.close();
            assertThat(source.invalidCount()).isEqualTo(ENTRIES);
            assertThat(target.invalidCount()).isEqualTo(ENTRIES);
        }
    }
}
