package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Expression.Grammar;
import io.turbidite.core.expr.Operator;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.RecordPredicate;
import io.turbidite.ops.expr.Conditions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Every operator over every pair of types: what queries, logs and feeds answer is what one plain
 * evaluation says. A query may refuse what is true of no value of a field's type.
 */
class ExpressionMeaningTest {
    /** Constants as texts write them, with their values. */
    private static final Map<String, @Nullable Object> CONSTANTS = new LinkedHashMap<>();

    /** Values by type; a type that is no type of fields stands for what only JSON has. */
    private static final Map<String, List<Object>> VALUES = new LinkedHashMap<>();

    static {
        CONSTANTS.put("null", null);
        CONSTANTS.put("true", true);
        CONSTANTS.put("false", false);
        for (String number : List.of(
                "0",
                "3",
                "-3",
                "2.5",
                "0.1",
                "0.10000000000000001",
                "127",
                "128",
                "1e30",
                "-1e300",
                "9223372036854775807",
                "9223372036854775808")) {
            CONSTANTS.put(number, new BigDecimal(number));
        }
        for (String text : List.of(
                "",
                "A",
                "AB",
                "é",
                "3",
                "true",
                "2013-07-04",
                "10:15:30",
                "2013-07-04T10:15:30Z",
                "PT1H",
                "123e4567-e89b-12d3-a456-426614174000",
                "[1,2]",
                "[0,0,1,2]",
                "AAE=")) {
            CONSTANTS.put("'" + text + "'", text);
        }
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");
        VALUES.put("bool", List.of(true, false));
        VALUES.put("int8", List.of((byte) 3, (byte) -3, (byte) 127));
        VALUES.put("int16", List.of((short) 3, (short) 128));
        VALUES.put("int32", List.of(3, 0));
        VALUES.put("int64", List.of(3L, Long.MAX_VALUE));
        VALUES.put("float", List.of(0.1f, 2.5f, Float.NaN));
        VALUES.put("double", List.of(0.1, 3.0, 1e30, Double.NaN, Double.NEGATIVE_INFINITY));
        VALUES.put("decimal", List.of(new BigDecimal("0.1"), new BigDecimal("3.00")));
        VALUES.put("string", List.of("", "A", "AB", "é", "3", "z", "\uD83D\uDE00"));
        VALUES.put("bytes", List.of(new byte[] {0, 1}, new byte[] {-1}));
        VALUES.put("uuid", List.of(uuid, new UUID(-1, 0)));
        VALUES.put("date", List.of(LocalDate.of(2013, 7, 4), LocalDate.of(2014, 1, 1)));
        VALUES.put("time", List.of(LocalTime.of(10, 15, 30), LocalTime.MIN));
        VALUES.put("datetime", List.of(Instant.parse("2013-07-04T10:15:30Z"), Instant.EPOCH));
        VALUES.put("duration", List.of(Duration.ofHours(1), Duration.ZERO));
        VALUES.put("point", List.of(new Point(1, 2), new Point(0, 0)));
        VALUES.put("rectangle", List.of(new Rectangle(0, 0, 1, 2)));
        VALUES.put("json", List.of("{}", "[1]"));
    }

    private enum Truth {
        TRUE,
        FALSE,
        UNKNOWN;

        static Truth of(boolean value) {
            return value ? TRUE : FALSE;
        }
    }

    /** Takes the operator on the right of a field, and a constant. */
    private interface Case {
        void check(String type, Operator operator, String constant);
    }

    private static void forEach(Case check) {
        for (String type : VALUES.keySet()) {
            for (Operator operator : Operator.values()) {
                CONSTANTS.forEach((text, value) -> {
                    boolean ordered = value instanceof BigDecimal || value instanceof String;
                    boolean reads = (!operator.isOrder() || ordered)
                            && (!operator.isPrefix() || value instanceof String);
                    if (reads) {
                        check.check(type, operator, text);
                    }
                });
            }
        }
    }

    private static String text(Operator operator, String constant) {
        return "f %s %s".formatted(operator.symbol(), constant);
    }

    private static List<@Nullable Object> valuesOf(String type) {
        List<@Nullable Object> values = new ArrayList<>();
        values.addAll(Objects.requireNonNull(VALUES.get(type)));
        values.add(null);
        return values;
    }

    // ------------------------------------------------------------------ what it means

    private static Truth truth(@Nullable Object value, Operator operator, String constant) {
        Object wanted = CONSTANTS.get(constant);
        if (wanted == null) {
            return Truth.of((value == null) == (operator == Operator.EQUAL));
        }
        if (value == null) {
            return Truth.UNKNOWN;
        }
        if (operator.isPrefix()) {
            return value instanceof String text
                    ? Truth.of(
                            text.startsWith((String) wanted) == (operator == Operator.STARTS_WITH))
                    : Truth.UNKNOWN;
        }
        Integer order = order(value, wanted);
        if (order == null) {
            return switch (operator) {
                case EQUAL -> Truth.FALSE;
                case NOT_EQUAL -> Truth.TRUE;
                default -> Truth.UNKNOWN;
            };
        }
        boolean hasOrder =
                !(value instanceof Boolean || value instanceof Point || value instanceof Rectangle);
        return switch (operator) {
            case EQUAL -> Truth.of(order == 0);
            case NOT_EQUAL -> Truth.of(order != 0);
            case LESS -> hasOrder ? Truth.of(order < 0) : Truth.UNKNOWN;
            case AT_MOST -> hasOrder ? Truth.of(order <= 0) : Truth.UNKNOWN;
            case GREATER -> hasOrder ? Truth.of(order > 0) : Truth.UNKNOWN;
            case AT_LEAST -> hasOrder ? Truth.of(order >= 0) : Truth.UNKNOWN;
            case STARTS_WITH, STARTS_NOT_WITH -> throw new AssertionError();
        };
    }

    /** Null if they are of different types. */
    private static @Nullable Integer order(Object value, Object wanted) {
        if (value instanceof Number number && wanted instanceof BigDecimal decimal) {
            double real = number.doubleValue();
            return Double.isFinite(real)
                    ? Integer.valueOf(new BigDecimal(number.toString()).compareTo(decimal))
                    : Integer.valueOf(real < 0 ? -1 : 1);
        }
        if (value instanceof Boolean truth && wanted instanceof Boolean other) {
            return truth.compareTo(other);
        }
        if (!(wanted instanceof String text)) {
            return null;
        }
        return switch (value) {
            case String string ->
                Arrays.compare(string.codePoints().toArray(), text.codePoints().toArray());
            case byte[] bytes ->
                HexFormat.of()
                        .formatHex(bytes)
                        .compareTo(HexFormat.of().formatHex(Base64.getDecoder().decode(text)));
            case UUID uuid -> uuid.toString().compareTo(UUID.fromString(text).toString());
            case LocalDate date -> date.compareTo(LocalDate.parse(text));
            case LocalTime time -> time.compareTo(LocalTime.parse(text));
            case Instant instant -> instant.compareTo(Instant.parse(text));
            case Duration duration -> duration.compareTo(Duration.parse(text));
            case Point(double x, double y) -> "[%.0f,%.0f]".formatted(x, y).equals(text) ? 0 : 1;
            case Rectangle _ -> text.equals("[0,0,1,2]") ? 0 : 1;
            default -> null;
        };
    }

    // ------------------------------------------------------------------ queries

    @Test
    void queries_answer_so_or_refuse_what_no_value_of_the_type_compares_with() {
        int[] counts = new int[2];
        forEach((type, operator, constant) -> {
            if (!type.equals("json")) {
                query(type, operator, constant, counts);
            }
        });
        assertThat(counts[0]).as("answered").isGreaterThan(2_000);
        assertThat(counts[1]).as("refused").isGreaterThan(500);
    }

    private static void query(String type, Operator operator, String constant, int[] counts) {
        RecordType record = RecordType.builder().field("f", type + "?").build();
        RecordWriter writer = new RecordWriter(record);
        RecordView view = new RecordView(record);
        String text = text(operator, constant);
        io.turbidite.ops.expr.RecordPredicate[] holds;
        io.turbidite.ops.expr.RecordPredicate[] fails;
        try {
            holds = compiled(record, text);
            fails = compiled(record, "not (" + text + ")");
        } catch (InvalidRequestException refused) {
            assertThat(refused).as(text).hasMessageContaining("condition f ");
            assertThat(comparable(type, operator, constant))
                    .as("%s of %s", text, type)
                    .isFalse();
            counts[1]++;
            return;
        }
        for (Object value : valuesOf(type)) {
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            map.put("f", value);
            Slice encoded = writer.write(map);
            view.wrap(encoded);
            Truth expected = truth(value, operator, constant);
            String shown = "%s of %s %s".formatted(text, type, value);
            assertThat(matches(holds, view)).as(shown).isEqualTo(expected == Truth.TRUE);
            assertThat(matches(fails, view)).as("not " + shown).isEqualTo(expected == Truth.FALSE);
            counts[0]++;
        }
    }

    /** Whether a constant can be compared so with some value of the type. */
    private static boolean comparable(String type, Operator operator, String constant) {
        Object wanted = CONSTANTS.get(constant);
        if (operator.isPrefix() && !type.equals("string")) {
            return false;
        }
        Object sample = Objects.requireNonNull(VALUES.get(type)).getFirst();
        if (sample instanceof Number || sample instanceof Boolean || sample instanceof String) {
            return order(sample, wanted == null ? "" : wanted) != null;
        }
        if (operator.isOrder() && (sample instanceof Point || sample instanceof Rectangle)) {
            return false;
        }
        try {
            return order(sample, wanted == null ? "" : wanted) != null
                    && io.turbidite.core.record.ValueParser.parse(
                                    TypeKind.ofLabel(type), String.valueOf(wanted))
                            != null;
        } catch (RuntimeException unreadable) {
            return false;
        }
    }

    private static io.turbidite.ops.expr.RecordPredicate[] compiled(RecordType type, String text) {
        return Conditions.of(
                        type,
                        List.of(),
                        List.of(Expression.condition(text, Grammar.FIELDS)),
                        Map.of())
                .compile();
    }

    private static boolean matches(
            io.turbidite.ops.expr.RecordPredicate[] predicates, RecordView view) {
        return Arrays.stream(predicates).allMatch(p -> p.matches(view));
    }

    // ------------------------------------------------------------------ feeds

    @Test
    void transforms_answer_so() {
        forEach((type, operator, constant) -> {
            if (type.equals("json")) {
                return;
            }
            String text = text(operator, constant);
            BoundExpression bound =
                    BoundExpression.of(Expression.value(text, Grammar.TRANSFORM), _ -> 0);
            BoundExpression negated = BoundExpression.of(
                    Expression.value("not (" + text + ")", Grammar.TRANSFORM), _ -> 0);
            for (Object value : valuesOf(type)) {
                String shown = "%s of %s %s".formatted(text, type, value);
                Object answer;
                try {
                    answer = bound.evaluate(_ -> value);
                } catch (InvalidRequestException unreadable) {
                    // a text beside a value of a type is read as that type, or told
                    assertThat(comparable(type, operator, constant)).as(shown).isFalse();
                    continue;
                }
                Truth expected = truth(value, operator, constant);
                assertThat(answer).as(shown).isEqualTo(ofTruth(expected));
                Truth opposite = switch (expected) {
                    case TRUE -> Truth.FALSE;
                    case FALSE -> Truth.TRUE;
                    case UNKNOWN -> Truth.UNKNOWN;
                };
                assertThat(negated.evaluate(_ -> value))
                        .as("not " + shown)
                        .isEqualTo(ofTruth(opposite));
            }
        });
    }

    private static @Nullable Boolean ofTruth(Truth truth) {
        return truth == Truth.UNKNOWN ? null : truth == Truth.TRUE;
    }

    // ------------------------------------------------------------------ logs

    @Test
    void logs_answer_so() {
        try (Arena arena = Arena.ofConfined()) {
            forEach((type, operator, constant) -> {
                if (List.of("bool", "int64", "double", "decimal", "string", "json")
                        .contains(type)) {
                    log(arena, type, operator, constant);
                }
            });
        }
    }

    private static void log(Arena arena, String type, Operator operator, String constant) {
        String text = text(operator, constant);
        RecordPredicate holds = new RecordPredicate(new ParserSpec.Json(), text);
        RecordPredicate fails = new RecordPredicate(new ParserSpec.Json(), "not (" + text + ")");
        // as the registry keeps it
        PsfDefinition stored = PsfDefinition.parse("where(" + text + ")");
        assertThat(PsfDefinition.parse(stored.text())).as(text).isEqualTo(stored);
        for (Object value : valuesOf(type)) {
            if (value instanceof Double real && !Double.isFinite(real)) {
                continue;
            }
            Truth expected = truth(
                    type.equals("json") && value != null ? List.of() : value, operator, constant);
            String json = switch (value) {
                case null -> "{}";
                case String string when !type.equals("json") -> "{\"f\":\"" + string + "\"}";
                default -> "{\"f\":" + value + "}";
            };
            MemorySegment record = arena.allocateFrom(json, StandardCharsets.UTF_8);
            int length = (int) record.byteSize() - 1;
            String shown = "%s of %s".formatted(text, json);
            assertThat(holds.test(record, 0, length)).as(shown).isEqualTo(expected == Truth.TRUE);
            assertThat(fails.test(record, 0, length))
                    .as("not " + shown)
                    .isEqualTo(expected == Truth.FALSE);
        }
    }
}
