package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** Parameters of statements: each value gives what the constant gives. */
class ParametersTest {
    private static final RunOptions OPTIONS = RunOptions.defaults();

    private final People people = new People();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(people.people.openCount).hasValue(0);
        assertThat(people.cities.openCount).hasValue(0);
    }

    private List<Map<String, @Nullable Object>> rows(String statement, @Nullable Object... values) {
        try (QueryResult rows = people.sql().statement(statement).run(OPTIONS, values)) {
            return rows.toList();
        }
    }

    private void same(String open, String closed, @Nullable Object... values) {
        assertThat(rows(open, values))
                .as(open)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(rows(closed));
    }

    @Test
    void a_value_means_what_the_constant_means() {
        same("select * from People where id = ?", "select * from People where id = 3", 3);
        same("select * from People where ? = id", "select * from People where id = 3", 3L);
        same("select * from People where ? < id", "select * from People where id > 3", 3L);
        same(
                "select name from People where age between ? and ?",
                "select name from People where age between 17 and 41",
                (short) 17,
                BigInteger.valueOf(41));
        same(
                "select name from People where city = ? or name = ?",
                "select name from People where city = 'Rome' or name = 'Ada'",
                "Rome",
                "Ada");
        same(
                "select name from People where city in (?, ?)",
                "select name from People where city in ('Rome', 'Oslo')",
                "Rome",
                "Oslo");
        same(
                "select id from People where not city = ?",
                "select id from People where city <> 'Rome'",
                "Rome");
        same(
                "select id from People where score = ?",
                "select id from People where score = 7.25",
                7.25);
        same(
                "select id from People where score >= ?",
                "select id from People where score >= 0",
                -0.0);
        same(
                "select id from People where price > ?",
                "select id from People where price > 3",
                new BigDecimal("3.0"));
        same(
                "select id from People where born = ?",
                "select id from People where born = date '1980-02-29'",
                LocalDate.of(1980, 2, 29));
        same(
                "select id from People where seen < ?",
                "select id from People where seen < timestamp '2020-03-01 00:00:00'",
                Instant.parse("2020-03-01T00:00:00Z"));
        same("select id from People where ok = ?", "select id from People where ok = true", true);
        same("select id from People where ok = ?", "select id from People where ok", true);
    }

    @Test
    void a_parameter_beside_a_constant_has_all_digits() {
        same("select 1.5 > ? as n", "select 1.5 > 123456.25 as n", new BigDecimal("123456.25"));
        same("select 1.4 < ? as n", "select 1.4 < 1.44 as n", new BigDecimal("1.44"));
        same(
                "select cast(? as decimal(3, 1)) as n",
                "select cast(12.34 as decimal(3, 1)) as n",
                new BigDecimal("12.34"));
        assertThatThrownBy(() -> people.sql()
                        .statement("select cast(? as decimal(3, 1)) as n")
                        .run(RunOptions.defaults(), new BigDecimal("123.4"))
                        .count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("does not fit");
    }

    @Test
    void values_stand_where_constants_stand() {
        same("select id + ? as n from People", "select id + 10 as n from People", 10);
        same(
                "select id from People where age + cast(? as integer) > 40",
                "select id from People where age + 5 > 40",
                5);
        same(
                "select city, count(*) as n from People group by city having count(*) > ?",
                "select city, count(*) as n from People group by city having count(*) > 1",
                1);
        same(
                "select id from People order by id limit ?",
                "select id from People order by id limit 2",
                2);
        same(
                "select id from People order by id limit ? offset ?",
                "select id from People order by id limit 2 offset 3",
                2,
                3);
        same(
                "select id from People where name like ?",
                "select id from People where name like 'A%'",
                "A%");
        same(
                "select p.id from People p join Cities c on p.city = c.city and c.size > ?",
                "select p.id from People p join Cities c on p.city = c.city and c.size > 3000000",
                3_000_000);
        same(
                "select id from People where id in (select max(id) from People where city = ?)",
                "select id from People where id in (select max(id) from People where city = 'Paris')",
                "Paris");
        same(
                "select case when id > ? then ? else 'low' end as c from People",
                "select case when id > 4 then 'high' else 'low' end as c from People",
                4,
                "high");
        same("select cast(? as double) as d from Cities", "select 2.5e0 as d from Cities", 2.5);
        same(
                "select id from People where coalesce(score, ?) = 1e10",
                "select id from People where score = 1e10",
                0.0);
        same(
                "select * from (values (cast(? as bigint), cast(? as varchar))) as t(a, b)",
                "select * from (values (1, 'a')) as t(a, b)",
                1,
                "a");
    }

    @Test
    void a_statement_is_run_often() {
        SqlStatement statement =
                people.sql().statement("select name from People where city = ? and id >= ?");
        assertThat(statement.parameters()).containsExactly("VARCHAR", "BIGINT");
        assertThat(statement.columns()).containsExactly(new SqlStatement.Column("name", "VARCHAR"));
        for (int i = 0; i < 3; i++) {
            try (QueryResult rows = statement.run(OPTIONS, "London", 2)) {
                assertThat(rows.toList()).containsExactly(Map.of("name", "Dana"));
            }
            try (QueryResult rows = statement.run(OPTIONS, "London", 1)) {
                assertThat(rows.count()).isEqualTo(2);
            }
            try (QueryResult rows = statement.run(OPTIONS, "Atlantis", null)) {
                assertThat(rows.count()).isZero();
            }
        }
    }

    @Test
    void a_comparison_with_null_is_unknown() {
        assertThat(rows("select id from People where city = ?", (Object) null)).isEmpty();
        assertThat(rows("select id from People where city <> ?", (Object) null)).isEmpty();
        assertThat(rows("select id from People where age < ?", (Object) null)).isEmpty();
        assertThat(rows("select id from People where not (age < ?)", (Object) null))
                .isEmpty();
        assertThat(rows("select id from People where age < ? or id = 1", (Object) null))
                .hasSize(1);
        assertThat(rows("select id from People where city = ? or city = ?", null, "Rome"))
                .hasSize(1);
        assertThat(rows("select id from People where city is not distinct from ?", (Object) null))
                .hasSize(1);
        assertThat(rows("select count(*) as n from People where city = ?", (Object) null))
                .containsExactly(Map.of("n", 0L));
    }

    /** 2^40 is no value of an int32: no record has it, and each that has a value lies below. */
    @Test
    void a_value_that_the_field_does_not_have_is_compared_all_the_same() {
        assertThat(rows("select id from People where age = ?", 1L << 40)).isEmpty();
        assertThat(rows("select id from People where age < ?", 1L << 40)).hasSize(7);
        assertThat(rows("select id from People where score < ?", Double.POSITIVE_INFINITY))
                .hasSize(7);
    }

    @Test
    void an_index_answers_a_parameter() {
        SqlStatement equal = people.sql().statement("select name from People where city = ?");
        SqlStatement range =
                people.sql().statement("select name from People where city >= ? and city < ?");
        assertThat(equal.explanation(OPTIONS, "Rome").toString()).contains("by_city");
        assertThat(range.explanation(OPTIONS, "Ra", "Rz").toString()).contains("by_city");
        try (QueryResult rows = equal.run(OPTIONS, "Rome")) {
            assertThat(rows.explain().toString()).contains("by_city");
        }
        try (QueryResult rows = range.run(OPTIONS, "Ra", "Rz")) {
            assertThat(rows.explain().toString()).contains("by_city");
            assertThat(rows.count()).isEqualTo(1);
        }
    }

    @Test
    void a_run_reads_the_moments_that_it_is_given() {
        SqlStatement point = people.sql().statement("select name from People where id = ?");
        SqlStatement whole = people.sql()
                .statement("select count(*) as n from People p, People q where p.id > ?");
        try (ReadView view = people.people.openView()) {
            List<Source> asked = new ArrayList<>();
            Function<Source, ReadView> moments = source -> {
                asked.add(source);
                return view;
            };
            try (QueryResult rows = point.runAt(moments, OPTIONS, 1)) {
                assertThat(rows.count()).isEqualTo(1);
            }
            assertThat(asked).containsExactly(people.people);
            try (QueryResult rows = whole.runAt(source -> view, OPTIONS, 0)) {
                assertThat(rows.toList()).containsExactly(Map.of("n", 64L));
            }
        }
    }

    @Test
    void a_wrong_value_is_refused_by_its_number() {
        refused("the statement has 1 parameter, 0 values were given", "id = ?");
        refused("the statement has 1 parameter, 2 values were given", "id = ?", 1, 2);
        refused("parameter 1 is a BIGINT: a String is no value", "id = ?", "1");
        refused("parameter 2 is a VARCHAR: a Integer is no value", "id = ? and city = ?", 1, 1);
        refused("parameter 1 is a BIGINT: 1.5 has a fraction", "id = ?", 1.5);
        refused(
                "parameter 1 is a BIGINT: '9223372036854775808' is out of range",
                "id = ?",
                BigInteger.TWO.pow(63));
        refused("parameter 1 is a DECIMAL", "price = ?", new BigDecimal("1e-60"));
        refused("half of a surrogate pair", "city = ?", "\ud800");
        refused("parameter 1 is a DATE: a String", "born = ?", "1980-02-29");
        assertThatThrownBy(() -> rows("select id from People limit ?", (Object) null))
                .isInstanceOf(SqlException.class);
        assertThatThrownBy(() -> rows("select id from People limit ?", -1))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("-1 is below 0");
        assertThatThrownBy(() -> people.sql().statement("select id from People where id + ? > 1"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("write CAST(? AS …)");
        assertThatThrownBy(() -> people.sql().statement("select ? from People"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("write CAST(? AS …)");
        assertThatThrownBy(() -> people.sql()
                        .statement("select id from People where id = ?")
                        .relation())
                .isInstanceOf(SqlException.class);
    }

    private void refused(String message, String condition, @Nullable Object... values) {
        SqlStatement statement = people.sql().statement("select id from People where " + condition);
        assertThatThrownBy(() -> statement.run(OPTIONS, values))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining(message);
    }

    @Test
    void a_value_and_a_constant_of_time_are_compared_as_what_they_are() {
        assertThat(rows(
                        "select id from People where cast(? as time) = time '12:00:00' and id = 1",
                        LocalTime.NOON))
                .hasSize(1);
        assertThat(rows(
                        "select id from People where cast(? as timestamp) > timestamp '2026-01-01 00:00:00' and id = 1",
                        Instant.parse("2026-01-01T00:00:00.500Z")))
                .hasSize(1);
        assertThat(rows(
                        "select id from People where cast(? as uuid) = cast('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' as uuid) and id = 1",
                        UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")))
                .hasSize(1);
    }

    @Test
    void a_number_of_two_billion_digits_is_refused() {
        BigDecimal huge = new BigDecimal(BigInteger.ONE, -Integer.MAX_VALUE);
        assertThatThrownBy(() -> rows("select id from People where id = cast(? as bigint)", huge))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("parameter 1");
        assertThatThrownBy(() -> rows("select cast(? as decimal(38, 2)) from People", huge))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("parameter 1");
    }

    @Test
    void a_condition_without_columns_stays_above_groups_of_all() {
        assertThat(rows(
                        "select city, count(*) as n from People group by rollup(city) having cast(? as boolean)",
                        false))
                .isEmpty();
        assertThat(rows(
                        "select * from (select city, count(*) as n from People group by rollup(city)) x where cast(? as boolean)",
                        false))
                .isEmpty();
    }
}
