package io.turbidite.core.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

@Timeout(60)
class ThreadTasksTest {
    private static final long HOUR_MICROS = TimeUnit.HOURS.toMicros(1);

    @Test
    void aWorkerRunsAgainWhileItHasMoreAndThenWhenWoken() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicInteger todo = new AtomicInteger(5);
            AtomicInteger stepCount = new AtomicInteger();
            Tasks.Step step = () -> {
                stepCount.incrementAndGet();
                boolean more = todo.get() > 0 && todo.decrementAndGet() > 0;
                tasks.signal();
                return more;
            };
            Tasks.Worker worker = tasks.start("w", HOUR_MICROS, step);
            tasks.await(() -> stepCount.get() == 5);
            worker.wake();
            tasks.await(() -> stepCount.get() == 6);
        }
    }

    @Test
    void anIdleWorkerRunsAgainAfterItsTime() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicInteger stepCount = new AtomicInteger();
            Tasks.Worker worker = tasks.start("w", 500, () -> stepCount.incrementAndGet() < 0);
            tasks.await(() -> stepCount.get() >= 10);
            worker.close();
            int stepsAtClose = stepCount.get();
            worker.wake();
            assertThat(stepCount.get()).isEqualTo(stepsAtClose);
        }
    }

    /** It rests for an hour when it has looked ten times, and still hears who wakes it. */
    @Test
    void aWorkerSaysHowLongItRests() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicInteger stepCount = new AtomicInteger();
            Tasks.Step step = () -> {
                stepCount.incrementAndGet();
                tasks.signal();
                return false;
            };
            Tasks.Worker worker =
                    tasks.start("w", () -> stepCount.get() < 10 ? 500 : HOUR_MICROS, step);
            tasks.await(() -> stepCount.get() >= 10);
            for (int i = 11; i < 1_000; i++) {
                worker.wake();
                int wanted = i;
                tasks.await(() -> stepCount.get() >= wanted);
            }
            assertThat(stepCount.get()).isEqualTo(999);
        }
    }

    @Test
    void aWorkerWhoseThreadCantBeStartedIsNotKept() {
        AtomicInteger count = new AtomicInteger();
        ThreadTasks tasks = ThreadTasks.create("t", (_, _) -> {}, work -> {
            if (count.incrementAndGet() == 2) {
                throw new OutOfMemoryError("no thread");
            }
            WorkerThreads.execute(work);
        });
        try (tasks) {
            Tasks.Worker first = tasks.start("first", HOUR_MICROS, () -> false);
            assertThatThrownBy(() -> tasks.start("second", HOUR_MICROS, () -> false))
                    .isInstanceOf(OutOfMemoryError.class);
            assertThat(tasks).hasToString("ThreadTasks[t, 1 workers]");
            first.close();
            assertThat(tasks).hasToString("ThreadTasks[t, 0 workers]");
        }
    }

    /** With idle times of an hour, one lost wake or signal hangs this test. */
    @Test
    void noWakeIsLost() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicLong asked = new AtomicLong();
            AtomicLong done = new AtomicLong();
            Tasks.Worker worker = tasks.start("w", HOUR_MICROS, () -> {
                done.set(asked.get());
                tasks.signal();
                return false;
            });
            for (int i = 1; i <= 20_000; i++) {
                asked.set(i);
                worker.wake();
                long wanted = i;
                tasks.await(() -> done.get() >= wanted);
            }
        }
    }

    /** A hundred workers at rest have no thread, look again in time, and hear who wakes them. */
    @Test
    void workersThatRestHaveNoThread() {
        try (ThreadTasks tasks = ThreadTasks.create("rest")) {
            AtomicLong steps = new AtomicLong();
            AtomicInteger woken = new AtomicInteger();
            List<Tasks.Worker> workers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                AtomicBoolean isWoken = new AtomicBoolean();
                Tasks.Worker worker =
                        tasks.start("w" + i, i % 2 == 0 ? 100_000 : HOUR_MICROS, () -> {
                            steps.incrementAndGet();
                            if (isWoken.getAndSet(true)) {
                                woken.incrementAndGet();
                            }
                            return false;
                        });
                workers.add(worker);
            }
            tasks.await(() -> steps.get() >= 500);
            tasks.await(() -> threadsNamed("rest/") == 0);
            workers.forEach(Tasks.Worker::wake);
            tasks.await(() -> woken.get() >= 100);
            tasks.await(() -> RestingWorkers.all().resting().size() >= 100);
        }
        assertThat(RestingWorkers.all().resting())
                .noneMatch(worker -> worker.toString().startsWith("rest/"));
    }

    private static long threadsNamed(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    /** All are due at once, and the first of them does not come back for long. */
    @Test
    void aWorkerThatWorksForLongHoldsUpNoOtherThatIsDue() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicBoolean go = new AtomicBoolean();
            AtomicBoolean blocks = new AtomicBoolean();
            AtomicInteger others = new AtomicInteger();
            for (int i = 0; i < 8; i++) {
                AtomicBoolean counted = new AtomicBoolean();
                Tasks.Worker _ = tasks.start("w" + i, 100_000, () -> {
                    if (go.get() && blocks.compareAndSet(false, true)) {
                        tasks.await(() -> others.get() == 7);
                    } else if (blocks.get() && counted.compareAndSet(false, true)) {
                        others.incrementAndGet();
                    }
                    return false;
                });
            }
            go.set(true);
            tasks.await(() -> others.get() == 7);
        }
    }

    /** Rests, wakes and closings meet in all orders; nobody hangs, and nothing runs afterwards. */
    @Test
    void workersMayBeClosedWhileTheyGoToRest() throws InterruptedException {
        for (int round = 0; round < 2_000; round++) {
            AtomicInteger afterClose = new AtomicInteger();
            AtomicBoolean isClosed = new AtomicBoolean();
            try (ThreadTasks tasks = ThreadTasks.create("t")) {
                Tasks.Worker worker = tasks.start("w", 100_000, () -> {
                    afterClose.addAndGet(isClosed.get() ? 1 : 0);
                    return false;
                });
                Thread waker = Thread.ofPlatform().start(worker::wake);
                if (round % 2 == 0) {
                    worker.wake();
                }
                worker.close();
                isClosed.set(true);
                waker.join();
            }
            assertThat(afterClose.get()).isZero();
        }
    }

    /** The wake is not lost: the worker looks when there are threads again. */
    @Test
    void aWakeFailsNobodyWhereThereAreNoThreads() {
        AtomicBoolean isShort = new AtomicBoolean();
        ThreadTasks tasks = ThreadTasks.create("t", (_, _) -> {}, work -> {
            if (isShort.get()) {
                throw new OutOfMemoryError("no thread");
            }
            WorkerThreads.execute(work);
        });
        try (tasks) {
            AtomicInteger steps = new AtomicInteger();
            Tasks.Worker worker = tasks.start("w", HOUR_MICROS, () -> steps.incrementAndGet() < 0);
            tasks.await(() -> !RestingWorkers.all().resting().isEmpty());
            isShort.set(true);
            worker.wake();
            tasks.await(() -> steps.get() >= 2);
        }
    }

    @Test
    void manyWaitersAreAllReleased() throws InterruptedException {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicBoolean open = new AtomicBoolean();
            AtomicInteger released = new AtomicInteger();
            List<Thread> waiters = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                Thread waiter = Thread.ofPlatform().start(() -> {
                    tasks.await(open::get);
                    released.incrementAndGet();
                });
                waiters.add(waiter);
            }
            open.set(true);
            tasks.signal();
            for (Thread waiter : waiters) {
                waiter.join();
            }
            assertThat(released.get()).isEqualTo(16);
        }
    }

    @Test
    void anInterruptDoesNotEndAWaitAndIsNotForgotten() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicInteger stepCount = new AtomicInteger();
            Tasks.Worker worker = tasks.start("w", 1_000, () -> stepCount.incrementAndGet() < 0);
            Thread.currentThread().interrupt();
            tasks.await(() -> stepCount.get() >= 20);
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            worker.close();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aStepThatThrowsStopsItsWorkerAloneAndIsReported() {
        AtomicReference<String> reported = new AtomicReference<>("");
        try (ThreadTasks tasks =
                ThreadTasks.create("t", (name, error) -> reported.set(name + ": " + error))) {
            AtomicInteger stepCount = new AtomicInteger();
            Tasks.Worker broken = tasks.start("broken", 100, () -> {
                throw new IllegalStateException("bug");
            });
            Tasks.Worker sound = tasks.start("sound", 100, () -> stepCount.incrementAndGet() < 0);
            tasks.await(() -> !reported.get().isEmpty());
            assertThat(reported.get()).isEqualTo("t/broken: java.lang.IllegalStateException: bug");
            int before = stepCount.get();
            tasks.await(() -> stepCount.get() > before);
            broken.wake();
            broken.close();
            sound.close();
        }
    }

    @Test
    void closingEndsWorkersAndWaitsAndStartsNothingNew() throws InterruptedException {
        AtomicReference<String> reported = new AtomicReference<>("");
        ThreadTasks tasks = ThreadTasks.create("t", (name, error) -> reported.set(name + error));
        AtomicBoolean waiting = new AtomicBoolean();
        Tasks.Worker waitingWorker = tasks.start("w", HOUR_MICROS, () -> {
            waiting.set(true);
            tasks.signal();
            tasks.await(() -> false);
            return false;
        });
        AtomicReference<Throwable> ended = new AtomicReference<>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                tasks.await(() -> false);
            } catch (ClosedException e) {
                ended.set(e);
            }
        });
        tasks.await(waiting::get);
        tasks.close();
        waiter.join();
        assertThat(ended.get()).isInstanceOf(ClosedException.class);
        assertThat(reported.get()).isEmpty();
        waitingWorker.close();
        assertThatThrownBy(() -> tasks.start("late", 1, () -> false))
                .isInstanceOf(ClosedException.class);
        assertThat(tasks).hasToString("ThreadTasks[t, 0 workers]");
    }

    @Test
    void aWorkerMayCloseItself() {
        try (ThreadTasks tasks = ThreadTasks.create("t")) {
            AtomicReference<Tasks.Worker> self = new AtomicReference<>();
            AtomicInteger stepCount = new AtomicInteger();
            self.set(tasks.start("w", 100, () -> {
                Tasks.Worker worker = self.get();
                if (worker != null) {
                    stepCount.incrementAndGet();
                    worker.close();
                }
                return true;
            }));
            tasks.await(() -> stepCount.get() == 1);
            self.get().close();
            assertThat(stepCount.get()).isEqualTo(1);
        }
    }
}
