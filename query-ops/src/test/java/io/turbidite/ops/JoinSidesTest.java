package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/** The smaller side of an inner join is the one in memory, and the pairs are the same. */
class JoinSidesTest {
    private static final int MANY = 1_500;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private MemorySource few = newFew();
    private MemorySource many = newMany();

    private static MemorySource newFew() {
        return new MemorySource(
                RecordType.builder()
                        .field("id", "int64")
                        .field("k", "int32?")
                        .field("name", "string?")
                        .field("pad", "string?")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                2);
    }

    private static MemorySource newMany() {
        return new MemorySource(
                RecordType.builder()
                        .field("no", "int64")
                        .field("k", "int64?")
                        .field("size", "int32?")
                        .field("text", "string?")
                        .build(),
                List.of("no"),
                List.of(),
                List.of(),
                3);
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(few.openCount).hasValue(0);
        assertThat(many.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
    }

    private void fill(SplittableRandom random, int fewCount) {
        for (long id = 0; id < fewCount; id++) {
            few.upsert(row(
                    "id",
                    id,
                    "k",
                    random.nextInt(9) == 0 ? null : random.nextInt(40),
                    "name",
                    random.nextBoolean() ? null : "n" + random.nextInt(5),
                    "pad",
                    "p".repeat(random.nextInt(300))));
        }
        for (long no = 0; no < MANY; no++) {
            many.upsert(row(
                    "no",
                    no,
                    "k",
                    random.nextInt(9) == 0 ? null : (long) random.nextInt(60),
                    "size",
                    random.nextInt(100),
                    "text",
                    "t".repeat(random.nextInt(200))));
        }
    }

    private static Map<String, @Nullable Object> row(@Nullable Object... fields) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            row.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return row;
    }

    private RunOptions options(boolean isSmall) {
        return isSmall
                ? RunOptions.defaults()
                        .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                        .withSpill(disk, "spill")
                : RunOptions.defaults();
    }

    /** The rows, fields by name, so that both ways of writing a join have the same. */
    private static List<String> rows(Relation relation) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = relation.run()) {
            for (Map<String, @Nullable Object> row : result) {
                rows.add(new TreeMap<>(row).toString());
            }
        }
        rows.sort(null);
        return rows;
    }

    private static String explained(Relation relation) {
        return relation.explain().toString();
    }

    @Test
    void whichever_is_written_first_the_pairs_are_the_same() {
        long seed = Seeds.of("JoinSidesTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < Tier.count(4, 16, 400); round++) {
            String as = Seeds.replay("JoinSidesTest", seed) + " round " + round;
            few = newFew();
            many = newMany();
            fill(random, 1 + random.nextInt(MANY / 4));
            RunOptions options = options(random.nextBoolean());
            boolean isTested = random.nextBoolean();
            boolean isNarrow = random.nextBoolean();
            Relation written = join(Query.on((Source) few), Query.on((Source) many), isTested);
            Relation turned = join(Query.on((Source) many), Query.on((Source) few), isTested);
            assertThat(explained(written)).as(as).contains("from the left side");
            assertThat(explained(turned)).as(as).contains("from the right side");
            if (isNarrow) {
                written = Query.on(written).where("size > 20").select("no", "name");
                turned = Query.on(turned).where("size > 20").select("no", "name");
            }
            List<String> pairs = rows(written.with(options));
            assertThat(pairs).as(as).isNotEmpty();
            assertThat(rows(turned.with(options))).as(as).isEqualTo(pairs);
        }
    }

    private static Join join(Query left, Query right, boolean isTested) {
        Join join = Join.inner(left, right).on("k");
        return isTested ? join.where("size > 10 and id != no") : join;
    }

    @Test
    void left_semi_and_anti_joins_give_the_same_whichever_side_they_hold() {
        long seed = Seeds.of("JoinSidesTest.kinds");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < Tier.count(6, 24, 600); round++) {
            String as = Seeds.replay("JoinSidesTest.kinds", seed) + " round " + round;
            few = newFew();
            many = newMany();
            fill(random, random.nextInt(MANY / 4));
            RunOptions options = options(random.nextBoolean());
            String test = random.nextBoolean() ? "size > 10 and id != no" : "";
            // few keys, so that one has more rows than memory; or more than one side has
            String ofMany = random.nextBoolean() ? "k < 3 or k > 30" : "no >= 0";
            Query held = Query.on((Source) few);
            Query none = held.where("id < 0");
            Query right = Query.on((Source) many).where(ofMany);
            for (BiFunction<Relation, Relation, Join> kind : KINDS) {
                Join written = kind.apply(held, right).on("k");
                Join turned =
                        kind.apply(SetOperation.unionAll(held, none), right).on("k");
                if (!test.isEmpty()) {
                    written = written.where(test);
                    turned = turned.where(test);
                }
                assertThat(explained(written)).as(as).contains("from the left side");
                assertThat(explained(turned)).as(as).contains("from the right side");
                assertThat(rows(written.with(options)))
                        .as(as)
                        .isEqualTo(rows(turned.with(options)));
                Query names = Query.on(written).select("name");
                List<String> all = rows(Query.on(turned).select("name").with(options));
                assertThat(rows(names.with(options))).as(as).isEqualTo(all);
                assertThat(rows(names.limit(5).with(options)))
                        .as(as)
                        .hasSize(Math.min(5, all.size()));
            }
        }
    }

    private static final List<BiFunction<Relation, Relation, Join>> KINDS =
            List.of(Join::left, Join::semi, Join::anti);

    /** A key of many rows on both sides is met once, not once for each pair. */
    @Test
    void a_semi_join_of_one_key_looks_at_each_row_once() {
        for (long id = 0; id < MANY / 3; id++) {
            few.upsert(row("id", id, "k", 1));
        }
        for (long no = 0; no < MANY; no++) {
            many.upsert(row("no", no, "k", 1L));
        }
        Join join = Join.semi(Query.on((Source) few), Query.on((Source) many)).on("k");
        assertThat(explained(join)).contains("from the left side");
        for (Join one : List.of(join, tested(Join.semi(few(), many())))) {
            AtomicInteger looks = new AtomicInteger();
            RunOptions counted = RunOptions.defaults().withStop(() -> looks.incrementAndGet() < 0);
            assertThat(rows(one.with(counted))).hasSize(MANY / 3).doesNotHaveDuplicates();
            // one for each thousand rows that it looks at; there are 750,000 pairs
            assertThat(looks).hasValueLessThan(100);
        }
        AtomicInteger looks = new AtomicInteger();
        RunOptions counted = RunOptions.defaults().withStop(() -> looks.incrementAndGet() < 0);
        assertThat(rows(tested(Join.anti(few(), many())).with(counted))).isEmpty();
        assertThat(looks).hasValueLessThan(100);
    }

    private Query few() {
        return Query.on((Source) few);
    }

    private Query many() {
        return Query.on((Source) many);
    }

    private static Join tested(Join join) {
        return join.on("k").where("id >= 0 and no >= 0");
    }

    @Test
    void full_joins_and_not_in_hold_the_right_side() {
        fill(new SplittableRandom(7), 10);
        Query left = Query.on((Source) few);
        for (Join join : List.of(
                Join.full(left, Query.on((Source) many).select("no", "size")).on("id", "no"),
                Join.notIn(left, Query.on((Source) many)).on("k"))) {
            assertThat(explained(join)).contains("from the right side");
        }
    }

    /** The bug: each query over a query asked for the estimate below it twice. */
    @Test
    void queries_in_queries_are_planned_in_time() {
        fill(new SplittableRandom(9), 5);
        Relation rows = Query.on((Source) few);
        for (int depth = 0; depth < 60; depth++) {
            rows = Query.on(rows).limit(9);
        }
        Join join = Join.inner(rows, Query.on((Source) many)).on("k");
        assertThat(explained(join)).contains("from the left side");
        try (QueryResult result = join.run()) {
            assertThat(result.count()).isPositive();
        }
    }

    /** A row finds one record at most by its primary key. */
    @Test
    void the_rows_of_a_join_by_a_primary_key_are_estimated() {
        fill(new SplittableRandom(8), 30);
        Join join = Join.inner(Query.on((Source) many).select("no", "size"), Query.on((Source) few))
                .on("size", "id");
        try (QueryResult result = join.run()) {
            long count = result.count();
            Explanation.Operator top = result.explain().operators().getFirst();
            assertThat(count).isBetween(300L, 600L);
            assertThat(top.estimatedRows()).hasValue(MANY);
        }
    }
}
