package io.turbidite.ops.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** What branches that run side by side do when some of them fail. */
class SideBySideTest {
    private static final long MEMORY_BYTES = QueryMemory.BYTES_MIN;

    private static final FrameWriter NOWHERE = new FrameWriter() {
        @Override
        public void open() {
            // takes nothing
        }

        @Override
        public boolean frame(Frame frame) {
            return true;
        }

        @Override
        public void fail() {
            // holds nothing
        }

        @Override
        public void close() {
            // holds nothing
        }
    };

    /** Does one step. */
    private static BranchRun branch(Runnable step) {
        FrameSource source = new FrameSource() {
            @Override
            public void open() {
                // reads nothing
            }

            @Override
            public boolean step() {
                step.run();
                return false;
            }

            @Override
            public void close() {
                // holds nothing
            }
        };
        return new BranchRun(new Stage.Branch(source, NOWHERE, List.of()), RunOptions.defaults());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Test
    @Timeout(60)
    void a_failure_ends_the_waits_of_others_for_memory() {
        try (Tasks tasks = ThreadTasks.create("side-by-side-test")) {
            // a clock that stands: nobody waits in vain for long enough
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(MEMORY_BYTES).account("queries"), tasks, new SimClock());
            List<QueryMemory.Share> held = new ArrayList<>();
            for (int i = 0; i < MEMORY_BYTES / QueryMemory.LEAST_BYTES; i++) {
                QueryMemory.Share one = memory.share(MEMORY_BYTES, () -> false);
                one.enter();
                held.add(one);
            }
            CountDownLatch waits = new CountDownLatch(1);
            QueryMemory.Share[] share = new QueryMemory.Share[1];
            // not of this thread, which would be refused as one that holds some
            Thread reader = new Thread(() -> share[0] = memory.share(MEMORY_BYTES, () -> {
                waits.countDown();
                return false;
            }));
            reader.start();
            join(reader);
            IllegalStateException planted = new IllegalStateException("planted");
            List<BranchRun> runs = List.of(branch(() -> share[0].enter()), branch(() -> {
                await(waits);
                throw planted;
            }));
            assertThatThrownBy(() -> SideBySide.run(tasks, share[0], runs)).isSameAs(planted);
            assertThat(planted.getSuppressed()).isEmpty();
            held.forEach(QueryMemory.Share::leave);
            // nobody's waits are ended any more
            share[0].enter();
            share[0].leave();
            assertThat(memory.bytesUsed()).isZero();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Two that fail at the same time: what is thrown, whichever came first. */
    private static Throwable thrownOf(RuntimeException one, RuntimeException other) {
        CountDownLatch both = new CountDownLatch(2);
        List<BranchRun> runs = Stream.of(one, other)
                .map(failure -> branch(() -> {
                    both.countDown();
                    await(both);
                    throw failure;
                }))
                .toList();
        try (Tasks tasks = ThreadTasks.create("side-by-side-test")) {
            return catchThrowable(() -> SideBySide.run(tasks, null, runs));
        }
    }

    @Test
    @Timeout(60)
    void what_fails_after_the_first_is_attached_to_it() {
        RuntimeException one = new IllegalStateException("one");
        RuntimeException other = new IllegalArgumentException("other");
        Throwable first = thrownOf(one, other);
        assertThat(first.getSuppressed()).containsExactly(first.equals(one) ? other : one);
    }

    @Test
    @Timeout(60)
    void neither_a_cancellation_nor_the_failure_itself_is_attached() {
        RuntimeException one = new IllegalStateException("of both");
        assertThat(thrownOf(one, one)).isSameAs(one).hasNoSuppressedExceptions();
        RuntimeException ended = new CancellationException("ended");
        assertThat(thrownOf(ended, new CancellationException("too"))).hasNoSuppressedExceptions();
    }
}
