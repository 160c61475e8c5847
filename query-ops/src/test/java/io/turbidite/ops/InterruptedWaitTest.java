package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Workers wait for memory that others hold: an interrupt of who waits for them ends that. */
class InterruptedWaitTest {
    private static final long MEMORY_BYTES = QueryMemory.BYTES_MIN;

    private final MemorySource flights = Flights.source();
    private final CountDownLatch isAsked = new CountDownLatch(1);

    private List<QueryMemory.Share> holdAll(QueryMemory memory) {
        List<QueryMemory.Share> held = new ArrayList<>();
        for (int i = 0; i < MEMORY_BYTES / QueryMemory.LEAST_BYTES; i++) {
            QueryMemory.Share share = memory.share(MEMORY_BYTES, () -> false);
            share.enter();
            held.add(share);
        }
        return held;
    }

    private Query query() {
        // asked by a worker before it waits, and while it does
        RunOptions options = RunOptions.defaults().withSideBySideRows(0).withStop(() -> {
            if (!Thread.currentThread().getName().equals("reader")) {
                isAsked.countDown();
            }
            return false;
        });
        return Query.on((Source) flights).usingScan().groupBy("tail").with(options);
    }

    /** What a query threw, and whether its thread stayed interrupted. */
    private record Ended(Throwable thrown, boolean isInterrupted) {}

    private Ended run() {
        try (QueryResult result = query().run()) {
            result.toList();
            throw new AssertionError("it has no memory");
        } catch (RuntimeException e) {
            return new Ended(e, Thread.currentThread().isInterrupted());
        }
    }

    @Test
    @Timeout(30)
    void an_interrupt_of_the_reader_ends_the_wait_of_its_workers() throws Exception {
        Flights.many(flights, 100);
        try (ThreadTasks tasks = ThreadTasks.create("interrupted-wait-test")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(MEMORY_BYTES).account("queries"), tasks, Clock.system());
            flights.means = new QueryMeans(memory, new SimDisk(1, Profile.STRICT), "spill", tasks);
            List<QueryMemory.Share> held = holdAll(memory);
            CompletableFuture<Ended> ended = new CompletableFuture<>();
            Thread reader =
                    new Thread(() -> ended.completeAsync(this::run, Runnable::run), "reader");
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
            assertThat(query().run().count()).isEqualTo(10);
            assertThat(memory.bytesUsed()).isZero();
        }
        assertThat(flights.openCount).hasValue(0);
    }
}
