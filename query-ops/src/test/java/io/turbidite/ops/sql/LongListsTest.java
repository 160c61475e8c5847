package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** {@code IN} with lists of any length: the same rows as looking at each, planned in their time. */
class LongListsTest {
    private static final int RECORD_COUNT = 1_500;

    private final MemorySource things = new MemorySource(
            "Things",
            RecordType.builder()
                    .field("id", "int64")
                    .field("n", "int32?")
                    .field("s", "string?")
                    .field("d", "double?")
                    .field("p", "decimal?")
                    .field("born", "date?")
                    .build(),
            List.of("id"),
            List.of(),
            List.of(
                    new IndexDescription("by_n", IndexDescription.Kind.BTREE, List.of("n"), true),
                    new IndexDescription("by_s", IndexDescription.Kind.BTREE, List.of("s"), true)),
            2);

    private final MemorySource pairs = new MemorySource(
            "Pairs",
            RecordType.builder().field("a", "int64").field("b", "int64?").build(),
            List.of("a"),
            List.of(),
            List.of(),
            1);

    private final List<Map<String, @Nullable Object>> records = new ArrayList<>();

    /** How a field is written in a statement, and what a number stands for there. */
    private record Field(
            String sql,
            String read,
            Function<Object, Object> number,
            IntFunction<String> literal) {}

    private static final List<Field> FIELDS = List.of(
            new Field(
                    "id",
                    "id",
                    v -> ((Long) v).intValue() * 10,
                    i -> i % 10 == 0 ? "" + i / 10 : i / 10 + "." + i % 10),
            new Field(
                    "n",
                    "n",
                    v -> (Integer) v * 10,
                    i -> i % 3 == 0 ? "cast(%s as bigint)".formatted(i / 10) : i / 10 + ".0"),
            new Field("s", "s", v -> Integer.parseInt((String) v) * 10, i -> "'" + i / 10 + "'"),
            new Field("d", "d", v -> (int) Math.round((Double) v * 10), i -> i / 10 + "." + i % 10),
            new Field(
                    "p",
                    "p",
                    v -> ((BigDecimal) v).movePointRight(1).intValueExact(),
                    i -> i / 10 + "." + i % 10),
            new Field(
                    "born",
                    "born",
                    v -> (int) ((LocalDate) v).toEpochDay() * 10,
                    i -> "date '" + LocalDate.ofEpochDay(i / 10) + "'"),
            new Field("n + 1", "n", v -> ((Integer) v + 1) * 10, i -> "" + i / 10));

    LongListsTest() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < RECORD_COUNT; i++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("id", (long) i);
            Integer n = random.nextInt(8) == 0 ? null : (Integer) random.nextInt(RECORD_COUNT);
            row.put("n", i == 17 ? (Integer) 0 : n);
            row.put("s", random.nextInt(8) == 0 ? null : "" + random.nextInt(RECORD_COUNT));
            int tenths = random.nextInt(RECORD_COUNT * 10);
            row.put("d", random.nextInt(8) == 0 ? null : (Double) (tenths / 10.0));
            row.put("p", random.nextInt(8) == 0 ? null : BigDecimal.valueOf(tenths, 1));
            row.put("born", random.nextInt(8) == 0 ? null : LocalDate.ofEpochDay(tenths / 10));
            records.add(row);
            things.upsert(row);
        }
        for (long a = 0; a < 50; a++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("a", a * 2);
            row.put("b", a % 5 == 0 ? null : (Long) a);
            pairs.upsert(row);
        }
    }

    @AfterEach
    void nothing_is_left_open() {
        assertThat(things.openCount).hasValue(0);
        assertThat(pairs.openCount).hasValue(0);
    }

    private Sql sql() {
        return Sql.on(things, pairs);
    }

    private Set<Long> ids(String statement, @Nullable Object... values) {
        try (QueryResult rows = sql().statement(statement).run(RunOptions.defaults(), values)) {
            return rows.toList().stream()
                    .map(row -> (Long) row.get("id"))
                    .collect(Collectors.toSet());
        }
    }

    private static String list(int count) {
        return IntStream.range(0, count)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(","));
    }

    @Test
    void a_list_finds_what_looking_at_each_value_finds() {
        String test = "LongListsTest#a_list_finds_what_looking_at_each_value_finds";
        long first = Seeds.of(test);
        for (int i = 0; i < (Seeds.isReplay() ? 1 : Tier.count(10, 60, 2_000)); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            SplittableRandom random = new SplittableRandom(seed);
            Field field = FIELDS.get(random.nextInt(FIELDS.size()));
            int size = 1 + random.nextInt(random.nextBoolean() ? 2_000 : 40);
            boolean hasNull = random.nextInt(3) == 0;
            boolean isWhole = !field.sql.matches("[dp]|id");
            List<String> values = new ArrayList<>();
            Set<Integer> wanted = new HashSet<>();
            for (int j = 0; j < size; j++) {
                int tenths = random.nextInt(RECORD_COUNT) * 10
                        + (isWhole || random.nextInt(4) > 0 ? 0 : random.nextInt(10));
                values.add(field.literal.apply(tenths));
                wanted.add(tenths);
            }
            if (hasNull) {
                values.add(random.nextInt(values.size() + 1), "null");
            }
            String in = "%s in (%s)".formatted(field.sql, String.join(", ", values));
            check(in, field, wanted, hasNull, random.nextInt(4), Seeds.replay(test, seed));
        }
    }

    /** A condition is asked for as it is, negated, of three values, and beside another. */
    private void check(
            String in, Field field, Set<Integer> wanted, boolean hasNull, int form, String told) {
        Set<Long> expected = new HashSet<>();
        for (Map<String, @Nullable Object> row : records) {
            Object value = row.get(field.read);
            @Nullable
            Boolean is = value == null
                    ? null
                    : wanted.contains(field.number.apply(value))
                            ? (Boolean) true
                            : hasNull ? null : (Boolean) false;
            long id = (Long) Objects.requireNonNull(row.get("id"));
            boolean matches = switch (form) {
                case 0 -> is != null && is;
                case 1 -> is != null && !is;
                case 2 -> is == null;
                default -> (is != null && is) || id < 9;
            };
            if (matches) {
                expected.add(id);
            }
        }
        String condition = switch (form) {
            case 0 -> in;
            case 1 -> in.replaceFirst(" in \\(", " not in (");
            case 2 -> "(" + in + ") is unknown";
            default -> in + " or id < 9";
        };
        assertThat(ids("select id from Things where " + condition))
                .as("%s\n%s", condition, told)
                .isEqualTo(expected);
    }

    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void planning_takes_the_time_of_the_values_not_of_their_pairs() {
        for (String in : List.of("id in (%s)", "n not in (%s)", "n in (%s, null) or id = 3")) {
            String statement = "select id from Things where " + in;
            // each call and type that planning makes asks
            AtomicInteger asked = new AtomicInteger();
            int count = 2_000;
            sql().statement(statement.formatted(list(count)), () -> {
                assertThat(asked.incrementAndGet()).as(in).isLessThan(40 * count);
                return false;
            });
        }
    }

    @Test
    void a_list_has_a_limit_that_says_where() {
        assertThat(ids("select id from Things where id in (%s)".formatted(list(10_000))))
                .hasSize(RECORD_COUNT);
        assertThatThrownBy(() -> sql().statement("select id from Things where id < 5 and id in (%s)"
                        .formatted(list(10_001))))
                .isInstanceOf(SqlException.class)
                .hasMessageStartingWith(
                        "line 1, column 40: IN has 10,001 values, more than the limit of 10,000");
    }

    @Test
    void a_list_among_columns_has_a_limit_of_its_own() {
        assertThat(ids("select id from (select id, n in (%s) as f from Things) as t where f"
                        .formatted(list(200))))
                .isNotEmpty();
        assertThatThrownBy(() -> sql().statement(
                                "select n in (%s) as f from Things".formatted(list(300)))
                        .run())
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("a value has 300 comparisons, more than the limit of 256")
                .hasMessageContaining("IN");
    }

    @Test
    void indexes_serve_lists() {
        for (int count : List.of(5, 30, 300)) {
            String values = list(count).replace(",", "','");
            assertThat(sql().statement("explain select id from Things where s in ('%s')"
                                    .formatted(values))
                            .explanation(RunOptions.defaults())
                            .toString())
                    .as("%d", count)
                    .contains("each of %d terms by by_s".formatted(count));
        }
    }

    @Test
    void parameters_and_places_behind_a_join() {
        String marks = "?" + ", ?".repeat(29);
        @Nullable Object[] values = new @Nullable Object[30];
        Arrays.setAll(values, i -> (long) i);
        assertThat(ids("select id from Things where id in (" + marks + ")", values))
                .hasSize(30);
        values[4] = null;
        assertThat(ids("select id from Things where id in (" + marks + ")", values))
                .hasSize(29);
        assertThat(ids("select id from Things where id not in (" + marks + ")", values))
                .isEmpty();
        String join = "select id from Things t left join Pairs p on p.a = t.id where ";
        // 2 has b 1, 100 has no pair, 20 has a pair with a null
        assertThat(ids(join + "p.b in (%s)".formatted(list(40))))
                .contains(2L)
                .doesNotContain(20L, 100L);
        assertThat(ids(join + "t.id in (%s, p.b)".formatted(list(40)))).hasSize(40);
        assertThat(ids(join + "p.b in (%s, null, 1) or t.id = 100".formatted(list(2))))
                .contains(2L, 100L);
        assertThat(ids(
                        "select id from Things t left join Pairs p on p.a = t.id and p.a in (%s) where p.b is null"
                                .formatted(list(400))))
                .hasSize(RECORD_COUNT - 40);
        assertThat(sql().statement(join + "p.b in (%s)".formatted(list(40)))
                        .relation()
                        .explain()
                        .toString())
                .contains("inner by");
    }

    @Test
    void what_a_list_leaves_out_is_not_calculated_with() {
        Set<Long> expected = new HashSet<>();
        for (Map<String, @Nullable Object> row : records) {
            Integer n = (Integer) row.get("n");
            if (n != null && n > 300 && 2_000 / n > 2) {
                expected.add((Long) Objects.requireNonNull(row.get("id")));
            }
        }
        for (int count : List.of(3, 4, 300)) {
            String values = list(count);
            String each = IntStream.range(0, count)
                    .mapToObj(i -> "n <> " + i)
                    .collect(Collectors.joining(" and "));
            // Calcite looks at each pair of many comparisons joined by AND
            String spelt = count < 256 ? each : "n not in (" + values + ", 2)";
            for (String out : List.of("n not in (" + values + ")", spelt)) {
                String asked = out + " and n > 300 and 2000 / n > 2";
                String alone = out + " and 2000 / n > 2 and 300 < n + 0";
                String or = "(id < 0 and n > 3 or " + alone + ")";
                for (String condition : List.of(asked, alone, or, or + " and id >= 0")) {
                    assertThat(ids("select id from Things where " + condition))
                            .as("%d: %s", count, condition)
                            .isEqualTo(expected);
                }
            }
            if (count < 256) {
                String text = "n not in (%s) && 2000 / n >= 3".formatted(values);
                for (String condition : List.of(text, "id < 0 && n > 3 || " + text)) {
                    assertThat(Query.on(things).where(condition).run().toList())
                            .as("%d: %s", count, condition)
                            .isNotEmpty();
                }
            }
        }
    }

    @Test
    void a_parameter_among_the_values_may_be_null() {
        String few = list(20);
        @Nullable Object[] none = {null};
        for (String field : List.of("n", "id")) {
            Set<Long> known = ids("select id from Things where %s in (%s)".formatted(field, few));
            Set<Long> all = ids("select id from Things");
            Set<Long> others = new HashSet<>(all);
            others.removeAll(known);
            String in = "%s in (%s, ?)".formatted(field, few);
            String select = "select id from Things where ";
            assertThat(known).as(field).isNotEmpty();
            assertThat(ids(select + "(" + in + ") is not null", none)).isEqualTo(known);
            assertThat(ids(select + "(" + in + ") is unknown", none)).isEqualTo(others);
            assertThat(ids(select + "coalesce(" + in + ", false)", none)).isEqualTo(known);
            assertThat(ids(select + "coalesce(" + in + ", true)", none)).isEqualTo(all);
            assertThat(ids(select + "not (" + in + ")", none)).isEmpty();
            assertThat(ids(select + "(" + in + ") is not true", none)).isEqualTo(others);
            assertThat(ids(select + "(" + in + ") is unknown", 3L))
                    .isEqualTo(ids(select + field + " is null"));
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void lists_within_lists_have_a_limit() {
        String within =
                "select id from Things where (id * 0 + case when id in (%s) then 1 else 2 end) in (%s)";
        assertThat(ids(within.formatted(list(30), list(2) + ",-1".repeat(300)))).hasSize(30);
        assertThatThrownBy(() -> sql().statement(within.formatted(list(10_000), list(10_000)))
                        .run())
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("than the limit of 100,000")
                .hasMessageContaining("IN");
        String many = IntStream.range(0, 11)
                .mapToObj(i -> "id + %d in (%s)".formatted(i, list(10_000)))
                .collect(Collectors.joining(" or "));
        assertThatThrownBy(() ->
                        sql().statement("select id from Things where " + many).run())
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("than the limit of 100,000");
    }

    @Test
    void lists_of_what_is_calculated_are_of_any_length() {
        for (int count : List.of(20, 40, 129, 150, 256, 257, 1_000)) {
            Set<Long> expected = new HashSet<>();
            for (Map<String, @Nullable Object> row : records) {
                Integer n = (Integer) row.get("n");
                if (n != null && n * 2 + 1 < count) {
                    expected.add((Long) Objects.requireNonNull(row.get("id")));
                }
            }
            String in = "n * 2 + 1 in (%s)".formatted(list(count));
            assertThat(ids("select id from Things where " + in))
                    .as("%d", count)
                    .isEqualTo(expected);
            assertThat(ids("select id from Things t join Pairs p on p.a = t.id - t.id and " + in))
                    .as("%d", count)
                    .isEqualTo(expected);
        }
    }
}
