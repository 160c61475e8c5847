package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.Point;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.fetch.FetchedRecords;
import io.turbidite.ops.fetch.LookupMeter;
import io.turbidite.ops.fetch.NearestRecords;
import io.turbidite.ops.fetch.NewestOfEach;
import io.turbidite.ops.fetch.NewestRecords;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.SearchMeter;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

/** Ways in that give nothing for long look for a stop after each thousand entries and records. */
class StoppedWaysTest {
    private static final int RECORDS = 12_000;
    private static final int STOPPED_AT = 2_500;

    /** What may still be looked at: up to the next look, and of each partition's cursor one. */
    private static final int BEHIND_MAX = 1_024 + 8;

    private final MemorySource flights = new MemorySource(
            Flights.TYPE,
            List.of("id"),
            List.of(),
            List.of(
                    new IndexDescription(
                            "by_place",
                            IndexDescription.Kind.RTREE,
                            List.of("place"),
                            true,
                            KeyForm.CURRENT,
                            true,
                            Map.of()),
                    new IndexDescription(
                            "by_tail", IndexDescription.Kind.BTREE, List.of("tail"), true)),
            3);

    private boolean stops;
    private int done;

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    /** @param keys the records have so many tails */
    private void fill(int keys) {
        for (long id = 0; id < RECORDS; id++) {
            flights.upsert(Flights.flight(id, "place", new Point(id, 0), "tail", "N" + id % keys));
        }
    }

    private void oneMore() {
        done++;
        stops |= done >= STOPPED_AT;
    }

    private void throwIfStopped() {
        if (stops) {
            throw new CancellationException("for the test");
        }
    }

    private void checkStops(Query query) {
        query.explain(); // how many values there are is known from now on
        flights.onMove = this::oneMore;
        try (QueryResult rows =
                query.with(RunOptions.defaults().withStop(() -> stops)).run()) {
            assertThatThrownBy(rows::next).isInstanceOf(CancellationException.class);
        }
        assertThat(done).isBetween(STOPPED_AT, STOPPED_AT + BEHIND_MAX);
    }

    private Query nearest(long limit) {
        return Query.on(flights)
                .near("place", 0, 0)
                .where(Predicates.eq("name", "of none"))
                .limit(limit)
                .usingIndex("by_place");
    }

    @Test
    void the_nearest_of_which_none_match() {
        fill(1);
        checkStops(nearest(10));
    }

    @Test
    void the_nearest_whose_first_batch_is_large() {
        fill(1);
        checkStops(nearest(RECORDS));
    }

    @Test
    void entries_of_which_none_is_wanted() {
        fill(1);
        checkStops(Query.on(flights)
                .where(Predicates.eq("tail", "N0"))
                .where(Predicates.range("id", RECORDS, 2 * RECORDS))
                .count()
                .usingIndex("by_tail"));
    }

    @Test
    void entries_that_are_stepped_over_are_all_counted() {
        fill(2);
        try (QueryResult rows = Query.on(flights)
                .where(Predicates.eq("tail", "N1"))
                .where(Predicates.range("id", 0, 5_000))
                .count()
                .usingIndex("by_tail")
                .run()) {
            assertThat(rows.explain().access()).isEqualTo("index by_tail only");
            assertThat(rows.count()).isEqualTo(2_500);
        }
    }

    private void checkStops(RecordStream records) {
        assertThatThrownBy(records::next).isInstanceOf(CancellationException.class);
        assertThat(done).isBetween(STOPPED_AT, STOPPED_AT + BEHIND_MAX);
    }

    private RecordPredicate[] none() {
        return new RecordPredicate[] {
            _ -> {
                oneMore();
                return false;
            }
        };
    }

    private IndexRange byTail(ReadView view, IndexSearch search) {
        IndexDescription byTail = view.indexes().stream()
                .filter(index -> index.name().equals("by_tail"))
                .findFirst()
                .orElseThrow();
        return new IndexRange(byTail, search, FilterPredicate.none(), List.of(), true);
    }

    private static FetchedRecords.Lookup lookup() {
        return new FetchedRecords.Lookup(4 << 20, 10, FetchOptions.defaults(), null, 0);
    }

    private static NearestRecords.Meters meters() {
        return new NearestRecords.Meters(
                new OperatorMeter(), new SearchMeter(), new OperatorMeter(), new LookupMeter());
    }

    private NewestRecords newest(ReadView view, NewestRecords.Wanted wanted) {
        return new NewestRecords(
                view,
                List.of(0, 1, 2),
                byTail(view, KeyRange.all()),
                wanted,
                lookup(),
                meters(),
                new StopLooks(this::throwIfStopped));
    }

    @Test
    void the_newest_of_which_none_match() {
        fill(1);
        try (ReadView view = flights.openView();
                NewestRecords records = newest(view, new NewestRecords.Wanted(10, none()))) {
            checkStops(records);
        }
    }

    @Test
    void the_newest_whose_first_batch_is_large() {
        fill(1);
        try (ReadView view = flights.openView();
                NewestRecords records =
                        newest(view, new NewestRecords.Wanted(RECORDS, new RecordPredicate[0]))) {
            flights.onMove = this::oneMore;
            checkStops(records);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 3_000})
    void the_newest_of_each_of_which_none_match(int keys) {
        fill(keys);
        try (ReadView view = flights.openView();
                NewestOfEach records = new NewestOfEach(
                        view,
                        List.of(0, 1, 2),
                        byTail(view, KeyRange.all()),
                        new NewestRecords.Wanted(1, none()),
                        10,
                        lookup(),
                        meters(),
                        new StopLooks(this::throwIfStopped))) {
            checkStops(records);
        }
    }
}
