package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The iterator of a result goes with the result, whoever moves it. */
class ResultIteratorTest {
    private final MemorySource flights = Flights.source();

    @BeforeEach
    void some_flights() {
        Flights.many(flights, 6);
    }

    private QueryResult run() {
        return Query.on((Source) flights).run();
    }

    @Test
    void it_gives_each_row_once_however_often_it_is_asked_for_more() {
        List<Map<String, @Nullable Object>> rows;
        try (QueryResult result = run()) {
            rows = result.toList();
        }
        try (QueryResult result = run()) {
            Iterator<Map<String, @Nullable Object>> all = result.iterator();
            assertThat(all.hasNext()).isTrue();
            assertThat(all.hasNext()).isTrue();
            assertThat(all.next()).isEqualTo(rows.get(0));
            assertThat(all.next()).isEqualTo(rows.get(1));
            // the row that it stands before may be read otherwise, too
            assertThat(all.hasNext()).isTrue();
            assertThat(result.map()).isEqualTo(rows.get(2));
            assertThat(all.next()).isEqualTo(rows.get(2));
            // moved past it, it is where the result is
            assertThat(all.hasNext()).isTrue();
            assertThat(result.next()).isTrue();
            assertThat(all.next()).isEqualTo(rows.get(4));
            assertThat(all.next()).isEqualTo(rows.get(5));
            assertThat(all.hasNext()).isFalse();
            assertThatThrownBy(all::next).isInstanceOf(NoSuchElementException.class);
        }
    }

    @Test
    void a_row_that_it_found_before_a_close_is_refused() {
        QueryResult result = run();
        Iterator<Map<String, @Nullable Object>> all = result.iterator();
        assertThat(all.hasNext()).isTrue();
        result.close();
        assertThatThrownBy(all::next).isInstanceOf(ClosedException.class);
        assertThat(flights.openCount).hasValue(0);
    }

    @Test
    void a_row_that_another_thread_has_moved_to_is_refused() {
        try (QueryResult result = run()) {
            Iterator<Map<String, @Nullable Object>> all = result.iterator();
            assertThat(all.hasNext()).isTrue();
            assertThatThrownBy(() -> CompletableFuture.supplyAsync(all::next)
                            .orTimeout(10, TimeUnit.SECONDS)
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("another thread has moved the result");
        }
    }
}
