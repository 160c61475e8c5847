package io.turbidite.bench.sql;

import io.turbidite.bench.sql.RandomStatements.Asked;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Statements over the {@link TweetTables} that two databases should answer alike: nested fields,
 * arrays, decimals, times, windows, correlated subqueries, joins of three, grouping sets. The same
 * seed makes the same ones.
 */
final class TweetStatements {
    private static final List<String> JOINS =
            List.of("join", "join", "left join", "right join", "full join");

    private final SplittableRandom random;
    private final RandomExpressions tweets;
    private final RandomExpressions users;
    private final RandomExpressions withUsers;
    private final RandomExpressions all;

    TweetStatements(long seed) {
        random = new SplittableRandom(seed);
        tweets = new RandomExpressions(random, TweetTables.TWEETS);
        users = new RandomExpressions(random, TweetTables.USERS);
        withUsers = new RandomExpressions(
                random, TweetTables.TWEETS_BESIDE_OTHERS.with(TweetTables.USERS));
        all = new RandomExpressions(
                random,
                TweetTables.TWEETS_BESIDE_OTHERS.with(TweetTables.USERS).with(TweetTables.PLACES));
    }

    Asked next() {
        return switch (random.nextInt(14)) {
            case 0, 1 -> rows();
            case 2, 3 -> groups();
            case 4 -> joined();
            case 5 -> joinedThree();
            case 6 -> correlated();
            case 7 -> inSubquery();
            case 8, 9 -> windows();
            case 10 -> unnested();
            case 11 -> sets();
            case 12 -> groupingSets();
            default -> derived();
        };
    }

    private String where() {
        return " where " + tweets.condition(2);
    }

    private Asked rows() {
        List<String> keys = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            keys.add(ordering(i == 0 ? 0 : 1)
                    + one("", " desc")
                    + one("", " nulls first", " nulls last"));
        }
        return new Asked(
                "select t.id, %s as a, %s as b from Tweets t%s order by %s, t.id%s limit %d offset %d"
                        .formatted(
                                tweets.value(2),
                                tweets.value(3),
                                random.nextInt(4) == 0 ? "" : where(),
                                String.join(", ", keys),
                                one("", " desc"),
                                random.nextInt(1, 300),
                                random.nextInt(3) == 0 ? random.nextInt(60) : 0),
                true);
    }

    /** Not a constant: in an order a number is the place of a column. */
    private String ordering(int depth) {
        String value = tweets.value(depth);
        return value.contains("t.") ? value : "t.price";
    }

    private String key() {
        return switch (random.nextInt(6)) {
            case 0 -> "mod(%s, 7)".formatted(tweets.whole(1));
            case 1 -> tweets.day(0);
            case 2 -> "t.loud";
            case 3 -> tweets.text(2);
            default -> tweets.text(0);
        };
    }

    private static String named(List<String> values) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            text.append(", ").append(values.get(i)).append(" as c").append(i);
        }
        return text.toString();
    }

    private List<String> aggregates(RandomExpressions of) {
        List<String> values = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            values.add(aggregate(of));
        }
        return values;
    }

    private String aggregate(RandomExpressions of) {
        String filter =
                random.nextInt(3) == 0 ? " filter (where %s)".formatted(of.condition(1)) : "";
        return switch (random.nextInt(17)) {
            case 0 -> "count(*)" + filter;
            case 1 -> "count(%s)".formatted(of.value(1)) + filter;
            case 2 -> "sum(%s)".formatted(of.whole(2)) + filter;
            case 3 -> "sum(%s)".formatted(of.decimal(1)) + filter;
            case 4 -> "avg(%s)".formatted(of.real(2)) + filter;
            case 5 -> "avg(%s)".formatted(of.decimal(1)) + filter;
            case 6 -> "%s(%s)".formatted(one("min", "max"), of.text(1)) + filter;
            case 7 -> "%s(%s)".formatted(one("min", "max"), of.decimal(1)) + filter;
            case 8 -> "%s(%s)".formatted(one("min", "max"), of.moment(1)) + filter;
            case 9 -> "count(distinct %s)".formatted(of.text(1)) + filter;
            case 10 -> "%s(%s)".formatted(one("bool_and", "bool_or"), of.condition(1)) + filter;
            case 11 ->
                "%s(%s)"
                                .formatted(
                                        one("stddev_samp", "stddev_pop", "var_samp", "var_pop"),
                                        of.whole(1))
                        + filter;
            case 12 -> "median(%s)".formatted(of.real(1)) + filter;
            case 13 ->
                "percentile_cont(0.%d) within group (order by %s)"
                        .formatted(random.nextInt(10), of.real(1));
            case 14 ->
                "percentile_disc(0.%d) within group (order by %s)"
                        .formatted(random.nextInt(1, 10), of.whole(0));
            case 15 -> {
                String text = "upper(%s)".formatted(of.text(1));
                yield "string_agg(%s%s, '|' order by %s)"
                        .formatted(random.nextInt(3) == 0 ? "distinct " : "", text, text);
            }
            default -> {
                String text = "reverse(%s)".formatted(of.text(0));
                yield "array_agg(%s order by %s) filter (where %s is not null)"
                        .formatted(text, text, text);
            }
        };
    }

    private String having() {
        return switch (random.nextInt(5)) {
            case 0 -> " having count(*) > " + random.nextInt(9);
            case 1 -> " having sum(t.replies) > 20 or max(t.price) is null";
            case 2 -> " having avg(t.score) between 0 and 40";
            default -> "";
        };
    }

    private Asked groups() {
        String by = key();
        if (random.nextInt(8) == 0) {
            return new Asked(
                    "select %s, count(*) as n, sum(distinct %s) as s, avg(distinct %s) as a from Tweets t%s group by %s"
                            .formatted(by, tweets.whole(1), tweets.whole(1), where(), by),
                    false);
        }
        if (random.nextInt(8) == 0) {
            return new Asked(
                    "select %s from Tweets t%s"
                            .formatted(named(aggregates(tweets)).substring(2), where()),
                    false);
        }
        String more = random.nextBoolean() ? ", " + key() : "";
        return new Asked(
                "select %s%s%s from Tweets t%s group by %s%s%s"
                        .formatted(
                                by,
                                more,
                                named(aggregates(tweets)),
                                random.nextBoolean() ? "" : where(),
                                by,
                                more,
                                having()),
                false);
    }

    private String usersOn() {
        return one(
                "t.user.name = u.name",
                "t.user.name = u.name",
                "t.user.lang = u.lang",
                "t.user.lang = u.lang and t.user.rank = u.level");
    }

    private Asked joined() {
        String kind = one(JOINS);
        String on = usersOn();
        if (kind.equals("join") || kind.equals("left join")) {
            on += random.nextInt(3) == 0 ? " and " + withUsers.condition(1) : "";
        }
        String condition = random.nextBoolean() ? "" : " where " + withUsers.condition(2);
        if (random.nextBoolean()) {
            return new Asked(
                    "select %s as k%s from Tweets t %s Users u on %s%s group by %s"
                            .formatted(
                                    "u.city",
                                    named(aggregates(withUsers)),
                                    kind,
                                    on,
                                    condition,
                                    "u.city"),
                    false);
        }
        return new Asked(
                "select t.id, u.name, u.level, %s as a from Tweets t %s Users u on %s%s"
                        .formatted(withUsers.value(2), kind, on, condition),
                false);
    }

    private Asked joinedThree() {
        String condition = random.nextBoolean() ? "" : " where " + all.condition(2);
        String to = one("p.city = u.city", "p.city = u.city", "p.size = t.replies");
        return new Asked(
                "select t.id, u.name, p.city, %s as a from Tweets t %s Users u on %s %s Places p on %s%s"
                        .formatted(all.value(2), one(JOINS), usersOn(), one(JOINS), to, condition),
                false);
    }

    private Asked correlated() {
        String inner = "from Users u where u.%s and %s"
                .formatted(
                        one("lang = t.user.lang", "name = t.user.name", "level = t.user.rank"),
                        users.condition(1));
        String text = switch (random.nextInt(7)) {
            case 3 ->
                "select t.id from Tweets t where %s %s %s (select u.level from Users u where %s)"
                        .formatted(
                                tweets.whole(1),
                                one("=", "<>", "<", ">="),
                                one("all", "any"),
                                users.condition(1));
            case 4 ->
                "select t.id from Tweets t where (t.user.lang, t.loud) %s (select u.lang, u.level > 4 from Users u where %s)"
                        .formatted(one("in", "not in"), users.condition(1));
            case 5 ->
                "select t.id, exists (select * %s) as e from Tweets t%s".formatted(inner, where());
            case 0 ->
                "select t.id from Tweets t where %sexists (select * %s)"
                        .formatted(one("", "not "), inner);
            case 1 ->
                "select t.id, (select max(%s) %s) as m from Tweets t%s"
                        .formatted(users.text(1), inner, where());
            case 2 ->
                "select t.id from Tweets t where t.replies > (select count(*) %s) and %s"
                        .formatted(inner, tweets.condition(1));
            default ->
                "select t.id, (select sum(u.fee) %s) as f from Tweets t where exists (select * %s) or %s"
                        .formatted(inner, inner, tweets.condition(1));
        };
        return new Asked(text, false);
    }

    private Asked inSubquery() {
        String column = one("name", "lang", "city");
        return new Asked(
                "select t.id, t.price from Tweets t where %s %s (select u.%s from Users u where %s) %s %s"
                        .formatted(
                                one("t.user.name", "t.user.lang", "cast(t.extra as varchar)"),
                                one("in", "not in"),
                                column,
                                users.condition(2),
                                one("and", "or"),
                                tweets.condition(1)),
                false);
    }

    private Asked windows() {
        List<String> values = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            values.add(window());
        }
        return new Asked(
                "select t.id%s from Tweets t%s%s"
                        .formatted(
                                named(values),
                                random.nextBoolean() ? "" : where(),
                                random.nextInt(4) == 0
                                        ? " qualify rank() over (partition by t.loud order by t.replies desc) < 20"
                                        : ""),
                false);
    }

    private String window() {
        String part = random.nextInt(4) == 0
                ? ""
                : "partition by %s "
                        .formatted(one("t.user.lang", "t.loud", "t.day", "t.user.name"));
        String key =
                one("t.price", "t.user.rank", "t.posted", "t.score", "t.extra") + one("", " desc");
        String ordered = "(%sorder by %s)".formatted(part, key);
        String total = "(%sorder by %s, t.id%%s)".formatted(part, key);
        String whole = total.formatted("");
        String frame = total.formatted(" rows between %s and %s"
                .formatted(
                        one("unbounded preceding", "3 preceding", "1 preceding"),
                        one("current row", "2 following", "unbounded following")));
        return switch (random.nextInt(11)) {
            case 0 -> "row_number() over " + whole;
            case 1 ->
                one("rank()", "dense_rank()", "percent_rank()", "cume_dist()") + " over " + ordered;
            case 2 -> "%s(%s) over ".formatted(one("lag", "lead"), tweets.value(0)) + whole;
            case 3 ->
                "%s(t.replies, %d, %d) over "
                                .formatted(one("lag", "lead"), random.nextInt(4), random.nextInt(9))
                        + whole;
            case 4 ->
                "sum(%s) over ".formatted(tweets.whole(1))
                        + (random.nextBoolean()
                                ? ordered
                                : "(%sorder by %s range between current row and unbounded following)"
                                        .formatted(part, key));
            case 5 -> "sum(%s) over ".formatted(tweets.decimal(0)) + frame;
            case 6 -> "count(%s) over ".formatted(tweets.text(0)) + frame;
            case 7 -> "%s(%s) over ".formatted(one("min", "max"), tweets.text(0)) + frame;
            case 8 -> "avg(%s) over ".formatted(tweets.real(0)) + frame;
            case 9 ->
                "%s(%s) over ".formatted(one("first_value", "last_value"), tweets.value(0)) + frame;
            default -> "ntile(%d) over ".formatted(random.nextInt(1, 9)) + whole;
        };
    }

    private Asked unnested() {
        String from = one(
                "Tweets t, unnest(t.tags) as x(tag)",
                "Tweets t cross join unnest(t.tags) as x(tag)",
                "Tweets t left join unnest(t.tags) as x(tag) on true");
        return new Asked(
                random.nextBoolean()
                        ? "select t.id, x.tag, %s as a from %s where %s"
                                .formatted(tweets.value(1), from, tweets.condition(2))
                        : "select x.tag%s from %s group by x.tag"
                                .formatted(named(aggregates(tweets)), from),
                false);
    }

    private Asked sets() {
        int columns = random.nextInt(1, 3);
        String first = columns == 1 ? "" : ", t.loud";
        String second = columns == 1 ? "" : ", u.level > 4";
        String text = "select %s%s from Tweets t%s".formatted(tweets.text(0), first, where());
        for (int i = random.nextInt(1, 3); i > 0; i--) {
            String set =
                    one("union", "union all", "intersect", "intersect all", "except", "except all");
            text = "(%s) %s (%s)"
                    .formatted(
                            text,
                            set,
                            random.nextBoolean()
                                    ? "select %s%s from Users u where %s"
                                            .formatted(users.text(0), second, users.condition(1))
                                    : "select %s%s from Tweets t%s"
                                            .formatted(tweets.text(0), first, where()));
        }
        return new Asked(text, false);
    }

    private Asked groupingSets() {
        String by = one(
                "rollup(t.user.lang, t.loud)",
                "cube(t.user.lang, t.loud)",
                "grouping sets ((t.user.lang), (t.loud), ())",
                "grouping sets ((t.user.lang, t.loud), (t.user.lang))");
        return new Asked(
                "select t.user.lang as l, t.loud%s from Tweets t%s group by %s"
                        .formatted(named(aggregates(tweets)), where(), by),
                false);
    }

    private Asked derived() {
        String key = "cast(%s as varchar)".formatted(tweets.text(1));
        String inner =
                "select %s as k, count(*) as n, sum(t.price) as total from Tweets t%s group by %s"
                        .formatted(key, where(), key);
        String text = switch (random.nextInt(3)) {
            case 0 ->
                "with g as (%s) select g.k, g.n from g where g.n > (select avg(n) from g)"
                        .formatted(inner);
            case 1 ->
                "select t.id, g.n from Tweets t join (%s) g on g.k = t.user.name where g.total > 100"
                        .formatted(inner);
            default ->
                "select distinct g.n, %s as a from (%s) g join Users u on u.name = g.k"
                        .formatted(users.text(1), inner);
        };
        return new Asked(text, false);
    }

    private String one(String... of) {
        return of[random.nextInt(of.length)];
    }

    private String one(List<String> of) {
        return of.get(random.nextInt(of.size()));
    }
}
