package io.turbidite.feeds.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.util.List;

class JsonRecordParserTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("size", "double?")
            .field("at", "datetime?")
            .field("place", "point?")
            .field("price", "decimal?")
            .build();

    private static String json(RecordParser parser, String line) {
        Slice record = parser.parse(RecordFrame.of(line));
        ByteSink sink = new ByteSink(64, 1 << 20);
        new RecordView(TYPE).wrap(record).toJson(sink);
        return sink.asSlice(new Slice()).toUtf8();
    }

    @Test
    void reasonsHoldNothingOfTheParsersOwn() {
        RecordType type = RecordType.builder().field("id", "int64").build();
        for (List<Transform> transforms :
                List.of(List.<Transform>of(), List.of(new Transform("id", "id")))) {
            JsonRecordParser parser = new JsonRecordParser(type, true, transforms);
            for (String text : List.of(
                    "{\"id\":1,\"x\":1.5e3000000000}",
                    "{\"id\":1",
                    "{\"id\":[1,{\"a\"",
                    "{\"id\":tru}",
                    "{\"id\":1}}",
                    "{\"id\":NaN}",
                    "{\"id\":-Infinity}",
                    "{\"id\":1,\"id\":2}",
                    "{\"x\":" + "1".repeat(1_200) + "}",
                    "{\"" + "k".repeat(60_000) + "\":1}",
                    "{\"a\":".repeat(70) + "1" + "}".repeat(70),
                    "{\"id\":1]",
                    "{\"id\":01}",
                    "{\"id\":\"\\q\"}")) {
                assertThatThrownBy(() -> parser.parse(RecordFrame.of(text)))
                        .isInstanceOf(InvalidRequestException.class)
                        .message()
                        .doesNotContain("REDACTED", "Stream", "Source:", "Feature", "`")
                        .doesNotContain("Unexpected", "exceeds", "allow", "Duplicate", "token");
            }
        }
    }

    /** The bug: where a record is made a tree, as transforms need, no place was told. */
    @Test
    void reasonsTellThePlace() {
        RecordType type = RecordType.builder().field("id", "int64").build();
        for (List<Transform> transforms :
                List.of(List.<Transform>of(), List.of(new Transform("id", "id")))) {
            JsonRecordParser parser = new JsonRecordParser(type, true, transforms);
            assertThatThrownBy(() -> parser.parse(RecordFrame.of("{\"id\":1;}")))
                    .hasMessage(
                            "the text is not a JSON object at byte 7: ',' or the end is expected, not ';'");
            assertThatThrownBy(() -> parser.parse(RecordFrame.of("{\"id\":1}}")))
                    .hasMessageEndingWith("'}' closes nothing");
            assertThatThrownBy(() -> parser.parse(RecordFrame.of("{\"id\":1,\"id\":2}")))
                    .hasMessageEndingWith(" at byte 12: the field 'id' is there twice");
        }
    }

    @Test
    void anObjectIsARecordWithItsOpenFields() {
        RecordParser parser = new JsonRecordParser(TYPE, true, List.of());
        assertThat(json(parser, "{\"id\":1,\"size\":2,\"tags\":[\"a\",{\"b\":null}]}"))
                .isEqualTo("{\"id\":1,\"size\":2.0,\"tags\":[\"a\",{\"b\":null}]}");
    }

    @Test
    void transformsReadNumbersAndTextAlike() {
        RecordParser parser = new JsonRecordParser(
                TYPE,
                true,
                List.of(
                        new Transform("place", "point(lon, lat)"),
                        new Transform("at", "coalesce(at, created)"),
                        new Transform("price", "decimal(price)"),
                        new Transform("id", "trim(id)")));
        assertThat(
                        json(
                                parser,
                                "{\"id\":\" 7 \",\"lon\":1,\"lat\":\"2.5\",\"created\":\"2020-01-01T00:00:00Z\",\"price\":\"1.50\"}"))
                .contains("\"id\":7", "\"place\":[1.0,2.5]", "\"at\":\"2020-01-01T00:00:00Z\"")
                .contains("\"price\":1.5", "\"lon\":1", "\"lat\":\"2.5\"");
        assertThat(json(parser, "{\"id\":\"7\"}")).contains("\"place\":null", "\"at\":null");
    }

    /** Found by fuzzing: zeros before a text make the parser take it for UTF-32. */
    @Test
    void whatLooksLikeUtf32AndIsNoneIsRefused() {
        RecordParser parser =
                new JsonRecordParser(TYPE, true, List.of(new Transform("price", "decimal(price)")));
        RecordFrame frame = RecordFrame.of("\0".repeat(18) + "{\"id\":3,\"x\":[[0,0],[1,1]]}");
        assertThatThrownBy(() -> parser.parse(frame)).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void onlyDeclaredFieldsAreKeptWhereTheTypeIsNotOpen() {
        RecordParser parser = new JsonRecordParser(TYPE, false, List.of());
        assertThat(json(parser, "{\"id\":1,\"color\":\"red\"}")).isEqualTo("{\"id\":1}");
    }

    @Test
    void whatIsNoRecordIsRejectedWithASentence() {
        String deep = "{\"id\":1,\"a\":" + "[".repeat(70) + "]".repeat(70) + "}";
        for (boolean open : new boolean[] {true, false}) {
            RecordParser parser = new JsonRecordParser(TYPE, open, List.of());
            for (String line : List.of(
                    "{\"id\":1",
                    "[1]",
                    "{\"id\":1}{}",
                    "{\"id\":1,\"id\":2}",
                    "nonsense",
                    "{\"id\":\"1\"}",
                    "{}",
                    deep)) {
                assertThatThrownBy(() -> parser.parse(RecordFrame.of(line)))
                        .as(line)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageMatching("(?s).{10,300}");
            }
        }
    }

    @Test
    void invalidUtf8IsRejectedInEveryForm() {
        for (boolean open : new boolean[] {true, false}) {
            RecordParser parser = new JsonRecordParser(TYPE, open, List.of());
            RecordFrame frame = RecordFrame.of("{\"id\":1,\"a\":\"xx\"}");
            frame.bytes()[13] = (byte) 0xFF;
            assertThatThrownBy(() -> parser.parse(frame))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }
}
