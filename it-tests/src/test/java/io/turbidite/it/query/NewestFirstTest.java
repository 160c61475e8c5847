package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Order;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Rows newest first are the model's, by every way in: scan, B+-tree, index of kind pm; under every
 * strategy, in views that are older than the last writes, after flushes, merges and openings.
 */
class NewestFirstTest {
    private static final int KEYS = 200;
    private static final int USERS = 6;
    private static final int ROUNDS = Tier.count(4, 8, 200);

    @TempDir
    Path directory;

    private record Visit(long id, int user, int at, long written) {}

    private final Map<Long, Visit> model = new HashMap<>();
    private long written;

    private static StoreOptions options() {
        return StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
    }

    private static DatasetSpec spec(Maintenance maintenance, int partitions) {
        DatasetSpec spec = DatasetSpec.named("Visits")
                .field("id", "int64")
                .field("user", "string")
                .field("at", "int32?")
                .primaryKey("id")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .partitions(partitions)
                .index(IndexSpec.btree("by_both", "user", "at"));
        return maintenance == Maintenance.DEFERRED
                ? spec
                : spec.index(IndexSpec.pm("by_user", "user").withParameter("bytes", "64MiB"));
    }

    @ParameterizedTest
    @Timeout(120)
    @EnumSource(Maintenance.class)
    void rows_are_those_of_the_model_by_every_way_in(Maintenance maintenance) {
        SplittableRandom random = new SplittableRandom(Seeds.of("NewestFirstTest"));
        for (int opening = 0; opening < 2; opening++) {
            try (Store store = Store.open(directory, options())) {
                Dataset dataset = opening == 0
                        ? store.createDataset(spec(maintenance, 2))
                        : store.dataset("Visits");
                for (int round = 0; round < ROUNDS; round++) {
                    change(store, dataset, random);
                    Map<Long, Visit> then = Map.copyOf(model);
                    try (ReadView view = dataset.openView()) {
                        change(store, dataset, random);
                        if (random.nextInt(2) == 0) {
                            dataset.flush();
                            change(store, dataset, random);
                        }
                        check(view, then, random);
                    }
                    if (random.nextInt(3) == 0) {
                        dataset.mergeAll();
                    }
                }
                assertThat(store.verify().errors()).isEmpty();
            }
        }
    }

    private void change(Store store, Dataset dataset, SplittableRandom random) {
        for (int i = 0; i < 60; i++) {
            WriteBatch batch = store.newBatch();
            for (int in = random.nextInt(3); in >= 0; in--) {
                // each operation of a batch has a timestamp of its own
                written++;
                long id = random.nextInt(KEYS);
                if (random.nextInt(6) == 0) {
                    batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(id)));
                    model.remove(id);
                } else {
                    Visit visit = new Visit(id, random.nextInt(USERS), i, written);
                    batch.upsert(
                            dataset,
                            dataset.newRecordWriter()
                                    .write(Map.of(
                                            "id", id, "user", "user " + visit.user(), "at", i)));
                    model.put(id, visit);
                }
            }
            store.write(batch);
        }
    }

    private static void check(ReadView view, Map<Long, Visit> then, SplittableRandom random) {
        List<String> ways = new ArrayList<>(List.of("by_both"));
        view.indexes().stream()
                .filter(index -> index.name().equals("by_user"))
                .forEach(index -> ways.add(index.name()));
        for (int user = 0; user < USERS; user++) {
            int wanted = user;
            int limit = 1 + random.nextInt(2 * KEYS / USERS);
            List<Long> expected = newest(then, visit -> visit.user() == wanted, limit);
            assertThat(ids(ofUser(view, user).limit(limit))).isEqualTo(expected);
            assertThat(ids(ofUser(view, user).limit(limit).usingScan())).isEqualTo(expected);
            for (String way : ways) {
                assertThat(ids(ofUser(view, user).limit(limit).usingIndex(way)))
                        .as("by %s", way)
                        .isEqualTo(expected);
                int least = random.nextInt(60);
                assertThat(ids(ofUser(view, user)
                                .where(Predicates.range("at", least, null))
                                .limit(5)
                                .usingIndex(way)))
                        .as("by %s, some", way)
                        .isEqualTo(newest(
                                then, visit -> visit.user() == wanted && visit.at() >= least, 5));
                assertThat(ids(ofUser(view, user).usingIndex(way)))
                        .as("by %s, all", way)
                        .isEqualTo(newest(then, visit -> visit.user() == wanted, KEYS));
            }
        }
        checkOfEach(view, then, ways, random);
        assertThat(ids(Query.on(view).newestFirst().limit(7)))
                .isEqualTo(newest(then, visit -> true, 7));
        assertThat(ids(Query.on(view).orderBy("user").newestFirst()))
                .isEqualTo(then.values().stream()
                        .sorted(Comparator.comparingInt(Visit::user).thenComparing(byNewest()))
                        .map(Visit::id)
                        .toList());
    }

    /** Of a range of users, with a condition and without, with a limit and without. */
    private static void checkOfEach(
            ReadView view, Map<Long, Visit> then, List<String> ways, SplittableRandom random) {
        int from = random.nextInt(USERS);
        int to = from + random.nextInt(USERS - from);
        int each = 1 + random.nextInt(8);
        int limit = 1 + random.nextInt(3 * each);
        int least = random.nextInt(3) == 0 ? random.nextInt(60) : 0;
        List<Long> expected = new ArrayList<>();
        for (int user = from; user <= to; user++) {
            int wanted = user;
            expected.addAll(
                    newest(then, visit -> visit.user() == wanted && visit.at() >= least, each));
        }
        List<Long> few = expected.subList(0, Math.min(limit, expected.size()));
        for (String way : ways) {
            assertThat(ids(ofEach(view, from, to, least, each).usingIndex(way)))
                    .as("%d of each by %s", each, way)
                    .isEqualTo(expected);
            assertThat(ids(ofEach(view, from, to, least, each).limit(limit).usingIndex(way)))
                    .as("%d of each by %s, the first %d", each, way, limit)
                    .isEqualTo(few);
        }
        assertThat(ids(ofEach(view, from, to, least, each).limit(limit).usingScan()))
                .isEqualTo(few);
        assertThat(ids(ofEach(view, from, to, least, each))).isEqualTo(expected);
    }

    private static Query ofEach(ReadView view, int from, int to, int least, int each) {
        Query query = Query.on(view)
                .where(Predicates.range("user", "user " + from, "user " + to))
                .orderBy("user")
                .newestFirst(each);
        return least == 0 ? query : query.where(Predicates.range("at", least, null));
    }

    private static Query ofUser(ReadView view, int user) {
        return Query.on(view).where(Predicates.eq("user", "user " + user)).newestFirst();
    }

    private static Comparator<Visit> byNewest() {
        return Comparator.comparingLong((Visit visit) -> -visit.written())
                .thenComparingLong(Visit::id);
    }

    private static List<Long> newest(Map<Long, Visit> of, Predicate<Visit> which, int limit) {
        Stream<Visit> found = of.values().stream().filter(which);
        return found.sorted(byNewest()).limit(limit).map(Visit::id).toList();
    }

    private static List<Object> ids(Query query) {
        List<Object> ids = new ArrayList<>();
        try (QueryResult result = query.run()) {
            for (Map<String, @Nullable Object> row : result) {
                ids.add(Objects.requireNonNull(row.get("id")));
            }
        }
        return ids;
    }

    /** The view is older than the drop: what is planned now goes another way. */
    @Test
    void a_view_plans_no_index_that_was_dropped_since() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 2));
            for (long i = 0; i < 60; i++) {
                dataset.upsert(Map.of("id", i, "user", "user " + i % 2, "at", i));
            }
            dataset.flush();
            try (ReadView view = dataset.openView()) {
                Query asked = ofUser(view, 1).limit(3);
                dataset.dropIndex("by_user");
                assertThat(ids(asked)).containsExactly(59L, 57L, 55L);
                dataset.dropIndex("by_both");
                assertThat(ids(asked)).containsExactly(59L, 57L, 55L);
                assertThat(view.indexes()).isEmpty();
                dataset.createIndex(IndexSpec.pm("by_user", "user"));
                assertThat(view.indexes()).as("another of the same name").isEmpty();
                assertThat(ids(asked)).containsExactly(59L, 57L, 55L);
            }
        }
    }

    @Test
    void the_index_stops_at_the_limit_and_says_what_it_read() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 1));
            for (long i = 0; i < 5_000; i++) {
                dataset.upsert(Map.of("id", i, "user", "user " + i % 2, "at", i));
            }
            dataset.flush();
            Query query = Query.on(dataset)
                    .where(Predicates.eq("user", "user 1"))
                    .newestFirst()
                    .limit(10);
            try (QueryResult result = query.run()) {
                assertThat(result.toList()).hasSize(10);
                String explained = result.explain().toString();
                assertThat(explained)
                        .contains("index by_user, newest first, then fetch")
                        .contains("by_user (pm) on user, newest first; 1 group")
                        .contains("0 of them stale")
                        .containsPattern("[1-4] blocks of 256 bytes");
            }
            for (long i = 4_991; i < 5_000; i += 2) {
                dataset.upsert(Map.of("id", i, "user", "user 0", "at", i));
            }
            assertThat(ids(query)).hasSize(10).startsWith(4_989L).endsWith(4_971L);
            dataset.flush();
            assertThat(ids(query)).hasSize(10).startsWith(4_989L).endsWith(4_971L);
        }
    }

    /** All users, one after the other, in one order over both partitions; at a limit it ends. */
    @Test
    void the_newest_of_each_key_of_all() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 2));
            for (long i = 0; i < 6_000; i++) {
                written++;
                model.put(i % 3_000, new Visit(i % 3_000, (int) (i % 10), (int) i, written));
                dataset.upsert(Map.of("id", i % 3_000, "user", "user " + i % 10, "at", i));
            }
            dataset.flush();
            List<Long> expected = new ArrayList<>();
            for (int user = 0; user < 10; user++) {
                int wanted = user;
                expected.addAll(newest(model, visit -> visit.user() == wanted, 3));
            }
            Query all = Query.on(dataset).orderBy("user").newestFirst(3).select("id", "user");
            try (QueryResult result = all.run()) {
                assertThat(result.toList())
                        .extracting(row -> row.get("id"))
                        .containsExactlyElementsOf(expected);
                assertThat(result.explain().toString())
                        .contains("index by_user, newest of each, then fetch")
                        .contains("order")
                        .contains("user, the newest 3 of each");
            }
            try (QueryResult result = Query.on(dataset)
                    .orderBy("user")
                    .newestFirst(3)
                    .limit(4)
                    .usingIndex("by_user")
                    .run()) {
                assertThat(result.toList())
                        .extracting(row -> row.get("id"))
                        .containsExactlyElementsOf(expected.subList(0, 4));
                assertThat(result.explain().toString())
                        .as("two keys were read")
                        .containsPattern("fetch +\\d+ +6 ");
            }
            assertThatThrownBy(() -> Query.on(dataset).newestFirst(0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("at least 1");
            assertThatThrownBy(() -> Query.on(dataset)
                            .groupBy("user")
                            .orderBy("user")
                            .newestFirst(2)
                            .run())
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void of_one_batch_the_later_record_is_the_newer() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 1));
            WriteBatch batch = store.newBatch();
            for (long i = 0; i < 20; i++) {
                batch.upsert(
                        dataset,
                        dataset.newRecordWriter()
                                .write(Map.of("id", i, "user", "a", "at", 100 - i)));
            }
            store.write(batch);
            for (int round = 0; round < 2; round++) {
                assertThat(ids(Query.on(dataset).orderBy("user").newestFirst(2).orderBy("at")))
                        .containsExactly(19L, 18L);
                assertThat(ids(Query.on(dataset).orderBy("user").newestFirst(Integer.MAX_VALUE)))
                        .hasSize(20)
                        .startsWith(19L, 18L);
                dataset.flush();
            }
        }
    }

    /** Null is a key like others, the lowest. */
    @Test
    void the_newest_without_a_value_are_those_of_a_key_too() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Lines")
                    .field("id", "int64")
                    .field("line", "double?")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_line", "line").withParameter("bytes", "64MiB")));
            for (long i = 0; i < 20; i++) {
                dataset.upsert(i % 4 == 0 ? Map.of("id", i) : Map.of("id", i, "line", i % 4 - 2.0));
            }
            List<Object> byScan =
                    ids(Query.on(dataset).orderBy("line").newestFirst(2).usingScan());
            assertThat(byScan).containsExactly(16L, 12L, 17L, 13L, 18L, 14L, 19L, 15L);
            assertThat(ids(Query.on(dataset).orderBy("line").newestFirst(2))).isEqualTo(byScan);
            dataset.flush();
            assertThat(ids(Query.on(dataset).orderBy("line").newestFirst(2))).isEqualTo(byScan);
        }
    }

    /** A cache of a seventh: the records' pages are read, and workers share the few keys. */
    @Test
    @Timeout(120)
    void the_newest_records_are_read_by_several_workers() {
        StoreOptions small = options().withCacheBytes(1 << 20).withWriteMemoryBytes(1 << 20);
        try (ThreadTasks lookups = ThreadTasks.create("lookups");
                Store store = Store.open(directory, small)) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 1));
            String padding = "x".repeat(500);
            SplittableRandom random = new SplittableRandom(Seeds.of("NewestFirstTest.workers"));
            for (int i = 0; i < 20_000; i++) {
                written++;
                long id = random.nextInt(20_000);
                Visit visit = new Visit(id, random.nextInt(400), i, written);
                dataset.upsert(Map.of(
                        "id", id, "user", "user " + visit.user(), "at", i, "padding", padding));
                model.put(id, visit);
            }
            dataset.flush();
            RunOptions workers = RunOptions.defaults().withTasks(lookups).withLookupWorkers(3);
            try (ReadView view = dataset.openView()) {
                for (int user = 0; user < 400; user++) {
                    int wanted = user;
                    assertThat(ids(ofUser(view, user)
                                    .limit(10)
                                    .usingIndex("by_user")
                                    .with(workers)))
                            .isEqualTo(newest(model, visit -> visit.user() == wanted, 10));
                }
                assertThat(view.missShare()).isGreaterThan(0.25);
                try (QueryResult result = ofUser(view, 7)
                        .limit(10)
                        .usingIndex("by_user")
                        .with(workers)
                        .run()) {
                    assertThat(result.toList()).hasSize(10);
                    // a long detail is wrapped
                    assertThat(result.explain().toString().replaceAll("\\s+", " "))
                            .contains("3 workers beside")
                            .containsPattern("on \\d+ pages, \\d+ of them read");
                }
            }
        }
    }

    @Test
    void it_is_refused_where_it_has_no_meaning() {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(spec(Maintenance.VALIDATION, 1));
            assertThatThrownBy(() -> Query.on(dataset).newestFirst().count().run())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("nothing to order");
            assertThatThrownBy(() -> Query.on(dataset)
                            .newestFirst()
                            .aggregate(Aggregate.max("at"))
                            .run())
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() ->
                            Query.on(dataset).groupBy("user").newestFirst().run())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("groups have no version");
            assertThatThrownBy(() -> Query.on(dataset).newestFirst().newestFirst())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("once");
            dataset.upsert(Map.of("id", 1L, "user", "a"));
            assertThat(ids(Query.on(dataset)
                            .where(Predicates.eq("id", 1))
                            .newestFirst()
                            .orderBy("at", Order.DESC)))
                    .containsExactly(1L);
        }
    }
}
