package io.turbidite.core.expr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression.Grammar;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Calculations, choices, and functions of text, numbers and time. */
class ArithmeticTest {
    private static final Map<String, Object> ROW = Map.ofEntries(
            Map.entry("a", 7L),
            Map.entry("b", -2),
            Map.entry("big", Long.MAX_VALUE),
            Map.entry("x", 2.5),
            Map.entry("d", new BigDecimal("0.10")),
            Map.entry("s", "Zürich"),
            Map.entry("n", "12"),
            Map.entry("yes", true),
            Map.entry("at", Instant.parse("2013-07-04T10:15:30Z")),
            Map.entry("later", Instant.parse("2013-07-04T12:00:00Z")),
            Map.entry("day", LocalDate.parse("2013-07-04")),
            Map.entry("time", LocalTime.parse("23:59:58")),
            Map.entry("took", Duration.ofSeconds(90)));

    private static @Nullable Object value(String text) {
        Expression expression = Expression.value(text, Grammar.FIELDS);
        assertThat(Expression.value(expression.text(), Grammar.FIELDS))
                .as("%s reads back", expression.text())
                .isEqualTo(expression);
        List<String> names = new ArrayList<>();
        BoundExpression bound = BoundExpression.of(expression, name -> {
            names.add(name);
            return names.size() - 1;
        });
        return bound.evaluate(index -> ROW.get(names.get(index)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "1 + 2 * 3|7",
                "(1 + 2) * 3|9",
                "7 - 2 - 1|4",
                "a -b|9",
                "a - b|9",
                "a -2|5",
                "a --2|9",
                "-a|-7",
                "- -a|7",
                "-(a + b)|-5",
                "a % 4|3",
                "b % 4|-2",
                "a / 2|3.5",
                "12 / 4|3.0",
                "a + x|9.5",
                "d * 3|0.30",
                "d + 0.2|0.30",
                "d / 3|0.03333333333333333333333333333333333",
                "d + x|2.6",
                "n + 1|13",
                "missing + 1|null",
                "later - at|PT1H44M30S",
                "at + took|2013-07-04T10:17:00Z",
                "took + at|2013-07-04T10:17:00Z",
                "at - took * 2|2013-07-04T10:12:30Z",
                "day + 1|2013-07-05",
                "day - date('2013-01-01')|184",
                "case when a > 3 then 'many' else 'few' end|many",
                "case when missing > 3 then 1 when yes then 2 end|2",
                "case when a < 3 or b > 3 then 1 end|null",
                "length(s)|6",
                "substring(s, 2, 3)|üri",
                "substring(s, 5)|ch",
                "substring(s, 0, 2)|Z",
                "substring(s, 90)|~~",
                "substring(s, 9223372036854775807, 9223372036854775807)|~~",
                "replace(s, 'ü', 'ue')|Zuerich",
                "abs(b)|2",
                "abs(-x)|2.5",
                "floor(-x)|-3.0",
                "ceil(d)|1",
                "round(x)|3.0",
                "round(-x)|-3.0",
                "year(at) * 100 + month(day)|201307",
                "day(at)|4",
                "weekday(at)|4",
                "hour(at) + minute(at) / 60|10.25",
                "second(time)|58",
                "to_decimal('1.255', 5, 2)|1.26",
                "to_decimal(-x, 3, 0)|-3",
                "date(at)|2013-07-04",
                "time(at)|10:15:30",
                "datetime(day)|2013-07-04T00:00:00Z",
                "a + b > 4 and a * 2 = 14|true",
                "(a + b) = 5|true",
                "(a) > 3|true",
                "3 < a - b|true",
                "missing + 1 > 3|null",
                "not a + 1 > 3|false"
            })
    void calculations_give(String text, String expected) {
        assertThat(String.valueOf(value(text))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "big + 1|9223372036854775807 + 1 is out of range for type int64",
                "-big - 2|-9223372036854775807 - 2 is out of range for type int64",
                "big * 2|9223372036854775807 * 2 is out of range for type int64",
                "a / 0|7.0 / 0: division by zero",
                "a % 0|7 % 0: division by zero",
                "x / 0|2.5 / 0: division by zero",
                "d / 0|0.10 / 0: division by zero",
                "x * 1e308 * 1e10|is out of range for type double",
                "'1e999999999' + 1|a decimal with an exponent of 1000000000 is over the limit of 100000",
                "'1e300000000' * 2|over the limit of 100000",
                "round('1e300000000')|over the limit of 100000",
                "'0.1e99999' * '1e99999'|over the limit of 100000",
                "s + 1|'+' does not go between 'Zürich' and '1'",
                "at + 1|'+' does not go between",
                "at + at|'+' does not go between",
                "day + big|is out of range",
                "hour(day)|hour takes values that have one, not '2013-07-04'",
                "hour(a)|hour takes dates, times and moments, not '7'",
                "to_decimal(a, 5, 1000000000)|a decimal of 1000000000 digits is over the limit of 1000",
                "to_decimal(a, 1000000000, 2)|a decimal of 1000000000 digits is over the limit of 1000",
                "to_decimal(a, 2, 2)|'7' does not fit decimal(2, 2)",
                "abs(s)|abs takes numbers and durations, not 'Zürich'",
                "substring(s, x)|substring takes whole numbers, not '2.5'"
            })
    void what_has_no_value_is_an_error_that_names_the_values(String text, String message) {
        assertThatThrownBy(() -> value(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a +|at position 3: expected a field",
                "(a > 3) + 1|at position 0: a > 3 is a condition: '+' needs a value",
                "a = (b = 3)|at position 4: b == 3 is a condition, no value",
                "case when a then 1|at position 18: expected when, else or end",
                "case when a 1 end|at position 12: expected then",
                "case when 3 then 1 end|at position 10: 3 alone is no condition",
                "a ** 2|at position 3: expected a field"
            })
    void a_wrong_text_is_told_where(String text, String message) {
        assertThatThrownBy(() -> Expression.value(text, Grammar.FIELDS))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @Test
    void words_of_a_choice_are_names_elsewhere() {
        for (String word : List.of("case", "when", "then", "else", "end")) {
            assertThat(Expression.condition(word + " > 3", Grammar.FIELDS).text())
                    .isEqualTo(word + " > 3");
            assertThat(Expression.value(
                                    "case when %1$s > 3 then %1$s else %1$s end".formatted(word),
                                    Grammar.FIELDS)
                            .text())
                    .isEqualTo("case when %1$s > 3 then %1$s else %1$s end".formatted(word));
        }
    }

    @Test
    void chains_and_nests_are_bounded() {
        assertThat(value("1" + " + 1".repeat(256))).isEqualTo(257L);
        assertThatThrownBy(() -> value("1" + " + 1".repeat(257)))
                .hasMessageContaining("more calculations than the limit of 256");
        assertThatThrownBy(() -> value("- ".repeat(300) + "a"))
                .hasMessageContaining("nested deeper");
        assertThatThrownBy(() -> value("(".repeat(40) + "a" + ")".repeat(40)))
                .hasMessageContaining("nested deeper");
    }

    @Test
    void what_is_printed_has_the_parentheses_that_it_needs() {
        for (String text : List.of(
                "a + b * 2 - 3",
                "(a + b) * 2",
                "a - (b - 2)",
                "a - (b - a)",
                "a / (b * 2) % 3",
                "(a - b) - (a - b)",
                "a * b * (a * b)")) {
            assertThat(value(text)).isNotNull();
        }
        assertThat(Expression.value("((a + b)) - (a + b) * 2", Grammar.FIELDS).text())
                .isEqualTo("a + b - (a + b) * 2");
    }

    @Test
    void whole_numbers_are_as_of_big_integers_or_refused() {
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 20_000; i++) {
            long a = random.nextLong() >> random.nextInt(64);
            long b = random.nextLong() >> random.nextInt(64);
            for (Arithmetic sign : List.of(Arithmetic.PLUS, Arithmetic.MINUS, Arithmetic.TIMES)) {
                BigDecimal x = BigDecimal.valueOf(a);
                BigDecimal y = BigDecimal.valueOf(b);
                BigDecimal exact = switch (sign) {
                    case PLUS -> x.add(y);
                    case MINUS -> x.subtract(y);
                    default -> x.multiply(y);
                };
                if (exact.toBigInteger().bitLength() < Long.SIZE) {
                    assertThat(sign.ofLongs(a, b)).isEqualTo(exact.longValueExact());
                } else {
                    assertThatThrownBy(() -> sign.ofLongs(a, b))
                            .isInstanceOf(InvalidRequestException.class);
                }
            }
        }
    }
}
