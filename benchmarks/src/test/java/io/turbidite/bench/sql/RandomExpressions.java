package io.turbidite.bench.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random values and conditions over some columns, of which two databases have one meaning: no
 * division of whole numbers or by zero, no fraction of a half that is rounded, nothing out of
 * range. <em>Confined to one thread.</em>
 */
final class RandomExpressions {
    /** What can be named, by type. */
    record Columns(
            List<String> wholes,
            List<String> reals,
            List<String> decimals,
            List<String> texts,
            List<String> days,
            List<String> moments,
            List<String> truths) {
        /** These and those of another table. */
        Columns with(Columns other) {
            return new Columns(
                    both(wholes, other.wholes),
                    both(reals, other.reals),
                    both(decimals, other.decimals),
                    both(texts, other.texts),
                    both(days, other.days),
                    both(moments, other.moments),
                    both(truths, other.truths));
        }

        private static List<String> both(List<String> a, List<String> b) {
            List<String> all = new ArrayList<>(a);
            all.addAll(b);
            return List.copyOf(all);
        }
    }

    private final SplittableRandom random;
    private final Columns columns;

    RandomExpressions(SplittableRandom random, Columns columns) {
        this.random = random;
        this.columns = columns;
    }

    String one(List<String> of) {
        return of.get(random.nextInt(of.size()));
    }

    private String column(List<String> of, String otherwise) {
        return of.isEmpty() || random.nextInt(12) == 0 ? otherwise : one(of);
    }

    /** A value of any type. */
    String value(int depth) {
        return switch (random.nextInt(7)) {
            case 0 -> whole(depth);
            case 1 -> real(depth);
            case 2 -> decimal(depth);
            case 3 -> day(depth);
            case 4 -> moment(depth);
            case 5 -> "(" + condition(depth) + ")";
            default -> text(depth);
        };
    }

    String whole(int depth) {
        if (depth == 0) {
            return column(columns.wholes, String.valueOf(random.nextInt(-5, 60)));
        }
        int next = depth - 1;
        return switch (random.nextInt(16)) {
            case 13 -> "(%s - %s)".formatted(day(next), day(next));
            case 14 -> "strpos(%s, %s)".formatted(text(next), text(0));
            case 0 -> "(%s + %s)".formatted(whole(next), whole(next));
            case 1 -> "(%s - %s)".formatted(whole(next), whole(next));
            case 2 -> "(%s * %d)".formatted(whole(next), random.nextInt(-3, 9));
            case 3 -> "coalesce(%s, %s)".formatted(whole(next), whole(next));
            case 4 ->
                "case when %s then %s else %s end"
                        .formatted(condition(next), whole(next), whole(next));
            case 5 -> "abs(%s)".formatted(whole(next));
            case 6 -> "mod(%s, %d)".formatted(whole(next), random.nextInt(2, 9));
            case 7 ->
                "extract(%s from %s)"
                        .formatted(
                                one(List.of("year", "month", "day", "dow", "doy", "quarter")),
                                random.nextBoolean() ? day(next) : moment(next));
            case 8 -> "length(%s)".formatted(text(next));
            case 9 -> "try_cast(%s as integer)".formatted(column(columns.texts, "'7'"));
            case 10 -> "nullif(%s, %s)".formatted(whole(next), whole(next));
            case 11 ->
                "%s(%s, %s)"
                        .formatted(
                                one(List.of("greatest", "least")),
                                typed(whole(next)),
                                typed(whole(next)));
            case 12 -> "cast(floor(%s) as bigint)".formatted(real(next));
            default -> whole(0);
        };
    }

    /** A constant of the type of the columns: types of lists are found in other ways. */
    private static String typed(String value) {
        return "cast(%s as bigint)".formatted(value);
    }

    String real(int depth) {
        if (depth == 0) {
            return column(
                    columns.reals, "cast(%s as double)".formatted(random.nextInt(-50, 90) + ".25"));
        }
        int next = depth - 1;
        return switch (random.nextInt(9)) {
            case 0 -> "(%s + %s)".formatted(real(next), whole(next));
            case 1 -> "(%s * %d)".formatted(real(next), random.nextInt(-3, 9));
            case 2 -> "(%s / nullif(cast(%s as double), 0))".formatted(real(next), whole(next));
            case 3 -> "coalesce(%s, %s)".formatted(real(next), real(next));
            case 4 ->
                "case when %s then %s else %s end"
                        .formatted(condition(next), real(next), real(next));
            case 5 -> "cast(%s as double)".formatted(decimal(next));
            case 6 -> "sqrt(abs(%s))".formatted(real(next));
            case 7 -> "(%s - %s)".formatted(real(next), real(next));
            default -> real(0);
        };
    }

    String decimal(int depth) {
        if (depth == 0) {
            return column(
                    columns.decimals,
                    "cast(%d.%02d as decimal(12, 2))"
                            .formatted(random.nextInt(0, 900), random.nextInt(100)));
        }
        int next = depth - 1;
        return switch (random.nextInt(10)) {
            case 7 -> "mod(%s, %d)".formatted(decimal(next), random.nextInt(2, 9));
            case 8 -> "round(%s, %d)".formatted(decimal(next), random.nextInt(3));
            case 0 -> "(%s + %s)".formatted(decimal(next), decimal(next));
            case 1 -> "(%s - %s)".formatted(decimal(next), whole(next));
            case 2 -> "(%s * %d)".formatted(decimal(next), random.nextInt(-3, 9));
            case 3 -> "coalesce(%s, %s)".formatted(decimal(next), decimal(next));
            case 4 ->
                "case when %s then %s else %s end"
                        .formatted(condition(next), decimal(next), decimal(next));
            case 5 -> "abs(%s)".formatted(decimal(next));
            case 6 -> "cast(%s as decimal(14, 3))".formatted(decimal(next));
            default -> decimal(0);
        };
    }

    String text(int depth) {
        if (depth == 0) {
            return column(
                    columns.texts, one(List.of("'u1'", "'en'", "''", "'Ö'", "'t%_'", "'12'")));
        }
        int next = depth - 1;
        return switch (random.nextInt(17)) {
            case 0 -> "upper(%s)".formatted(text(next));
            case 1 -> "(%s || %s)".formatted(text(next), text(next));
            case 2 ->
                "substring(%s, %d, %d)"
                        .formatted(text(next), random.nextInt(1, 4), random.nextInt(1, 4));
            case 3 -> "coalesce(%s, %s)".formatted(text(next), text(next));
            case 4 ->
                "case when %s then %s else %s end"
                        .formatted(condition(next), text(next), text(next));
            case 5 -> "concat(%s, %s)".formatted(text(next), text(next));
            case 6 -> "replace(%s, 'u', '%s')".formatted(text(next), one(List.of("", "xy", "u")));
            case 7 ->
                "%s(%s, %d)"
                        .formatted(
                                one(List.of("left", "right")), text(next), random.nextInt(-2, 4));
            case 8 -> "cast(%s as varchar)".formatted(typed(whole(next)));
            case 9 -> "cast(%s as varchar)".formatted(day(next));
            case 10 -> "reverse(%s)".formatted(text(next));
            case 11 ->
                "%s(%s, %d, '*')"
                        .formatted(one(List.of("lpad", "rpad")), text(next), random.nextInt(6));
            case 12 -> "split_part(%s, 'u', %d)".formatted(text(next), random.nextInt(1, 3));
            case 13 -> "nullif(%s, %s)".formatted(text(next), text(next));
            case 14 -> "concat_ws('-', %s, %s)".formatted(text(next), text(next));
            case 15 -> "trim(%s)".formatted(text(next));
            default -> text(0);
        };
    }

    String day(int depth) {
        if (depth == 0) {
            return column(
                    columns.days,
                    "date '2020-0%d-1%d'".formatted(random.nextInt(1, 10), random.nextInt(10)));
        }
        int next = depth - 1;
        return switch (random.nextInt(6)) {
            case 0 -> "cast(%s as date)".formatted(moment(next));
            case 1 -> "coalesce(%s, %s)".formatted(day(next), day(next));
            case 2 ->
                "case when %s then %s else %s end".formatted(condition(next), day(next), day(next));
            case 3 ->
                "%s(%s, %s)".formatted(one(List.of("greatest", "least")), day(next), day(next));
            case 4 ->
                "cast(date_trunc('%s', %s) as date)"
                        .formatted(one(List.of("month", "year", "week", "quarter")), day(next));
            default -> day(0);
        };
    }

    String moment(int depth) {
        if (depth == 0) {
            return column(
                    columns.moments,
                    "timestamp '2020-0%d-01 1%d:30:00'"
                            .formatted(random.nextInt(1, 10), random.nextInt(10)));
        }
        int next = depth - 1;
        return switch (random.nextInt(5)) {
            case 0 -> "cast(%s as timestamp)".formatted(day(next));
            case 1 -> "coalesce(%s, %s)".formatted(moment(next), moment(next));
            case 2 ->
                "date_trunc('%s', %s)"
                        .formatted(one(List.of("hour", "day", "minute", "month")), moment(next));
            case 3 ->
                "(%s + interval '%d' %s)"
                        .formatted(
                                moment(next),
                                random.nextInt(90),
                                one(List.of("day", "hour", "minute")));
            default -> moment(0);
        };
    }

    String condition(int depth) {
        if (depth == 0) {
            return switch (random.nextInt(5)) {
                case 0 -> column(columns.truths, "%s is null".formatted(one(columns.texts)));
                case 1 -> one(columns.texts) + one(List.of(" is null", " is not null"));
                case 2 -> one(columns.texts) + sign() + "'u3'";
                default -> one(columns.wholes) + sign() + random.nextInt(-5, 60);
            };
        }
        int next = depth - 1;
        return switch (random.nextInt(14)) {
            case 0 -> "(%s and %s)".formatted(condition(next), condition(next));
            case 1 -> "(%s or %s)".formatted(condition(next), condition(next));
            case 2 -> "not (%s)".formatted(condition(next));
            case 3 ->
                "(%s) is %s"
                        .formatted(
                                condition(next),
                                one(List.of("true", "not true", "false", "not false", "null")));
            case 4 -> real(next) + sign() + whole(next);
            case 5 -> decimal(next) + sign() + decimal(next);
            case 6 -> text(next) + sign() + text(next);
            case 7 -> day(next) + sign() + day(next);
            case 8 -> moment(next) + sign() + moment(next);
            case 9 -> "%s between %s and %s".formatted(whole(next), whole(next), whole(next));
            case 10 ->
                "%s %s (%s, %s, %s)"
                        .formatted(
                                text(next),
                                one(List.of("in", "not in")),
                                text(0),
                                text(0),
                                text(0));
            case 11 ->
                "%s %s '%s'"
                        .formatted(
                                text(next),
                                one(List.of("like", "not like", "ilike")),
                                one(List.of("u%", "%1%", "_n", "%", "", "U_")));
            case 12 ->
                "%s is %sdistinct from %s"
                        .formatted(whole(next), one(List.of("", "not ")), whole(next));
            default -> whole(next) + sign() + whole(next);
        };
    }

    private String sign() {
        return one(List.of(" = ", " <> ", " < ", " <= ", " > ", " >= "));
    }
}
