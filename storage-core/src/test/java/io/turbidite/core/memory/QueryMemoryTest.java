package io.turbidite.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

class QueryMemoryTest {
    private static final long MIB = 1 << 20;

    private final Tasks tasks = ThreadTasks.create("query-memory-test");
    private final MemoryBudget budget = MemoryBudget.of(Long.MAX_VALUE);
    private final QueryMemory memory =
            QueryMemory.of(budget.account("queries", 8 * MIB), tasks, Clock.system());

    @AfterEach
    void nothing_is_held() {
        tasks.close();
        assertThat(memory.bytesUsed()).isZero();
        assertThat(budget.bytesUsed()).isZero();
    }

    @Test
    void a_query_has_its_least_for_certain_and_more_while_there_is_some() {
        QueryMemory.Share large = share();
        QueryMemory.Share late = share();
        large.enter();
        assertThat(large.draw(6 * MIB + 1)).isFalse();
        assertThat(large.draw(6 * MIB)).isTrue();
        assertThat(large.draw(1)).isFalse();
        late.enter();
        assertThat(late.draw(1)).isFalse();
        assertThat(late.takeOfLeast(3 * MIB)).isEqualTo(MIB);
        assertThat(late.takeOfLeast(1)).isZero();
        assertThat(memory.bytesUsed()).isEqualTo(8 * MIB);
        late.giveOfLeast(MIB);
        late.leave();
        large.giveBack(6 * MIB);
        large.leave();
        assertThat(memory.bytesPeak()).isEqualTo(8 * MIB);
    }

    @Test
    void as_much_as_there_is_is_drawn_by_halves() {
        QueryMemory.Share share = share();
        share.enter();
        assertThat(share.drawUpTo(5 * MIB)).isEqualTo(5 * MIB);
        assertThat(share.drawUpTo(3 * MIB)).isEqualTo(3 * MIB / 4);
        share.giveBack(5 * MIB + 3 * MIB / 4);
        share.leave();
    }

    @Test
    void a_share_is_given_back_when_the_last_operator_leaves() {
        QueryMemory.Share share = share();
        share.enter();
        share.enter();
        share.leave();
        assertThat(memory.bytesUsed()).isEqualTo(MIB);
        share.leave();
        assertThat(memory.bytesUsed()).isZero();
        share.enter();
        assertThat(memory.bytesUsed()).isEqualTo(MIB);
        share.leave();
    }

    @Test
    void a_thread_that_has_results_open_does_not_wait_and_hears_who_holds_the_memory() {
        List<QueryMemory.Share> open = eight();
        assertThatThrownBy(share()::enter)
                .isInstanceOf(QueryMemoryException.class)
                .hasMessageContaining(Thread.currentThread().getName())
                .hasMessageContaining("needs 1MiB")
                .hasMessageContaining("queries hold 8MiB of 8MiB")
                .hasMessageContaining("queryMemoryBytes")
                .hasMessageContaining("has results of such queries open");
        open.forEach(QueryMemory.Share::leave);
    }

    @Test
    void another_thread_waits_until_some_is_free() throws Exception {
        List<QueryMemory.Share> open = eight();
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicBoolean entered = new AtomicBoolean();
        Thread late = Thread.ofPlatform().start(() -> {
            QueryMemory.Share share = memory.share(64 * MIB, () -> {
                waiting.countDown();
                return false;
            });
            share.enter();
            entered.set(true);
            share.leave();
        });
        waiting.await();
        assertThat(entered).isFalse();
        open.removeLast().leave();
        late.join();
        assertThat(entered).isTrue();
        open.forEach(QueryMemory.Share::leave);
    }

    @Test
    void who_waits_ends_when_it_is_stopped_or_interrupted() throws Exception {
        List<QueryMemory.Share> open = eight();
        AtomicBoolean stop = new AtomicBoolean();
        ConcurrentLinkedQueue<Throwable> ends = new ConcurrentLinkedQueue<>();
        Thread stopped = waiting(stop, ends);
        Thread interrupted = waiting(new AtomicBoolean(), ends);
        stop.set(true);
        interrupted.interrupt();
        stopped.join();
        interrupted.join();
        assertThat(ends).hasSize(2).allMatch(CancellationException.class::isInstance);
        open.forEach(QueryMemory.Share::leave);
    }

    private Thread waiting(AtomicBoolean stop, ConcurrentLinkedQueue<Throwable> ends)
            throws InterruptedException {
        CountDownLatch waits = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                memory.share(64 * MIB, () -> {
                            waits.countDown();
                            return stop.get();
                        })
                        .enter();
            } catch (CancellationException e) {
                ends.add(e);
            }
        });
        waits.await();
        return thread;
    }

    @Test
    void who_waits_for_long_hears_who_holds_the_memory() throws Exception {
        SimClock clock = new SimClock();
        QueryMemory timed = QueryMemory.of(budget.account("timed", 8 * MIB), tasks, clock);
        List<QueryMemory.Share> open = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            open.add(timed.share(64 * MIB, () -> false));
            open.getLast().enter();
        }
        ConcurrentLinkedQueue<Throwable> ends = new ConcurrentLinkedQueue<>();
        CountDownLatch waits = new CountDownLatch(2);
        Thread late = Thread.ofPlatform().name("late reader").start(() -> {
            try {
                timed.share(64 * MIB, () -> {
                            waits.countDown();
                            return false;
                        })
                        .enter();
            } catch (QueryMemoryException e) {
                ends.add(e);
            }
        });
        waits.await();
        clock.advanceMicros(10_000_000);
        late.join();
        assertThat(ends)
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .hasMessageContaining("'late reader' needs 1MiB")
                        .hasMessageContaining("for 10 seconds")
                        .hasMessageContaining("a query of thread '%s' (1MiB for 10.0 s)"
                                .formatted(Thread.currentThread().getName())));
        open.forEach(QueryMemory.Share::leave);
    }

    @Test
    void less_than_the_least_is_refused() {
        assertThatThrownBy(() ->
                        QueryMemory.of(budget.account("small", 8 * MIB - 1), tasks, Clock.system()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("queryMemoryBytes is 8388607");
    }

    private QueryMemory.Share share() {
        return memory.share(64 * MIB, () -> false);
    }

    /** Those that hold the least of all there is. */
    private List<QueryMemory.Share> eight() {
        List<QueryMemory.Share> open = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            open.add(share());
            open.getLast().enter();
        }
        return open;
    }
}
