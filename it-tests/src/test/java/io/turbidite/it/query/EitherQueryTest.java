package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Conditions with "or", each term by its own index: the answers are those of a scan. */
class EitherQueryTest {
    private static final int RECORDS = 600;
    private static final String EACH = "each of ";

    @TempDir
    private Path directory = Path.of("");

    private Store open(String name) {
        return Store.open(
                directory.resolve(name),
                StoreOptions.defaults().withDurability(Durability.BUFFERED));
    }

    private static Dataset dataset(Store store, Maintenance maintenance, int partitions) {
        return store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("a", "int32?")
                .field("b", "string")
                .field("n", "int32")
                .field("place", "point?")
                .field("text", "string")
                .primaryKey("id")
                .partitions(partitions)
                .filter("n")
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .maintenance(maintenance)
                .index(IndexSpec.btree("by_a", "a"))
                .index(IndexSpec.btree("by_b", "b", "n"))
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_text", "text")));
    }

    private static void fill(Dataset dataset, SplittableRandom random) {
        for (int i = 0; i < 3 * RECORDS; i++) {
            long id = random.nextInt(RECORDS);
            if (random.nextInt(8) == 0) {
                dataset.delete(id);
                continue;
            }
            Map<String, @Nullable Object> record = new HashMap<>();
            record.put("id", id);
            record.put("a", random.nextInt(5) == 0 ? null : random.nextInt(40));
            record.put("b", "b" + random.nextInt(12));
            record.put("n", i);
            record.put(
                    "place",
                    random.nextInt(6) == 0
                            ? null
                            : new Point(random.nextInt(20), random.nextInt(20)));
            record.put("text", "w" + random.nextInt(10) + " w" + random.nextInt(10));
            dataset.upsert(record);
            if (random.nextInt(300) == 0) {
                dataset.flush();
            }
        }
    }

    private static String term(SplittableRandom random) {
        int a = random.nextInt(40);
        int n = random.nextInt(3 * RECORDS);
        return switch (random.nextInt(9)) {
            case 0, 1 -> "a = " + a;
            case 2 -> "a >= %d and a < %d".formatted(a, a + 4);
            case 3 -> "b = 'b%d'".formatted(random.nextInt(12));
            case 4 -> "b = 'b%d' and n > %d".formatted(random.nextInt(12), n);
            case 5 -> "id = " + random.nextInt(RECORDS + 5);
            case 6 -> "id >= %d and id < %d".formatted(a * 10, a * 10 + 7);
            case 7 ->
                "within(place, %d, %d, %d, %d)".formatted(a % 20, a / 2, a % 20 + 3, a / 2 + 3);
            default -> "contains(text, 'w%d')".formatted(random.nextInt(10));
        };
    }

    private static String condition(SplittableRandom random) {
        List<String> terms = new ArrayList<>();
        for (int i = 2 + random.nextInt(4); i > 0; i--) {
            String term = term(random);
            terms.add(
                    random.nextInt(4) == 0
                            ? "(%s) and (%s or a = %d)"
                                    .formatted(term, term(random), random.nextInt(40))
                            : term);
        }
        return String.join(" or ", terms);
    }

    private static List<Long> ids(Query query) {
        try (QueryResult result = query.run()) {
            List<Long> ids = new ArrayList<>();
            result.forEach(row -> ids.add((Long) row.get("id")));
            return ids;
        }
    }

    private static List<Map<String, @Nullable Object>> rows(Query query) {
        try (QueryResult result = query.run()) {
            return result.toList();
        }
    }

    private static List<Long> sorted(List<Long> ids) {
        return ids.stream().sorted(Comparator.naturalOrder()).toList();
    }

    private static Explanation explanation(Query query) {
        try (QueryResult result = query.run()) {
            result.count();
            return result.explain();
        }
    }

    /** The names of the ways by which terms may be read. */
    private static List<String> ways(Query query) {
        return explanation(query).considered().stream()
                .map(Explanation.Choice::access)
                .filter(access -> access.startsWith(EACH))
                .map(access -> access.replaceAll(EACH + ".* terms by ", ""))
                .toList();
    }

    @Test
    void every_way_gives_each_record_once() {
        String test = "EitherQueryTest#every_way_gives_each_record_once";
        long first = Seeds.of(test);
        int storeCount = 0;
        int wayCount = 0;
        int found = 0;
        for (Maintenance maintenance : Maintenance.values()) {
            int partitions = 1 + storeCount % 3;
            long seed = Seeds.mix(first, storeCount++);
            SplittableRandom random = new SplittableRandom(seed);
            try (Store store = open(maintenance + "-" + partitions)) {
                Dataset dataset = dataset(store, maintenance, partitions);
                fill(dataset, random);
                for (int i = 0; i < Tier.count(8, 100, 2_000); i++) {
                    String condition = condition(random);
                    int keyBatchBytes = random.nextBoolean() ? 4 << 10 : 1 << 20;
                    String other =
                            random.nextInt(3) == 0 ? "n >= " + random.nextInt(RECORDS) : "n >= 0";
                    Supplier<Query> asked = () -> Query.on(dataset)
                            .where(condition)
                            .where(other)
                            .with(RunOptions.defaults().withKeyBatchBytes(keyBatchBytes));
                    List<Long> all = sorted(ids(asked.get().usingScan()));
                    String name = "%s, %s, %s%n%s"
                            .formatted(maintenance, condition, other, Seeds.replay(test, first));
                    assertThat(sorted(ids(asked.get()))).as(name).isEqualTo(all);
                    for (String way : ways(asked.get())) {
                        assertThat(sorted(ids(asked.get().usingIndex(way))))
                                .as(way + ": " + name)
                                .isEqualTo(all);
                        wayCount++;
                        found += all.size();
                    }
                }
            }
        }
        assertThat(wayCount).as("ways").isGreaterThan(100);
        assertThat(found).as("records").isGreaterThan(1_000);
    }

    @Test
    void counts_groups_orders_and_limits_are_those_of_a_scan() {
        try (Store store = open("shapes")) {
            Dataset dataset = dataset(store, Maintenance.VALIDATION, 2);
            fill(dataset, new SplittableRandom(7));
            Supplier<Query> asked = () -> Query.on(dataset).where("a = 3 or b = 'b4' or id = 9");
            String way = "by_a or by_b or primary";
            assertThat(ways(asked.get())).containsExactly(way);
            List<UnaryOperator<Query>> shapes = List.of(
                    Query::count,
                    query -> query.groupBy("b").orderBy("b"),
                    query -> query.orderBy("id").limit(7));
            for (UnaryOperator<Query> shape : shapes) {
                List<?> all = rows(shape.apply(asked.get()).usingScan());
                assertThat(rows(shape.apply(asked.get()).usingIndex(way)))
                        .isNotEmpty()
                        .isEqualTo(all);
            }
            assertThat(ids(asked.get().limit(5).usingIndex(way)))
                    .hasSize(5)
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void a_few_keys_are_got_without_what_lies_between() {
        try (Store store = open("keys")) {
            Dataset dataset = dataset(store, Maintenance.EAGER, 1);
            fill(dataset, new SplittableRandom(8));
            Explanation explanation = explanation(
                    Query.on(dataset).where("id = 1 or id = 2 or id = " + (RECORDS - 1)));
            assertThat(explanation.access()).isEqualTo("each of 3 terms by primary");
            assertThat(explanation.operators().getLast().actualRows().orElseThrow())
                    .isLessThanOrEqualTo(3);
            assertThat(explanation.operators().getLast().detail())
                    .contains("3 ranges of the primary key");
        }
    }

    @Test
    void a_term_that_bounds_nothing_leaves_the_scan() {
        try (Store store = open("open")) {
            Dataset dataset = dataset(store, Maintenance.EAGER, 1);
            fill(dataset, new SplittableRandom(9));
            Query asked = Query.on(dataset).where("a = 3 or text != 'x'");
            assertThat(explanation(asked).access()).isEqualTo("primary scan");
            assertThatThrownBy(() -> asked.usingIndex("by_a or by_text").run())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("by_a or by_text");
            assertThatThrownBy(() -> asked.usingIndex("by_a or by_z").run())
                    .hasMessageContaining("no index 'by_z'");
        }
    }

    @Test
    void a_value_that_is_there_as_two_classes_is_one_term() {
        try (Store store = open("classes")) {
            Dataset dataset = dataset(store, Maintenance.EAGER, 1);
            fill(dataset, new SplittableRandom(10));
            for (String field : List.of("id", "n")) {
                PreparedQuery prepared = Query.on(dataset)
                        .where("%1$s = 5 or %1$s = :a or %1$s = 590".formatted(field))
                        .prepare();
                try (QueryResult rows = prepared.run(5);
                        QueryResult scanned = Query.on(dataset)
                                .where("%1$s = 5 or %1$s = 590".formatted(field))
                                .usingScan()
                                .run()) {
                    assertThat(rows.count()).as(field).isEqualTo(scanned.count());
                }
            }
        }
    }

    @Test
    void a_function_sees_no_record_that_another_condition_refuses() {
        try (Store store = open("functions")) {
            Dataset dataset = dataset(store, Maintenance.EAGER, 1);
            for (int id = 0; id < RECORDS; id++) {
                dataset.upsert(
                        Map.of("id", (long) id, "a", id, "b", "b" + id % 7, "n", -id, "text", "w"));
            }
            Supplier<Query> asked =
                    () -> Query.on(dataset).where("n >= 0 and (a = 7 or a = 590 and sqrt(n) > 1)");
            assertThat(ids(asked.get())).isEqualTo(ids(asked.get().usingScan())).isEmpty();
        }
    }

    @Test
    void keys_come_in_the_order_of_their_last_writes() {
        try (Store store = open("newest")) {
            Dataset dataset = dataset(store, Maintenance.EAGER, 2);
            fill(dataset, new SplittableRandom(11));
            for (long id : List.of(3L, 500L, 1L, 2L)) {
                dataset.upsert(Map.of("id", id, "a", 1, "b", "b", "n", 1, "text", "w"));
            }
            Supplier<Query> asked = () ->
                    Query.on(dataset).where("id = 1 or id = 500 or id = 3").newestFirst();
            assertThat(ids(asked.get())).containsExactly(1L, 500L, 3L);
        }
    }
}
