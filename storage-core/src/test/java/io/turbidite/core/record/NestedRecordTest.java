package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Arrays and nested records go into a record and come out of it, by their paths. */
class NestedRecordTest {
    private static final RecordType TWEET = RecordType.builder()
            .field("id", "int64")
            .field("user", "{lang: string, name: string?, tags: [string]?}")
            .field("hashtags", "[string]")
            .field("scores", "[int32]?")
            .field("place", "{at: point, box: {of: [double]}?}?")
            .build();

    private final RecordWriter writer = new RecordWriter(TWEET);
    private final RecordView view = new RecordView(TWEET);

    private RecordView json(String text) {
        return view.wrap(writer.writeJson(Slice.of(text.getBytes(StandardCharsets.UTF_8))));
    }

    private String toJson() {
        ByteSink sink = new ByteSink(16, 1 << 20);
        view.toJson(sink);
        return sink.asSlice(new Slice()).toUtf8();
    }

    @Test
    void pathsAreFieldsBehindTheRecordTheyLieIn() {
        assertThat(TWEET.fields().stream().map(Field::name))
                .containsExactly(
                        "id",
                        "user",
                        "user.lang",
                        "user.name",
                        "user.tags",
                        "hashtags",
                        "scores",
                        "place",
                        "place.at",
                        "place.box",
                        "place.box.of");
        int each = TWEET.indexOf("user.tags[]");
        assertThat(TWEET.field(each).kind()).isEqualTo(TypeKind.STRING);
        assertThat(TWEET.field(TWEET.arrayOf(each)).name()).isEqualTo("user.tags");
        assertThat(TWEET.field(TWEET.indexOf("place.at")).optional()).isTrue();
        assertThat(TWEET.field(TWEET.indexOf("user.lang")).optional()).isFalse();
        assertThat(TWEET.toString())
                .isEqualTo(
                        "{id: int64, user: {lang: string, name: string?, tags: [string]?}, hashtags: [string],"
                                + " scores: [int32]?, place: {at: point, box: {of: [double]}?}?}");
        for (Field field : TWEET.declared()) {
            assertThat(Field.parse(field.name(), field.typeLabel())).isEqualTo(field);
        }
    }

    @Test
    void jsonGoesInAndOut() {
        String text =
                "{\"id\":1,\"user\":{\"lang\":\"en\",\"name\":null,\"tags\":[\"x\",\"é\",\"\"],\"friends\":[1,{\"a\":2}]},"
                        + "\"hashtags\":[],\"scores\":[3,-1,3],\"place\":{\"at\":[1.0,2.0],\"box\":{\"of\":[0.5]}},"
                        + "\"open\":{\"lang\":1}}";
        json(text).check();
        assertThat(toJson()).isEqualTo(text);
        assertThat(view.get("user.lang")).isEqualTo("en");
        assertThat(view.get("user.tags")).isEqualTo(List.of("x", "é", ""));
        assertThat(view.get("place.box.of")).isEqualTo(List.of(0.5));
        assertThat(view.isMissing(TWEET.indexOf("user.name"))).isFalse();
        Map<String, @Nullable Object> map = view.toMap();
        assertThat(map).hasSize(6).containsKey("user").doesNotContainKey("user.lang");
        assertThat(((Map<?, ?>) Objects.requireNonNull(map.get("user"))).get("friends"))
                .isEqualTo(List.of(1L, Map.of("a", 2L)));
        assertThat(writer.write(map).toByteArray())
                .isEqualTo(writer.writeJson(Slice.of(text.getBytes(StandardCharsets.UTF_8)))
                        .toByteArray());
    }

    @Test
    void theOrderOfFieldsInJsonDoesNotShowInTheBytes() {
        byte[] straight = writer.writeJson(Slice.of(
                        "{\"id\":1,\"user\":{\"lang\":\"en\",\"tags\":[\"a\"],\"z\":1},\"hashtags\":[\"b\"]}"
                                .getBytes(StandardCharsets.UTF_8)))
                .toByteArray();
        byte[] other = writer.writeJson(Slice.of(
                        "{\"hashtags\":[\"b\"],\"user\":{\"z\":1,\"tags\":[\"a\"],\"lang\":\"en\"},\"id\":1}"
                                .getBytes(StandardCharsets.UTF_8)))
                .toByteArray();
        assertThat(other).isEqualTo(straight);
    }

    @Test
    void theElementsOfAnArrayAreVisitedOneByOne() {
        json(
                "{\"id\":1,\"user\":{\"lang\":\"en\"},\"hashtags\":[\"b\",\"a\",\"b\"],\"scores\":[7,8]}");
        int tag = TWEET.indexOf("hashtags[]");
        int score = TWEET.indexOf("scores[]");
        assertThat(view.isAbsent(tag)).isTrue();
        assertThat(view.firstElement(tag)).isTrue();
        assertThat(view.firstElement(score)).isTrue();
        assertThat(view.getBytes(tag).toUtf8()).isEqualTo("b");
        assertThat(view.getLong(score)).isEqualTo(7);
        assertThat(view.nextElement(tag)).isTrue();
        assertThat(view.get(tag)).isEqualTo("a");
        assertThat(view.nextElement(score)).isTrue();
        assertThat(view.nextElement(score)).isFalse();
        assertThat(view.isAbsent(score)).isTrue();
        assertThat(view.firstElement(TWEET.indexOf("user.tags[]"))).isFalse();
        json("{\"id\":1,\"user\":{\"lang\":\"en\"},\"hashtags\":[]}");
        assertThat(view.isAbsent(tag)).isTrue();
        assertThat(view.firstElement(tag)).isFalse();
    }

    @Test
    void fieldsAreSetByTheirPaths() {
        int tags = TWEET.indexOf("hashtags");
        writer.begin();
        writer.setLong(0, 5);
        writer.setText(TWEET.indexOf("user.lang"), "de");
        writer.beginArray(tags);
        writer.setText(TWEET.eachOf(tags), "späť");
        writer.setString(TWEET.eachOf(tags), "x");
        writer.endArray(tags);
        writer.setText(TWEET.indexOf("scores"), "[1, 2]");
        writer.setText(TWEET.indexOf("place"), "{\"at\": [1, 2], \"of\": \"old\"}");
        view.wrap(writer.finish()).check();
        assertThat(toJson())
                .isEqualTo(
                        "{\"id\":5,\"user\":{\"lang\":\"de\"},\"hashtags\":[\"späť\",\"x\"],\"scores\":[1,2],"
                                + "\"place\":{\"at\":[1.0,2.0],\"of\":\"old\"}}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"id":1,"user":{"lang":"en"},"hashtags":["a",5]}            | hashtags[1]      | string
            {"id":1,"user":{"lang":"en"},"hashtags":[null]}             | hashtags[0]      | null
            {"id":1,"user":{"lang":"en"},"hashtags":"a"}                | hashtags         | array
            {"id":1,"user":{"lang":"en"},"hashtags":[["a"]]}            | hashtags[0]      | string
            {"id":1,"user":{"lang":7},"hashtags":[]}                    | user.lang        | string
            {"id":1,"user":{"name":"x"},"hashtags":[]}                  | user.lang        | missing
            {"id":1,"user":{},"hashtags":[]}                            | user.lang        | missing
            {"id":1,"hashtags":[]}                                      | user             | missing
            {"id":1,"user":null,"hashtags":[]}                          | user             | null
            {"id":1,"user":[],"hashtags":[]}                            | user             | record
            {"id":1,"user":{"lang":"en"},"hashtags":[],"scores":[1e9]}  | scores[0]        | int32
            {"id":1,"user":{"lang":"en"},"hashtags":[],"scores":[1,3000000000]} | scores[1] | int32
            {"id":1,"user":{"lang":"en"},"hashtags":[],"place":{"box":null}}   | place.at  | missing
            {"id":1,"user":{"lang":"en"},"hashtags":[],"user.lang":"x"} | user.lang        | declared
            """)
    void whatDoesNotFitIsRefusedByItsPath(String text, String path, String reason) {
        assertThatThrownBy(() -> json(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'" + path + "'")
                .hasMessageContaining(reason);
        json("{\"id\":2,\"user\":{\"lang\":\"en\"},\"hashtags\":[\"a\"]}").check();
        assertThat(toJson())
                .isEqualTo("{\"id\":2,\"user\":{\"lang\":\"en\"},\"hashtags\":[\"a\"]}");
    }

    @Test
    void aRefusedValueLeavesNoTrace() {
        writer.begin();
        writer.setLong(0, 1);
        Map<String, @Nullable Object> wrong = new LinkedHashMap<>();
        wrong.put("lang", "en");
        wrong.put("other", 5L);
        wrong.put("tags", Arrays.asList("a", 7));
        assertThatThrownBy(() -> writer.setObject(1, wrong)).hasMessageContaining("user.tags[1]");
        assertThatThrownBy(() -> writer.setObject(5, List.of("b", 1)))
                .hasMessageContaining("hashtags[1]");
        writer.setObject(1, Map.of("lang", "de"));
        writer.setObject(5, List.of("c"));
        view.wrap(writer.finish()).check();
        assertThat(toJson())
                .isEqualTo("{\"id\":1,\"user\":{\"lang\":\"de\"},\"hashtags\":[\"c\"]}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            [[string]]          | simple type
            [{a: string}]       | simple type
            [string?]           | can't be null
            [strin]             | unknown type 'strin'
            [string             | expected ']'
            {a: strin}          | 'f.a'
            {a: [int65]}        | 'f.a'
            {a string}          | expected ':'
            {a: string, a: int8} | 'f.a' is declared twice
            {a: {b: [string?]}} | 'f.a.b'
            array               | unknown type 'array'
            record              | unknown type 'record'
            """)
    void aTypeThatIsNoneIsRefusedByItsPath(String label, String reason) {
        assertThatThrownBy(() -> RecordType.builder().field("f", label).build())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void typesAreNestedNoDeeperThanRecords() {
        String deep = "{x: ".repeat(Limits.NESTING_DEPTH_MAX - 1)
                + "string"
                + "}".repeat(Limits.NESTING_DEPTH_MAX - 1);
        RecordType type = RecordType.builder().field("f", deep).build();
        assertThat(type.fields()).hasSize(Limits.NESTING_DEPTH_MAX);
        assertThatThrownBy(() ->
                        RecordType.builder().field("f", "{x: " + deep + "}").build())
                .hasMessageContaining("f.x.x")
                .hasMessageContaining("deeper");
    }

    @Test
    void oddNamesAreQuotedInLabels() {
        RecordType type = RecordType.of(List.of(Field.nested(
                "user",
                List.of(
                        new Field("a, b", TypeKind.STRING, true),
                        new Field("c\"d", TypeKind.STRING, false)),
                false)));
        Field field = type.declared().getFirst();
        assertThat(field.typeLabel()).isEqualTo("{\"a, b\": string?, 'c\"d': string}");
        assertThat(Field.parse("user", field.typeLabel())).isEqualTo(field);
    }

    @Test
    void aRecordOfVersion1IsReadByATypeThatGotAnArray() {
        RecordType older = RecordType.builder().field("id", "int64").build();
        RecordType newer = RecordType.builder()
                .field("id", "int64")
                .field("tags", "[string]?")
                .build();
        Slice record = new RecordWriter(older).write(Map.of("id", 7L, "open", "x"));
        RecordView read = new RecordView(newer).wrap(record);
        read.check();
        assertThat(read.toMap()).isEqualTo(Map.of("id", 7L, "open", "x"));
        assertThat(read.firstElement(newer.indexOf("tags[]"))).isFalse();
    }
}
