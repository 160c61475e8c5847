package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

class CsvRowsTest {
    private static long end(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return CsvRows.end(MemorySegment.ofArray(bytes), 0, bytes.length, ',');
    }

    private static boolean isHeader(String row, String spec) {
        byte[] bytes = row.getBytes(StandardCharsets.UTF_8);
        return CsvRows.isHeader(bytes, 0, bytes.length, (ParserSpec.Csv) ParserSpec.parse(spec));
    }

    @Test
    void a_row_ends_at_the_first_line_end_outside_of_quotes() {
        assertThat(end("a,b\nc")).isEqualTo(3);
        assertThat(end("a,b")).isEqualTo(3);
        assertThat(end("")).isZero();
        assertThat(end("\n")).isZero();
        assertThat(end("a,\"b\nc\"\nd")).isEqualTo(7);
        assertThat(end("\"a\"\"\n\"\"\"\nd")).isEqualTo(8);
        assertThat(end("a\"b\nc")).as("a quote within a value").isEqualTo(3);
        assertThat(end("a,\"b\nc")).isEqualTo(CsvRows.UNCLOSED);
        assertThat(end("a,\"b\nc\"")).isEqualTo(7);
        assertThat(end("\"a\" \"b\nc")).as("behind a closed one").isEqualTo(6);
    }

    @Test
    void a_header_names_all_columns_in_order_and_perhaps_more() {
        String spec = "csv(\",\", id:number, text)";
        assertThat(isHeader("id,text", spec)).isTrue();
        assertThat(isHeader("\uFEFF\"id\", text ,more\r", spec)).isTrue();
        assertThat(isHeader("id", spec)).isFalse();
        assertThat(isHeader("text,id", spec)).isFalse();
        assertThat(isHeader("1,text", spec)).isFalse();
        assertThat(isHeader("id;text", "csv(\";\", id, text)")).isTrue();
    }
}
