package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

class DeadLetterTest {
    private static String line(byte[] raw) {
        ByteSink sink = new ByteSink(16, 1 << 20);
        new DeadLetter("a \"b\".csv", 7, 513, "no\nnumber")
                .append(sink, MemorySegment.ofArray(raw), 0, raw.length);
        String line = sink.asSlice(new Slice()).toUtf8();
        assertThat(line).endsWith("}\n");
        assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
        return line;
    }

    private static JsonNode letter(byte[] raw) {
        try {
            return new ObjectMapper().readTree(line(raw));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLetterIsOneLineOfJsonWithPlaceReasonAndText() {
        JsonNode letter = letter("1,\"é\n".getBytes(StandardCharsets.UTF_8));
        assertThat(letter.toString())
                .isEqualTo("{\"source\":\"a \\\"b\\\".csv\",\"line\":7,\"offset\":513,"
                        + "\"reason\":\"no\\nnumber\",\"raw\":\"1,\\\"é\\n\"}");
    }

    @Test
    void bytesThatAreNoTextAreBase64() {
        byte[] raw = {'a', (byte) 0xFF, 0};
        JsonNode letter = letter(raw);
        assertThat(letter.has("raw")).isFalse();
        assertThat(Base64.getDecoder().decode(letter.get("rawBase64").asText())).isEqualTo(raw);
        assertThat(letter(new byte[0]).get("raw").asText()).isEmpty();
    }

    @Test
    void longTextIsCutBetweenCharacters() {
        byte[] raw = ("a" + "é".repeat(50_000)).getBytes(StandardCharsets.UTF_8);
        JsonNode letter = letter(raw);
        assertThat(letter.get("rawBytes").asInt()).isEqualTo(raw.length);
        assertThat(letter.get("raw").asText()).isEqualTo("a" + "é".repeat(32_767));
    }
}
