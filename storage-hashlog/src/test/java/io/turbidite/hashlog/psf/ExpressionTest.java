package io.turbidite.hashlog.psf;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.sim.Seeds;
import io.turbidite.hashlog.parse.ParserSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** The language of predicates. */
class ExpressionTest {
    private static Expression parse(String text) {
        return Expression.condition(text, Expression.Grammar.PATHS);
    }

    private static boolean test(String expression, String record) {
        RecordPredicate predicate = new RecordPredicate(new ParserSpec.Json(), expression);
        MemorySegment segment = Records.of(record);
        boolean answer = predicate.test(segment, 0, (int) segment.byteSize());
        assertThat(predicate.refused()).as(record).isFalse();
        return answer;
    }

    private static void assertTrueOf(String record, String... expressions) {
        for (String expression : expressions) {
            assertThat(test(expression, record))
                    .as("%s of %s", expression, record)
                    .isTrue();
        }
    }

    private static void assertNotTrueOf(String record, String... expressions) {
        for (String expression : expressions) {
            assertThat(test(expression, record))
                    .as("%s of %s", expression, record)
                    .isFalse();
        }
    }

    @Test
    void numbers_compare_as_numbers() {
        assertTrueOf(
                "{\"n\":3}",
                "n == 3",
                "n == 3.0",
                "n > 2.5",
                "n < 3.5",
                "n >= 3",
                "n <= 3",
                "n != 4",
                "n in (1, 2, 3)",
                "n < 1e30");
        assertTrueOf("{\"n\":9007199254740993}", "n != 9007199254740992", "n > 9007199254740992.5");
        assertTrueOf("{\"n\":-2.5}", "n < -2", "n > -3", "n == -25e-1", "!(n >= 0)");
        assertNotTrueOf(
                "{\"n\":3}", "n > 3", "n < 3", "n == \"3\"", "n > \"2\"", "n in (1, 2)", "n");
    }

    /** A value that is none is missing; the others of its record are what they are. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"bad\":01,\"b\":2,\"c\":true}",
                "{\"bad\":NaN,\"b\":2,\"c\":true}",
                "{\"b\":2,\"bad\":-,\"c\":true}",
                "{\"b\":2,\"bad\":trux,\"c\":true}",
                "{\"b\":2,\"c\":true,\"bad\":\"\\ud800\"}",
                "{\"b\":2,\"bad\":\"\\x\",\"c\":true}",
                "{\"b\":2,\"bad\":\"\t\",\"c\":true}",
                "{\"b\":2,\"c\":true,\"bad\":nul}"
            })
    void a_malformed_value_is_missing_and_costs_no_other(String record) {
        assertUnknownIsBad(new ParserSpec.Json(), record);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x,2,true", "1x,2,true", "-,2,true", "\"1,0\",2,true", "0x1,2,true"})
    void a_malformed_value_of_a_row_is_missing_and_costs_no_other(String record) {
        assertUnknownIsBad(ParserSpec.parse("csv(\",\", bad:number, b:number, c:boolean)"), record);
        String booleans = "csv(\",\", bad:boolean, b:number, c:boolean)";
        assertUnknownIsBad(ParserSpec.parse(booleans), record);
    }

    private static void assertUnknownIsBad(ParserSpec parser, String record) {
        MemorySegment segment = Records.of(record);
        int length = (int) segment.byteSize();
        Map<String, Boolean> wanted = new LinkedHashMap<>();
        wanted.put("bad == null", true);
        wanted.put("bad == 1 || b == 2", true);
        wanted.put("b == 2 || bad == 1", true);
        wanted.put("bad != 1 || c", true);
        wanted.put("bad > 0 && c", false);
        wanted.put("!(bad > 0) && c", false);
        wanted.put("!(bad > 0 && b == 3)", true);
        wanted.put("!(bad > 0) || !(b == 2)", false);
        wanted.put("bad != 1", false);
        wanted.forEach((expression, isTrue) -> {
            RecordPredicate predicate = new RecordPredicate(parser, expression);
            assertThat(predicate.test(segment, 0, length))
                    .as("%s of %s", expression, record)
                    .isEqualTo(isTrue);
            assertThat(predicate.refused()).as(expression).isFalse();
        });
    }

    /**
     * A JSON value of another type than the literal's is sound: it is not equal, and has no order
     * with it.
     */
    @Test
    void a_value_of_another_type_costs_no_other() {
        for (String other : List.of("\"1\"", "true", "{}", "[1]")) {
            String record = "{\"other\":" + other + ",\"b\":2}";
            assertTrueOf(record, "other == 1 || b == 2", "other > 0 || b == 2", "other != 1");
            assertNotTrueOf(record, "other == 1", "other > 0", "!(other > 0)", "other == null");
        }
    }

    @Test
    void strings_compare_by_their_bytes() {
        assertTrueOf(
                "{\"s\":\"C++\"}",
                "s == \"C++\"",
                "s > \"C\"",
                "s < \"D\"",
                "s ^= \"C+\"",
                "s ^= \"\"",
                "s != 5",
                "s !^= \"D\"",
                "s in (\"C\", \"C++\")",
                "!(s == \"C\")");
        assertTrueOf("{\"s\":\"a\\/b\"}", "s == \"a/b\"");
        assertTrueOf("{\"s\":\"é\"}", "s == \"\\u00e9\"", "s > \"z\"");
        assertNotTrueOf(
                "{\"s\":\"C++\"}",
                "s == \"c++\"",
                "s ^= \"C++ \"",
                "s == \"C+\"",
                "s < 5",
                "s > 5",
                "s == null");
    }

    @Test
    void missing_and_null_make_comparisons_unknown() {
        for (String record : new String[] {"{}", "{\"a\":null}"}) {
            assertNotTrueOf(
                    record,
                    "a == 1",
                    "a != 1",
                    "!(a == 1)",
                    "!(a != 1)",
                    "a < 1",
                    "!(a < 1)",
                    "a",
                    "!a",
                    "a ^= \"x\"",
                    "!(a ^= \"x\")");
            assertTrueOf(record, "a == null", "!(a != null)", "a == 1 || a == null");
        }
        assertTrueOf("{\"a\":{}}", "a != null", "a != 1");
    }

    @Test
    void and_binds_more_tightly_than_or() {
        assertTrueOf(
                "{\"a\":true,\"b\":false,\"c\":false}",
                "a || b && c",
                "!(b || c)",
                "!b && !c && a",
                "(a || b) && !c");
        assertNotTrueOf(
                "{\"a\":true,\"b\":false,\"c\":false}", "(a || b) && c", "!(a || b)", "!!b");
    }

    @Test
    void random_expressions_read_back_and_agree_with_a_plain_evaluation() {
        long seed = Seeds.of("ExpressionTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 3_000; round++) {
            String text = expression(random, 4);
            Expression expression = parse(text);
            assertThat(parse(expression.text())).as(text).isEqualTo(expression);
            int[] values = {random.nextInt(3), random.nextInt(3), random.nextInt(3)};
            String record = "{\"a\":%d,\"b\":%d%s}"
                    .formatted(values[0], values[1], values[2] == 2 ? "" : ",\"c\":" + values[2]);
            Boolean expected = plain(expression, values);
            assertThat(test(text, record))
                    .as("%s of %s; %s", text, record, Seeds.replay("ExpressionTest", seed))
                    .isEqualTo(expected);
            assertThat(test("!(" + text + ")", record))
                    .as("not %s of %s", text, record)
                    .isEqualTo(plain(expression.negated(), values));
        }
    }

    private static String expression(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth > 0 ? 5 : 1)) {
            case 0 ->
                "abc".charAt(random.nextInt(3))
                        + new String[] {" == ", " < ", " != ", ">="}[random.nextInt(4)]
                        + random.nextInt(3);
            case 1 -> "!(" + expression(random, depth - 1) + ")";
            case 2 -> "(" + expression(random, depth - 1) + ")";
            case 3 -> expression(random, depth - 1) + " && " + expression(random, depth - 1);
            default -> expression(random, depth - 1) + "||" + expression(random, depth - 1);
        };
    }

    /** The value 2 of field c stands for missing. */
    private static boolean plain(Expression expression, int[] values) {
        return switch (expression) {
            case Expression.And and -> and.terms().stream().allMatch(t -> plain(t, values));
            case Expression.Or or -> or.terms().stream().anyMatch(t -> plain(t, values));
            case Expression.Comparison comparison -> {
                int field = "abc".indexOf(comparison.left().text());
                int wanted = Integer.parseInt(comparison.right().text());
                int value = values[field];
                yield !(field == 2 && value == 2)
                        && switch (comparison.operator()) {
                            case EQUAL -> value == wanted;
                            case NOT_EQUAL -> value != wanted;
                            case LESS -> value < wanted;
                            case AT_LEAST -> value >= wanted;
                            default -> throw new AssertionError(comparison.operator());
                        };
            }
            default -> throw new AssertionError(expression.text());
        };
    }

    /** Any text is an expression or a typed error, in time. */
    @Test
    void mutated_expressions_are_read_or_refused() {
        SplittableRandom random = new SplittableRandom(Seeds.of("ExpressionTest#mutated"));
        String characters = "ab.[]0123e-+\"\\`()!&|<>=^,in truefalsenull ";
        for (int round = 0; round < 20_000; round++) {
            StringBuilder text = new StringBuilder(expression(random, 3));
            for (int i = random.nextInt(4); i >= 0; i--) {
                int at = random.nextInt(text.length() + 1);
                text.insert(at, characters.charAt(random.nextInt(characters.length())));
            }
            try {
                Expression expression = parse(text.toString());
                assertThat(parse(expression.text())).as("%s", text).isEqualTo(expression);
            } catch (InvalidRequestException e) {
                assertThat(e).as("%s", text).hasMessageContaining("at position");
            }
        }
    }
}
