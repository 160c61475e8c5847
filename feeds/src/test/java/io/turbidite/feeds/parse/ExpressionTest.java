package io.turbidite.feeds.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
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

class ExpressionTest {
    private static @Nullable Object evaluate(String text, Map<String, ?> values) {
        List<String> names = List.copyOf(values.keySet());
        Expression expression = Expression.parse(text, names::indexOf);
        return expression.evaluate(i -> i < 0 ? null : values.get(names.get(i)));
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
                "character 8: ')' or ',' was expected",
                "point(a,b) c",
                "character 11: nothing more was expected",
                "pount(a,b)",
                "character 1: there is no function 'pount'",
                "point(a)",
                "takes 2 arguments, not 1",
                "lower()",
                "character 7: a field, a function",
                "",
                "a field, a function",
                "'open",
                "a field, a function",
                "a + b",
                "nothing more was expected",
                "lower(".repeat(20) + "a" + ")".repeat(20),
                "nested deeper than 16",
                "a".repeat(2000),
                "longer than 1000");
        wrong.forEach((text, message) -> assertThatThrownBy(
                        () -> evaluate(text, Map.of("a", "1", "b", "2")))
                .as(text)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
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
