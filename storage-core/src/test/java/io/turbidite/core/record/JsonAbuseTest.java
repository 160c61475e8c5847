package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigDecimal;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * JSON that is broken, hostile or of the wrong type is refused in one line; the writer stays good.
 */
class JsonAbuseTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("small", "int8?")
            .field("real", "double?")
            .field("single", "float?")
            .field("price", "decimal?")
            .field("name", "string?")
            .field("flag", "bool?")
            .field("at", "datetime?")
            .field("place", "point?")
            .field("box", "rectangle?")
            .field("raw", "bytes?")
            .build();

    private final RecordWriter writer = new RecordWriter(TYPE);
    private final RecordView view = new RecordView(TYPE);

    private void assertRefused(byte[] json, String... reasons) {
        var refused = assertThatThrownBy(() -> writer.writeJson(Slice.of(json)))
                .isInstanceOf(InvalidRequestException.class);
        for (String reason : reasons) {
            refused.hasMessageContaining(reason);
        }
        refused.message().hasSizeLessThan(400).doesNotContain("\n");
        view.wrap(writer.writeJson(Slice.of(bytes("{\"id\":1}"))));
        assertThat(view.toMap()).isEqualTo(Map.of("id", 1L));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "'id':'1'            | 'id'; int64; an integer; the string '1'",
                "'id':1.0            | 'id'; int64",
                "'id':true           | 'id'; int64",
                "'id':null           | 'id'; required",
                "'name':'x'          | 'id'; missing",
                "'id':9223372036854775808 | 'id'; out of range",
                "'id':1,'small':128  | 'small'; 128; out of range; int8",
                "'id':1,'real':'1.5' | 'real'; double",
                "'id':1,'real':1e999 | 'real'; out of range",
                "'id':1,'single':1e39 | 'single'; out of range; float",
                "'id':1,'price':'1'  | 'price'; decimal",
                "'id':1,'price':1e1000000 | 'price'; exponent",
                "'id':1,'price':1e-2147483648 | 'price'; exponent; 1e-2147483648",
                "'id':1,'price':1e99999999999 | 'price'; exponent",
                "'id':1,'price':0e99999999999 | 'price'; exponent",
                "'id':1,'price':1.5e-2147483647 | 'price'; exponent",
                "'id':1,'name':5     | 'name'; string; the number '5'",
                "'id':1,'name':['a'] | 'name'; string",
                "'id':1,'flag':1     | 'flag'; bool",
                "'id':1,'at':'yesterday' | 'at'; datetime; 'yesterday'",
                "'id':1,'at':1372896000  | 'at'; datetime",
                "'id':1,'place':[1]  | 'place'; point",
                "'id':1,'place':[1,2,3]  | 'place'; point",
                "'id':1,'place':[1,'2']  | 'place'; point",
                "'id':1,'place':{'x':1}  | 'place'; point",
                "'id':1,'place':[1,1e999] | 'place'; out of range",
                "'id':1,'box':[3,0,1,1]  | 'box'; min at most max",
                "'id':1,'raw':'*'    | 'raw'; base64",
                "'id':1,'id':2       | JSON; is there twice",
                "'id':1,'x':{'a':1,'a':2} | JSON; is there twice",
                "'id':1,'x':1e999    | 'x'; out of range",
                "'id':1,'x':NaN      | JSON",
                "'id':1,'x':+1       | JSON",
                "'id':1,'x':01       | JSON",
                "'id':1,'x':1,       | JSON",
                "'id':1,'x':[1       | JSON",
                "'id':1,'x':'\\ud800' | surrogate",
                "'id':1,'\\udc00':1  | surrogate",
            })
    void wrongValuesAreNamed(String members, String reasons) {
        assertRefused(
                bytes("{" + members.strip().replace('\'', '"') + "}"), reasons.split("; ", -1));
    }

    @Test
    void whatIsNotOneJsonObjectIsRefused() {
        for (String text : List.of("", " ", "1", "null", "[]", "\"x\"", "{", "{\"id\":1", "\0")) {
            assertRefused(bytes(text));
        }
        assertRefused(bytes("{\"id\":1} {\"id\":2}"), "behind");
        assertRefused(bytes("{\"id\":1}}"));
        assertRefused(bytes("\uFEFF{\"id\":1}"));
        for (String charset : List.of("UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE")) {
            assertRefused("{\"id\":1}".getBytes(Charset.forName(charset)));
        }
    }

    @Test
    void bytesThatAreNotUtf8AreRefusedWithTheirPlace() {
        byte[] json = bytes("{\"id\":1,\"name\":\"ab\"}");
        for (byte[] bad : List.of(
                new byte[] {(byte) 0xC0, (byte) 0x80},
                new byte[] {(byte) 0xFF, 'x'},
                new byte[] {(byte) 0xC3, 'x'})) {
            byte[] damaged = json.clone();
            System.arraycopy(bad, 0, damaged, 16, 2);
            assertRefused(damaged, "UTF-8", "byte 16");
        }
    }

    @Test
    void bombsAreRefused() {
        assertRefused(bytes("{\"id\":1,\"x\":" + "9".repeat(1_000_000) + "}"), "JSON");
        assertRefused(bytes("{\"id\":1,\"price\":" + "9".repeat(1_001) + "}"), "'price'", "1001");
        assertRefused(bytes("{\"id\":1,\"x\":" + "[".repeat(1_000_000)), "nested");
        String keys = IntStream.range(0, 1_000_000)
                .mapToObj(i -> "\"k" + i + "\":1")
                .collect(Collectors.joining(","));
        assertRefused(bytes("{\"id\":1," + keys + "}"), "undeclared fields");
        assertRefused(bytes("{\"id\":1,\"" + "n".repeat(1_025) + "\":1}"), "longer than 1024");
        assertRefused(
                bytes("{\"id\":1,\"name\":\"" + "x".repeat(Limits.RECORD_BYTES_MAX) + "\"}"),
                "limit");
        assertRefused(
                bytes("{\"id\":1,\"open\":\"" + "x".repeat(Limits.RECORD_BYTES_MAX) + "\"}"),
                "limit");
    }

    @Test
    void nestingEndsAtTheLimit() {
        int levels = Limits.NESTING_DEPTH_MAX - 1;
        view.wrap(writer.writeJson(Slice.of(
                bytes("{\"id\":1,\"x\":" + "[".repeat(levels) + "]".repeat(levels) + "}"))));
        assertThat(view.get("x")).isInstanceOf(List.class);
        assertRefused(
                bytes("{\"id\":1,\"x\":" + "[".repeat(levels + 1) + "]".repeat(levels + 1) + "}"),
                "'x'",
                "nested deeper");
    }

    @Test
    void unusualButRightJsonIsTaken() {
        view.wrap(
                writer.writeJson(
                        Slice.of(
                                bytes(
                                        "\t{\"id\" : -9223372036854775808,\"\\u006eame\":\"a\\u0000\\ud83d\\ude00\", \"real\":\"NaN\","
                                                + "\"single\":\"-Infinity\",\"x\":123456789012345678901234567890,\"\":-0}\r\n"))));
        assertThat(view.getLong(0)).isEqualTo(Long.MIN_VALUE);
        assertThat(view.get("name")).isEqualTo("a\0😀");
        assertThat(view.getDouble(2)).isNaN();
        assertThat(view.get("single")).isEqualTo(Float.NEGATIVE_INFINITY);
        assertThat(view.get("x")).isEqualTo(new BigDecimal("123456789012345678901234567890"));
        assertThat(view.get("")).isEqualTo(0L);
    }
}
