package io.turbidite.core.expr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression.Grammar;
import io.turbidite.core.sim.Seeds;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

/** Functions beside others that are simple and slow. */
class FunctionTwinsTest {
    private static @Nullable Object value(String text, Object... values) {
        Expression expression = Expression.value(text, Grammar.FIELDS);
        return BoundExpression.of(expression, name -> name.charAt(0) - 'a')
                .evaluate(index -> values[index]);
    }

    private static String random(SplittableRandom random, String letters, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(most); i > 0; i--) {
            text.append(letters.charAt(random.nextInt(letters.length())));
        }
        return text.toString();
    }

    @Test
    void parts_of_texts_are_those_of_a_list() {
        long seed = Seeds.of("FunctionTwinsTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2_000; round++) {
            String text = random(random, "ab,", 12);
            String between = random.nextInt(4) == 0 ? ",," : ",";
            long number = random.nextLong(-6, 7);
            if (number == 0) {
                continue;
            }
            List<String> parts = new ArrayList<>();
            if (between.equals(",")) {
                Collections.addAll(parts, text.split(",", -1));
            } else {
                // from the side that is counted from: ",,," ends differently
                String turned =
                        number > 0 ? text : new StringBuilder(text).reverse().toString();
                for (String part : turned.split(",,", -1)) {
                    parts.add(
                            number > 0
                                    ? part
                                    : new StringBuilder(part).reverse().toString());
                }
                if (number < 0) {
                    Collections.reverse(parts);
                }
            }
            long index = number > 0 ? number - 1 : parts.size() + number;
            String expected = index >= 0 && index < parts.size() ? parts.get((int) index) : "";
            assertThat(value("split_part(a, b, c)", text, between, number))
                    .as("%s %s %d; %s", text, between, number, Seeds.replay("", seed))
                    .isEqualTo(expected);
        }
    }

    @Test
    void ends_of_texts_are_cut_and_filled() {
        SplittableRandom random = new SplittableRandom(Seeds.of("FunctionTwinsTest"));
        for (int round = 0; round < 2_000; round++) {
            String text = random(random, "xyz", 8);
            long count = random.nextLong(-9, 10);
            int length = text.length();
            int kept = (int) (count < 0 ? Math.max(0, length + count) : Math.min(count, length));
            assertThat(value("left(a, b)", text, count)).isEqualTo(text.substring(0, kept));
            assertThat(value("right(a, b)", text, count)).isEqualTo(text.substring(length - kept));
            String filled = text;
            while (filled.length() < count) {
                filled += "-";
            }
            assertThat(value("rpad(a, b, '-')", text, count))
                    .isEqualTo(filled.substring(0, (int) Math.max(0, count)));
        }
        assertThat(value("left(a, b)", "abc", Long.MIN_VALUE)).isEqualTo("");
        assertThat(value("right(a, b)", "abc", Long.MIN_VALUE)).isEqualTo("");
    }

    @Test
    void a_pattern_in_any_case_is_a_regular_expression() {
        SplittableRandom random = new SplittableRandom(Seeds.of("FunctionTwinsTest"));
        for (int round = 0; round < 5_000; round++) {
            String text = random(random, "aAbB", 7);
            String pattern = random(random, "aAb%_", 6);
            boolean fits = Pattern.compile(
                            pattern.replace("%", ".*").replace("_", "."), Pattern.CASE_INSENSITIVE)
                    .matcher(text)
                    .matches();
            assertThat(value("ilike(a, b)", text, pattern))
                    .as(text + " " + pattern)
                    .isEqualTo(fits);
        }
    }

    @Test
    void a_moment_lies_in_its_unit_of_time() {
        SplittableRandom random = new SplittableRandom(Seeds.of("FunctionTwinsTest"));
        List<String> units = List.of(
                "second",
                "minute",
                "hour",
                "day",
                "week",
                "month",
                "quarter",
                "year",
                "decade",
                "century",
                "millennium");
        for (int round = 0; round < 2_000; round++) {
            Instant at = Instant.ofEpochSecond(random.nextLong(-70_000_000_000L, 100_000_000_000L));
            for (String unit : units) {
                Instant start =
                        (Instant) Objects.requireNonNull(value("date_trunc(a, b)", unit, at));
                assertThat(start).as("%s of %s", unit, at).isBeforeOrEqualTo(at);
                Object part = value("part(a, b)", unit, at);
                assertThat(value("part(a, b)", unit, start)).as(unit).isEqualTo(part);
                assertThat(value("part(a, b)", unit, start.minusNanos(1_000)))
                        .as("before the %s of %s", unit, at)
                        .isNotEqualTo(part);
            }
        }
    }

    @Test
    void a_regular_expression_that_goes_back_and_forth_is_stopped() {
        String text = "a".repeat(60) + "b";
        assertThatThrownBy(() ->
                        value("regexp_like(a, b)", text, "(a+)(a+)(a+)(a+)(a+)(a+)(a+)(a+)\\1c"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("takes too long");
        assertThatThrownBy(() -> value("regexp_like(a, b)", "ab".repeat(100_000), "^(a|b)*$"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("too deep");
        assertThatThrownBy(() -> value(
                        "regexp_replace(a, b, c, 'g')", "x".repeat(2000), "", text.repeat(10)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("at most 1,048,576 characters");
    }

    @Test
    void digits_are_rounded_as_decimals_are() {
        assertThat(value("round(a, b)", 2.345, 2L)).isEqualTo(2.35);
        assertThat(value("round(a, b)", -1250L, -2L)).isEqualTo(-1300L);
        assertThat(value("trunc(a, b)", -1299L, -2L)).isEqualTo(-1200L);
        assertThat(value("trunc(a)", -0.5)).isEqualTo(0.0);
        assertThat(value("round(a, b)", Double.MAX_VALUE, 2L)).isEqualTo(Double.MAX_VALUE);
        assertThat(value("round(a, b)", Double.NaN, 2L)).isEqualTo(Double.NaN);
        assertThat(value("round(a, b)", 1.5, Long.MAX_VALUE)).isEqualTo(1.5);
        assertThat(value("sign(a)", Long.MIN_VALUE)).isEqualTo(-1L);
    }
}
