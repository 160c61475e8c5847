package io.turbidite.lsm.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.Limits;
import io.turbidite.core.StoreFailedException;
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
        long first = timestamps.draw(1);
        long second = timestamps.draw(1);
        timestamps.complete(second);
        assertThat(timestamps.watermark()).isZero();
        timestamps.complete(first);
        assertThat(timestamps.watermark()).isEqualTo(Timestamps.lastOf(second)).isEqualTo(2);
    }

    @Test
    void the_watermark_passes_a_batch_in_one_step() {
        long one = timestamps.draw(1);
        long batch = timestamps.draw(1 << 20);
        long other = timestamps.draw(3);
        assertThat(Timestamps.lastOf(other)).isEqualTo(timestamps.lastDrawn());
        timestamps.complete(batch);
        assertThat(timestamps.watermark()).isZero();
        timestamps.complete(one);
        assertThat(timestamps.watermark()).isEqualTo(1 + (1 << 20));
        timestamps.complete(other);
        assertThat(timestamps.watermark()).isEqualTo(4 + (1 << 20));
    }

    /** More draws than their numbers can tell apart. */
    @Test
    void numbers_of_draws_begin_anew() {
        long last = 0;
        for (int i = 0; i < 5 * Timestamps.WINDOW; i++) {
            long even = timestamps.draw(2);
            long odd = timestamps.draw(1);
            timestamps.complete(odd);
            assertThat(timestamps.watermark()).isEqualTo(last);
            timestamps.complete(even);
            last += 3;
            assertThat(timestamps.watermark()).isEqualTo(last);
        }
    }

    @Test
    void nothing_is_drawn_beyond_the_last_timestamp() {
        long near = Limits.TIMESTAMP_MAX - Integer.MAX_VALUE - 10;
        Timestamps late = new Timestamps(near, tasks, Clock.system(), () -> false);
        assertThat(Timestamps.lastOf(late.draw(5))).isEqualTo(near + 5);
        assertThatThrownBy(() -> late.draw(20))
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("all timestamps");
    }

    /**
     * Who gives up a write may have completed its timestamp before something failed, and be late.
     */
    @Test
    void what_is_completed_again_takes_nobody_elses_place() {
        long[] draws = new long[Timestamps.WINDOW + 1];
        for (int i = 0; i < draws.length; i++) {
            draws[i] = timestamps.draw(1);
        }
        timestamps.complete(draws[0]);
        timestamps.complete(draws[Timestamps.WINDOW]); // in the place of the first
        timestamps.completeAgain(draws[0]);
        for (int i = 1; i < Timestamps.WINDOW; i++) {
            timestamps.complete(draws[i]);
        }
        assertThat(timestamps.watermark()).isEqualTo(Timestamps.lastOf(draws[Timestamps.WINDOW]));
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
                long mine = timestamps.draw(1);
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
