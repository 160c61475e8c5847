package io.turbidite.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

@LeaksOnPurpose("accounts without memory")
class MemoryBudgetTest {
    @Test
    void refuses_what_exceeds_the_budget_and_takes_nothing_then() {
        MemoryBudget budget = MemoryBudget.of(100);
        MemoryBudget.Account a = budget.account("a");
        MemoryBudget.Account b = budget.account("b");
        assertThat(a.reserve(60)).isTrue();
        assertThat(b.reserve(41)).isFalse();
        assertThat(b.bytesUsed()).isZero();
        assertThat(budget.bytesUsed()).isEqualTo(60);
        assertThat(b.bytesFree()).isEqualTo(40);
        assertThat(b.reserve(40)).isTrue();
        a.release(60);
        assertThat(b.reserve(60)).isTrue();
        assertThat(b.bytesPeak()).isEqualTo(100);
        assertThat(budget.accounts()).containsExactly(a, b);
    }

    @Test
    void an_account_has_its_own_limit() {
        MemoryBudget budget = MemoryBudget.of(100);
        MemoryBudget.Account a = budget.account("a", 30);
        assertThat(a.reserve(31)).isFalse();
        assertThat(budget.bytesUsed()).isZero();
        assertThat(a.reserve(30)).isTrue();
        assertThat(a.bytesFree()).isZero();
        assertThat(a.toString()).isEqualTo("a: 30 of 30 bytes");
    }

    @Test
    void huge_reservations_do_not_wrap_around() {
        MemoryBudget budget = MemoryBudget.of(Long.MAX_VALUE);
        MemoryBudget.Account a = budget.account("a");
        assertThat(a.reserve(10)).isTrue();
        assertThat(a.reserve(Long.MAX_VALUE)).isFalse();
        assertThat(a.reserve(Long.MAX_VALUE - 10)).isTrue();
    }

    @Test
    void a_budget_must_be_positive() {
        assertThatThrownBy(() -> MemoryBudget.of(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("positive number of bytes");
        assertThatThrownBy(() -> MemoryBudget.of(10).account("a", -1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("a must be");
    }

    @Test
    void racing_accounts_never_exceed_the_budget() {
        MemoryBudget budget = MemoryBudget.of(1_000);
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        AtomicInteger done = new AtomicInteger();
        try (ThreadTasks tasks = ThreadTasks.create("budget", (_, error) -> errors.add(error))) {
            for (int worker = 0; worker < 4; worker++) {
                MemoryBudget.Account account = budget.account("worker " + worker, 600);
                SplittableRandom random = new SplittableRandom(worker);
                long[] held = {0};
                int[] rounds = {20};
                Tasks.Step step = () -> {
                    if (rounds[0] == 0) {
                        return false;
                    }
                    for (int i = 0; i < 10_000; i++) {
                        long bytes = random.nextLong(400);
                        if (held[0] > 0) {
                            account.release(held[0]);
                            held[0] = 0;
                        } else if (account.reserve(bytes)) {
                            held[0] = bytes;
                        }
                        assertThat(budget.bytesUsed()).isBetween(0L, 1_000L);
                    }
                    if (--rounds[0] == 0) {
                        account.release(held[0]);
                        done.incrementAndGet();
                    }
                    return rounds[0] > 0;
                };
                tasks.start("worker" + worker, 1_000_000_000, step);
            }
            tasks.await(() -> done.get() == 4 || !errors.isEmpty());
        }
        assertThat(List.copyOf(errors)).isEmpty();
        assertThat(budget.bytesUsed()).isZero();
    }

    @Test
    void byte_sizes_read_back_what_they_print() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 1_000; i++) {
            long bytes = (random.nextLong() >>> random.nextInt(1, 64)) << (random.nextInt(3) * 10);
            long positive = bytes & Long.MAX_VALUE;
            assertThat(ByteSize.parse("x", ByteSize.format(positive))).isEqualTo(positive);
        }
        assertThat(ByteSize.parse("x", "1GiB")).isEqualTo(1L << 30);
        assertThat(ByteSize.parse("x", " 64 KiB ")).isEqualTo(65_536);
        assertThat(ByteSize.parse("x", "12")).isEqualTo(12);
        assertThat(ByteSize.format(3L << 20)).isEqualTo("3MiB");
        assertThat(ByteSize.format(0)).isEqualTo("0");
        for (String bad : List.of("", "1GB", "-1", "1.5MiB", "MiB", "9999999999999TiB")) {
            assertThatThrownBy(() -> ByteSize.parse("cacheBytes", bad))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("cacheBytes: '" + bad + "'");
        }
    }
}
