package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/** Text becomes a value of the kind or a message that says what was expected. */
class ValueParserTest {
    @Test
    void eachKindIsReadFromText() {
        assertThat(ValueParser.parse(TypeKind.BOOL, "true")).isEqualTo(true);
        assertThat(ValueParser.parse(TypeKind.INT8, "-128")).isEqualTo((byte) -128);
        assertThat(ValueParser.parse(TypeKind.INT16, "+7")).isEqualTo((short) 7);
        assertThat(ValueParser.parse(TypeKind.INT32, "0012")).isEqualTo(12);
        assertThat(ValueParser.parse(TypeKind.INT64, "-9223372036854775808"))
                .isEqualTo(Long.MIN_VALUE);
        assertThat(ValueParser.parse(TypeKind.FLOAT, "0.1")).isEqualTo(0.1f);
        assertThat(ValueParser.parse(TypeKind.DOUBLE, "-1e-3")).isEqualTo(-0.001);
        assertThat(ValueParser.parse(TypeKind.DOUBLE, "-Infinity"))
                .isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(ValueParser.parse(TypeKind.DECIMAL, "12.50")).isEqualTo(new BigDecimal("12.50"));
        assertThat(ValueParser.parse(TypeKind.STRING, " 😀 ")).isEqualTo(" 😀 ");
        assertThat(ValueParser.parse(TypeKind.BINARY, "AAEC")).isEqualTo(new byte[] {0, 1, 2});
        assertThat(ValueParser.parse(TypeKind.UUID, "123e4567-e89b-12d3-a456-426614174000"))
                .isEqualTo(UUID.fromString("123e4567-e89b-12d3-a456-426614174000"));
        assertThat(ValueParser.parse(TypeKind.POINT, "[-95.3, 29]"))
                .isEqualTo(new Point(-95.3, 29));
        assertThat(ValueParser.parse(TypeKind.RECTANGLE, "[1,2,3,4]"))
                .isEqualTo(new Rectangle(1, 2, 3, 4));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "BOOL|TRUE",
                "BOOL|1",
                "INT8|128",
                "INT8|''",
                "INT32|1.0",
                "INT32|' 1'",
                "INT32|0x1",
                "INT64|9223372036854775808",
                "INT64|-",
                "FLOAT|1e39",
                "DOUBLE|1e309",
                "DOUBLE|1d",
                "DOUBLE|0x1p3",
                "DOUBLE|' 1'",
                "DOUBLE|''",
                "DOUBLE|nan",
                "DOUBLE|1e",
                "DECIMAL|1e1000000",
                "DECIMAL|NaN",
                "DECIMAL|1e99999999999",
                "BINARY|A",
                "BINARY|***",
                "UUID|1-1-1-1-1",
                "UUID|123e4567-e89b-12d3-a456-42661417400g",
                "POINT|1,2",
                "POINT|[1]",
                "POINT|[1,2,3]",
                "POINT|[1,Infinity]",
                "POINT|[,]",
                "RECTANGLE|[3,2,1,4]",
                "RECTANGLE|[1,2]"
            })
    void otherTextIsRefusedWithTypeAndText(TypeKind kind, String text) {
        assertThatThrownBy(() -> ValueParser.parse(kind, text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageMatching("(?s).*(" + kind.label() + "|finite).*");
    }

    @Test
    void messagesStayOneShortLine() {
        String text = "line\n\u001B[31m" + "x".repeat(1_000_000);
        assertThatThrownBy(() -> ValueParser.parse(TypeKind.INT64, text))
                .message()
                .hasSizeLessThan(250)
                .doesNotContain("\n", "\u001B");
        assertThatThrownBy(() -> ValueParser.parse(TypeKind.STRING, "a\uD800"))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void aFieldSetFromTextIsTheOneThatTheParserReads() {
        List<String> texts = List.of(
                "",
                "0",
                "-0",
                "-",
                "1",
                "-17",
                "+5",
                "127",
                "128",
                "-32769",
                "2147483648",
                "007",
                "123456789012345678",
                "1234567890123456789",
                "9223372036854775808",
                "1.5",
                "1e3",
                "-1e400",
                "NaN",
                "true",
                "2013-07-04",
                "10:15",
                "2013-07-04T10:15:30.25+02:00",
                "PT1H",
                "[1,2]",
                "[1,2,3,4]",
                "AAEC",
                "123e4567-e89b-12d3-a456-426614174000",
                "ä",
                "2013-07-0٤",
                "١");
        for (TypeKind kind :
                Arrays.stream(TypeKind.values()).filter(TypeKind::isScalar).toList()) {
            RecordType type = RecordType.of(List.of(new Field("f", kind, false)));
            RecordWriter writer = new RecordWriter(type);
            for (String text : texts) {
                Object expected = RandomValues.shown(parsed(kind, text));
                Object found;
                try {
                    writer.begin();
                    writer.setText(0, text);
                    found = new RecordView(type).wrap(writer.finish()).get(0);
                } catch (InvalidRequestException e) {
                    assertThat(e).hasMessageStartingWith("field 'f': ");
                    found = null;
                }
                assertThat(found).as("%s as %s", text, kind).isEqualTo(expected);
            }
        }
    }

    @Test
    void aDoubleSetFromTextIsTheNearestOne() {
        RecordType type = RecordType.builder().field("f", "double").build();
        RecordWriter writer = new RecordWriter(type);
        RecordView view = new RecordView(type);
        long seed = Seeds.of("ValueParserTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 50_000; i++) {
            long digits = random.nextLong() >> random.nextInt(64);
            String text = BigDecimal.valueOf(digits, random.nextInt(19)).toPlainString();
            writer.begin().setText(0, text);
            assertThat(view.wrap(writer.finish()).getDouble(0))
                    .as("%s, %s", text, Seeds.replay("ValueParserTest", seed))
                    .isEqualTo(Double.parseDouble(text));
        }
    }

    private static @Nullable Object parsed(TypeKind kind, String text) {
        try {
            return ValueParser.parse(kind, text);
        } catch (InvalidRequestException refused) {
            return null;
        }
    }
}
