package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is wrong with JSON is told in words of ours, not in those of its parser. */
class JsonMessagesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"id\": 1 | at byte 8: it ends too early",
                "{\"id\": \"x | at byte 9: it ends too early",
                "{id: 1} | at byte 1: a name in double quotes is expected, not 'i'",
                "{'id': 1} | at byte 1: a name in double quotes is expected, not '''",
                "{\"id\": 1,} | at byte 9: a name in double quotes is expected, not '}'",
                "{\"id\" 1} | at byte 6: ':' is expected, not '1'",
                "{\"id\": 1 \"a\": 2} | at byte 9: ',' or the end is expected, not '\"'",
                "{\"id\": } | at byte 7: a value is expected, not '}'",
                "{\"id\": +1} | at byte 8: '+' can't stand here",
                "{\"open\": [1}} | at byte 11: ']' is expected, not '}'",
                "{\"id\": 1}} | '}' closes nothing",
                "{\"id\": NaN} | 'NaN' is no number of JSON",
                "{\"id\": 1, \"id\": 2} | at byte 14: the field 'id' is there twice",
                "{\"id\": 01} | at byte 8: a number begins with 0",
                "{\"id\": Ann} | at byte 7: 'Ann' is no value of JSON; text stands in double quotes",
                "/home/me/people.ndjson | at byte 0: '/' can't stand here; JSON has no comments",
                "people.ndjson | at byte 0: 'people' is no value of JSON; text stands in double quotes",
                "{\"id\": \"a\tb\"} | a text has a control character, code 9, that is not escaped",
                "{\"id\": \"a\\qb\"} | a text has '\\q', which is no escape of JSON",
                "{\"id\": \u0001 1} | a control character, code 1, can't stand here"
            })
    void what_is_wrong_is_told_in_plain_words(String json, String told) {
        assertWrong(json.getBytes(StandardCharsets.UTF_8), told);
    }

    private static void assertWrong(byte[] bytes, String told) {
        RecordWriter writer = new RecordWriter(RecordType.of(List.of(Field.parse("id", "int64"))));
        Slice slice = new Slice();
        slice.set(MemorySegment.ofArray(bytes), 0, bytes.length);
        assertThatThrownBy(() -> writer.writeJson(slice))
                .isInstanceOf(InvalidRequestException.class)
                .message()
                .startsWith("the text is not a JSON object")
                .endsWith(told);
    }
}
