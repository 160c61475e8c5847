package io.turbidite.bench.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Statements over Flights and Planes that two databases should answer alike: filters, joins,
 * groups, distinct rows, sets, subqueries, orders with limits. The same seed makes the same ones.
 */
final class RandomStatements {
    /** @param isOrdered whether its rows come in one order alone */
    record Asked(String text, boolean isOrdered) {}

    private static final List<String> NUMBERS = List.of("id", "delay", "air", "distance");
    private static final List<String> TEXTS = List.of("carrier", "origin", "dest", "tailnum");
    private static final List<String> GROUPS =
            List.of("carrier", "origin", "dest", "day", "late", "delay");

    private final SplittableRandom random;

    RandomStatements(long seed) {
        random = new SplittableRandom(seed);
    }

    Asked next() {
        return switch (random.nextInt(9)) {
            case 0, 1 -> rows();
            case 2, 3 -> groups();
            case 4 -> joined();
            case 5 -> joinedGroups();
            case 6 ->
                new Asked(
                        "select distinct %s, %s from Flights where %s"
                                .formatted(
                                        "carrier",
                                        one(List.of("late", "origin", "air")),
                                        where("")),
                        false);
            case 7 ->
                new Asked(
                        "select dest, late from Flights where %s %s select dest, late from Flights where %s"
                                .formatted(
                                        where(""),
                                        one(List.of("union", "union all", "intersect", "except")),
                                        where("")),
                        false);
            default -> subquery();
        };
    }

    private Asked rows() {
        String order = one(List.of("delay", "air desc", "tailnum", "day desc", "late", "ratio"));
        return new Asked(
                "select id, carrier, %s, delay + distance as much, coalesce(air, -1) as flown from Flights where %s order by %s, id%s limit %d offset %d"
                        .formatted(
                                one(List.of("ratio", "day", "late", "tailnum")),
                                where(""),
                                order,
                                one(List.of("", " desc")),
                                random.nextInt(1, 200),
                                random.nextInt(4) == 0 ? random.nextInt(50) : 0),
                true);
    }

    private Asked groups() {
        String first = one(GROUPS);
        String second = one(GROUPS);
        String by = first.equals(second) ? first : first + ", " + second;
        String having = one(List.of(
                "",
                " having count(*) > 3",
                " having max(distance) > 1500",
                " having sum(delay) > 0"));
        return new Asked(
                "select %s, count(*) as n, count(air) as flown, sum(delay) as total, avg(ratio) as mean, min(day) as first_day, max(tailnum) as last_tail, count(distinct %s) as kinds from Flights where %s group by %s%s"
                        .formatted(by, one(TEXTS), where(""), by, having),
                false);
    }

    private Asked joined() {
        return new Asked(
                "select f.id, f.delay, p.maker, p.seats from Flights f %s join Planes p on f.tailnum = p.tailnum where %s order by f.id limit %d"
                        .formatted(one(List.of("", "left")), where("f."), random.nextInt(1, 300)),
                true);
    }

    private Asked joinedGroups() {
        String by = one(List.of("p.maker", "p.made", "f.carrier", "f.origin"));
        return new Asked(
                "select %s as part, count(*) as n, sum(p.seats) as seats, avg(f.delay) as mean from Flights f %s join Planes p on f.tailnum = p.tailnum where %s group by %s"
                        .formatted(by, one(List.of("", "left", "right", "full")), where("f."), by),
                false);
    }

    private Asked subquery() {
        String inner = "select tailnum from Planes where "
                + one(List.of("seats > 150", "maker = 'Boeing'", "made is null", "made < 2000"));
        return new Asked(
                "select id from Flights where tailnum %s (%s) and %s"
                        .formatted(one(List.of("in", "not in")), inner, where("")),
                false);
    }

    private String where(String table) {
        List<String> parts = new ArrayList<>();
        int count = random.nextInt(1, 4);
        for (int i = 0; i < count; i++) {
            parts.add(condition(table));
        }
        return "(" + String.join(one(List.of(" and ", " or ")), parts) + ")";
    }

    private String condition(String table) {
        String number = table + one(NUMBERS);
        String text = table + one(TEXTS);
        return switch (random.nextInt(9)) {
            case 0 ->
                number
                        + one(List.of(" > ", " < ", " >= ", " = ", " <> "))
                        + random.nextInt(-20, 2_500);
            case 1 ->
                "%s between %d and %d"
                        .formatted(number, random.nextInt(0, 500), random.nextInt(400, 2_000));
            case 2 -> text + " in ('AA', 'JFK', 'LAX', 'N7', 'UA')";
            case 3 -> text + " like '%" + one(List.of("A", "N1", "F", "X")) + "%'";
            case 4 ->
                one(List.of(text, number, table + "late", table + "ratio"))
                        + one(List.of(" is null", " is not null"));
            case 5 -> "not (" + condition(table) + ")";
            case 6 -> table + "late" + one(List.of("", " is not true", " is false"));
            case 7 -> "%sday >= date '2013-0%d-15'".formatted(table, random.nextInt(1, 10));
            default -> "%sdelay + %d > %sair".formatted(table, random.nextInt(100), table);
        };
    }

    private String one(List<String> of) {
        return of.get(random.nextInt(of.size()));
    }
}
