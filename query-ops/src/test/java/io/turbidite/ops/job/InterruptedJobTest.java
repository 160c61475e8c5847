package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A job's workers wait for memory that others hold: an interrupt of its reader ends that. */
class InterruptedJobTest {
    private static final long MEMORY_BYTES = QueryMemory.BYTES_MIN;

    private final MemorySource flights = JobFixture.flights(1_000);
    private final CountDownLatch isAsked = new CountDownLatch(1);

    private JobQuery job(Tasks tasks) {
        // asked by a worker before it waits, and while it does
        RunOptions options = RunOptions.defaults().withTasks(tasks).withStop(() -> {
            if (!Thread.currentThread().getName().equals("reader")) {
                isAsked.countDown();
            }
            return false;
        });
        JobParts parts = JobParts.of(List.of(flights));
        return JobQuery.of(JobFixture.groups(parts, 2, 2)).with(options);
    }

    /** What a job threw, and whether its thread stayed interrupted. */
    private record Ended(Throwable thrown, boolean isInterrupted) {}

    private Ended run(Tasks tasks) {
        try (QueryResult result = job(tasks).run()) {
            result.toList();
            throw new AssertionError("it has no memory");
        } catch (RuntimeException e) {
            return new Ended(e, Thread.currentThread().isInterrupted());
        }
    }

    @Test
    @Timeout(30)
    void an_interrupt_of_the_reader_ends_the_wait_of_its_workers() throws Exception {
        try (ThreadTasks tasks = ThreadTasks.create("interrupted-job-test")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(MEMORY_BYTES).account("queries"), tasks, Clock.system());
            flights.means = new QueryMeans(memory, new SimDisk(1, Profile.STRICT), "spill", tasks);
            List<QueryMemory.Share> held = new ArrayList<>();
            for (int i = 0; i < MEMORY_BYTES / QueryMemory.LEAST_BYTES; i++) {
                QueryMemory.Share share = memory.share(MEMORY_BYTES, () -> false);
                share.enter();
                held.add(share);
            }
            CompletableFuture<Ended> ended = new CompletableFuture<>();
            Thread reader = new Thread(
                    () -> ended.completeAsync(() -> run(tasks), Runnable::run), "reader");
            reader.start();
            isAsked.await();
            reader.interrupt();
            Ended how = ended.get();
            assertThat(how.thrown())
                    .isInstanceOf(CancellationException.class)
                    .hasMessage("interrupted while it waited for memory");
            assertThat(how.isInterrupted()).isTrue();
            reader.join();
            held.forEach(QueryMemory.Share::leave);
            // nobody is interrupted any more
            assertThat(job(tasks).run().count()).isEqualTo(13);
            assertThat(memory.bytesUsed()).isZero();
        }
        assertThat(flights.openCount).hasValue(0);
    }
}
