package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** CSV rows and binary records. */
class RowParserTest {
    private static final String CSV = "csv(\",\", id:number, name, open:boolean, note)";

    private static RecordParser parser(String spec, String... paths) {
        return ParserSpec.parse(spec)
                .newParser(Parsed.paths(paths), FieldListener.NONE, ScanMode.best());
    }

    private static String csv(String row, String... paths) {
        return Parsed.outcome(parser(CSV, paths), row.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void values_are_read_by_the_type_of_their_column() {
        assertThat(csv("12,ab,true,x", "id", "name", "open", "note"))
                .isEqualTo("INTEGER 12|TEXT ab|TRUE true|TEXT x|");
        assertThat(csv("1.50,12,false,\r", "note", "open", "name", "id"))
                .isEqualTo("NULL |FALSE false|TEXT 12|DECIMAL 1.50|");
        assertThat(csv(",,,", "id", "name", "open", "note")).isEqualTo("NULL |NULL |NULL |NULL |");
        assertThat(csv("5", "id", "name")).isEqualTo("INTEGER 5|MISSING |");
        assertThat(csv("", "id")).isEqualTo("NULL |");
    }

    @Test
    void quotes_protect_separators_and_are_doubled() {
        assertThat(csv("1,\"a,b\",true,\"\"", "name", "note")).isEqualTo("TEXT a,b|TEXT |");
        assertThat(csv("\"1\",\"say \"\"hi\"\"\",true,x", "id", "name", "note"))
                .isEqualTo("INTEGER 1|DECODED_TEXT say \"hi\"|TEXT x|");
        assertThat(csv("1,a\"b\",true,\"line\nbreak\"", "name", "note"))
                .isEqualTo("TEXT a\"b\"|TEXT line\nbreak|");
    }

    @Test
    void a_refusal_says_what_and_where() {
        assertThat(csv("1,\"ab,true", "name"))
                .isEqualTo("the record has quotes that do not pair at byte 10");
        assertThat(csv("1,\"ab\"c,true", "note"))
                .isEqualTo("the record has quotes that do not pair at byte 6");
        assertThat(csv("x,a", "id")).isEqualTo("the record has a malformed number at byte 0");
        assertThat(csv("12a,a", "id")).isEqualTo("the record has a malformed number at byte 2");
        assertThat(csv("1,a,yes", "open"))
                .isEqualTo("the record has a malformed boolean at byte 4");
        byte[] row = "1,a?".getBytes(StandardCharsets.UTF_8);
        row[3] = (byte) 0xFF;
        assertThat(Parsed.outcome(parser(CSV, "name"), row))
                .isEqualTo("the record is not UTF-8 at byte 3");
        assertThat(Parsed.outcome(parser(CSV, "id"), row)).isEqualTo("INTEGER 1|");
    }

    @Test
    void binary_fields_lie_where_the_caller_says() {
        String spec = "binary(id:i64@1, small:i8@0, port:u16@9, name:text4@11)";
        byte[] record = {-2, 1, 0, 0, 0, 0, 0, 0, -128, (byte) 0xFF, (byte) 0xFF, 'a', 'b', 0, 0};
        assertThat(Parsed.outcome(parser(spec, "name", "port", "small", "id"), record))
                .isEqualTo("TEXT ab|INTEGER 65535|INTEGER -2|INTEGER -9223372036854775807|");
        assertThat(Parsed.outcome(parser(spec, "name"), Arrays.copyOf(record, 14)))
                .isEqualTo("the record ends too early at byte 14");
        assertThat(Parsed.outcome(parser(spec, "small"), new byte[1])).isEqualTo("INTEGER 0|");
        record[12] = (byte) 0xC3;
        assertThat(Parsed.outcome(parser(spec, "name"), record))
                .isEqualTo("the record is not UTF-8 at byte 12");
    }

    @Test
    void text_forms_read_back() {
        for (String text : new String[] {
            "json",
            CSV,
            "csv(\"\\t\", `a b`:number)",
            "csv(\";\", x, y)",
            "binary(id:i64@0, `in`:u8@8, t:text16@9)"
        }) {
            assertThat(ParserSpec.parse(text).text()).isEqualTo(text);
            assertThat(ParserSpec.parse(text))
                    .isEqualTo(ParserSpec.parse(ParserSpec.parse(text).text()));
        }
    }

    @Test
    void wrong_specs_and_unknown_fields_are_refused() {
        assertRefused("xml", "at position 0: expected json, csv(…) or binary(…)");
        assertRefused("csv(\",,\", a)", "at position 4: the separator is one character");
        assertRefused("csv(\"\\\"\", a)", "can't separate values");
        assertRefused("csv(\",\", a:date)", "at position 11: expected text, number or boolean");
        assertRefused("csv(\",\", a, a)", "declared twice");
        assertRefused("csv(\",\")", "1 to 1024 fields");
        assertRefused("binary(a:i24@0)", "is no field");
        assertRefused("binary(a:u64@0)", "is no field");
        assertRefused("binary(a:f64@0)", "at position 9: expected i8");
        assertThatThrownBy(() -> parser(CSV, "nmae"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("the records have no field nmae, they have [id, name, open, note]");
        assertThatThrownBy(() -> parser(CSV, "name.x")).isInstanceOf(InvalidRequestException.class);
    }

    private static void assertRefused(String spec, String message) {
        assertThatThrownBy(() -> ParserSpec.parse(spec))
                .as(spec)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @Test
    void any_bytes_get_an_answer() {
        SplittableRandom random = new SplittableRandom(Seeds.of("RowParserTest"));
        RecordParser csv = parser(CSV, "id", "name", "open", "note");
        RecordParser binary = parser("binary(id:i32@0, name:text3@4)", "id", "name");
        byte[] alphabet = ",,\"\"1.e-trufalse\r\n\u00e9".getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 20_000; round++) {
            byte[] row = new byte[random.nextInt(30)];
            for (int i = 0; i < row.length; i++) {
                row[i] = alphabet[random.nextInt(alphabet.length)];
            }
            assertThat(Parsed.outcome(csv, row)).isNotEmpty();
            assertThat(Parsed.outcome(binary, row)).isNotEmpty();
        }
    }
}
