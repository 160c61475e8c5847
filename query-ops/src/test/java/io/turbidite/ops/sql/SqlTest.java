package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class SqlTest {
    private final People people = new People();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(people.people.openCount).hasValue(0);
        assertThat(people.cities.openCount).hasValue(0);
    }

    private List<Map<String, @Nullable Object>> rows(String statement) {
        try (QueryResult rows = people.sql().statement(statement).run()) {
            return rows.toList();
        }
    }

    /** What {@link Operators} calls strict. */
    @Test
    void functions_of_a_null_are_null() {
        assertNull(
                "name",
                "contains(name, 'a')",
                "contains_any(name, 'a')",
                "contains_prefix(name, 'a')",
                "starts_with(name, 'a')",
                "starts_with('a', name)",
                "regexp_like(name, 'a')");
        assertNull(
                "home",
                "st_x(home)",
                "st_y(home)",
                "st_within(home, st_makeenvelope(0, 0, 1, 1))",
                "st_intersects(home, st_makeenvelope(0, 0, 1, 1))");
        assertNull("price", "st_x(st_point(price, 2))", "st_y(st_point(1, price))");
    }

    private void assertNull(String field, String... values) {
        for (String value : values) {
            assertThat(rows("select (%s) is null as n from People where %s is null"
                            .formatted(value, field)))
                    .as(value)
                    .isNotEmpty()
                    .allSatisfy(row -> assertThat(row).containsEntry("n", true));
        }
    }

    @Test
    void a_condition_that_is_true_of_no_null_makes_a_left_join_an_inner_one() {
        String join = "select p.name from People p left join Cities c on c.city = p.city where ";
        for (String condition : List.of(
                "c.country = 'x'", "starts_with(c.country, 'x')", "not contains(c.country, 'x')")) {
            assertThat(people.sql()
                            .statement(join + condition)
                            .relation()
                            .explain()
                            .toString())
                    .as(condition)
                    .contains("inner by");
        }
        assertThat(people.sql()
                        .statement(join + "coalesce(c.country, 'x') = 'x'")
                        .relation()
                        .explain()
                        .toString())
                .contains("left by");
    }

    @Test
    void a_condition_on_an_indexed_field_searches_its_index() {
        SqlStatement statement =
                people.sql().statement("explain select name from People where city = 'Rome'");
        assertThat(statement.explains()).isTrue();
        assertThat(statement.explanation(RunOptions.defaults()).toString()).contains("by_city");
    }

    @Test
    void a_list_is_ordered_as_rows_are() {
        for (String key : List.of("age", "age desc", "age nulls last", "age desc nulls first")) {
            List<@Nullable Object> ids = new ArrayList<>();
            rows("select id from People order by %s, id desc".formatted(key))
                    .forEach(row -> ids.add(row.get("id")));
            String told = String.join(",", ids.stream().map(String::valueOf).toList());
            Map<String, @Nullable Object> lists = rows("""
                            select array_agg(id order by %1$s, id desc) as a,
                              string_agg(cast(id as varchar), ',' order by %1$s, id desc) as s,
                              listagg(cast(id as varchar), ',')
                                within group (order by %1$s, id desc) as l
                            from People""".formatted(key)).getFirst();
            assertThat(lists).as(key).containsEntry("a", ids);
            assertThat(lists).as(key).containsEntry("s", told).containsEntry("l", told);
        }
    }

    /** Each takes Calcite minutes, and the rows are the same ones. */
    @Test
    void planning_ends_when_it_is_told_to() {
        List<String> sums = new ArrayList<>();
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            sums.add("id + " + i);
            pairs.add("(id = %1$d and age = %1$d)".formatted(i));
        }
        for (String statement : List.of(
                "select " + String.join(", ", sums) + " from People",
                "select id from People where " + String.join(" or ", pairs))) {
            for (int after : List.of(0, 500)) {
                AtomicInteger asked = new AtomicInteger();
                assertThatThrownBy(() -> people.sql()
                                .statement(statement, () -> asked.incrementAndGet() > after))
                        .isInstanceOf(CancellationException.class);
                assertThat(asked.get()).isBetween(after + 1, after + 10);
            }
        }
    }

    /** A stop is of one planning: who asks the same text later is not stopped by it. */
    @Test
    void a_plan_that_is_kept_has_no_stop() {
        Sql sql = people.sql();
        AtomicBoolean stop = new AtomicBoolean();
        String text = "select id from People where age > 40 order by id";
        sql.statement(text, stop::get);
        stop.set(true);
        try (QueryResult rows = sql.statement(text).run()) {
            assertThat(rows.toList()).hasSize(3);
        }
        RunOptions stopped = RunOptions.defaults().withStop(() -> true);
        String moment = "select now() as n from People";
        assertThatThrownBy(() -> people.sql().statement(moment).run(stopped))
                .isInstanceOf(CancellationException.class);
        // a join is compiled at each run
        String sizes = IntStream.range(0, 300)
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(", ", "(", ")"));
        SqlStatement join = people.sql()
                .statement(
                        "select p.id from People p join Cities c on p.city = c.city where c.size in "
                                + sizes);
        assertThatThrownBy(() -> join.run(stopped))
                .isInstanceOf(CancellationException.class)
                .hasMessageEndingWith("while it was planned");
    }

    @Test
    void what_is_too_deep_for_the_parser_says_so() {
        String deep = "select 1" + " + 1".repeat(100_000);
        assertThatThrownBy(() -> people.sql().statement(deep))
                .isInstanceOf(SqlException.class)
                .hasMessage("the statement is nested too deeply");
    }

    @Test
    void columns_have_types_of_sql() {
        assertThat(people.sql()
                        .statement(
                                "select id, age, born, avg(score) over_all from People group by id, age, born")
                        .columns())
                .containsExactly(
                        new SqlStatement.Column("id", "BIGINT"),
                        new SqlStatement.Column("age", "INTEGER"),
                        new SqlStatement.Column("born", "DATE"),
                        new SqlStatement.Column("over_all", "DOUBLE"));
    }

    @Test
    void what_is_too_large_is_refused() {
        assertThatThrownBy(() -> people.sql().statement(" ".repeat(Sql.TEXT_CHARS_MAX + 1)))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("longer than the limit of 1,048,576");
        assertThatThrownBy(() ->
                        people.sql().statement("select " + "(".repeat(201) + "1" + ")".repeat(201)))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("nested deeper than the limit of 200");
        assertThatThrownBy(() ->
                        people.sql().statement("select " + "id, ".repeat(2_000) + "id from People"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("2,001 columns are more than the limit of 2,000");
        assertThatThrownBy(() -> people.sql().statement("select '\0'"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("code 0");
    }

    @Test
    void a_mistake_has_a_place() {
        assertThatThrownBy(() -> people.sql().statement("select id\nfrom Peopel"))
                .isInstanceOfSatisfying(SqlException.class, e -> {
                    assertThat(e.line()).isEqualTo(2);
                    assertThat(e.column()).isEqualTo(6);
                    assertThat(e).hasMessageContaining("is 'People' meant?");
                });
    }

    @Test
    void a_row_that_has_no_value_ends_the_statement() {
        try (QueryResult rows =
                people.sql().statement("select 1 / age as x from People").run()) {
            assertThatThrownBy(rows::toList).hasMessageContaining("division by zero");
        }
    }

    @Test
    void a_statement_has_one_moment_for_each_run() {
        List<Instant> moments = new ArrayList<>();
        Instant start = Instant.parse("2024-02-29T23:59:59.123456Z");
        SqlStatement statement = people.sql()
                .by(() -> {
                    moments.add(start.plusSeconds(moments.size()));
                    return moments.getLast();
                })
                .statement("select now() as n, current_date as d, now() = localtimestamp as same,"
                        + " (select max(seen) from People where seen < now()) as m");
        for (int run = 0; run < 2; run++) {
            int before = moments.size();
            try (QueryResult rows = statement.run()) {
                Map<String, @Nullable Object> row = rows.toList().getFirst();
                assertThat(moments).hasSize(before + 1);
                Instant now = moments.getLast();
                assertThat(row.get("n")).isEqualTo(now);
                assertThat(row.get("d")).isEqualTo(LocalDate.ofInstant(now, ZoneOffset.UTC));
                assertThat(row.get("same")).isEqualTo(true);
                assertThat(row.get("m")).isEqualTo(Instant.parse("2024-02-29T12:30:00Z"));
            }
        }
    }

    /** Each planning asks the clock for the moment of the statement. */
    @Test
    void a_text_that_was_seen_is_not_planned_again() {
        AtomicInteger planned = new AtomicInteger();
        Sql sql = people.sql().by(() -> {
            planned.incrementAndGet();
            return Instant.EPOCH;
        });
        String text = "select name from People where age > ? order by id";
        for (int i = 0; i < 3; i++) {
            SqlStatement statement = sql.statement(text);
            try (QueryResult rows = statement.run(RunOptions.defaults(), 40 + 10 * i)) {
                assertThat(rows.toList()).hasSize(i == 0 ? 3 : 1);
            }
        }
        assertThat(planned).hasValue(1);
        for (int i = 0; i < KeptPlans.PLAN_COUNT_MAX; i++) {
            sql.statement("select %d as n".formatted(i));
        }
        planned.set(0);
        sql.statement("select 200 as n");
        assertThat(planned).hasValue(0);
        sql.statement(text);
        assertThat(planned).as("forgotten").hasValue(1);
        sql.statement("select now() as n");
        sql.statement("select now() as n");
        assertThat(planned).as("of the moment").hasValue(3);
        String longText = "select 1 as n -- " + "x".repeat(KeptPlans.TEXT_CHARS_MAX);
        sql.statement(longText);
        sql.statement(longText);
        assertThat(planned).as("too long to be kept").hasValue(5);
    }

    @Test
    void a_plan_that_is_kept_serves_several_threads() throws Exception {
        Sql sql = people.sql();
        String text = "select p.name, c.country from People p left join Cities c on c.city = p.city"
                + " where p.id <= ? order by p.id";
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                int id = i % 9;
                answers.add(threads.submit(() -> {
                    try (QueryResult rows = sql.statement(text).run(RunOptions.defaults(), id)) {
                        return rows.toList().size();
                    }
                }));
            }
            for (int i = 0; i < 40; i++) {
                assertThat(answers.get(i).get()).isEqualTo(Math.min(8, i % 9));
            }
        }
    }

    private List<Object> first(String statement) {
        try (QueryResult rows = people.sql().statement(statement).run(RunOptions.defaults())) {
            return rows.toList().stream()
                    .map(row -> Objects.requireNonNull(row.values().iterator().next()))
                    .toList();
        }
    }

    @Test
    void a_cast_to_real_rounds_what_is_compared() {
        assertThat(first("select id from People where cast(id + 16777216 as real) = 16777216"))
                .containsExactly(1L);
    }

    @Test
    void comments_stand_between_the_words_of_explain_and_behind_the_end() {
        for (String text : List.of(
                "-- how\nexplain select id from People",
                "explain /* x */ select id from People",
                "explain/**/analyze/**/as json(select id from People)")) {
            assertThat(people.sql().statement(text).explains()).as(text).isTrue();
        }
        assertThat(first("select 1 as one; /* a -- b */")).containsExactly(1L);
    }
}
