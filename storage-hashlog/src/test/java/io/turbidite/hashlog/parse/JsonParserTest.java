package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.expr.FieldPath;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The JSON parser by example, in both modes. */
class JsonParserTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Rejection rejection(ScanMode mode, String record, String... paths) {
        RecordParser parser = Parsed.json(mode, paths);
        assertThat(Parsed.parse(parser, bytes(record), 0)).as(record).isFalse();
        return parser.values().rejection();
    }

    private static String outcome(ScanMode mode, String record, String... paths) {
        return Parsed.outcome(Parsed.json(mode, paths), bytes(record));
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void valid_documents_give_what_jackson_gives(ScanMode mode) {
        RecordParser parser = Parsed.json(mode, "w");
        for (String document : JsonCorpus.VALID) {
            assertThat(Parsed.parse(parser, bytes(document), 5)).as(document).isTrue();
            Map<?, ?> expected = Reference.read(bytes(document));
            assertThat(expected).as(document).isNotNull();
            assertThat(Reference.found(parser.values(), 0))
                    .as(document)
                    .isEqualTo(Reference.at(expected, FieldPath.of("w")));
        }
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void documents_that_are_malformed_up_to_the_last_wanted_field_are_refused(ScanMode mode) {
        // the second is never there, so that the parser has to reach the end
        RecordParser parser = Parsed.json(mode, "w", "never");
        List<String> taken = new ArrayList<>();
        for (String document : JsonCorpus.INVALID) {
            if (Parsed.parse(parser, bytes(document), 5)) {
                taken.add(document);
            } else {
                assertThat(parser.values().rejection().offset())
                        .as(document)
                        .isBetween(0, bytes(document).length);
            }
        }
        assertThat(taken).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void a_refusal_says_what_and_where(ScanMode mode) {
        assertThat(rejection(mode, "{\"a\":1,\"w\":01}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.BAD_NUMBER, 12));
        assertThat(rejection(mode, "{\"w\":tru}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.BAD_LITERAL, 8));
        assertThat(rejection(mode, "{\"w\":\"ab\\q\"}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.BAD_ESCAPE, 8));
        assertThat(rejection(mode, "{\"w\":\"ab\tc\"}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.CONTROL_CHARACTER, 8));
        assertThat(rejection(mode, "{\"w\" 1}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.EXPECTED_COLON, 5));
        assertThat(rejection(mode, "{\"w\":1 \"x\":2}", "w", "x"))
                .isEqualTo(new Rejection(Rejection.Kind.EXPECTED_COMMA, 7));
        assertThat(rejection(mode, "{\"x\":[1}", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.TRUNCATED, 8));
        assertThat(rejection(mode, "[1]", "w"))
                .isEqualTo(new Rejection(Rejection.Kind.NOT_AN_OBJECT, 0));
        assertThat(rejection(mode, "{\"x\":1} {", "w").toString())
                .isEqualTo("the record goes on after its end at byte 8");
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void bytes_that_are_not_utf8_are_refused_in_wanted_strings_alone(ScanMode mode) {
        byte[] wanted = bytes("{\"x\":\"?\",\"w\":\"ab?\"}");
        wanted[16] = (byte) 0xC3;
        RecordParser parser = Parsed.json(mode, "w");
        assertThat(Parsed.parse(parser, wanted, 0)).isFalse();
        assertThat(parser.values().rejection())
                .isEqualTo(new Rejection(Rejection.Kind.BAD_UTF8, 16));
        byte[] other = bytes("{\"x\":\"?\",\"w\":\"ab?\"}");
        other[6] = (byte) 0xC3;
        assertThat(Parsed.parse(parser, other, 0)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void nested_paths_and_elements_are_found(ScanMode mode) {
        String record =
                "{\"actor\":{\"id\":7,\"n\":{\"x\":1}},\"commits\":[{\"sha\":\"a\"},{\"sha\":\"b\"}],\"m\":[[1,2],[3]]}";
        assertThat(outcome(
                        mode,
                        record,
                        "commits[1].sha",
                        "actor.id",
                        "actor.n.x",
                        "m[1][0]",
                        "m[0][2]",
                        "actor.id.x"))
                .isEqualTo("TEXT b|INTEGER 7|INTEGER 1|INTEGER 3|MISSING |MISSING |");
        assertThat(outcome(mode, record, "actor", "commits[0]", "actor.n.x"))
                .isEqualTo("OBJECT {\"id\":7,\"n\":{\"x\":1}}|OBJECT {\"sha\":\"a\"}|INTEGER 1|");
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void the_first_of_equal_names_counts(ScanMode mode) {
        assertThat(outcome(mode, "{\"a\":1,\"a\":2}", "a")).isEqualTo("INTEGER 1|");
        assertThat(outcome(mode, "{\"a\":{\"c\":1},\"a\":{\"b\":2},\"d\":3}", "a.b", "d"))
                .isEqualTo("MISSING |INTEGER 3|");
        assertThat(outcome(mode, "{\"a\":null,\"a\":{\"b\":2},\"d\":3}", "a.b", "d"))
                .isEqualTo("MISSING |INTEGER 3|");
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void nothing_is_read_after_the_last_wanted_field(ScanMode mode) {
        assertThat(outcome(mode, "{\"w\":1,\"x\":!!", "w")).isEqualTo("INTEGER 1|");
        assertThat(outcome(mode, "not json at all")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void names_may_hold_anything(ScanMode mode) {
        String record =
                "{\"a.b\":1,\"x\\\"y\":2,\"tab\\there\":3,\"eight_by\":4,\"eight_bytes_and_more\":5,\"é\":6}";
        assertThat(outcome(
                        mode,
                        record,
                        "`a.b`",
                        "`x\"y`",
                        "`tab\there`",
                        "eight_by",
                        "eight_bytes_and_more",
                        "`é`"))
                .isEqualTo("INTEGER 1|INTEGER 2|INTEGER 3|INTEGER 4|INTEGER 5|INTEGER 6|");
        assertThat(outcome(mode, "{\"eight_bytes\\u005fand_more\":5}", "eight_bytes_and_more"))
                .isEqualTo("INTEGER 5|");
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void a_field_may_be_released_while_the_record_is_read(ScanMode mode) {
        FieldListener releaseTheRest = (values, field) -> values.release(1);
        RecordParser parser = new ParserSpec.Json()
                .newParser(Parsed.paths("type", "payload.action"), releaseTheRest, mode);
        assertThat(Parsed.outcome(parser, bytes("{\"type\":\"x\",\"payload\":{\"action\":!}")))
                .isEqualTo("TEXT x|MISSING |");
        assertThat(Parsed.outcome(parser, bytes("{\"payload\":{\"action\":\"y\"},\"type\":\"x\"}")))
                .isEqualTo("TEXT x|TEXT y|");
    }

    @ParameterizedTest
    @MethodSource("io.turbidite.hashlog.parse.Parsed#modes")
    void records_of_many_windows_are_read(ScanMode mode) {
        String filler = "\"f\":\"" + "{x\\\\\\\"".repeat(2_000) + "\",";
        String record = "{" + filler + "\"a\":[" + "[1,2],".repeat(3_000) + "0]," + filler
                + "\"w\":\"end\"}";
        assertThat(outcome(mode, record, "w", "a[3000]")).isEqualTo("TEXT end|INTEGER 0|");
    }
}
