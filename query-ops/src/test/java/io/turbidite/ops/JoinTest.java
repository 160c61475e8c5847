package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;

/** Joins of two queries, in memory and through runs, against pairs that are tried one by one. */
class JoinTest {
    private static final RecordType LEFT = RecordType.builder()
            .field("id", "int64")
            .field("a", "int32?")
            .field("b", "string?")
            .field("pad", "string?")
            .build();
    private static final RecordType RIGHT = RecordType.builder()
            .field("key", "int64")
            .field("a", "int64?")
            .field("name", "string?")
            .field("more", "string?")
            .build();

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource left =
            new MemorySource(LEFT, List.of("id"), List.of(), List.of(), 2);
    private final MemorySource right =
            new MemorySource(RIGHT, List.of("key"), List.of(), List.of(), 3);

    @AfterEach
    void nothing_is_left() {
        assertThat(left.openCount).hasValue(0);
        assertThat(right.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    private static Map<String, @Nullable Object> row(@Nullable Object... fields) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            row.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return row;
    }

    private Query leftQuery() {
        return Query.on((Source) left);
    }

    private Query rightQuery() {
        return Query.on((Source) right);
    }

    private static List<String> rows(Join join) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = join.run()) {
            for (Map<String, @Nullable Object> row : result) {
                rows.add(row.toString());
            }
        }
        rows.sort(null);
        return rows;
    }

    private void few() {
        left.upsert(row("id", 1L, "a", 7, "b", "x"))
                .upsert(row("id", 2L, "a", 7))
                .upsert(row("id", 3L, "a", 8, "b", "y"))
                .upsert(row("id", 4L, "a", null, "b", "z"))
                .upsert(row("id", 5L));
        right.upsert(row("key", 10L, "a", 7L, "name", "seven"))
                .upsert(row("key", 11L, "a", 7L))
                .upsert(row("key", 12L, "a", 9L, "name", "nine"))
                .upsert(row("key", 13L, "a", null, "name", "nobody's"));
    }

    @Test
    void rows_meet_where_fields_are_equal_and_null_equals_nothing() {
        few();
        assertThat(rows(Join.inner(leftQuery().select("id", "a"), rightQuery().select("a", "name"))
                        .on("a")))
                .containsExactly(
                        "{id=1, a=7, name=seven}",
                        "{id=1, a=7}",
                        "{id=2, a=7, name=seven}",
                        "{id=2, a=7}");
        assertThat(rows(Join.left(leftQuery().select("id"), rightQuery().select("key", "name"))
                        .on("id", "key")))
                .containsExactly(
                        "{id=1, key=null, name=null}",
                        "{id=2, key=null, name=null}",
                        "{id=3, key=null, name=null}",
                        "{id=4, key=null, name=null}",
                        "{id=5, key=null, name=null}");
        assertThat(rows(Join.semi(leftQuery(), rightQuery()).on("a")))
                .containsExactly("{id=1, a=7, b=x}", "{id=2, a=7}");
        assertThat(rows(Join.anti(leftQuery(), rightQuery()).on("a")))
                .containsExactly("{id=3, a=8, b=y}", "{id=4, a=null, b=z}", "{id=5}");
    }

    @Test
    void a_side_may_be_empty_be_groups_or_have_a_limit() {
        few();
        assertThat(rows(Join.inner(leftQuery(), rightQuery().where("key > 99")).on("a")))
                .isEmpty();
        assertThat(rows(Join.anti(leftQuery().select("id"), rightQuery().where("key > 99"))
                        .on("id", "key")))
                .hasSize(5);
        assertThat(rows(Join.semi(leftQuery().where("id > 99"), rightQuery()).on("a")))
                .isEmpty();
        assertThat(rows(Join.inner(
                                leftQuery().groupBy("a").aggregate(Aggregate.count()),
                                rightQuery().orderBy("key").limit(1).select("a", "name"))
                        .on("a")))
                .containsExactly("{a=7, count=2, name=seven}");
        assertThat(rows(Join.inner(
                                leftQuery().select("id", "a + 1 as next"),
                                rightQuery().select("a", "name"))
                        .on("next", "a")))
                .containsExactly("{id=3, next=9, a=9, name=nine}");
    }

    @Test
    void of_one_source_both_sides_show_one_moment_and_views_show_theirs() {
        few();
        assertThat(rows(Join.inner(
                                leftQuery().select("id", "a"),
                                leftQuery().select("id as other", "a"))
                        .on("a")))
                .hasSize(5);
        try (ReadView view = right.openView()) {
            assertThat(rows(Join.semi(leftQuery(), Query.on(view)).on("a"))).hasSize(2);
        }
    }

    @Test
    void what_can_not_be_joined_is_refused_and_says_why() {
        few();
        Map<Join, String> wrong = Map.of(
                Join.inner(leftQuery(), rightQuery()), "a join needs fields that must be equal",
                Join.inner(leftQuery(), rightQuery()).on("colour"),
                        "the left side of the join has no field 'colour' of one value; its rows have id, a, b, pad",
                Join.inner(leftQuery(), rightQuery()).on("id", "b"), "the right side of the join",
                Join.inner(leftQuery(), rightQuery()).on("b", "key"),
                        "a join of 'b' of type string with 'key' of type int64",
                Join.inner(leftQuery(), rightQuery()).on("id", "key"),
                        "both sides of the join have a field 'a'");
        wrong.forEach((join, message) -> assertThatThrownBy(join::run)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
    }

    @Test
    void it_explains_itself() {
        few();
        Join join = Join.inner(leftQuery().select("id", "a"), rightQuery().select("a"))
                .on("a");
        assertThat(join.explain().toString()).contains("join", "inner by a = a", "build");
        try (QueryResult result = join.run()) {
            assertThat(result.count()).isEqualTo(4);
            Explanation.Operator top = result.explain().operators().getFirst();
            assertThat(top.name()).isEqualTo("join");
            assertThat(top.actualRows()).hasValue(4);
        }
    }

    @Test
    void a_lookup_gives_what_the_table_gives_in_the_order_of_the_left_rows() {
        SplittableRandom random = new SplittableRandom(3);
        for (long i = 0; i < 1_500; i++) {
            left.upsert(row(
                    "id",
                    i,
                    "a",
                    random.nextInt(9) == 0 ? null : random.nextInt(400),
                    "b",
                    "b" + i % 3));
        }
        for (long i = 0; i < 300; i++) {
            right.upsert(row("key", i, "a", i % 7, "name", "n" + i));
        }
        for (int kind = 0; kind < 4; kind++) {
            List<List<String>> answers = new ArrayList<>();
            for (boolean byLookup : List.of(false, true)) {
                Query a = leftQuery().select("id", "a", "b").orderBy("id");
                Query b = rightQuery().where("a < 5").select("name", "key");
                Join join = switch (kind) {
                    case 0 -> Join.inner(a, b);
                    case 1 -> Join.left(a, b);
                    case 2 -> Join.semi(a, b);
                    default -> Join.anti(a, b);
                };
                answers.add(rows(byLookup ? join.on("a", "key").byLookup() : join.on("a", "key")));
            }
            assertThat(answers.get(1)).isNotEmpty().isEqualTo(answers.get(0));
        }
        Join join = Join.inner(
                        leftQuery().select("id", "a").orderBy("id"),
                        rightQuery().select("key"))
                .on("a", "key")
                .byLookup();
        assertThat(join.explain().toString())
                .contains("lookup", "records of Memory by primary key");
        long before = -1;
        try (QueryResult result = join.run()) {
            while (result.next()) {
                assertThat(result.row().getLong(0)).isGreaterThan(before);
                before = result.row().getLong(0);
            }
        }
        assertThat(before).isPositive();
        left.failAfterMoves = left.moveCount.get() + 700;
        assertThatThrownBy(() -> rows(join)).isInstanceOf(CorruptionException.class);
        nothing_is_left();
        left.failAfterMoves = Integer.MAX_VALUE;
        for (Join wrong : List.of(
                Join.inner(leftQuery(), rightQuery()).on("a").byLookup(),
                Join.inner(leftQuery(), rightQuery().select("key + 1 as key"))
                        .on("id", "key")
                        .byLookup(),
                Join.inner(leftQuery(), rightQuery().limit(3)).on("id", "key").byLookup(),
                Join.inner(leftQuery(), rightQuery().groupBy("key"))
                        .on("id", "key")
                        .byLookup())) {
            assertThatThrownBy(wrong::run)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("asks for their primary key: key");
        }
    }

    @Test
    void a_lookup_gets_no_more_records_at_a_time_than_memory_holds() {
        for (long i = 0; i < 300; i++) {
            left.upsert(row("id", i, "a", (int) i));
            // some records are large, and one key is asked for often
            right.upsert(row("key", i, "a", 1L, "more", "m".repeat(i % 100 > 90 ? 20_000 : 700)));
        }
        Join join = Join.left(
                        leftQuery().select("id", "a % 150 as at").orderBy("id"),
                        rightQuery().select("key", "more"))
                .on("at", "key")
                .byLookup()
                .with(RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN));
        long count = 0;
        try (QueryResult result = join.run()) {
            while (result.next()) {
                assertThat(result.row().getLong(0)).isEqualTo(count);
                assertThat(result.row().getLong(2)).isEqualTo(count % 150);
                assertThat(String.valueOf(result.row().get(3)))
                        .hasSize(count % 150 % 100 > 90 ? 20_000 : 700);
                count++;
            }
        }
        assertThat(count).isEqualTo(300);
        right.upsert(row("key", 7L, "more", "m".repeat(40_000)));
        assertThatThrownBy(() -> rows(join)).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void full_cross_not_in_and_conditions_on_pairs() {
        few();
        Query b = rightQuery().select("key", "a as ra", "name");
        assertThat(rows(Join.full(leftQuery().select("id", "a"), b).on("a", "ra")))
                .containsExactly(
                        "{id=1, a=7, key=10, ra=7, name=seven}",
                        "{id=1, a=7, key=11, ra=7}",
                        "{id=2, a=7, key=10, ra=7, name=seven}",
                        "{id=2, a=7, key=11, ra=7}",
                        "{id=3, a=8, key=null, ra=null, name=null}",
                        "{id=4, a=null, key=null, ra=null, name=null}",
                        "{id=5, key=null, ra=null, name=null}",
                        "{id=null, a=null, key=12, ra=9, name=nine}",
                        "{id=null, a=null, key=13, ra=null, name=nobody's}");
        assertThat(rows(Join.full(
                                leftQuery().select("id as k", "b"),
                                rightQuery().where("key < 12").select("key - 9 as k", "name"))
                        .on("k")))
                .contains("{k=1, b=x, name=seven}", "{k=2}", "{k=5, name=null}");
        assertThat(rows(Join.full(
                                leftQuery().select("a as k", "id").where("id = 1"),
                                leftQuery().where("id = 3").select("a as k", "b"))
                        .on("k")))
                .containsExactly("{k=7, id=1, b=null}", "{k=8, id=null, b=y}");
        assertThat(rows(Join.cross(leftQuery().select("id"), b))).hasSize(20);
        assertThat(rows(Join.left(leftQuery().select("id", "a"), b)
                        .on("a", "ra")
                        .where("id = 1 and name = 'seven'")))
                .hasSize(5)
                .contains(
                        "{id=1, a=7, key=10, ra=7, name=seven}",
                        "{id=2, a=7, key=null, ra=null, name=null}");
        assertThat(rows(Join.anti(leftQuery().select("id", "a"), b)
                        .on("a", "ra")
                        .where("id = 1")))
                .hasSize(4);
        assertThat(rows(Join.semi(leftQuery().select("id"), b).where("id + 8 = key")))
                .containsExactly("{id=2}", "{id=3}", "{id=4}", "{id=5}");
        assertThat(rows(Join.inner(leftQuery().select("id"), b).where("id = 1 and id = 2")))
                .isEmpty();
        assertThat(rows(Join.notIn(leftQuery(), b).on("a", "ra"))).isEmpty();
        assertThat(rows(Join.notIn(
                                leftQuery(), rightQuery().where("a is not null").select("a as ra"))
                        .on("a", "ra")))
                .containsExactly("{id=3, a=8, b=y}");
        assertThat(rows(Join.notIn(leftQuery(), rightQuery().where("a = 1000")).on("a")))
                .hasSize(5);
        assertThat(rows(Join.left(leftQuery().select("id"), rightQuery().select("key"))
                        .on("id", "key")
                        .where("id > 99")
                        .byLookup()))
                .hasSize(5);
    }

    @Test
    void joins_that_make_no_sense_are_refused() {
        Query b = rightQuery().select("key", "a as ra", "name");
        Map<Join, String> wrong = Map.of(
                Join.notIn(leftQuery(), b), "needs fields that must be equal",
                Join.notIn(leftQuery(), b).on("a", "ra").on("b", "name"), "compares one field",
                Join.notIn(leftQuery(), b).on("a", "ra").where("id > 1"), "compares one field",
                Join.full(leftQuery(), b).on("id", "key").byLookup(), "can't be full",
                Join.full(leftQuery(), rightQuery().select("a")).on("a"),
                        "'a' of a full join is int32 on one side and int64",
                Join.semi(leftQuery(), rightQuery()).where("id > 1"), "both sides",
                Join.inner(leftQuery(), b).where("nothing > 1"), "nothing");
        wrong.forEach((join, message) -> {
            assertThatThrownBy(join::run)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(message);
            assertThatThrownBy(join::explain).isInstanceOf(InvalidRequestException.class);
            if (!message.contains("can't")) {
                assertThatThrownBy(join::type)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining(message);
            }
        });
        assertThatThrownBy(() -> Join.inner(leftQuery(), b).where("id <"))
                .isInstanceOf(InvalidRequestException.class);
    }

    // ---- against a naive twin -------------------------------------------------------------------

    @Test
    void every_answer_is_the_naive_one() {
        String test = "JoinTest#every_answer_is_the_naive_one";
        long first = Seeds.of(test);
        int count = Tier.count(40, 400, 20_000);
        int rows = 0;
        int spilled = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            long before = disk.stepCount();
            try {
                rows += run(seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
            spilled += disk.stepCount() > before ? 1 : 0;
        }
        if (!Seeds.isReplay()) {
            assertThat(rows).isGreaterThan(count);
            assertThat(spilled).isGreaterThan(count / 20);
        }
    }

    private int run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySource lefts = new MemorySource(LEFT, List.of("id"), List.of(), List.of(), 2);
        MemorySource rights = new MemorySource(RIGHT, List.of("key"), List.of(), List.of(), 3);
        int keys = 1 + random.nextInt(1 << random.nextInt(9));
        int pad = 1 << random.nextInt(11);
        List<Map<String, @Nullable Object>> leftRows = new ArrayList<>();
        List<Map<String, @Nullable Object>> rightRows = new ArrayList<>();
        for (long i = random.nextInt(1 << random.nextInt(9)); i > 0; i--) {
            Map<String, @Nullable Object> row = row(
                    "id",
                    i,
                    "a",
                    keyOf(random, keys),
                    "b",
                    "b" + random.nextInt(3),
                    "pad",
                    "p".repeat(random.nextInt(pad)));
            leftRows.add(row);
            lefts.upsert(row);
        }
        for (long i = random.nextInt(1 << random.nextInt(4, 9)); i > 0; i--) {
            Integer key = keyOf(random, keys);
            Map<String, @Nullable Object> row = row(
                    "key",
                    i,
                    "a",
                    key == null ? null : key.longValue(),
                    "name",
                    "b" + random.nextInt(3),
                    "more",
                    "m".repeat(random.nextInt(pad)));
            rightRows.add(row);
            rights.upsert(row);
        }
        int kind = random.nextInt(6);
        boolean isTested = kind != 5 && random.nextInt(3) == 0;
        boolean isOpen =
                kind < 5 && leftRows.size() * rightRows.size() < 3_000 && random.nextInt(6) == 0;
        boolean isTwo = kind != 5 && !isOpen && random.nextBoolean();
        boolean isRenamed = kind == 4 || isOpen || random.nextBoolean();
        Query a = Query.on((Source) lefts);
        Query b = Query.on((Source) rights);
        if (isRenamed) {
            b.select("key", "a as ra", "name", "more");
        }
        Join join = switch (kind) {
            case 0 -> isOpen && !isTested ? Join.cross(a, b) : Join.inner(a, b);
            case 1 -> Join.left(a, b);
            case 2 -> Join.semi(a, b);
            case 3 -> Join.anti(a, b);
            case 4 -> Join.full(a, b);
            default -> Join.notIn(a, b);
        };
        if (!isOpen) {
            join.on("a", isRenamed ? "ra" : "a");
        } else if (kind > 0) {
            isTested = true;
        }
        if (isTwo) {
            join.on("b", "name");
        }
        if (isTested) {
            join.where("id < key or id = 3");
        }
        if (random.nextBoolean()) {
            join.with(small());
        }
        List<String> expected = new ArrayList<>();
        Set<Map<String, @Nullable Object>> met = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean hasNull = rightRows.stream().anyMatch(other -> other.get("a") == null);
        for (Map<String, @Nullable Object> one : leftRows) {
            List<Map<String, @Nullable Object>> matching = new ArrayList<>();
            for (Map<String, @Nullable Object> other : rightRows) {
                boolean isEqual = (isOpen
                                || (one.get("a") instanceof Integer x
                                        && other.get("a") instanceof Long y
                                        && x.longValue() == y))
                        && (!isTwo || String.valueOf(one.get("b")).equals(other.get("name")));
                if (isEqual && (!isTested || isTestPassed(one, other))) {
                    matching.add(other);
                    met.add(other);
                }
            }
            boolean isKnown = rightRows.isEmpty() || (one.get("a") != null && !hasNull);
            if (kind != 5 || isKnown) {
                addExpected(one, matching, Math.min(kind, kind == 5 ? 3 : 4), isRenamed, expected);
            }
        }
        if (kind == 4) {
            for (Map<String, @Nullable Object> other : rightRows) {
                if (!met.contains(other)) {
                    expected.add(pair(
                                    row("id", null, "a", null, "b", null, "pad", null),
                                    other,
                                    isRenamed)
                            .toString());
                }
            }
        }
        expected.sort(null);
        assertThat(rows(join)).isEqualTo(expected);
        checkNarrowed(join, random);
        assertThat(lefts.openCount).hasValue(0);
        assertThat(rights.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        return expected.size();
    }

    /** Queries that look at few fields see the same of them, where a join leaves out the others. */
    private static void checkNarrowed(Join join, SplittableRandom random) {
        List<String> names = join.type().declared().stream().map(Field::name).toList();
        String shown = names.get(random.nextInt(names.size()));
        String ordered = names.get(random.nextInt(names.size()));
        String tested = names.get(random.nextInt(names.size()));
        List<String> expected = new ArrayList<>();
        Map<String, Integer> counts = new TreeMap<>();
        try (QueryResult whole = join.run()) {
            for (Map<String, @Nullable Object> row : whole) {
                if (row.get(tested) == null) {
                    continue;
                }
                expected.add(String.valueOf(row.get(shown)));
                counts.merge(row.get(shown) + " " + row.get(tested), 1, Integer::sum);
            }
        }
        List<String> seen = new ArrayList<>();
        Query narrow = Query.on(join)
                .where("`%s` is not null".formatted(tested))
                .orderBy(ordered)
                .select(shown);
        try (QueryResult result = narrow.run()) {
            for (Map<String, @Nullable Object> row : result) {
                seen.add(String.valueOf(row.get(shown)));
            }
        }
        assertThat(seen).as("%s by %s", shown, ordered).hasSameElementsAs(expected);
        assertThat(seen).hasSameSizeAs(expected);
        Map<String, Integer> seenCounts = new TreeMap<>();
        Query groups = Query.on(join)
                .where("`%s` is not null".formatted(tested))
                .groupBy(shown, tested)
                .aggregate(Aggregate.count());
        if (!shown.equals(tested)) {
            try (QueryResult result = groups.run()) {
                for (Map<String, @Nullable Object> row : result) {
                    seenCounts.put(
                            row.get(shown) + " " + row.get(tested),
                            Integer.valueOf(String.valueOf(row.get("count"))));
                }
            }
            assertThat(seenCounts).isEqualTo(counts);
        }
    }

    private static boolean isTestPassed(
            Map<String, @Nullable Object> one, Map<String, @Nullable Object> other) {
        return one.get("id") instanceof Long id
                && other.get("key") instanceof Long key
                && (id < key || id == 3);
    }

    private static void addExpected(
            Map<String, @Nullable Object> one,
            List<Map<String, @Nullable Object>> matching,
            int kind,
            boolean isRenamed,
            List<String> to) {
        if ((kind == 2 && !matching.isEmpty()) || (kind == 3 && matching.isEmpty())) {
            to.add(one.toString());
        }
        if (kind == 2 || kind == 3) {
            return;
        }
        for (Map<String, @Nullable Object> other : matching) {
            to.add(pair(one, other, isRenamed).toString());
        }
        if (kind != 0 && matching.isEmpty()) {
            to.add(pair(one, Map.of(), isRenamed).toString());
        }
    }

    private static Map<String, @Nullable Object> pair(
            Map<String, @Nullable Object> one,
            Map<String, @Nullable Object> other,
            boolean isRenamed) {
        Map<String, @Nullable Object> pair = new LinkedHashMap<>(one);
        pair.put("key", other.get("key"));
        if (isRenamed) {
            pair.put("ra", other.get("a"));
        }
        pair.put("name", other.get("name"));
        pair.put("more", other.get("more"));
        return pair;
    }

    private static @Nullable Integer keyOf(SplittableRandom random, int keys) {
        int key = random.nextInt(keys * 2);
        // one key has half of all rows
        return random.nextInt(20) == 0 ? null : key >= keys ? 0 : key;
    }

    // ---- more than the memory -------------------------------------------------------------------

    private RunOptions small() {
        return RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
    }

    /** Right rows of twenty times the least memory, half of them of one key. */
    private void many() {
        for (long i = 0; i < 400; i++) {
            left.upsert(row("id", i, "a", (int) (i % 40), "pad", "left ".repeat(20)));
        }
        for (long i = 0; i < 4_000; i++) {
            long key = i % 2 == 0 ? 3 : i;
            right.upsert(row("key", i, "a", key, "more", "right ".repeat(20)));
        }
    }

    private Join large() {
        return Join.inner(leftQuery(), rightQuery().select("key", "a", "more")).on("a");
    }

    @Test
    void twenty_times_the_memory_comes_out_right_one_key_being_half_of_it() {
        many();
        FaultScript writes =
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(0));
        Map<Object, Integer> pairs = new LinkedHashMap<>();
        try (QueryResult result = large().with(small()).run()) {
            while (result.next()) {
                pairs.merge(result.row().getLong(1), 1, Integer::sum);
                assertThat(result.row().get(4)).isNotNull();
            }
        }
        assertThat(writes.matchCount()).isGreaterThan(20);
        // 10 left rows have key 3, which 2,000 right ones have; the other odd keys below 40 have
        // one
        assertThat(pairs).containsEntry(3L, 10 * 2_001).hasSize(20);
        assertThat(pairs).containsEntry(5L, 10);
    }

    @Test
    void without_a_place_to_spill_it_says_what_to_do() {
        many();
        assertThatThrownBy(() -> rows(large().with(RunOptions.defaults()
                        .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("joining", "memoryBytesMax", "spill");
    }

    @Test
    void a_failure_of_a_side_or_of_the_disk_leaves_nothing() {
        many();
        for (MemorySource failing : List.of(left, right)) {
            for (int moves : List.of(0, 1, 30, 390, 3_000)) {
                if (failing == right || moves < 400) {
                    failing.failAfterMoves = failing.moveCount.get() + moves;
                    assertThatThrownBy(() -> rows(large().with(small())))
                            .isInstanceOf(CorruptionException.class);
                    nothing_is_left();
                }
            }
            failing.failAfterMoves = Integer.MAX_VALUE;
        }
        for (OperationKind kind :
                List.of(OperationKind.CREATE, OperationKind.WRITE, OperationKind.READ)) {
            FaultScript counting =
                    disk.fault(FaultScript.with(Fault.EIO).on(kind).call(0));
            rows(large().with(small()));
            disk.clearFaults();
            long stride = Math.max(1, counting.matchCount() / 8);
            for (long call = 1; call <= counting.matchCount(); call += stride) {
                disk.fault(FaultScript.with(Fault.EIO).on(kind).call(call));
                assertThatThrownBy(() -> rows(large().with(small())))
                        .as("%s %d", kind, call)
                        .isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                nothing_is_left();
            }
        }
    }

    @Test
    void it_is_closed_and_stopped_at_any_row() {
        many();
        for (int rows : List.of(0, 1, 5_000, 20_000)) {
            try (QueryResult result = large().with(small()).run()) {
                for (int i = 0; i < rows; i++) {
                    assertThat(result.next()).isTrue();
                }
            }
            nothing_is_left();
        }
        for (int looks : List.of(1, 3, 9)) {
            AtomicInteger left = new AtomicInteger(looks);
            Join join = large().with(small().withStop(() -> left.decrementAndGet() < 0));
            assertThatThrownBy(() -> rows(join)).isInstanceOf(CancellationException.class);
            nothing_is_left();
        }
    }
}
