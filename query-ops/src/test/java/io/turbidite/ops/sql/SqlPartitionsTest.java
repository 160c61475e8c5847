package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * A condition makes every row true, false or unknown, and one of them alone: what a statement gives
 * with it, with {@code not} of it and with {@code is unknown} is together what it gives without.
 * And a plan changes no answer: with indexes and without, joins in the planner's order and as
 * written.
 */
class SqlPartitionsTest {
    private static final int CONDITIONS = Tier.count(100, 600, 20_000);
    private static final int PLANS = Tier.count(20, 60, 3_000);

    private static final RandomConditions OF_PETS = new RandomConditions(
            List.of(
                    "p.age",
                    "p.id",
                    "p.score",
                    "p.price",
                    "p.owner",
                    "7",
                    "2.5",
                    "0",
                    "-1",
                    "p.age + 1",
                    "p.id * 2",
                    "p.price / 2"),
            List.of("p.name", "'n3'", "'n5'", "upper(p.name)", "p.name || 'x'"),
            List.of("p.ok", "p.born > date '2020-06-01'", "p.ok is not true"));
    private static final RandomConditions OF_BOTH = new RandomConditions(
            List.of("p.age", "p.owner", "o.id", "o.level", "3", "0", "p.age - o.level", "p.score"),
            List.of("p.name", "o.city", "'n3'", "'Oslo'", "lower(o.city)"),
            List.of("p.ok", "o.level > p.age"));
    private static final RandomConditions OF_GROUPS = new RandomConditions(
            List.of("count(*)", "sum(p.age)", "max(p.score)", "p.age", "3", "20", "avg(p.price)"),
            List.of("min(p.name)", "max(p.name)", "'n3'", "'n7'"),
            List.of("bool_or(p.ok)", "count(p.name) > 2"));
    private static final List<String> JOINS =
            List.of("join", "left join", "right join", "full join");

    private final Pets indexed = Pets.indexed();
    private final Pets bare = Pets.bare();
    private final Sql sql = indexed.sql();
    private final Sql sqlWithoutIndexes = bare.sql();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(indexed.openCount() + bare.openCount()).isZero();
    }

    private static List<Map<String, @Nullable Object>> rows(Sql of, String statement) {
        try (QueryResult rows = of.statement(statement).run()) {
            return rows.toList();
        }
    }

    private static List<String> sorted(List<Map<String, @Nullable Object>> rows) {
        List<String> lines = new ArrayList<>();
        for (Map<String, @Nullable Object> row : rows) {
            Map<String, @Nullable Object> plain = new LinkedHashMap<>(row);
            // 2 and 2.0 are one decimal
            plain.replaceAll((_, value) -> value instanceof BigDecimal number
                    ? number.stripTrailingZeros().toPlainString()
                    : value);
            lines.add(plain.toString());
        }
        lines.sort(Comparator.naturalOrder());
        return lines;
    }

    /** A statement for each part of all rows; the condition is put behind {@code clause}. */
    private record Parts(String head, String clause, String tail, String condition) {
        String whole() {
            return head + tail;
        }

        List<String> statements() {
            return List.of(
                    head + clause + "(" + condition + ")" + tail,
                    head + clause + "not (" + condition + ")" + tail,
                    head + clause + "(" + condition + ") is unknown" + tail);
        }
    }

    private List<Map<String, @Nullable Object>> together(
            Parts parts, List<Map<String, @Nullable Object>> found) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>(found);
        for (String statement : parts.statements().subList(1, 3)) {
            rows.addAll(rows(sql, statement));
        }
        return rows;
    }

    @Test
    void a_condition_parts_all_rows_into_three() {
        String test = "SqlPartitionsTest#a_condition_parts_all_rows_into_three";
        long first = Seeds.of(test);
        int empty = 0;
        int count = Seeds.isReplay() ? 1 : CONDITIONS;
        for (int i = 0; i < count; i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            empty += check(new SplittableRandom(seed), Seeds.replay(test, seed)) ? 0 : 1;
        }
        // parts that hold nothing would say little
        assertThat(empty).isLessThanOrEqualTo(count / 2);
    }

    /** Whether the condition is true of some rows and not of all. */
    private boolean check(SplittableRandom random, String replay) {
        String of = OF_PETS.next(random, random.nextInt(1, 4));
        String join = "from Pets p %s Owners o on o.id = p.owner"
                .formatted(JOINS.get(random.nextInt(JOINS.size())));
        return switch (random.nextInt(7)) {
            case 0 -> plain(of, replay);
            case 1 ->
                rowsOf(
                        new Parts(
                                "select p.id, o.id as owner " + join,
                                " where ",
                                "",
                                OF_BOTH.next(random, random.nextInt(1, 4))),
                        replay);
            case 2 ->
                rowsOf(
                        new Parts(
                                "select p.age, count(*) as n, min(p.name) as low from Pets p group by p.age",
                                " having ",
                                "",
                                OF_GROUPS.next(random, 2)),
                        replay);
            case 3 -> sums(new Parts(SUMS + "from Pets p", " where ", "", of), replay);
            case 4 ->
                sums(
                        new Parts(
                                SUMS + join,
                                " where ",
                                "",
                                OF_BOTH.next(random, random.nextInt(1, 4))),
                        replay);
            case 5 ->
                sums(
                        new Parts(
                                SUMS.replace("select ", "select p.name as k, ") + "from Pets p",
                                " where ",
                                " group by p.name",
                                of),
                        replay);
            default -> distinct(of, replay);
        };
    }

    private static final String SUMS =
            "select count(*) as n, count(p.age) as ages, sum(p.age) as s, sum(p.price) as d, min(p.score) as low, max(p.name) as high ";

    private boolean rowsOf(Parts parts, String replay) {
        List<Map<String, @Nullable Object>> all = rows(sql, parts.whole());
        List<Map<String, @Nullable Object>> found = rows(sql, parts.statements().getFirst());
        assertThat(sorted(together(parts, found))).as(told(parts, replay)).isEqualTo(sorted(all));
        return isPart(found, all);
    }

    private static boolean isPart(
            List<Map<String, @Nullable Object>> found, List<Map<String, @Nullable Object>> all) {
        return !found.isEmpty() && found.size() < all.size();
    }

    private boolean plain(String condition, String replay) {
        Parts parts = new Parts("select p.id from Pets p", " where ", "", condition);
        boolean isTelling = rowsOf(parts, replay);
        // the same without an index or a range: the value of the condition, counted
        String counting =
                "select count(*) filter (where c) as n from (select (%s) as c from Pets p) as x"
                        .formatted(condition);
        assertThat(rows(sql, counting).getFirst().get("n"))
                .as(told(parts, replay))
                .isEqualTo((long) rows(sql, parts.statements().getFirst()).size());
        return isTelling;
    }

    private boolean distinct(String condition, String replay) {
        Parts parts =
                new Parts("select distinct p.name, p.ok from Pets p", " where ", "", condition);
        List<Map<String, @Nullable Object>> all = rows(sql, parts.whole());
        List<Map<String, @Nullable Object>> found = rows(sql, parts.statements().getFirst());
        assertThat(new TreeSet<>(sorted(together(parts, found))))
                .as(told(parts, replay))
                .isEqualTo(new TreeSet<>(sorted(all)))
                .hasSize(all.size());
        return isPart(found, all);
    }

    /** Groups of the parts with one key are put together: counts and sums added, extremes taken. */
    private boolean sums(Parts parts, String replay) {
        List<Map<String, @Nullable Object>> found = rows(sql, parts.statements().getFirst());
        Map<String, Map<String, @Nullable Object>> groups = new LinkedHashMap<>();
        for (Map<String, @Nullable Object> row : together(parts, found)) {
            groups.merge(
                    String.valueOf(row.get("k")),
                    new LinkedHashMap<>(row),
                    SqlPartitionsTest::merged);
        }
        List<Map<String, @Nullable Object>> all = rows(sql, parts.whole());
        assertThat(sorted(List.copyOf(groups.values())))
                .as(told(parts, replay))
                .isEqualTo(sorted(all));
        return found.stream().anyMatch(row -> !Long.valueOf(0).equals(row.get("n")))
                && !sorted(found).equals(sorted(all));
    }

    private static Map<String, @Nullable Object> merged(
            Map<String, @Nullable Object> a, Map<String, @Nullable Object> b) {
        Map<String, @Nullable Object> both = new LinkedHashMap<>(a);
        both.replaceAll((name, value) -> combined(name, value, b.get(name)));
        return both;
    }

    private static @Nullable Object combined(String name, @Nullable Object a, @Nullable Object b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return switch (name) {
            case "n", "ages", "s" -> (Long) a + (Long) b;
            case "d" -> ((BigDecimal) a).add((BigDecimal) b);
            case "low" -> Math.min((Double) a, (Double) b);
            case "high" -> ((String) a).compareTo((String) b) > 0 ? a : b;
            default -> a;
        };
    }

    private static String told(Parts parts, String replay) {
        return parts.statements().getFirst() + "\n" + replay;
    }

    /** Written so that no rule makes inner joins of it, and so nobody puts it in another order. */
    @Test
    void a_plan_changes_no_answer() {
        String test = "SqlPartitionsTest#a_plan_changes_no_answer";
        long first = Seeds.of(test);
        int rowCount = 0;
        int count = Seeds.isReplay() ? 1 : PLANS;
        for (int i = 0; i < count; i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            SplittableRandom random = new SplittableRandom(seed);
            String condition = OF_BOTH.next(random, random.nextInt(1, 4));
            String order = random.nextBoolean()
                    ? " order by p.%s %s, p.id limit %d"
                            .formatted(
                                    random.nextBoolean() ? "age" : "price",
                                    random.nextBoolean() ? "" : "desc",
                                    random.nextInt(1, 40))
                    : "";
            String select = "select p.id, o.level, c.size from ";
            String reordered = select
                    + "Pets p join Owners o on o.id = p.owner join Cities c on c.city = o.city where "
                    + condition
                    + order;
            String asWritten = select
                    + "Pets p left join Owners o on o.id = p.owner left join Cities c on c.city = o.city where coalesce(c.city || o.city, '') <> '' and ("
                    + condition
                    + ")"
                    + order;
            String replay = reordered + "\n" + Seeds.replay(test, seed);
            List<Map<String, @Nullable Object>> rows = rows(sql, reordered);
            for (List<Map<String, @Nullable Object>> other : List.of(
                    rows(sqlWithoutIndexes, reordered),
                    rows(sql, asWritten),
                    rows(sqlWithoutIndexes, asWritten))) {
                if (order.isEmpty()) {
                    assertThat(sorted(rows)).as(replay).isEqualTo(sorted(other));
                } else {
                    assertThat(rows).as(replay).isEqualTo(other);
                }
            }
            rowCount += rows.size();
        }
        assertThat(rowCount).isGreaterThan(count);
    }

    /** Or the test above would compare one plan with itself. */
    @Test
    void plans_differ() {
        String statement = "select p.id from Pets p where p.name = 'n3' and p.owner > 3";
        assertThat(explained(sql, statement)).contains("by_name");
        assertThat(explained(sqlWithoutIndexes, statement)).doesNotContain("by_");
        String written =
                "select p.id from Pets p %1$s Owners o on o.id = p.owner %1$s Cities c on c.city = o.city where %2$s";
        assertThat(explained(sql, written.formatted("join", "o.level > 0")))
                .contains("inner by")
                .doesNotContain("left by");
        assertThat(explained(
                        sql,
                        written.formatted("left join", "coalesce(c.city || o.city, '') <> ''")))
                .contains("left by");
    }

    private static String explained(Sql of, String statement) {
        return of.statement(statement).relation().explain().toString();
    }
}
