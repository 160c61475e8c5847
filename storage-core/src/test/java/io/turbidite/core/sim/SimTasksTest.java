package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.task.Tasks;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

class SimTasksTest {
    private final long seed = Seeds.of("SimTasksTest");
    private final SimClock clock = new SimClock();
    private final SimTasks tasks = new SimTasks(seed, clock);

    @Test
    void theOrderIsAFunctionOfTheSeed() {
        assertThat(orderOf(5)).isEqualTo(orderOf(5));
        Set<String> orders = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            orders.add(orderOf(i));
        }
        assertThat(orders).hasSizeGreaterThan(15);
    }

    @Test
    void whoWaitsRunsTheOthersAlsoInsideAStep() {
        AtomicBoolean logSynced = new AtomicBoolean();
        AtomicBoolean flushed = new AtomicBoolean();
        Tasks.Worker log = tasks.start("log", Long.MAX_VALUE, () -> !logSynced.getAndSet(true));
        Tasks.Worker flush = tasks.start("flush", Long.MAX_VALUE, () -> {
            tasks.await(logSynced::get);
            flushed.set(true);
            return false;
        });
        tasks.await(flushed::get);
        tasks.signal();
        log.close();
        flush.close();
        assertThat(tasks.workerCount()).isZero();
    }

    @Test
    void aStepThatWaitsIsNotEnteredAgain() {
        AtomicInteger depth = new AtomicInteger();
        AtomicInteger otherSteps = new AtomicInteger();
        AtomicInteger stepCount = new AtomicInteger();
        Tasks.Worker waiting = tasks.start("waiting", 10, () -> {
            assertThat(depth.incrementAndGet()).isOne();
            int before = otherSteps.get();
            tasks.await(() -> otherSteps.get() >= before + 3);
            depth.decrementAndGet();
            return stepCount.incrementAndGet() < 50;
        });
        Tasks.Worker other = tasks.start("other", 10, () -> otherSteps.incrementAndGet() < 0);
        tasks.await(() -> stepCount.get() >= 50);
        waiting.close();
        other.close();
    }

    @Test
    void timeMovesToTheNextWorkerThatIsDue() {
        AtomicInteger stepCount = new AtomicInteger();
        Tasks.Worker worker = tasks.start("w", 1_000_000, () -> stepCount.incrementAndGet() < 0);
        tasks.runUntilIdle();
        assertThat(stepCount.get()).isOne();
        long before = clock.monotonicNanos();
        assertThat(tasks.step()).isTrue();
        assertThat(stepCount.get()).isEqualTo(2);
        assertThat(clock.monotonicNanos() - before).isBetween(1_000_000_000L, 1_001_000_000L);
        tasks.runForMicros(5_500_000);
        assertThat(stepCount.get()).isBetween(6, 8);
        worker.wake();
        int steps = stepCount.get();
        tasks.runUntilIdle();
        assertThat(stepCount.get()).isEqualTo(steps + 1);
        worker.close();
        worker.wake();
        assertThat(tasks.step()).isFalse();
    }

    @Test
    void aWaitThatNeverEndsNamesSeedAndWorkers() {
        assertThatThrownBy(() -> tasks.await(() -> false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("seed " + seed);
        Tasks.Worker idle = tasks.start("idler", 1_000, () -> false);
        assertThatThrownBy(() -> tasks.await(() -> false))
                .hasMessageContaining("idler")
                .hasMessageContaining("seed " + seed);
        Tasks.Worker busy = tasks.start("busy", 1_000, () -> true);
        assertThatThrownBy(tasks::runUntilIdle).hasMessageContaining("busy");
        idle.close();
        busy.close();
    }

    @Test
    void twoStepsThatWaitForEachOtherAreReported() {
        AtomicBoolean first = new AtomicBoolean();
        AtomicBoolean second = new AtomicBoolean();
        Tasks.Worker one = tasks.start("one", 10, () -> waitThenSet(second, first));
        Tasks.Worker two = tasks.start("two", 10, () -> waitThenSet(first, second));
        assertThatThrownBy(() -> tasks.await(first::get)).hasMessageContaining("its step waits");
        one.close();
        two.close();
    }

    @Test
    void aStepThatThrowsStopsItsWorkerAndReachesWhoWaits() {
        Tasks.Worker broken = tasks.start("broken", 10, () -> {
            throw new IllegalStateException("bug");
        });
        assertThatThrownBy(() -> tasks.await(() -> false)).hasMessage("bug");
        assertThat(tasks.workerCount()).isZero();
        broken.close();
    }

    @Test
    void closedTasksRefuseAndAnotherThreadIsRefused() throws InterruptedException {
        AtomicBoolean refused = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                tasks.runUntilIdle();
            } catch (IllegalStateException e) {
                refused.set(true);
            }
        });
        other.join();
        assertThat(refused.get()).isTrue();
        tasks.close();
        assertThatThrownBy(() -> tasks.start("w", 1, () -> false))
                .isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> tasks.await(() -> false)).isInstanceOf(ClosedException.class);
    }

    @Test
    void wallTimeJumpsAndFreezesAndMonotonicTimeDoesNot() {
        long wall = clock.wallMicros();
        clock.advanceMicros(5);
        clock.jumpWallMicros(-100);
        assertThat(clock.wallMicros()).isEqualTo(wall - 95);
        clock.freezeWall(true);
        clock.advanceMicros(10);
        assertThat(clock.wallMicros()).isEqualTo(wall - 95);
        assertThat(clock.monotonicNanos()).isEqualTo(15_000);
    }

    @Test
    void seedsDifferByTestAndAReplayNamesIt() {
        assertThat(Seeds.of("a")).isEqualTo(Seeds.of("a"));
        if (!Seeds.isReplay()) {
            assertThat(Seeds.of("a")).isNotEqualTo(Seeds.of("b"));
        }
        assertThat(Seeds.replay("SomeTest", 42))
                .contains("-Dtest='SomeTest'")
                .contains("-Dturbidite.seed=42");
    }

    private boolean waitThenSet(AtomicBoolean awaited, AtomicBoolean set) {
        tasks.await(awaited::get);
        set.set(true);
        return false;
    }

    private static String orderOf(long seed) {
        SimClock clock = new SimClock();
        StringBuilder order = new StringBuilder();
        try (SimTasks tasks = new SimTasks(seed, clock)) {
            for (char name = 'a'; name <= 'd'; name++) {
                char letter = name;
                var _ = tasks.start(
                        "" + name, Long.MAX_VALUE, () -> order.append(letter).length() % 5 != 0);
            }
            tasks.runUntilIdle();
        }
        return order.append(clock.monotonicNanos()).toString();
    }
}
