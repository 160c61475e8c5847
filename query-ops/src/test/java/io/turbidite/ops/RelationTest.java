package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;

/** Queries over the rows of queries and joins, and joins of them. */
class RelationTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("dest", "string?")
            .field("delay", "int32?")
            .field("at", "point?")
            .field("tags", "[string]?")
            .field("user", "{name: string?, age: int32?}?")
            .build();

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource source =
            new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 2);

    @AfterEach
    void nothing_is_left() {
        assertThat(source.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    private Query flights() {
        return Query.on((Source) source);
    }

    private static Map<String, @Nullable Object> row(@Nullable Object... fields) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            row.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return row;
    }

    private void few() {
        source.upsert(row("id", 1L, "dest", "JFK", "delay", 10, "open", true))
                .upsert(row("id", 2L, "dest", "JFK", "delay", 30, "tags", List.of("x", "y")))
                .upsert(row("id", 3L, "dest", "LGA", "delay", 5, "user", row("name", "ann")))
                .upsert(row("id", 4L, "dest", "LGA"))
                .upsert(row("id", 5L, "dest", "SFO", "delay", 70));
    }

    private static List<String> rows(Relation relation) {
        try (QueryResult result = relation.run()) {
            assertThat(result.rowType()).isEqualTo(relation.type());
            return result.toList().stream().map(Map::toString).toList();
        }
    }

    @Test
    void a_query_reads_the_rows_of_groups_as_having_does() {
        few();
        Query groups = flights()
                .groupBy("dest")
                .aggregate(Aggregate.count(), Aggregate.avg("delay").as("late"));
        assertThat(rows(Query.on(groups)
                        .where("late > 10")
                        .select("dest", "late * 2 as twice")
                        .orderBy("late", Order.DESC)))
                .containsExactly("{dest=SFO, twice=140.0}", "{dest=JFK, twice=40.0}");
        assertThat(rows(Query.on(groups).aggregate(Aggregate.sum("count").as("n"))))
                .containsExactly("{n=5}");
        assertThat(rows(Query.on(groups).where("count = 2").count())).containsExactly("{count=2}");
        assertThat(rows(Query.on(groups)
                        .groupBy("count")
                        .aggregate(Aggregate.count().as("n"))
                        .orderBy("n")))
                .containsExactly("{count=1, n=1}", "{count=2, n=2}");
    }

    @Test
    void rows_of_an_order_keep_it_and_a_limit_is_of_its_own_query() {
        few();
        Query latest = flights().orderBy("delay", Order.DESC).limit(3);
        assertThat(rows(Query.on(latest).where("dest <> 'JFK'").select("id")))
                .containsExactly("{id=5}");
        assertThat(rows(Query.on(latest).orderBy("dest", Order.DESC).select("id")))
                .containsExactly("{id=5}", "{id=2}", "{id=1}");
        assertThat(rows(Query.on(latest).limit(1).select("id"))).containsExactly("{id=5}");
    }

    @Test
    void whole_records_are_handed_on_with_all_that_they_have() {
        few();
        assertThat(rows(Query.on(Query.on(flights().where("delay > 7"))).where("delay < 20")))
                .containsExactly("{id=1, dest=JFK, delay=10, open=true}");
        assertThat(rows(Query.on(flights()).where("user.name = 'ann'").select("id", "user")))
                .containsExactly("{id=3, user={name=ann}}");
        assertThat(rows(Query.on(flights().select("id as k", "tags as t", "user as u"))
                        .where("t[] = 'y'")
                        .select("k", "t")))
                .containsExactly("{k=2, t=[x, y]}");
        assertThat(rows(Query.on(flights().select("id", "user as u")).where("u.name = 'ann'")))
                .containsExactly("{id=3, u={name=ann}}");
        assertThat(rows(Query.on(flights()).groupBy("tags[]"))).hasSize(2);
    }

    @Test
    void a_join_is_a_side_of_a_join() {
        few();
        Join pairs = Join.inner(
                        flights().select("id", "dest"),
                        flights().select("id as other", "dest as d2", "delay"))
                .on("dest", "d2");
        assertThat(pairs.type())
                .isEqualTo(RecordType.of(List.of(
                        new Field("id", TypeKind.INT64, true),
                        new Field("dest", TypeKind.STRING, true),
                        new Field("other", TypeKind.INT64, true),
                        new Field("d2", TypeKind.STRING, true),
                        new Field("delay", TypeKind.INT32, true))));
        Join three = Join.semi(
                        Query.on(pairs).where("id < other"),
                        flights().groupBy("dest").count())
                .on("dest");
        assertThat(rows(Query.on(three).orderBy("id").select("id", "other")))
                .containsExactly("{id=1, other=2}", "{id=3, other=4}");
        assertThat(rows(Query.on(Join.left(
                                        pairs, Query.on(pairs).select("id as k").limit(0))
                                .on("id", "k"))
                        .count()))
                .containsExactly("{count=9}");
    }

    @Test
    void all_parts_show_one_moment() {
        few();
        Query rows = Query.on(flights());
        Join join = Join.inner(
                        rows.select("id"), Join.semi(flights(), flights()).on("id"))
                .on("id");
        try (QueryResult result = join.run()) {
            assertThat(source.openViewCount).isEqualTo(1);
            assertThat(result.count()).isEqualTo(5);
        }
    }

    @Test
    void what_rows_do_not_have_is_refused() {
        few();
        Query rows = Query.on(flights());
        assertThatThrownBy(() -> rows.usingIndex("by_dest"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("have no index");
        assertThatThrownBy(() -> rows.usingIndexes("by_dest", "x"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("have no index");
        assertThatThrownBy(rows::prepare)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("can't be prepared");
        assertThatThrownBy(() ->
                        Query.on(flights().select("id")).where("delay > 1").type())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("delay");
        assertThatThrownBy(() -> Join.inner(flights(), rows).on("id").byLookup().run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("rows of a query have no primary key");
        assertThatThrownBy(() -> Query.on(flights().select("nothing")).run())
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void near_and_cells_work_over_rows() {
        source.upsert(row("id", 1L, "at", new Point(1, 1)))
                .upsert(row("id", 2L, "at", new Point(5, 5)))
                .upsert(row("id", 3L, "at", new Point(2, 2)));
        assertThat(rows(Query.on(flights().where("id > 1"))
                        .near("at", 0, 0)
                        .limit(1)
                        .select("id")))
                .containsExactly("{id=3}");
        assertThat(rows(Query.on(flights()).groupByCell("at", 4, 4))).hasSize(2);
    }

    @Test
    void groups_may_be_by_expressions() {
        few();
        assertThat(rows(flights().groupBy("delay / 20 > 1 as late"))).hasSize(3);
        assertThat(rows(flights()
                        .groupBy("coalesce(delay, 0) % 3 as rest", "dest")
                        .orderBy("rest")))
                .containsExactly(
                        "{rest=0, dest=JFK, count=1}",
                        "{rest=0, dest=LGA, count=1}",
                        "{rest=1, dest=JFK, count=1}",
                        "{rest=1, dest=SFO, count=1}",
                        "{rest=2, dest=LGA, count=1}");
        assertThat(rows(flights()
                        .groupBy("lower(dest) as d", "delay * 0.5 as half")
                        .aggregate(Aggregate.max("id").as("m"))
                        .where("id < 3")
                        .orderBy("m")))
                .containsExactly("{d=jfk, half=5, m=1}", "{d=jfk, half=15, m=2}");
        assertThat(rows(flights().groupBy("tags[]", "id + 1 as n")))
                .containsExactly("{tags[]=x, n=3, count=1}", "{tags[]=y, n=3, count=1}");
        assertThat(rows(flights().groupBy("dest as d").where("id = 5")))
                .containsExactly("{d=SFO, count=1}");
        for (Query wrong : List.of(
                flights().groupBy("id + 1"),
                flights().groupBy("id + 1 as id", "id"),
                flights().groupBy("id + 1 as count"),
                flights().groupBy("tags as t"))) {
            assertThatThrownBy(wrong::run).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(wrong::type).isInstanceOf(InvalidRequestException.class);
        }
        assertThat(flights().groupBy("id % 2 as odd").explain().toString())
                .contains("count by odd");
    }

    @Test
    void nulls_stand_where_the_order_says() {
        few();
        for (Order direction : Order.values()) {
            for (Nulls nulls : Nulls.values()) {
                List<Long> ids = new ArrayList<>(
                        direction == Order.ASC ? List.of(3L, 1L, 2L, 5L) : List.of(5L, 2L, 1L, 3L));
                ids.add(nulls == Nulls.FIRST ? 0 : 4, 4L);
                for (Query query : List.of(
                        flights().orderBy("delay", direction, nulls).select("id"),
                        flights().groupBy("id", "delay").orderBy("delay", direction, nulls),
                        flights()
                                .groupBy("id")
                                .aggregate(Aggregate.max("delay").as("most"))
                                .orderBy("most", direction, nulls))) {
                    try (QueryResult result = query.run()) {
                        assertThat(result.toList())
                                .as("%s %s", direction, nulls)
                                .extracting("id")
                                .isEqualTo(ids);
                    }
                }
            }
        }
        assertThat(flights().orderBy("delay", Order.ASC, Nulls.LAST).explain().toString())
                .contains("delay nulls last");
        assertThat(flights()
                        .groupBy("dest")
                        .orderBy("count", Order.DESC)
                        .explain()
                        .toString())
                .contains("count desc");
    }

    @Test
    void it_shows_the_tree() {
        few();
        Query query = Query.on(Join.inner(
                                flights().where("delay > 1").select("id", "dest"),
                                flights().groupBy("dest").count())
                        .on("dest"))
                .where("count > 1")
                .orderBy("id");
        assertThat(query.explain().toString())
                .contains("\n  order ", "\n    join ", "\n      build ");
        try (QueryResult result = query.run()) {
            assertThat(result.count()).isEqualTo(3);
            assertThat(result.explain().operators().stream()
                            .map(step -> "%d %s %d"
                                    .formatted(
                                            step.depth(),
                                            step.name(),
                                            step.actualRows().orElse(-1)))
                            .toList())
                    .containsExactly(
                            "0 order 3",
                            "0 select 3",
                            "1 join 4",
                            "2 project 4",
                            "2 select 4",
                            "2 scan 5",
                            "2 build 3",
                            "3 group 3",
                            "3 scan 5");
        }
    }

    @Test
    void parts_without_options_share_those_of_the_whole() {
        many();
        RunOptions options =
                RunOptions.defaults().withMemoryBytesMax(128 << 10).withSpill(disk, "spill");
        Query sorted = flights().orderBy("dest");
        assertThatThrownBy(() -> rows(Query.on(sorted)
                        .count()
                        .with(RunOptions.defaults().withMemoryBytesMax(64 << 10))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("65,536");
        assertThatThrownBy(() -> rows(Query.on(sorted)
                        .groupBy("id")
                        .with(RunOptions.defaults().withMemoryBytesMax(128 << 10))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("65,536");
        assertThat(rows(Query.on(sorted).count().with(options))).containsExactly("{count=3000}");
        AtomicInteger asked = new AtomicInteger();
        Query stopped =
                Query.on(sorted).count().with(options.withStop(() -> asked.incrementAndGet() > 5));
        assertThatThrownBy(() -> rows(stopped)).isInstanceOf(CancellationException.class);
    }

    private void many() {
        for (long i = 0; i < 3_000; i++) {
            source.upsert(row("id", i, "dest", "d".repeat((int) (i % 90)), "delay", (int) i % 7));
        }
    }

    @Test
    void a_failure_or_a_close_at_any_row_leaves_nothing() {
        many();
        RunOptions options = RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
        Query query = Query.on(Join.inner(
                                Query.on(flights().orderBy("dest")).select("id", "dest"),
                                Query.on(flights().groupBy("id").count()).select("id as k"))
                        .on("id", "k"))
                .orderBy("id", Order.DESC)
                .with(options);
        for (int moves : List.of(0, 1, 1_000, 2_999, 3_000, 5_999)) {
            source.failAfterMoves = source.moveCount.get() + moves;
            assertThatThrownBy(() -> rows(query)).isInstanceOf(CorruptionException.class);
            nothing_is_left();
        }
        source.failAfterMoves = Integer.MAX_VALUE;
        for (int count : List.of(0, 1, 2_000, 3_000)) {
            try (QueryResult result = query.run()) {
                for (int i = 0; i < count; i++) {
                    assertThat(result.next()).isTrue();
                }
            }
            nothing_is_left();
        }
    }

    // ---- against a naive twin -------------------------------------------------------------------

    @Test
    void every_tree_gives_the_naive_answer() {
        String test = "RelationTest#every_tree_gives_the_naive_answer";
        long first = Seeds.of(test);
        int count = Tier.count(60, 500, 30_000);
        int rows = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            try {
                rows += run(seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        if (!Seeds.isReplay()) {
            assertThat(rows).isGreaterThan(count);
        }
    }

    private int run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomRelation trees = new RandomRelation(random, 60);
        RandomRelation.Node node = trees.tree(random.nextInt(1, 5));
        Query whole = Query.on(node.relation());
        RunOptions options = RunOptions.defaults();
        if (random.nextBoolean()) {
            options = options.withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                    .withSpill(disk, "spill");
        }
        if (random.nextInt(3) == 0) {
            options = options.withTasks(new SimTasks(seed, new SimClock())).withSideBySideRows(0);
        }
        whole.with(options);
        List<String> expected = sorted(node.rows());
        try (QueryResult result = whole.run()) {
            assertThat(result.rowType()).isEqualTo(node.relation().type());
            assertThat(sorted(result.toList())).isEqualTo(expected);
        }
        assertThat(trees.openCount()).isZero();
        assertThat(disk.files()).isEmpty();
        return expected.size();
    }

    /** The rows as text, fields by name. */
    private static List<String> sorted(List<Map<String, @Nullable Object>> rows) {
        List<String> texts = new ArrayList<>();
        for (Map<String, @Nullable Object> row : rows) {
            texts.add(new TreeMap<>(RandomRelation.plain(row)).toString());
        }
        texts.sort(null);
        return texts;
    }
}
