package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** A worker of a job waits for memory when another one fails: nobody waits for that worker. */
class FailedWaitJobTest {
    private static final long MEMORY_BYTES = QueryMemory.BYTES_MIN;

    private final MemorySource flights = JobFixture.flights(1_000);
    private final AtomicReference<@Nullable Thread> firstWorker = new AtomicReference<>();
    private final CountDownLatch waits = new CountDownLatch(1);

    /** The first worker goes on; the second fails when the first waits for memory. */
    private void move() {
        Thread own = Thread.currentThread();
        if (firstWorker.compareAndSet(null, own) || own.equals(firstWorker.get())) {
            return;
        }
        try {
            waits.await();
        } catch (InterruptedException e) {
            own.interrupt();
        }
        throw new IllegalStateException("planted");
    }

    private static boolean isWaitingForMemory() {
        return StackWalker.getInstance()
                .walk(frames ->
                        frames.anyMatch(frame -> frame.getMethodName().equals("takeLeast")));
    }

    @Test
    @Timeout(60)
    void a_failed_job_ends_although_a_worker_waits_for_memory() throws Exception {
        try (ThreadTasks tasks = ThreadTasks.create("failed-wait-job-test")) {
            // its clock stands: a wait does not end by itself
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(MEMORY_BYTES).account("queries"), tasks, new SimClock());
            flights.means = new QueryMeans(memory, new SimDisk(1, Profile.STRICT), "spill", tasks);
            List<QueryMemory.Share> held = new ArrayList<>();
            // by another thread, so that this one may wait
            Thread other = new Thread(() -> {
                for (int i = 0; i < MEMORY_BYTES / QueryMemory.LEAST_BYTES; i++) {
                    QueryMemory.Share share = memory.share(MEMORY_BYTES, () -> false);
                    share.enter();
                    held.add(share);
                }
            });
            other.start();
            other.join();
            RunOptions options = RunOptions.defaults().withTasks(tasks).withStop(() -> {
                if (isWaitingForMemory()) {
                    waits.countDown();
                }
                return false;
            });
            JobQuery job = JobQuery.of(JobFixture.groups(JobParts.of(List.of(flights)), 2, 2))
                    .with(options);
            flights.onMove = this::move;
            assertThatThrownBy(() -> JobRunTest.lines(job))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("planted");
            flights.onMove = () -> {};
            held.forEach(QueryMemory.Share::leave);
            // others' waits are not ended any more
            assertThat(JobRunTest.lines(job)).hasSize(13);
            assertThat(memory.bytesUsed()).isZero();
        }
        assertThat(flights.openCount).hasValue(0);
    }
}
