package io.turbidite.core.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

class RestingWorkersTest {
    /** Due at once; ends when it is resumed. */
    private static final class Due implements RestingWorkers.Resting {
        private final RestingWorkers place;
        private final CountDownLatch resumed = new CountDownLatch(1);
        private final long dueNanos = System.nanoTime();

        Due(RestingWorkers place) {
            this.place = place;
        }

        @Override
        public long dueNanos() {
            return dueNanos;
        }

        @Override
        public void resume() {
            place.remove(this);
            resumed.countDown();
        }
    }

    /** Else each would wake the clock for itself. */
    @Test
    void restsThatBeginAtDifferentTimesEndTogether() {
        assertEndsAtMultiples(100, 50);
        assertEndsAtMultiples(450, 50);
        assertEndsAtMultiples(500, 500);
        assertEndsAtMultiples(900, 500);
        assertEndsAtMultiples(1_000, 1_000);
        assertEndsAtMultiples(10_300, 1_000);
    }

    private static void assertEndsAtMultiples(long restMillis, long tickMillis) {
        long rest = TimeUnit.MILLISECONDS.toNanos(restMillis);
        long tick = TimeUnit.MILLISECONDS.toNanos(tickMillis);
        long before = RestingWorkers.NOW.monotonicNanos();
        long end = RestingWorkers.endOfRest(rest);
        long after = RestingWorkers.NOW.monotonicNanos();
        assertThat(Math.floorMod(end, tick)).isZero();
        assertThat(end - before).isGreaterThanOrEqualTo(rest);
        assertThat(end - after).isLessThan(rest + tick);
    }

    /** Whoever rests or wakes would get the error, and the worker would be nowhere. */
    @Test
    void noThreadForTheClockFailsNobodyAndTheNextOneStartsIt() throws InterruptedException {
        AtomicInteger starts = new AtomicInteger();
        RestingWorkers place = new RestingWorkers(time -> {
            if (starts.incrementAndGet() == 1) {
                throw new OutOfMemoryError("no thread");
            }
            return Thread.ofPlatform().daemon().name("test-clock").start(time);
        });
        Due first = new Due(place);
        place.add(first);
        assertThat(place.resting()).contains(first);
        Due second = new Due(place);
        place.add(second);
        assertThat(first.resumed.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(second.resumed.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(starts).hasValue(2);
    }
}
