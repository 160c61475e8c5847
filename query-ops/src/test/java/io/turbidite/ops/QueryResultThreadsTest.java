package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.scan.Source;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * A result is one thread's at a time; what another does to it meanwhile is refused, or waits its
 * turn.
 */
class QueryResultThreadsTest {
    private static final int RECORDS = 2_000;

    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private QueryResult run() {
        return Query.on((Source) flights).run();
    }

    private static <T> T elsewhere(java.util.function.Supplier<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                done.complete(work.get());
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        thread.start();
        return done.orTimeout(10, TimeUnit.SECONDS).join();
    }

    @Test
    void a_row_is_not_read_by_a_thread_that_another_moved_away() {
        Flights.many(flights, 10);
        try (QueryResult result = run()) {
            assertThat(result.next()).isTrue();
            Map<String, @Nullable Object> first = result.map();
            assertThat(elsewhere(result::next)).isTrue();
            List<Runnable> reads = List.of(
                    result::row, result::map, () -> result.toJson(new ByteSink(64, 1 << 20)));
            for (Runnable read : reads) {
                assertThatThrownBy(read::run)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("another thread has moved the result");
            }
            // handed over row by row it goes on
            assertThat(result.next()).isTrue();
            assertThat(result.map()).isNotEqualTo(first);
            assertThat(elsewhere(() -> result.toList().size())).isEqualTo(7);
        }
    }

    @Test
    void two_threads_at_once_get_no_mixed_row_and_none_twice() throws Exception {
        for (int i = 0; i < RECORDS; i++) {
            flights.upsert(Flights.flight(i, "tail", "N" + i, "name", "name of " + i));
        }
        for (int round = 0; round < 20; round++) {
            Set<Long> taken = new ConcurrentSkipListSet<>();
            try (QueryResult result = run()) {
                CyclicBarrier barrier = new CyclicBarrier(2);
                List<CompletableFuture<Void>> threads = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    threads.add(CompletableFuture.runAsync(() -> take(result, barrier, taken)));
                }
                for (CompletableFuture<Void> thread : threads) {
                    thread.get(10, TimeUnit.SECONDS);
                }
            }
            assertThat(taken).isNotEmpty();
        }
    }

    private static void take(QueryResult result, CyclicBarrier barrier, Set<Long> taken) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        boolean more = true;
        while (more) {
            try {
                more = result.next();
                if (more) {
                    Map<String, @Nullable Object> row = result.map();
                    Object id = row.get("id");
                    assertThat(row)
                            .containsEntry("tail", "N" + id)
                            .containsEntry("name", "name of " + id);
                    assertThat(taken.add((Long) id)).as("%s came twice", id).isTrue();
                }
            } catch (StorageException refused) {
                assertThat(refused).hasMessageContaining("thread");
            }
        }
    }

    @Test
    void who_writes_all_rows_is_not_disturbed_and_another_may_close() {
        Flights.many(flights, RECORDS);
        try (QueryResult result = run()) {
            List<Throwable> refusals = new ArrayList<>();
            OutputStream meanwhile = new OutputStream() {
                @Override
                public void write(int b) {
                    throw new AssertionError("written a byte at a time");
                }

                @Override
                public void write(byte[] bytes, int offset, int length) {
                    refusals.add(elsewhere(() -> {
                        try {
                            result.next();
                            return new AssertionError("not refused");
                        } catch (InvalidRequestException e) {
                            return e;
                        }
                    }));
                }
            };
            assertThat(result.forEachJson(meanwhile)).isEqualTo(RECORDS);
            assertThat(refusals)
                    .isNotEmpty()
                    .allSatisfy(refusal -> assertThat(refusal)
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("used by two threads at once"));
        }
        QueryResult closed = run();
        OutputStream closing = new OutputStream() {
            @Override
            public void write(int b) {
                throw new AssertionError("written a byte at a time");
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                elsewhere(() -> {
                    closed.close();
                    return true;
                });
            }
        };
        assertThatThrownBy(() -> closed.forEachJson(closing)).isInstanceOf(ClosedException.class);
        closed.close();
        assertThatThrownBy(closed::next).isInstanceOf(ClosedException.class);
    }

    /** What is being computed when it is closed ends first; then all is released. */
    @Test
    void closing_under_a_move_releases_everything() throws Exception {
        Flights.many(flights, RECORDS);
        for (int round = 0; round < 50; round++) {
            QueryResult result = run();
            CyclicBarrier barrier = new CyclicBarrier(2);
            CompletableFuture<Long> reads = CompletableFuture.supplyAsync(() -> {
                try {
                    barrier.await();
                    return LongStream.iterate(0, n -> result.next(), n -> n + 1).count();
                } catch (ClosedException closed) {
                    return -1L;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            barrier.await();
            result.close();
            assertThat(reads.get(10, TimeUnit.SECONDS)).isIn(-1L, (long) RECORDS);
            assertThat(flights.openCount).hasValue(0);
        }
    }
}
