package io.turbidite.feeds.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

class CsvRecordParserTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("name", "string")
            .field("note", "string?")
            .field("size", "double?")
            .field("at", "datetime?")
            .field("place", "point?")
            .field("small", "int8?")
            .field("yes", "bool?")
            .build();

    private static CsvRecordParser parser(String header, Transform... transforms) {
        CsvRecordParser parser = new CsvRecordParser(
                TYPE, new CsvFormat(',', true, List.of()), true, List.of(transforms));
        parser.header(RecordFrame.of(header));
        return parser;
    }

    private static String json(RecordParser parser, String line) {
        Slice record = parser.parse(RecordFrame.of(line));
        ByteSink sink = new ByteSink(64, 1 << 20);
        new RecordView(TYPE).wrap(record).toJson(sink);
        return sink.asSlice(new Slice()).toUtf8();
    }

    private static void rejects(RecordParser parser, String line, String... parts) {
        assertThatThrownBy(() -> parser.parse(RecordFrame.of(line)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll(parts);
    }

    @Test
    void columnsFillTheirFieldsInAnyOrderAndOthersAreKeptAsStrings() {
        RecordParser parser = parser("name,id,at,color,size,small,yes");
        assertThat(json(parser, "Ada,7,2013-07-04T00:00:00.5+02:00,red,-2.5,-128,true"))
                .isEqualTo(
                        "{\"id\":7,\"name\":\"Ada\",\"size\":-2.5,\"at\":\"2013-07-03T22:00:00.500Z\","
                                + "\"small\":-128,\"yes\":true,\"color\":\"red\"}");
    }

    @Test
    void anEmptyFieldIsNullOrTheEmptyStringOrAnError() {
        RecordParser parser = parser("id,name,note,size");
        assertThat(json(parser, "1,,,"))
                .isEqualTo("{\"id\":1,\"name\":\"\",\"note\":null,\"size\":null}");
        assertThat(json(parser, "1,\"\",\"\",\"\""))
                .isEqualTo("{\"id\":1,\"name\":\"\",\"note\":null,\"size\":null}");
        rejects(parser, ",x,,", "'id'", "empty");
    }

    /** The bug: they were taken for 1. */
    @Test
    void digitsOfOtherScriptsAreNoNumbers() {
        RecordParser parser = parser("id,name,small,size");
        for (String one : List.of("\u0661", "-\u0661", "1\u0661", "\uff11")) {
            rejects(parser, one + ",x,1,1", "'id'", one);
            rejects(parser, "1,x," + one + ",1", "'small'", one);
            rejects(parser, "1,x,1," + one, "'size'", one);
        }
    }

    @Test
    void whiteSpaceIsKept() {
        RecordParser parser = parser("id,name");
        assertThat(json(parser, "1,  a b ")).isEqualTo("{\"id\":1,\"name\":\"  a b \"}");
        rejects(parser, " 1,x", "'id'", "\" 1\"".replace("\"", ""));
    }

    @Test
    void quotesAndAllOfUnicodeComeThrough() {
        RecordParser parser = parser("id,name");
        assertThat(json(parser, "1,\"a \"\"b\"\", c\nd\"")).contains("a \\\"b\\\", c\\nd");
        assertThat(json(parser, "1,é€😀\u0000x")).contains("é€😀");
    }

    @Test
    void whatIsNotCsvIsMalformed() {
        RecordParser parser = parser("id,name");
        for (String line : List.of("1,\"a\"b", "1,\"a", "1,a\rb")) {
            assertThatThrownBy(() -> parser.parse(RecordFrame.of(line)))
                    .as(line)
                    .isInstanceOf(MalformedFrameException.class);
        }
        RecordFrame frame = RecordFrame.of("1,ab");
        frame.bytes()[3] = (byte) 0xC3;
        assertThatThrownBy(() -> parser.parse(frame))
                .isInstanceOf(MalformedFrameException.class)
                .hasMessage("the byte at offset 3 is not UTF-8");
        assertThat(json(parser, "1,a")).as("and it goes on").isEqualTo("{\"id\":1,\"name\":\"a\"}");
    }

    @Test
    void aWrongNumberOfFieldsIsRejected() {
        RecordParser parser = parser("id,name");
        rejects(parser, "1,a,b", "3 fields", "has 2");
        rejects(parser, "1", "1 fields", "has 2");
    }

    @Test
    void valuesThatDoNotFitAreRejectedWithFieldAndText() {
        RecordParser parser = parser("id,name,size,at,small,yes");
        rejects(parser, "x,a,,,,", "id", "x", "int64");
        rejects(parser, "9223372036854775808,a,,,,", "id", "range");
        rejects(parser, "1,a,1.2.3,,,", "size", "1.2.3");
        rejects(parser, "1,a,,2013-02-30T00:00:00Z,,", "at", "2013-02-30");
        rejects(parser, "1,a,,,200,", "small", "200");
        rejects(parser, "1,a,,,,yes", "yes", "true or false");
        assertThat(json(parser, "-9223372036854775808,a,,,,"))
                .contains("\"id\":-9223372036854775808");
    }

    @Test
    void aHeaderWithoutARequiredFieldOrWithAColumnTwiceIsRefused() {
        assertThatThrownBy(() -> parser("id,note")).hasMessageContaining("required field 'name'");
        assertThatThrownBy(() -> parser("id,name,id")).hasMessageContaining("column 'id' twice");
        assertThat(json(parser("id,name,"), "1,a,b")).contains("\"column_3\":\"b\"");
    }

    @Test
    void withoutAHeaderTheColumnsAreGiven() {
        RecordParser parser = new CsvRecordParser(
                TYPE, new CsvFormat(';', false, List.of("id", "name")), true, List.of());
        assertThat(parser.wantsHeader()).isFalse();
        assertThat(json(parser, "1;a,b")).isEqualTo("{\"id\":1,\"name\":\"a,b\"}");
    }

    @Test
    void undeclaredColumnsAreDroppedWhereTheTypeIsNotOpen() {
        CsvRecordParser parser =
                new CsvRecordParser(TYPE, new CsvFormat(',', true, List.of()), false, List.of());
        parser.header(RecordFrame.of("id,color,name"));
        assertThat(json(parser, "1,red,a")).isEqualTo("{\"id\":1,\"name\":\"a\"}");
    }

    @Test
    void transformsReplaceColumnsAndReadEarlierOnes() {
        RecordParser parser = parser(
                "id,name,lon,lat,size",
                new Transform("place", "point(lon, lat)"),
                new Transform("name", "upper(trim(name))"),
                new Transform("note", "concat(name, '-', id)"),
                new Transform("size", "nullif(size, 'NA')"));
        assertThat(json(parser, "1, ada ,2.5,-3,NA"))
                .isEqualTo(
                        "{\"id\":1,\"name\":\"ADA\",\"note\":\"ADA-1\",\"size\":null,\"place\":[2.5,-3.0],"
                                + "\"lon\":\"2.5\",\"lat\":\"-3\"}");
        assertThat(json(parser, "1,ada,,-3,4")).contains("\"size\":4.0,\"place\":null");
        rejects(parser, "1,ada,x,-3,4", "place", "x");
        assertThatThrownBy(() -> parser("id,name", new Transform("place", "point(lon, lat)")))
                .hasMessageContainingAll("'place'", "'lon'", "id, name");
    }

    @Test
    void eachFrameIsReadOnItsOwnWhateverCameBefore() {
        List<String> lines = List.of(
                "1,a",
                "2,\"b\"",
                "3,\"c",
                "4,\"d\"x",
                "5,e\rf",
                "6,\"g\nh\"",
                "7,",
                "8,i,j",
                "9,\"\"\"k\"");
        RecordParser used = parser("id,name");
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 5_000; i++) {
            String line = lines.get(random.nextInt(lines.size()));
            assertThat(outcome(used, line)).as(line).isEqualTo(outcome(parser("id,name"), line));
        }
    }

    private static String outcome(RecordParser parser, String line) {
        try {
            return json(parser, line);
        } catch (InvalidRequestException e) {
            return e.toString();
        }
    }

    @Test
    void randomBytesAreRecordsOrRejectedAndNothingElse() {
        SplittableRandom random = new SplittableRandom(11);
        RecordParser parser = parser("id,name,size");
        byte[] seedLine = "12,\"a b\",3.25".getBytes(StandardCharsets.UTF_8);
        int good = 0;
        for (int i = 0; i < 50_000; i++) {
            RecordFrame frame = RecordFrame.of("12,\"a b\",3.25");
            for (int flips = random.nextInt(4); flips > 0; flips--) {
                frame.bytes()[random.nextInt(seedLine.length)] = (byte) random.nextInt(256);
            }
            try {
                parser.parse(frame);
                good++;
            } catch (InvalidRequestException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        }
        assertThat(good).isBetween(5_000, 45_000);
    }
}
