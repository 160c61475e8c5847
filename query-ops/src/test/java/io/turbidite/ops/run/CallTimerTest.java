package io.turbidite.ops.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.OperatorMeter;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

import java.util.Objects;

/** Times of many calls from those of a few. */
class CallTimerTest {
    private static final int CALLS = 400_000;

    private final Hands clock = new Hands();
    private final OperatorMeter meter = new OperatorMeter();
    private final CallTimer timer =
            Objects.requireNonNull(CallTimer.of(RunOptions.defaults().withClock(clock), meter));

    /** Two clocks that go on as they are told; looking at one takes time. */
    private static final class Hands implements Clock {
        private static final long LOOK_NANOS = 20;

        private long running;
        private long ofThread;
        private long looks;

        @Override
        public long wallMicros() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long monotonicNanos() {
            looks++;
            running += LOOK_NANOS;
            return running;
        }

        @Override
        public long threadNanos() {
            looks++;
            ofThread += LOOK_NANOS;
            return ofThread;
        }

        void work(long nanos) {
            running += nanos;
            ofThread += nanos;
        }

        void pass(long nanos) {
            running += nanos;
        }
    }

    private void call(long nanos, long waitedNanos) {
        boolean isTimed = timer.begin();
        clock.work(nanos);
        clock.pass(waitedNanos);
        if (isTimed) {
            timer.end();
        }
    }

    private double told() {
        timer.tell();
        return meter.work().cpuNanos();
    }

    private static Offset<Double> about(double nanos) {
        return within(nanos / 20);
    }

    @Test
    void the_first_call_counts_for_itself_and_few_of_the_others_for_all() {
        call(5_000_000, 0);
        long before = clock.looks;
        for (int i = 0; i < CALLS; i++) {
            call(i % 2 == 0 ? 60 : 140, 0);
        }
        double expected = 5_000_000 + CALLS * 100.0;
        assertThat(told()).isCloseTo(expected, about(expected));
        assertThat(clock.looks - before).isLessThan(CALLS / 100);
        assertThat(told()).as("told once").isCloseTo(expected, about(expected));
    }

    @Test
    void who_waits_for_the_processor_is_left_out() {
        for (int i = 0; i < CALLS; i++) {
            call(100, i % 100 == 7 ? 4_000_000 : 0);
        }
        assertThat(told()).isCloseTo(CALLS * 100.0, about(CALLS * 100.0));
    }

    @Test
    void calls_that_become_long_are_timed_by_the_time_of_the_thread() {
        for (int i = 0; i < CALLS / 100; i++) {
            call(100, 0);
        }
        for (int i = 0; i < CALLS; i++) {
            call(60_000, 30_000);
        }
        assertThat(told()).isCloseTo(CALLS * 60_000.0, about(CALLS * 60_000.0));
    }

    @Test
    void calls_for_many_rows_are_told_where_they_alternate_with_short_ones() {
        CallTimer batches = Objects.requireNonNull(
                CallTimer.ofBatches(RunOptions.defaults().withClock(clock), meter));
        for (int i = 0; i < CALLS; i++) {
            boolean isTimed = batches.begin();
            clock.work(i % 2 == 0 ? 30_000 : 100);
            if (isTimed) {
                batches.end(i % 2 == 0 ? 600 : 1);
            }
        }
        batches.tell();
        double expected = CALLS / 2 * 30_100.0;
        assertThat((double) meter.work().cpuNanos()).isCloseTo(expected, within(expected / 5));
    }

    @Test
    void without_a_clock_there_is_none() {
        assertThat(CallTimer.of(RunOptions.defaults(), meter)).isNull();
    }
}
