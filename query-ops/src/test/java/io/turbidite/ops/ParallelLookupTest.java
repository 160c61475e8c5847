package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.RecordType;
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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Records that are found by a secondary index and looked up by several workers. */
class ParallelLookupTest {
    private static final int ROWS = 6_000;

    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("user", "string")
            .field("text", "string")
            .build();

    private final MemorySource source = new MemorySource(
            TYPE,
            List.of("id"),
            List.of(),
            List.of(new IndexDescription(
                    "by_user", IndexDescription.Kind.BTREE, List.of("user"), false)),
            1);

    @BeforeEach
    void fill() {
        for (long id = 0; id < ROWS; id++) {
            put(id, "ann", "first");
        }
        // the index keeps entries of the past: every third candidate will be rejected
        for (long id = 0; id < ROWS; id += 3) {
            put(id, "bob", "second");
        }
    }

    @AfterEach
    void nothing_is_left_open() {
        assertThat(source.openCount).hasValue(0);
    }

    private void put(long id, String user, String text) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("id", id);
        row.put("user", user);
        row.put("text", text);
        source.upsert(row);
    }

    private Query ann() {
        return Query.on(source).where(Predicates.eq("user", "ann")).usingIndex("by_user");
    }

    private Query cid() {
        return Query.on(source).where(Predicates.eq("user", "cid")).usingIndex("by_user");
    }

    private static RunOptions with(Tasks tasks, int workers) {
        return RunOptions.defaults().withTasks(tasks).withLookupWorkers(workers);
    }

    @Test
    void rows_come_in_the_same_order_whoever_was_faster() {
        List<Map<String, @Nullable Object>> once = null;
        for (long seed = 1; seed <= 5; seed++) {
            Tasks tasks = new SimTasks(seed, new SimClock());
            List<Map<String, @Nullable Object>> rows =
                    ann().with(with(tasks, 3)).run().toList();
            assertThat(rows).hasSize(ROWS - ROWS / 3).doesNotHaveDuplicates();
            assertThat(rows).allSatisfy(row -> assertThat(row).containsEntry("text", "first"));
            assertThat(once == null || once.equals(rows)).isTrue();
            once = rows;
        }
        List<Map<String, @Nullable Object>> alone =
                ann().with(RunOptions.defaults().withLookupWorkers(0)).run().toList();
        assertThat(alone).containsExactlyInAnyOrderElementsOf(once);
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test")) {
            assertThat(ann().with(with(tasks, 3)).run().toList()).isEqualTo(once);
        }
    }

    /** Ten keys on ten pages wait for ten reads: by one thread one after the other. */
    @Test
    void few_keys_are_shared_where_pages_are_read() {
        for (long id = 0; id < 20; id++) {
            put(100 * id, "cid", "third");
        }
        RunOptions shared = with(new SimTasks(7, new SimClock()), 3);
        source.fetchCount.set(0);
        List<Map<String, @Nullable Object>> rows = cid().with(shared).run().toList();
        assertThat(rows).hasSize(20);
        int alone = source.fetchCount.getAndSet(0);
        source.missShare = 0.5;
        assertThat(cid().with(shared).run().toList()).containsExactlyInAnyOrderElementsOf(rows);
        assertThat(source.fetchCount.getAndSet(0)).isGreaterThanOrEqualTo(16 + alone - 1);
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test")) {
            for (int i = 0; i < 50; i++) {
                assertThat(cid().limit(1 + i % 20).with(with(tasks, 3)).run().toList())
                        .hasSize(1 + i % 20)
                        .doesNotHaveDuplicates();
            }
        }
        source.missShare = 0.1;
        source.fetchCount.set(0);
        assertThat(cid().with(shared).run().toList()).containsExactlyInAnyOrderElementsOf(rows);
        assertThat(source.fetchCount).hasValue(alone);
    }

    /** They spoilt each other's rows where an index had one queue for all (research 2.5.3). */
    @Test
    void two_queries_at_once_share_workers_and_no_row() {
        List<Map<String, @Nullable Object>> wanted = ann().run().toList();
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test");
                QueryResult first = ann().with(with(tasks, 3)).run();
                QueryResult second = ann().with(with(tasks, 3)).run()) {
            List<Map<String, @Nullable Object>> ofFirst = new ArrayList<>();
            List<Map<String, @Nullable Object>> ofSecond = new ArrayList<>();
            boolean isMore = true;
            while (isMore) {
                isMore = take(first, 7, ofFirst);
                isMore |= take(second, 11, ofSecond);
            }
            assertThat(ofFirst).containsExactlyInAnyOrderElementsOf(wanted);
            assertThat(ofSecond).isEqualTo(ofFirst);
        }
    }

    private static boolean take(
            QueryResult rows, int count, List<Map<String, @Nullable Object>> into) {
        for (int i = 0; i < count; i++) {
            if (!rows.next()) {
                return false;
            }
            into.add(rows.map());
        }
        return true;
    }

    @Test
    void a_limit_is_filled_although_candidates_are_rejected() {
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test")) {
            for (int limit : new int[] {1, 500, 1_000, 2_500, ROWS - ROWS / 3, ROWS}) {
                assertThat(ann().limit(limit).with(with(tasks, 3)).run().count())
                        .isEqualTo(Math.min(limit, ROWS - ROWS / 3));
            }
        }
    }

    @Test
    void an_error_in_a_worker_reaches_the_reader_and_leaves_nothing_open() {
        for (long seed = 1; seed <= 5; seed++) {
            Tasks tasks = new SimTasks(seed, new SimClock());
            source.failAfterMoves = source.moveCount.get() + ROWS + 2_000;
            assertThatThrownBy(() -> ann().with(with(tasks, 2)).run().count())
                    .isInstanceOf(CorruptionException.class);
            assertThat(source.openCount).hasValue(0);
        }
        source.failAfterMoves = Integer.MAX_VALUE;
    }

    /** It read in its constructor, and nobody had it then to close it. */
    @Test
    void a_search_for_keys_that_fails_at_once_leaves_nothing_open() {
        try (ReadView view = source.openView()) {
            NewestOfEach records = new NewestOfEach(
                    view,
                    List.of(0),
                    new IndexRange(
                            view.indexes().getFirst(),
                            KeyRange.all(),
                            FilterPredicate.none(),
                            List.of(),
                            true),
                    new NewestRecords.Wanted(1, new RecordPredicate[0]),
                    Long.MAX_VALUE,
                    new FetchedRecords.Lookup(1 << 16, 1, FetchOptions.defaults(), null, 0),
                    new NearestRecords.Meters(
                            new OperatorMeter(),
                            new SearchMeter(),
                            new OperatorMeter(),
                            new LookupMeter()),
                    new StopLooks(() -> {}));
            source.failAfterMoves = source.moveCount.get();
            assertThatThrownBy(records::next).isInstanceOf(CorruptionException.class);
            records.close();
            source.failAfterMoves = Integer.MAX_VALUE;
            assertThat(source.openCount).as("the view alone").hasValue(1);
        }
    }

    /** The reader would wait for ever for the slice of a worker that has died. */
    @Test
    @Timeout(60)
    void a_worker_without_memory_fails_the_query() {
        source.hasMemory = Thread.currentThread();
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test", (_, _) -> {})) {
            assertThatThrownBy(() -> {
                        // a reader who is fast enough leaves nothing to the workers
                        for (int i = 0; i < 1_000; i++) {
                            ann().with(with(tasks, 3)).run().toList();
                        }
                    })
                    .isInstanceOf(OutOfMemoryError.class);
        }
        source.hasMemory = null;
    }

    @Test
    void a_reader_who_stops_in_the_middle_leaves_nothing_open() {
        try (ThreadTasks tasks = ThreadTasks.create("lookup-test");
                QueryResult result = ann().with(with(tasks, 3)).run()) {
            var rows = result.iterator();
            for (int i = 0; i < 700; i++) {
                rows.next();
            }
        }
    }

    @Test
    void explain_says_who_looks_up_and_how() {
        Tasks tasks = new SimTasks(1, new SimClock());
        assertThat(ann().with(with(tasks, 2)).explain().toString())
                .contains(
                        "KiB of keys at a time",
                        "up to 2 workers",
                        "older than the candidate or checked for it");
        assertThat(ann().explain().toString()).doesNotContain("workers");
    }
}
