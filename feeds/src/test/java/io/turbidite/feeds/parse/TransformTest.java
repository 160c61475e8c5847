package io.turbidite.feeds.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Values;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class TransformTest {
    private static @Nullable Object evaluate(String text, Map<String, ?> values) {
        List<String> names = List.copyOf(values.keySet());
        BoundExpression expression =
                new Transform("f", text).bindAll(names::indexOf).getFirst();
        Object value = expression.evaluate(i -> i < 0 ? null : values.get(names.get(i)));
        return value instanceof Values.Numeral numeral ? numeral.text() : value;
    }

    @Test
    void functionsGiveValuesOfTheirTypes() {
        Map<String, Object> row =
                Map.of("x", "1.5", "y", 2, "s", " Ab ", "t", "2013-07-04T00:00:00Z");
        assertThat(evaluate("point(x, y)", row)).isEqualTo(new Point(1.5, 2));
        assertThat(evaluate("rectangle(0,0,x,y)", row)).isEqualTo(new Rectangle(0, 0, 1.5, 2));
        assertThat(evaluate("int32(y)", row)).isEqualTo(2);
        assertThat(evaluate("double(x)", row)).isEqualTo(1.5);
        assertThat(evaluate("decimal(x)", row)).isEqualTo(new BigDecimal("1.5"));
        assertThat(evaluate("datetime(t)", row)).isEqualTo(Instant.parse("2013-07-04T00:00:00Z"));
        assertThat(evaluate("lower(trim(s))", row)).isEqualTo("ab");
        assertThat(evaluate("concat(s,'it''s', -1.5e3)", row)).isEqualTo(" Ab it's-1.5e3");
        assertThat(evaluate("nullif(y, 2)", row)).isNull();
        assertThat(evaluate("coalesce(nothing, y)", row)).isEqualTo(2);
        assertThat(evaluate("`x`", row)).isEqualTo("1.5");
    }

    @Test
    void aFunctionOfNullIsNull() {
        Map<String, @Nullable Object> row = new HashMap<>();
        row.put("n", null);
        for (String text : List.of(
                "point(n,1)", "int32(n)", "lower(n)", "rectangle(1,1,n,2)", "coalesce(n)")) {
            assertThat(evaluate(text, row)).as(text).isNull();
        }
        assertThat(evaluate("concat('a', n)", row)).isEqualTo("a");
    }

    @Test
    void whatIsWrongIsToldWithItsPlace() {
        Map<String, String> wrong = Map.of(
                "point(a",
                "at position 7: expected ')' or ',', found the end",
                "point(a,b) c",
                "at position 11: expected nothing more, found 'c'",
                "pount(a,b)",
                "at position 0: there is no function 'pount'",
                "point(a)",
                "takes 2 arguments, not 1",
                "lower()",
                "at position 6: expected a field, a function",
                "",
                "at position 0: expected a field, a function",
                "'open",
                "at position 0: this string does not end",
                "a b",
                "at position 2: expected nothing more, found 'b'",
                "lower(".repeat(40) + "a" + ")".repeat(40),
                "nested deeper than the limit of 32",
                "a".repeat(9000),
                "longer than the limit of 8192");
        wrong.forEach((text, message) -> assertThatThrownBy(
                        () -> evaluate(text, Map.of("a", "1", "b", "2")))
                .as(text)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
    }

    @Test
    void aConditionIsAValueTrueFalseOrNull() {
        Map<String, Object> row = Map.of("delay", "45", "n", 7, "dest", "JFK");
        assertThat(evaluate("int32(delay) > 30 and dest = 'JFK'", row)).isEqualTo(true);
        assertThat(evaluate("n in (1, 2)", row)).isEqualTo(false);
        assertThat(evaluate("missing > 30", row)).isNull();
        assertThat(evaluate("missing > 30 or n = 7", row)).isEqualTo(true);
        assertThat(evaluate("missing is null", row)).isEqualTo(true);
        assertThat(evaluate("coalesce(missing = 1, bool('false'))", row)).isEqualTo(false);
        // text is not a number until it is made one
        assertThat(evaluate("delay > 30", row)).isNull();
        assertThat(evaluate("n = '7'", row)).isEqualTo(false);
        new Transform("late", "int32(a) > 30").check(Field.parse("late", "bool?"));
        assertThatThrownBy(
                        () -> new Transform("s", "int32(a) > 30").check(Field.parse("s", "string")))
                .hasMessageContaining("gives bool, but field 's' is declared as string");
    }

    /** They are names where they were names before the language had conditions. */
    @Test
    void aWordOfConditionsIsANameWhereItWasOne() {
        Map<String, Object> row = Map.of(
                "true", "a", "null", "b", "in", "c", "not", "d", "and", "e", "x.1", "f", "y-", "g");
        assertThat(evaluate("concat(true, null, in, not, and, x.1, y-)", row)).isEqualTo("abcdefg");
        assertThat(evaluate("true", row)).isEqualTo("a");
        assertThat(evaluate("coalesce(false, in)", row)).isEqualTo("c");
    }

    @Test
    void aResultMustFitTheFieldItIsFor() {
        new Transform("p", "point(a,b)").check(Field.parse("p", "point?"));
        new Transform("n", "int32(a)").check(Field.parse("n", "int64"));
        new Transform("n", "int32(a)").check(Field.parse("n", "double"));
        new Transform("n", "trim(a)").check(Field.parse("n", "int64"));
        new Transform("n", "coalesce(a, 1)").check(Field.parse("n", "int64"));
        assertThatThrownBy(() -> new Transform("n", "point(a,b)").check(Field.parse("n", "int64")))
                .hasMessageContaining("gives point, but field 'n' is declared as int64");
        assertThatThrownBy(() -> new Transform("n", "int64(a)").check(Field.parse("n", "int32")))
                .hasMessageContaining("gives int64");
    }
}
