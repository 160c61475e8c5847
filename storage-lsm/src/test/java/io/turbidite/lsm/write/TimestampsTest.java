package io.turbidite.lsm.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

class TimestampsTest {
    private static final int ROUNDS = Boolean.getBoolean("long") ? 20_000_000 : 300_000;

    private final ThreadTasks tasks = ThreadTasks.create("timestamps");
    private final Timestamps timestamps = new Timestamps(0, tasks, Clock.system());

    @Test
    void the_watermark_waits_for_the_oldest_that_is_not_complete() {
        long first = timestamps.draw();
        long second = timestamps.draw();
        timestamps.complete(second);
        assertThat(timestamps.watermark()).isZero();
        timestamps.complete(first);
        assertThat(timestamps.watermark()).isEqualTo(second);
    }

    /**
     * Two writers complete neighbouring timestamps at once, then nobody writes any more. Each must see the
     * other's or be seen by it; if neither were, the later one's writer would wait for the watermark for ever.
     */
    @Test
    void of_two_that_complete_at_once_one_passes_both() throws Exception {
        AtomicInteger arrived = new AtomicInteger();
        Callable<Integer> writer = () -> {
            int leftBehind = 0;
            for (int round = 1; round <= ROUNDS; round++) {
                long mine = timestamps.draw();
                meet(arrived, 4 * round - 2);
                timestamps.complete(mine);
                meet(arrived, 4 * round);
                leftBehind += timestamps.watermark() == 2L * round ? 0 : 1;
            }
            return leftBehind;
        };
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            for (Future<Integer> one : pool.invokeAll(List.of(writer, writer))) {
                assertThat(one.get()).isZero();
            }
        }
    }

    /** Goes on when both are here; without parking, so that both go on within nanoseconds. */
    private static void meet(AtomicInteger arrived, int count) {
        arrived.incrementAndGet();
        for (int spins = 0; arrived.get() < count; spins++) {
            if (spins < 10_000) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(1); // there may be one processor, or others want it
            }
        }
    }
}
