package io.turbidite.feeds.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;

import org.apache.avro.generic.GenericData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

class AvroRecordParserTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string?").build();

    private static final String EMPTY = """
            {"type":"record","name":"Nothing","fields":[]}
            """;

    private static final String UNION = """
            ["string",%s]
            """.formatted(AvroText.SCHEMA);

    private final AvroRecordParser parser = AvroRecordParser.ofMessages(
            new JsonRecordParser(TYPE, true, List.of()),
            RegistrySchemas.of(Map.of(
                    1,
                    AvroText.SCHEMA.getBytes(StandardCharsets.UTF_8),
                    0x01020304,
                    EMPTY.getBytes(StandardCharsets.UTF_8),
                    3,
                    UNION.getBytes(StandardCharsets.UTF_8))));

    private static byte[] good() {
        return AvroText.message(
                1, AvroText.datum(AvroText.schema(AvroText.SCHEMA), AvroText.record(5)));
    }

    private static RecordFrame frame(String members, byte[] message) {
        byte[] head = members.getBytes(StandardCharsets.UTF_8);
        byte[] all = Arrays.copyOf(head, head.length + message.length);
        System.arraycopy(message, 0, all, head.length, message.length);
        return RecordFrame.of(all, 0, 1);
    }

    private Map<String, @Nullable Object> parsed(String members, byte[] message) {
        return new RecordView(TYPE).wrap(parser.parse(frame(members, message))).toMap();
    }

    @Test
    void a_message_is_a_datum_of_the_schema_that_it_names() {
        assertThat(parsed("{}", good())).isEqualTo(Map.of("id", 5L, "name", "n5"));
        byte[] branch = AvroText.numbers(1, 6, 0);
        assertThat(parsed("{}", AvroText.message(3, branch)))
                .isEqualTo(Map.of("id", 6L, "name", ""));
    }

    @Test
    void members_of_its_source_are_joined_with_it() {
        assertThat(parsed("{\"k\":\"a}\\\"{\",\"h\":{\"x\":[1,2]}}", good()))
                .containsEntry("id", 5L)
                .containsEntry("k", "a}\"{")
                .containsEntry("h", Map.of("x", List.of(1L, 2L)));
        assertThat(parsed("{\"id\":7}", AvroText.message(0x01020304, new byte[0])))
                .containsEntry("id", 7L);
        assertThatThrownBy(() -> parsed("{\"id\":7}", good()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("id");
    }

    @Test
    void what_is_none_says_why() {
        refused("{}", new byte[0], "the message is empty");
        refused("{}", new byte[] {'{', '}'}, "the message begins with byte 0x7b");
        refused("{}", "{\"id\":1}".getBytes(StandardCharsets.UTF_8), "begins with byte 0x7b");
        refused("{}", new byte[] {0, 0, 0, 1}, "ends within the ID of its schema");
        refused(
                "{}",
                AvroText.message(2, new byte[3]),
                "the schema ID 2 of the message is none of parser.schemas: [1, 3, 16909060]");
        refused("{}", AvroText.message(-1, new byte[3]), "the schema ID -1 of the message is none");
        byte[] good = good();
        refused(
                "{}",
                Arrays.copyOf(good, good.length + 2),
                "2 bytes are left over behind the datum");
        for (int cut = 5; cut < good.length; cut++) {
            refused("{}", Arrays.copyOf(good, cut), "it is no datum of its schema");
        }
        refused("{}", AvroText.message(3, AvroText.numbers(0, 0)), "the datum is no record");
        refused("{}", AvroText.message(1, new byte[] {2, 2, (byte) 0xFF}), "UTF-8");
        refused("", good, "stands behind a JSON object");
        refused("{\"a\":", new byte[0], "stands behind a JSON object");
    }

    private void refused(String members, byte[] message, String reason) {
        assertThatThrownBy(() -> parsed(members, message))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void hostile_schemas_are_refused_or_bounded() {
        String deep = "{\"type\":\"array\",\"items\":".repeat(300) + "\"int\"" + "}".repeat(300);
        wrong(deep, "the schema is none of Avro");
        wrong("{\"type\":\"map\",\"values\":\"int\",\"x\":" + "[".repeat(100_000), "none of Avro");
        wrong("\"long\"", "the schema is of long");
        wrong("{}", "the schema is none of Avro");
        wrong(
                "{\"type\":\"map\",\"values\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":-1}}",
                "the schema is none of Avro");
        wrong(
                "{\"type\":\"map\",\"values\":\"int\",\"doc\":\"" + "x".repeat(1 << 20) + "\"}",
                "longer");
        StringBuilder wide = new StringBuilder("{\"type\":\"record\",\"name\":\"W\",\"fields\":[");
        for (int i = 0; i < 11_000; i++) {
            wide.append(i == 0 ? "" : ",")
                    .append("{\"name\":\"f%d\",\"type\":[\"int\"]}".formatted(i));
        }
        wrong(wide + "]}", "more than 10000 types");

        // named types that refer to one another in a row: no nesting of the text
        StringBuilder chain =
                new StringBuilder("[{\"type\":\"record\",\"name\":\"R0\",\"fields\":[]}");
        for (int i = 1; i < 4_000; i++) {
            chain.append(
                    ",{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[{\"name\":\"f\",\"type\":\"R%d\"}]}"
                            .formatted(i, i - 1));
        }
        DatumReader reader = new DatumReader();
        Shape shape = SchemaReader.read((chain + "]").getBytes(StandardCharsets.UTF_8));
        byte[] last = AvroText.numbers(3_999);
        reader.begin(last, 0, last.length);
        reader.pass(shape);
        assertThat(reader.left()).isZero();

        // a fixed of 2 GiB takes no memory before its bytes are there
        Shape huge = SchemaReader.read(
                "{\"type\":\"map\",\"values\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":2000000000}}"
                        .getBytes(StandardCharsets.UTF_8));
        byte[] one = {2, 2, 'k', 0, 0};
        reader.begin(one, 0, one.length);
        assertThatThrownBy(() -> reader.pass(huge)).hasMessageContaining("bytes are missing");
    }

    private static void wrong(String schema, String message) {
        assertThatThrownBy(() -> SchemaReader.read(schema.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    /** A circle of records that is nothing but itself has no end. */
    @Test
    void a_record_of_itself_alone_is_refused_when_it_is_read() {
        Shape circle = SchemaReader.read(
                "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}"
                        .getBytes(StandardCharsets.UTF_8));
        DatumReader reader = new DatumReader();
        reader.begin(new byte[0], 0, 0);
        assertThatThrownBy(() -> reader.pass(circle))
                .hasMessageContaining("nested deeper than 512");
        GenericData.Record none = new GenericData.Record(AvroText.schema(EMPTY));
        assertThat(AvroText.datum(none.getSchema(), none)).isEmpty();
    }
}
