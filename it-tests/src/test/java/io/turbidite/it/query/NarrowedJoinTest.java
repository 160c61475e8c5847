package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Join;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Joins that read one side by an index of the keys that the other one has. */
class NarrowedJoinTest {
    private static final int MANY = 3_000;
    private static final int FEW = 40;

    @TempDir
    private Path directory = Path.of("");

    private Store open(String name) {
        return Store.open(
                directory.resolve(name),
                StoreOptions.defaults().withDurability(Durability.BUFFERED));
    }

    /** Two datasets of the same records; one has indexes, by which a side may be narrowed. */
    private static void create(Store store, Maintenance maintenance) {
        for (String name : List.of("Many", "Plain")) {
            DatasetSpec spec = DatasetSpec.named(name)
                    .field("id", "int64")
                    .field("k", "int64?")
                    .field("s", "string?")
                    .field("d", "date?")
                    .field("x", "double?")
                    .field("n", "int64")
                    .primaryKey("id")
                    .partitions(2)
                    .maintenance(maintenance);
            if (name.equals("Many")) {
                spec.index(IndexSpec.btree("by_k", "k"))
                        .index(IndexSpec.btree("by_s", "s"))
                        .index(IndexSpec.btree("by_d", "d"))
                        .index(IndexSpec.btree("by_x", "x"));
            }
            store.createDataset(spec);
        }
        store.createDataset(DatasetSpec.named("Few")
                .field("id", "int64")
                .field("k", "int64?")
                .field("s", "string?")
                .field("d", "date?")
                .field("x", "double?")
                .field("m", "int64")
                .primaryKey("id"));
    }

    private static Map<String, @Nullable Object> record(long id, SplittableRandom random) {
        int k = random.nextInt(1_200);
        Map<String, @Nullable Object> record = new HashMap<>();
        record.put("id", id);
        record.put("k", k % 7 == 0 ? null : k);
        record.put("s", k % 5 == 0 ? null : "s" + k);
        record.put("d", k % 11 == 0 ? null : LocalDate.ofEpochDay(k));
        record.put("x", k % 13 == 0 ? -0.0 : k % 17 == 0 ? 0.0 : k / 4.0);
        return record;
    }

    private static void fill(Store store, SplittableRandom random) {
        Dataset many = store.dataset("Many");
        Dataset plain = store.dataset("Plain");
        for (int i = 0; i < 2 * MANY; i++) {
            long id = random.nextInt(MANY);
            if (random.nextInt(10) == 0) {
                many.delete(id);
                plain.delete(id);
                continue;
            }
            Map<String, @Nullable Object> record = record(id, random);
            record.put("n", (long) i);
            many.upsert(record);
            plain.upsert(record);
            if (i == MANY) {
                many.flush();
            }
        }
        Dataset few = store.dataset("Few");
        for (long id = 0; id < FEW; id++) {
            Map<String, @Nullable Object> record = record(id, random);
            record.put("m", id);
            few.upsert(record);
        }
    }

    private record Answer(List<Map<String, @Nullable Object>> rows, Explanation explanation) {}

    private static Answer answer(Store store, String text) {
        SqlStatement statement = Sql.on(store.datasets()).statement(text);
        try (QueryResult result = statement.run()) {
            return new Answer(result.toList(), result.explain());
        }
    }

    private static boolean isNarrowed(Explanation explanation) {
        return explanation.operators().stream()
                .anyMatch(step -> step.detail().contains("of the other side"));
    }

    private static final List<String> SHAPES = List.of(
            "select f.id as f, t.id as t, t.n from Few f join Many t on f.%1$s = t.%1$s where f.m < %2$d order by 1, 2",
            "select f.id as f, t.id as t from Many t join Few f on f.%1$s = t.%1$s and t.n > f.m + 100 where f.m < %2$d order by 1, 2",
            "select f.id as f, t.id as t from Few f left join Many t on f.%1$s = t.%1$s where f.m < %2$d order by 1, 2",
            "select t.id as t from Many t where t.%1$s in (select %1$s from Few where m < %2$d) order by 1",
            "select t.id as t from Many t where t.n > 500 and exists (select 1 from Few f where f.%1$s = t.%1$s and f.m < %2$d) order by 1",
            "select f.id as f from Few f where f.m < %2$d and not exists (select 1 from Many t where f.%1$s = t.%1$s) order by 1",
            "select f.id as f from Few f where f.m < %2$d and exists (select 1 from Many t where f.%1$s = t.%1$s and t.n > 3000) order by 1",
            "select f.%1$s as v, count(*) as c, sum(t.n) as s from Few f join Many t on f.%1$s = t.%1$s where f.m < %2$d group by f.%1$s order by 1, 2");

    @Test
    void the_rows_are_those_without_an_index() {
        String test = "NarrowedJoinTest#the_rows_are_those_without_an_index";
        long seed = Seeds.of(test);
        SplittableRandom random = new SplittableRandom(seed);
        int narrowed = 0;
        int rows = 0;
        for (Maintenance maintenance :
                List.of(Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.DELETED_KEY)) {
            try (Store store = open(maintenance.name())) {
                create(store, maintenance);
                fill(store, random);
                for (int i = 0; i < Tier.count(2, 10, 100); i++) {
                    for (String shape : SHAPES) {
                        String field = List.of("k", "s", "d", "x", "id").get(random.nextInt(5));
                        String text = shape.formatted(field, 1 + random.nextInt(8));
                        Answer answer = answer(store, text);
                        assertThat(answer.rows())
                                .as(maintenance + ": " + text + "\n" + Seeds.replay(test, seed))
                                .isEqualTo(answer(store, text.replace("Many", "Plain"))
                                        .rows());
                        narrowed += isNarrowed(answer.explanation()) ? 1 : 0;
                        rows += answer.rows().size();
                    }
                }
            }
        }
        assertThat(narrowed).as("narrowed").isGreaterThan(10);
        assertThat(rows).as("rows").isGreaterThan(100);
    }

    @Test
    void a_side_whose_rows_are_wanted_without_a_match_is_read_as_a_whole() {
        try (Store store = open("outer")) {
            create(store, Maintenance.EAGER);
            fill(store, new SplittableRandom(5));
            for (String text : List.of(
                    "select count(*) from Many t left join Few f on f.k = t.k and f.m < 3",
                    "select count(*) from Many t where not exists (select 1 from Few f where f.k = t.k and f.m < 3)",
                    "select count(*) from Many t full join Few f on f.k = t.k")) {
                Answer answer = answer(store, text);
                assertThat(isNarrowed(answer.explanation())).as(text).isFalse();
                assertThat(answer.rows())
                        .isEqualTo(answer(store, text.replace("Many", "Plain")).rows());
            }
        }
    }

    @Test
    void a_way_in_that_was_asked_for_stays() {
        try (Store store = open("given")) {
            create(store, Maintenance.EAGER);
            fill(store, new SplittableRandom(6));
            Query few = Query.on(store.dataset("Few")).where("m < 2").select("k", "m");
            Query many = Query.on(store.dataset("Many")).select("k", "n");
            Query whole = Query.on(store.dataset("Many")).select("k", "n").usingScan();
            try (QueryResult narrowed = Join.inner(few, many).on("k").run()) {
                long rows = narrowed.count();
                assertThat(isNarrowed(narrowed.explain())).isTrue();
                try (QueryResult all = Join.inner(few, whole).on("k").run()) {
                    assertThat(all.count()).isEqualTo(rows);
                    assertThat(isNarrowed(all.explain())).isFalse();
                }
            }
        }
    }

    @Test
    void a_key_that_the_other_sides_type_does_not_have_meets_nothing() {
        try (Store store = open("widths")) {
            Dataset narrow = store.createDataset(DatasetSpec.named("Narrow")
                    .field("id", "int64")
                    .field("k", "int32")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_k", "k")));
            Dataset wide = store.createDataset(DatasetSpec.named("Wide")
                    .field("no", "int64")
                    .field("wide", "int64")
                    .primaryKey("no"));
            for (int id = 0; id < MANY; id++) {
                narrow.upsert(Map.of("id", (long) id, "k", id));
            }
            wide.upsert(Map.of("no", 1L, "wide", 5_000_000_000L));
            wide.upsert(Map.of("no", 2L, "wide", 17L));
            Query few = Query.on(wide);
            Query many = Query.on(narrow);
            try (QueryResult joined = Join.inner(few, many).on("wide", "k").run()) {
                assertThat(joined.toList()).hasSize(1).first().extracting("id").isEqualTo(17L);
                assertThat(isNarrowed(joined.explain())).isTrue();
            }
        }
    }

    @Test
    void keys_that_lie_together_are_read_as_a_range() {
        try (Store store = open("range")) {
            create(store, Maintenance.EAGER);
            for (long id = 0; id < 20_000; id++) {
                store.dataset("Many").upsert(Map.of("id", id, "n", id));
            }
            for (long id = 0; id < 400; id++) {
                store.dataset("Few").upsert(Map.of("id", 2 * id, "m", id));
            }
            store.dataset("Many").flush();
            Answer answer =
                    answer(store, "select count(*) as c from Few f join Many t on f.id = t.id");
            assertThat(answer.rows()).containsExactly(Map.of("c", 400L));
            assertThat(isNarrowed(answer.explanation())).isTrue();
        }
    }

    @Test
    void what_is_estimated_refuses_no_value_and_rows_of_a_query_have_no_keys() {
        try (Store store = open("guards")) {
            create(store, Maintenance.EAGER);
            Dataset many = store.dataset("Many");
            for (long id = 0; id < 25_000; id++) {
                many.upsert(Map.of("id", id, "k", id % 100, "n", id % 50));
            }
            many.flush();
            store.dataset("Few").upsert(Map.of("id", 1L, "k", 3L, "m", 1L));
            Query guarded = Query.on(many).where("n != 0 and 10 / n > 1").select("id", "k");
            try (QueryResult joined = Join.inner(
                            guarded, Query.on(store.dataset("Few")).select("k"))
                    .on("k")
                    .run()) {
                assertThat(joined.count()).isEqualTo(250);
            }
            Query rows = Query.on(Query.on(many).select("id", "k"))
                    .where("k = 3 or id = 7")
                    .limit(10);
            try (QueryResult result = rows.run()) {
                assertThat(result.count()).isEqualTo(10);
            }
        }
    }

    /**
     * Nothing connects the two small relations, and all pairs of them are cheap: but a scan of the
     * large one is not, which the keys of one of them spare.
     */
    @Test
    void the_order_is_one_in_which_keys_spare_the_scan_of_the_largest() {
        try (Store store = open("order")) {
            Dataset large = store.createDataset(DatasetSpec.named("Large")
                    .field("id", "int64")
                    .field("a", "int64")
                    .field("b", "int64")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_a", "a")));
            Dataset few = store.createDataset(DatasetSpec.named("A")
                    .field("a", "int64")
                    .field("name", "string")
                    .primaryKey("a"));
            Dataset others = store.createDataset(DatasetSpec.named("B")
                    .field("b", "int64")
                    .field("name", "string")
                    .primaryKey("b"));
            for (long i = 0; i < 20_000; i++) {
                large.upsert(Map.of("id", i, "a", i % 2_000, "b", i % 50));
            }
            for (long i = 0; i < 2_000; i++) {
                few.upsert(Map.of("a", i, "name", "a" + i / 4));
            }
            for (long i = 0; i < 50; i++) {
                others.upsert(Map.of("b", i, "name", "b" + i / 5));
            }
            List.of(large, few, others).forEach(Dataset::flush);
            Answer answer = answer(
                    store,
                    "select l.id from A a cross join B b join Large l on l.a = a.a and l.b = b.b"
                            + " where a.name = 'a7' and b.name = 'b0' order by 1");
            List<Long> wanted = new ArrayList<>();
            for (long i = 0; i < 20_000; i++) {
                if (i % 2_000 / 4 == 7 && i % 50 / 5 == 0) {
                    wanted.add(i);
                }
            }
            assertThat(answer.rows()).extracting(row -> row.get("id")).isEqualTo(wanted);
            assertThat(isNarrowed(answer.explanation()))
                    .as(answer.explanation().toString())
                    .isTrue();
        }
    }

    /** The smaller side of all pairs is held by what joins them too: their number is known. */
    @Test
    void all_pairs_have_an_estimate() {
        try (Store store = open("pairs")) {
            create(store, Maintenance.EAGER);
            fill(store, new SplittableRandom(9));
            Explanation explanation = answer(
                            store,
                            "select a.id as a, b.id as b from Few a, Few b, Few c where c.id > b.id")
                    .explanation();
            assertThat(explanation.operators())
                    .filteredOn(step -> step.detail().contains("all pairs"))
                    .isNotEmpty()
                    .allSatisfy(step -> assertThat(step.estimatedRows()).isPresent());
        }
    }
}
