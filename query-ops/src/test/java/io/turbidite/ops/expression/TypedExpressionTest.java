package io.turbidite.ops.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Values;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

class TypedExpressionTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("a", "int64?")
            .field("b", "int8?")
            .field("x", "double?")
            .field("y", "float?")
            .field("d", "decimal?")
            .field("s", "string?")
            .field("t", "string?")
            .field("yes", "bool?")
            .field("at", "datetime?")
            .field("day", "date?")
            .field("took", "duration?")
            .field("tags", "[string]?")
            .build();

    private static Expression read(String text) {
        return Expression.value(text, Expression.Grammar.FIELDS);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a|INT64",
                "b|INT8",
                "b + b|INT64",
                "a / b|DOUBLE",
                "a % b|INT64",
                "y|FLOAT",
                "y + 1|DOUBLE",
                "a + 0.5|DECIMAL",
                "x + 0.5|DOUBLE",
                "d * a|DECIMAL",
                "at - at|DURATION",
                "at + took|DATETIME",
                "took * 2|DURATION",
                "day - day|INT64",
                "1 + day|DATE",
                "a > 3|BOOL",
                "a is null or yes|BOOL",
                "int32(s)|INT32",
                "lower(s)|STRING",
                "case when a > 3 then 1 else x end|DOUBLE",
                "case when a > 3 then b else a end|INT64",
                "case when a > 3 then s end|STRING",
                "case when a > 3 then null else day end|DATE",
                "coalesce(b, 0.5)|DECIMAL",
                "nullif(s, 'x')|STRING",
                "round(x)|DOUBLE",
                "abs(b)|INT64",
                "negative(took)|DURATION",
                "hour(at) * 60|INT64"
            })
    void a_value_has_a_kind(String text, TypeKind kind) {
        assertThat(TypedExpression.of(read(text), TYPE).kind()).isEqualTo(kind);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "s + 1|'+' does not go between string and int64, in: s + 1",
                "at + at|'+' does not go between datetime and datetime",
                "case when a > 3 then s else a end|int64 and STRING are not of one type",
                "nothing + 1|'nothing', which is not declared",
                "tags[] > 3|'tags[]', which has not one simple value",
                "abs(tags)|'tags', which has not one simple value",
                "round(took)|round takes numbers, not duration",
                "null|null has no type: it is always null",
                "a + :p|parameter ':p' may stand in conditions alone"
            })
    void what_does_not_go_together_is_refused(String text, String message) {
        assertThatThrownBy(() -> TypedExpression.of(read(text), TYPE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @Test
    void an_error_names_the_expression() {
        RecordView record = record(Map.of("a", Long.MAX_VALUE, "b", (byte) 0));
        for (String text : List.of("a + 1", "1 + a * 2", "a % b", "x + a / b")) {
            Computed computed = TypedExpression.of(read(text), TYPE).computed();
            if (text.startsWith("x")) {
                assertThat(computed.compute(record))
                        .as("null before it divides")
                        .isFalse();
            } else {
                assertThatThrownBy(() -> computed.compute(record))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining(", in: ");
            }
        }
    }

    private static RecordView record(Map<String, ? extends @Nullable Object> fields) {
        RecordView view = new RecordView(TYPE);
        return view.wrap(Slice.of(new RecordWriter(TYPE).write(fields).toByteArray()));
    }

    // ---- against the meaning over decoded values ------------------------------------------------

    @Test
    void every_value_is_the_one_over_decoded_values() {
        String test = "TypedExpressionTest#every_value_is_the_one_over_decoded_values";
        long first = Seeds.of(test);
        int count = Tier.count(300, 4_000, 400_000);
        int values = 0;
        int errors = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            SplittableRandom random = new SplittableRandom(seed);
            String text = text(random, 3, KINDS.get(random.nextInt(KINDS.size())));
            try {
                int found = compare(text, random);
                values += found > 0 ? 1 : 0;
                errors += found < 0 ? 1 : 0;
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        text + ": " + e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        if (!Seeds.isReplay()) {
            assertThat(values).isGreaterThan(count / 4);
            assertThat(errors).isBetween(1, count / 2);
        }
    }

    /** Above 0: a value, below 0: both fail. */
    private static int compare(String text, SplittableRandom random) {
        Expression expression;
        try {
            expression = read(text);
        } catch (InvalidRequestException e) {
            assertThat(e).hasMessageContaining("is a constant: expected a field");
            return 0;
        }
        Computed computed = TypedExpression.of(expression, TYPE).computed();
        BoundExpression bound = BoundExpression.of(expression, TYPE::indexOf);
        int found = 0;
        for (int i = 0; i < 6; i++) {
            RecordView record = record(fields(random));
            Object expected;
            try {
                expected = bound.evaluate(record::get);
            } catch (InvalidRequestException e) {
                assertThatThrownBy(() -> computed.compute(record))
                        .as("%s of %s: %s", text, record.toMap(), e.getMessage())
                        .isInstanceOf(InvalidRequestException.class);
                return -1;
            }
            RecordType rowType = RecordType.of(List.of(new Field("v", computed.kind(), true)));
            RecordWriter row = new RecordWriter(rowType);
            row.begin();
            computed.set(record, row, 0);
            Object actual = new RecordView(rowType).wrap(row.finish()).get(0);
            assertThat(normal(actual, computed.kind()))
                    .as("%s of %s", text, record.toMap())
                    .isEqualTo(normal(expected, computed.kind()));
            found += actual == null ? 0 : 1;
        }
        return found;
    }

    private static @Nullable Object normal(@Nullable Object value, TypeKind kind) {
        return switch (value) {
            case null -> null;
            case Values.Numeral(String text) -> normal(new BigDecimal(text), kind);
            case Number number
            when kind == TypeKind.DOUBLE || kind == TypeKind.FLOAT -> number.doubleValue() + 0.0;
            case BigDecimal number when kind == TypeKind.DECIMAL -> number.stripTrailingZeros();
            case Number number
            when kind == TypeKind.DECIMAL ->
                BigDecimal.valueOf(number.longValue()).stripTrailingZeros();
            case Number number -> number.longValue();
            default -> value;
        };
    }

    private static Map<String, @Nullable Object> fields(SplittableRandom random) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("a", random.nextInt(30) == 0 ? Long.MAX_VALUE : (long) random.nextInt(-9, 9));
        fields.put("b", (byte) random.nextInt(-3, 4));
        fields.put("x", random.nextInt(-9, 9) / 4.0);
        fields.put("y", random.nextInt(-9, 9) / 8f);
        fields.put("d", BigDecimal.valueOf(random.nextInt(-99, 99), random.nextInt(3)));
        fields.put("s", List.of("", "x", "été", "12").get(random.nextInt(4)));
        fields.put("t", "t" + random.nextInt(3));
        fields.put("yes", random.nextBoolean());
        fields.put("at", Instant.ofEpochSecond(random.nextInt(2_000_000_000)));
        fields.put("day", LocalDate.ofEpochDay(random.nextInt(20_000)));
        fields.put("took", Duration.ofMillis(random.nextInt(-9_999, 99_999)));
        fields.keySet().removeIf(_ -> random.nextInt(9) == 0);
        return fields;
    }

    private static final List<TypeKind> KINDS = List.of(
            TypeKind.INT64,
            TypeKind.DOUBLE,
            TypeKind.DECIMAL,
            TypeKind.STRING,
            TypeKind.BOOL,
            TypeKind.DATETIME,
            TypeKind.DATE,
            TypeKind.DURATION);

    /** An expression of a kind. */
    private static String text(SplittableRandom random, int depth, TypeKind kind) {
        if (depth > 0 && random.nextInt(6) == 0) {
            return "case when %s then %s else %s end"
                    .formatted(
                            text(random, depth - 1, TypeKind.BOOL),
                            text(random, depth - 1, kind),
                            random.nextInt(4) == 0 ? "null" : text(random, depth - 1, kind));
        }
        if (depth == 0) {
            return leaf(random, kind);
        }
        String sign = List.of(" + ", " - ", " * ", " % ").get(random.nextInt(4));
        return switch (kind) {
            case INT64 ->
                switch (random.nextInt(6)) {
                    case 0 -> "hour(" + text(random, depth - 1, TypeKind.DATETIME) + ")";
                    case 1 -> "length(" + text(random, depth - 1, TypeKind.STRING) + ")";
                    case 2 ->
                        "(%s - %s)"
                                .formatted(
                                        text(random, depth - 1, TypeKind.DATE),
                                        text(random, depth - 1, TypeKind.DATE));
                    default -> both(random, depth, kind, sign, kind);
                };
            case DOUBLE ->
                random.nextInt(4) == 0
                        ? both(random, depth, TypeKind.INT64, " / ", TypeKind.INT64)
                        : both(
                                random,
                                depth,
                                kind,
                                random.nextInt(4) == 0 ? " / " : sign,
                                random.nextBoolean() ? TypeKind.INT64 : TypeKind.DECIMAL);
            case DECIMAL ->
                both(random, depth, kind, sign, random.nextBoolean() ? TypeKind.INT64 : kind);
            case STRING ->
                random.nextBoolean()
                        ? "concat(%s, %s)"
                                .formatted(
                                        text(random, depth - 1, kind),
                                        text(random, depth - 1, kind))
                        : "coalesce(%s, %s)"
                                .formatted(
                                        text(random, depth - 1, kind),
                                        text(random, depth - 1, kind));
            case BOOL ->
                switch (random.nextInt(4)) {
                    case 0 ->
                        "(%s) and (%s)"
                                .formatted(
                                        text(random, depth - 1, kind),
                                        text(random, depth - 1, kind));
                    case 1 -> "not (%s)".formatted(text(random, depth - 1, kind));
                    case 2 -> "%s is null".formatted(text(random, depth - 1, TypeKind.INT64));
                    default ->
                        "%s > %s"
                                .formatted(
                                        text(random, depth - 1, TypeKind.DOUBLE),
                                        text(random, depth - 1, TypeKind.INT64));
                };
            case DATETIME ->
                both(random, depth, kind, random.nextBoolean() ? " + " : " - ", TypeKind.DURATION);
            case DATE ->
                both(random, depth, kind, random.nextBoolean() ? " + " : " - ", TypeKind.INT64);
            default ->
                random.nextBoolean()
                        ? both(random, depth, TypeKind.DATETIME, " - ", TypeKind.DATETIME)
                        : both(random, depth, kind, " * ", TypeKind.INT64);
        };
    }

    private static String both(
            SplittableRandom random, int depth, TypeKind left, String sign, TypeKind right) {
        return "(" + text(random, depth - 1, left) + sign + text(random, depth - 1, right) + ")";
    }

    private static String leaf(SplittableRandom random, TypeKind kind) {
        List<String> leaves = switch (kind) {
            case INT64 -> List.of("a", "b", "3", "-2");
            case DOUBLE -> List.of("x", "y");
            case DECIMAL -> List.of("d", "0.5", "-1.25");
            case STRING -> List.of("s", "t", "'c'");
            case BOOL -> List.of("yes = true", "a > 0", "s = 'x'", "d <= 1", "x != 0.25");
            case DATETIME -> List.of("at");
            case DATE -> List.of("day");
            default -> List.of("took");
        };
        return leaves.get(random.nextInt(leaves.size()));
    }
}
