package io.turbidite.lsm.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Meeting;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class TimestampsTest {
    private static final int ROUNDS = Tier.count(10_000, 50_000, 20_000_000);

    private final ThreadTasks tasks = ThreadTasks.create("timestamps");
    private final Timestamps timestamps = new Timestamps(0, tasks, Clock.system(), () -> false);

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
     * Who gives up a write may have completed its timestamp before something failed, and be late.
     */
    @Test
    void what_is_completed_again_takes_nobody_elses_place() {
        long first = timestamps.draw();
        long last = first;
        for (int i = 0; i < Timestamps.WINDOW; i++) {
            last = timestamps.draw();
        }
        timestamps.complete(first);
        timestamps.complete(last); // in the place of the first
        timestamps.completeAgain(first);
        for (long timestamp = first + 1; timestamp < last; timestamp++) {
            timestamps.complete(timestamp);
        }
        assertThat(timestamps.watermark()).isEqualTo(last);
    }

    /**
     * Two writers complete neighbouring timestamps at once, then nobody writes any more. Each must
     * see the other's or be seen by it; if neither were, the later one's writer would wait for the
     * watermark for ever.
     */
    @Test
    void of_two_that_complete_at_once_one_passes_both() throws Exception {
        Meeting meeting = new Meeting();
        Callable<Integer> writer = () -> {
            int leftBehind = 0;
            for (int round = 1; round <= ROUNDS; round++) {
                long mine = timestamps.draw();
                meeting.come(2 * round - 1);
                timestamps.complete(mine);
                meeting.come(2 * round);
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
}
