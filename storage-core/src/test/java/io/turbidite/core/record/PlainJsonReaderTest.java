package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Which texts are plain; {@link JsonReuseTest} compares what is made of them. */
class PlainJsonReaderTest {
    private static final RecordType TYPE = RecordType.of(List.of(
            Field.parse("id", "int64"),
            Field.parse("few", "int8?"),
            Field.parse("text", "string?"),
            Field.parse("real", "double?"),
            Field.parse("when", "datetime?"),
            Field.parse("truth", "bool?"),
            Field.parse("place", "point?"),
            Field.parse("a\\n", "int64?")));

    private final RecordWriter writer = new RecordWriter(TYPE);

    private boolean isPlain(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        var _ = writer.begin();
        return reads(new PlainJsonReader(writer, TYPE), bytes);
    }

    private static boolean reads(PlainJsonReader plain, byte[] text) {
        return plain.read(text, MemorySegment.ofArray(text), text.length);
    }

    private Map<String, @Nullable Object> read(String text) {
        return new RecordView(TYPE)
                .wrap(writer.writeJson(Slice.of(text.getBytes(StandardCharsets.UTF_8))))
                .toMap();
    }

    @Test
    void fields_in_any_order_with_plain_values_are_plain() {
        assertThat(isPlain(
                        "{ \"truth\" : false,\t\"id\":-12,\"text\":\"ü 😀\", \"few\":null, \"real\":0.25,"
                                + "\"when\":\"2026-11-29T07:00:00Z\"\r\n}"))
                .isTrue();
        Slice record = writer.finish();
        assertThat(new RecordView(TYPE).wrap(record).toMap())
                .containsEntry("truth", false)
                .containsEntry("id", -12L)
                .containsEntry("text", "ü 😀")
                .containsEntry("real", 0.25);
    }

    @Test
    void whole_numbers_are_plain_as_far_as_a_long_goes() {
        for (long id : new long[] {Long.MAX_VALUE, -Long.MAX_VALUE, 999_999_999_999_999_999L}) {
            assertThat(isPlain("{\"id\":%d}".formatted(id))).isTrue();
            assertThat(new RecordView(TYPE).wrap(writer.finish()).getLong(0)).isEqualTo(id);
        }
    }

    @Test
    void whatever_needs_a_parser_is_left_to_it() {
        for (String text : List.of(
                "{}",
                "{\"id\":1,\"text\":\"a\\nb\"}",
                "{\"id\":1,\"text\":\"a\nb\"}",
                "{\"id\":1,\"text\":\"open}",
                "{\"id\":1,\"place\":[1,2]}",
                "{\"id\":1,\"other\":1}",
                "{\"id\":1,\"a\\n\":1}",
                "{\"id\":1,\"id\":1}",
                "{\"id\":01}",
                "{\"id\":-0}",
                "{\"id\":1.0}",
                "{\"id\":1e2}",
                "{\"id\":1.}",
                "{\"id\":.1}",
                "{\"id\":-}",
                "{\"id\":1,}",
                "{\"id\":1",
                "{\"id\":1} ",
                "{\"id\":1}}",
                "{\"id\":tru}",
                "{\"id\":true}",
                "{\"id\":1,\"truth\":truth}",
                "{\"id\":9223372036854775808}",
                "{\"id\":-9223372036854775808}",
                "{\"id\":10000000000000000000}",
                "{\"id\":1,\"few\":128}",
                "{\"id\":1,\"real\":1234567890.123456}",
                "{\"id\":1,\"when\":\"yesterday\"}",
                "[{\"id\":1}]")) {
            assertThat(isPlain(text)).as(text).isFalse();
        }
    }

    @Test
    void a_name_that_looks_like_an_escape_is_not_taken_for_the_field() {
        assertThat(read("{\"id\":1,\"a\\\\n\":2}")).containsEntry("a\\n", 2L);
        assertThat(read("{\"id\":1,\"a\\n\":2}")).containsEntry("a\n", 2L);
    }

    /** Behind texts that are not plain some go to the parser at once; then it is tried again. */
    @Test
    void behind_texts_that_are_not_plain_it_is_tried_ever_less_often() {
        PlainJsonReader plain = new PlainJsonReader(writer, TYPE);
        byte[] other = "{\"x\":1}".getBytes(StandardCharsets.UTF_8);
        byte[] good = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 1 + 1 + 1 + 2 + 1; i++) {
            assertThat(reads(plain, other)).isFalse();
        }
        for (int i = 0; i < 4; i++) {
            var _ = writer.begin();
            assertThat(reads(plain, good)).as("passed %d", i).isFalse();
        }
        for (int i = 0; i < 2; i++) {
            var _ = writer.begin();
            assertThat(reads(plain, good)).isTrue();
        }
    }

    @Test
    void doubles_are_those_that_the_parser_of_the_language_reads() {
        for (String number :
                List.of("0", "0.1", "-0.3", "123456.789", "1.00000000000001", "99999999999999.9")) {
            assertThat(isPlain("{\"id\":1,\"real\":%s}".formatted(number)))
                    .as(number)
                    .isTrue();
            Slice record = writer.finish();
            assertThat(new RecordView(TYPE).wrap(record).get(3))
                    .isEqualTo(Double.parseDouble(number));
        }
    }
}
