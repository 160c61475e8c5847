package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How several indexes are asked together: what explain says, what it takes, and when it pays. */
class IndexesTogetherTest {
    private static final int RECORDS = 20_000;

    @TempDir
    private Path directory = Path.of("");

    private List<Store> stores = List.of();

    @BeforeEach
    void load() {
        Store store = Store.open(
                directory.resolve("store"),
                StoreOptions.defaults().withDurability(Durability.BUFFERED));
        stores = List.of(store);
        Dataset dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("place", "point")
                .field("text", "string")
                .field("a", "int32")
                .field("b", "int32")
                .field("c", "int32")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_text", "text"))
                .index(IndexSpec.btree("by_a", "a"))
                .index(IndexSpec.btree("by_b", "b"))
                .index(IndexSpec.btree("by_c", "c")));
        for (int id = 0; id < RECORDS; id++) {
            dataset.upsert(Map.of(
                    "id",
                    (long) id,
                    "place",
                    new Point(id % 100, id / 100 % 100),
                    "text",
                    "w" + id % 50 + " all",
                    "a",
                    id * 31 % RECORDS,
                    "b",
                    id * 17 % RECORDS,
                    "c",
                    id * 31 % RECORDS));
        }
        dataset.flush();
    }

    @AfterEach
    void close() {
        stores.forEach(Store::close);
    }

    private Query query() {
        return Query.on(stores.getFirst().dataset("T"));
    }

    private static Explanation run(Query query) {
        try (QueryResult result = query.run()) {
            result.count();
            return result.explain();
        }
    }

    private static long actual(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .findFirst()
                .orElseThrow()
                .actualRows()
                .orElseThrow();
    }

    private static Explanation.Operator search(Explanation explanation, String index) {
        return explanation.operators().stream()
                .filter(step -> step.detail().startsWith(index + " "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void explain_shows_the_candidates_of_each_index_and_what_is_left() {
        Explanation explanation = run(query().where(Predicates.within("place", 0, 0, 9, 9))
                .where(Predicates.range("a", 0, 399)));
        assertThat(explanation.access()).isEqualTo("indexes by_place and by_a, then fetch");
        assertThat(search(explanation, "by_place").actualRows()).hasValue(200);
        assertThat(search(explanation, "by_a").actualRows()).hasValue(400);
        assertThat(search(explanation, "by_a").estimatedRows()).isPresent();
        long left = actual(explanation, "intersect");
        assertThat(left).isBetween(1L, 20L).isEqualTo(actual(explanation, "fetch"));
        assertThat(explanation.considered())
                .extracting(Explanation.Choice::access)
                .contains("index by_place, then fetch", "index by_a, then fetch", "primary scan");
    }

    @Test
    void an_index_joins_only_while_it_costs_less_than_the_fetches_it_saves() {
        Explanation one = run(query().where(Predicates.range("a", 0, 3))
                .where(Predicates.range("b", 0, RECORDS / 2)));
        assertThat(one.access()).isEqualTo("index by_a, then fetch");
        Explanation both = run(
                query().where(Predicates.range("a", 0, 299)).where(Predicates.range("b", 0, 299)));
        assertThat(both.access()).isEqualTo("indexes by_a and by_b, then fetch");
    }

    @Test
    void indexes_in_key_order_leap() {
        Explanation explanation = run(query().where(Predicates.eq("a", 31 * 77))
                .where(Predicates.contains("text", "all"))
                .usingIndexes("by_a", "by_text"));
        assertThat(actual(explanation, "intersect")).isEqualTo(1);
        assertThat(search(explanation, "by_text").actualRows().orElseThrow()).isLessThan(20);
    }

    @Test
    void a_word_with_few_entries_does_not_leap_but_says_which_candidates_to_sort() {
        Explanation few = run(query().where(Predicates.within("place", 0, 0, 9, 9))
                .where(Predicates.contains("text", "w7"))
                .usingIndexes("by_place", "by_text"));
        assertThat(search(few, "by_place").actualRows()).hasValue(200);
        assertThat(actual(few, "intersect")).isEqualTo(20);
        assertThat(sortedCount(few)).isBetween(40L, 80L);
        Explanation many = run(query().where(Predicates.within("place", 0, 0, 9, 9))
                .where(Predicates.contains("text", "all"))
                .usingIndexes("by_place", "by_text"));
        assertThat(sortedCount(many)).as("a word in all texts leaps").isEqualTo(200);
    }

    private static long sortedCount(Explanation explanation) {
        String detail = explanation.operators().stream()
                .filter(step -> step.name().equals("intersect"))
                .findFirst()
                .orElseThrow()
                .detail();
        Matcher sorted = Pattern.compile("; (\\d+) entries sorted").matcher(detail);
        assertThat(sorted.find()).as(detail).isTrue();
        return Long.parseLong(sorted.group(1));
    }

    @Test
    void cells_and_counts_need_no_record() {
        Query asked = query().where(Predicates.within("place", 0, 0, 9, 9))
                .where(Predicates.contains("text", "w7"))
                .groupByCell("place", 5, 5)
                .with(RunOptions.defaults().withSpill(new SimDisk(1, Profile.STRICT), "spill"))
                .usingIndexes("by_place", "by_text");
        Explanation explanation = run(asked);
        assertThat(explanation.access())
                .contains("by_place", "by_text", "only, validated by timestamp");
        assertThat(explanation.operators()).extracting("name").doesNotContain("fetch");
    }

    @Test
    void with_little_memory_and_nowhere_to_spill_one_index_is_asked() {
        Query asked = Query.on(new SourceWithoutMeans(stores.getFirst().dataset("T")))
                .where(Predicates.range("a", 0, 5_000))
                .where(Predicates.range("b", 0, 5_000))
                .usingIndexes("by_a", "by_b");
        long all;
        try (QueryResult result = asked.run()) {
            all = result.count();
        }
        assertThat(all).isGreaterThan(100);
        RunOptions little = RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN);
        try (QueryResult result = asked.with(little).run()) {
            assertThat(result.count()).isEqualTo(all);
            assertThat(actual(result.explain(), "fetch")).isGreaterThan(5_000);
        }
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (QueryResult result = asked.with(little.withSpill(disk, "spill")).run()) {
            assertThat(result.count()).isEqualTo(all);
            assertThat(disk.exists("spill")).as("spilled").isTrue();
            assertThat(actual(result.explain(), "fetch")).isEqualTo(all);
        }
        assertThat(disk.list("spill")).isEmpty();
    }

    @Test
    void indexes_that_do_not_go_with_the_query_are_named() {
        Query asked = query().where(Predicates.range("a", 0, 5));
        assertThatThrownBy(() -> asked.usingIndexes("by_a", "by_b").run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("one of the indexes by_a and by_b");
        assertThatThrownBy(() -> asked.usingIndexes("by_a", "by_d").run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no index 'by_d'");
    }

    @Test
    void a_candidate_that_another_index_lacks_makes_no_garbage() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long few = 0;
        long many = 0;
        for (int i = 0; i < 20; i++) {
            // the last ones count, when code is compiled
            few = allocated(threads, 500);
            many = allocated(threads, 9_500);
        }
        double each = (many - few) / 18_000.0;
        assertThat(each).as("bytes of heap a candidate").isLessThan(4);
    }

    private long allocated(ThreadMXBean threads, int width) {
        Query asked = query().where(Predicates.range("a", 0, width - 1))
                .where(Predicates.range("c", RECORDS - width, RECORDS - 1))
                .with(RunOptions.defaults().withSpill(new SimDisk(1, Profile.STRICT), "spill"))
                .usingIndexes("by_a", "by_c")
                .count();
        long thread = Thread.currentThread().threadId();
        long before = threads.getThreadAllocatedBytes(thread);
        try (QueryResult result = asked.run()) {
            assertThat(result.next()).isTrue();
            assertThat(result.map()).containsEntry("count", 0L);
        }
        return threads.getThreadAllocatedBytes(thread) - before;
    }
}
