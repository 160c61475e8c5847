package io.turbidite.core.expr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression.Grammar;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** What texts say, and that trees print what they are. */
class ExpressionTest {
    private static String read(String text) {
        return Expression.condition(text, Grammar.FIELDS).text();
    }

    @ParameterizedTest
    @EnumSource
    void what_a_tree_prints_reads_back_to_an_equal_tree(Grammar grammar) {
        long seed = Seeds.of("ExpressionTest");
        RandomExpressions random = new RandomExpressions(new SplittableRandom(seed), grammar);
        for (int round = 0; round < 3_000; round++) {
            Expression condition = random.condition(3);
            assertThat(Expression.condition(condition.text(), grammar))
                    .as("%s; %s", condition.text(), Seeds.replay("ExpressionTest", seed))
                    .isEqualTo(condition);
            Expression value = random.value(3);
            assertThat(Expression.value(value.text(), grammar))
                    .as("%s; %s", value.text(), Seeds.replay("ExpressionTest", seed))
                    .isEqualTo(value);
        }
    }

    @Test
    void what_means_the_same_has_one_form() {
        Map<String, String> forms = new LinkedHashMap<>();
        forms.put("delay > 30 and dest = \"JFK\"", "delay > 30 && dest == \"JFK\"");
        forms.put("dest = 'it''s' or not late", "dest == \"it's\" || late != true");
        forms.put("not (a > 1 and b <> 2)", "a <= 1 || b == 2");
        forms.put("30 < delay", "delay > 30");
        forms.put("a in (1, 2.50, 'x')", "a == 1 || a == 2.5 || a == \"x\"");
        forms.put("a not in (1, 2)", "a != 1 && a != 2");
        forms.put("a is null or b is not null", "a == null || b != null");
        forms.put("((a)) and (b and c)", "a == true && b == true && c == true");
        forms.put("contains(name, 'intl')", "contains(name, \"intl\") == true");
        forms.put("!contains(name, 'intl')", "contains(name, \"intl\") != true");
        forms.put("a >= :low and a < b", "a >= :low && a < b");
        forms.put("a = +007 or a = 1e30", "a == 7 || a == 1E+30");
        forms.put("a.b-c = 1", "a.b-c == 1");
        forms.put("été ^= 'x'", "`été` ^= \"x\"");
        forms.forEach((text, form) -> assertThat(read(text)).as(text).isEqualTo(form));
    }

    /** So were they read before the words meant something. */
    @Test
    void a_word_between_operands_is_a_name_elsewhere() {
        Map<String, String> forms = new LinkedHashMap<>();
        forms.put("and == 1 and or", "`and` == 1 && `or` == true");
        forms.put("not", "`not` == true");
        forms.put("not = 1", "`not` == 1");
        forms.put("not && is", "`not` == true && `is` == true");
        forms.put("not not", "`not` != true");
        forms.put("not in (1)", "`not` == 1");
        forms.put("not is null", "`not` == null");
        forms.put("notable and android", "notable == true && android == true");
        forms.forEach((text, form) -> assertThat(read(text)).as(text).isEqualTo(form));
        assertThat(Expression.condition("and == 1 && not", Grammar.PATHS).text())
                .isEqualTo("and == 1 && not == true");
    }

    @Test
    void in_a_transform_constant_words_alone_are_names() {
        Expression.Name named = new Expression.Name("true");
        assertThat(Expression.value("true", Grammar.TRANSFORM)).isEqualTo(named);
        assertThat(Expression.value("lower(true)", Grammar.TRANSFORM).text())
                .isEqualTo("lower(`true`)");
        assertThat(Expression.value("a = true", Grammar.TRANSFORM).text()).isEqualTo("a == true");
        assertThat(Expression.value("coalesce(a, null)", Grammar.FIELDS).text())
                .isEqualTo("coalesce(a, null)");
    }

    @Test
    void what_is_wrong_is_told_with_its_place_and_what_stands_there() {
        Map<String, String> wrong = new LinkedHashMap<>();
        wrong.put("", "at position 0: expected a field, a function");
        wrong.put("a >", "at position 3: expected a field, a function");
        wrong.put("a > 1 b", "at position 6: expected nothing more, found 'b'");
        wrong.put("(a > 1", "at position 6: expected ')', found the end");
        wrong.put("a > true", "at position 4: true has no order, '>' needs a number or a string");
        wrong.put("a ^= 5", "at position 5: '^=' needs a string, not 5");
        wrong.put("a = 'x", "at position 4: this string does not end");
        wrong.put("`a = 1", "at position 0: this name does not end");
        wrong.put("`` = 1", "at position 0: a name has at least one character");
        wrong.put("5", "at position 0: 5 alone is no condition");
        wrong.put("a and 'x'", "at position 6: \"x\" alone is no condition");
        wrong.put("1 = 1", "at position 0: 1 is a constant");
        wrong.put("a in (b)", "at position 6: b is no constant");
        wrong.put("a is 5", "at position 5: expected null, found '5'");
        wrong.put("lowest(a)", "at position 0: there is no function 'lowest'; functions are point");
        wrong.put("a > 1 AND b = 2", "found 'AND b = 2'; 'and' is written in small letters");
        wrong.put("a = 1 Or b = 2", "'or' is written in small letters");
        wrong.put("a IS NULL", "found 'IS NULL'; 'is' is written in small letters");
        wrong.put("a is NULL", "expected null, found 'NULL'; 'null' is written in small letters");
        wrong.put("a IN (1)", "'in' is written in small letters");
        wrong.put("NOT a = 1", "found 'a = 1'; 'not' is written in small letters");
        wrong.put("NOT (a = 1)", "function 'NOT'; 'not' is written in small letters; functions");
        wrong.put("lower(a, b) = 'x'", "at position 0: lower takes 1 argument, not 2");
        wrong.put("lower(a = 'x'", "at position 13: expected ')' or ','");
        wrong.put("a = 1e99999", "at position 4: a number that is compared has at most 40");
        wrong.put("a = " + "9".repeat(41), "at position 4: a number that is compared");
        wrong.put("(".repeat(40) + "a", "nested deeper than the limit of 32");
        wrong.put("lower(".repeat(40) + "a", "nested deeper than the limit of 32");
        wrong.put("a = 1" + " or a = 1".repeat(300), "more comparisons than the limit of 256");
        wrong.put("a".repeat(9_000), "longer than the limit of 8192");
        wrong.forEach((text, message) -> assertThatThrownBy(() -> read(text))
                .as(text)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
    }

    /** A stored number whose one form could not be read would keep its log from opening. */
    @Test
    void a_number_is_taken_only_if_its_one_form_is_read_back() {
        String wide = "-1234567890123456789012345678901234e9999";
        assertThat(wide).hasSize(40);
        assertThatThrownBy(() -> Expression.condition("a == " + wide, Grammar.PATHS))
                .hasMessageContaining("at position 5: expected a number");
        assertThatThrownBy(() -> new TokenReader(wide).number())
                .hasMessageContaining("at position 0: expected a number");
    }

    /** {@code false} is the field of that name there, behind a sign too. */
    @Test
    void a_word_behind_a_sign_is_a_field_in_a_transform() {
        Expression value = Expression.value("a - - false", Grammar.TRANSFORM);
        assertThat(Expression.value(value.text(), Grammar.TRANSFORM)).isEqualTo(value);
    }

    /** Any text is an expression or a typed error, in time. */
    @ParameterizedTest
    @EnumSource
    void mutated_texts_are_read_or_refused(Grammar grammar) {
        SplittableRandom random = new SplittableRandom(Seeds.of("ExpressionTest#mutated"));
        RandomExpressions expressions = new RandomExpressions(random, grammar);
        String characters = "ab.[]0123e-+\"\\`'()!&|<>=^,:é\uD83D in not and or is true null ";
        for (int round = 0; round < 10_000; round++) {
            StringBuilder text = new StringBuilder(expressions.condition(2).text());
            for (int i = random.nextInt(4); i >= 0; i--) {
                int at = random.nextInt(text.length() + 1);
                if (random.nextBoolean() && at < text.length()) {
                    text.deleteCharAt(at);
                } else {
                    text.insert(at, characters.charAt(random.nextInt(characters.length())));
                }
            }
            try {
                Expression value = Expression.value(text.toString(), grammar);
                assertThat(Expression.value(value.text(), grammar))
                        .as("%s", text)
                        .isEqualTo(value);
                Expression condition = Expression.condition(text.toString(), grammar);
                assertThat(Expression.condition(condition.text(), grammar))
                        .as("%s", text)
                        .isEqualTo(condition);
            } catch (InvalidRequestException e) {
                assertThat(e).as("%s", text).hasMessageContaining("at position");
            }
        }
    }
}
