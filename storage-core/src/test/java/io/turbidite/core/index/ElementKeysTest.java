package io.turbidite.core.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The distinct elements of an array are entry keys, in order. */
class ElementKeysTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("c", "string?")
            .field("tags", "[string]?")
            .field("u", "{n: [double]?}?")
            .build();
    private static final Slice PRIMARY = Slice.of(new byte[] {9});

    private static EntryKeys keys(String... fields) {
        return IndexDescription.entryKeys(
                IndexDescription.Kind.BTREE,
                TYPE,
                List.of(fields),
                "index i",
                KeyForm.CURRENT,
                Map.of());
    }

    /** The secondary keys, decoded. */
    private static List<List<@Nullable Object>> made(
            EntryKeys keys, @Nullable String c, @Nullable List<?> tags, @Nullable List<?> n) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", 1L);
        fields.put("c", c);
        fields.put("tags", tags);
        if (n != null) {
            fields.put("u", Map.of("n", n));
        }
        RecordView view = new RecordView(TYPE).wrap(new RecordWriter(TYPE).write(fields));
        EntryKeyList list = new EntryKeyList();
        keys.append(view, PRIMARY, list);
        KeySpec spec = KeySpec.ofEach(TYPE, keys.fields(), "test", KeyForm.CURRENT);
        List<List<@Nullable Object>> made = new ArrayList<>();
        for (int i = 0; i < list.count(); i++) {
            Slice key = list.key(i, new Slice());
            assertThat(keys.primaryKey(key, new Slice()).contentEquals(PRIMARY)).isTrue();
            made.add(spec.decode(key, 0));
        }
        return made;
    }

    @Test
    void eachDistinctElementIsAKeyInOrder() {
        EntryKeys keys = keys("c", "tags[]");
        assertThat(keys.isMultiValued()).isTrue();
        assertThat(keys).isEqualTo(keys.renewed()).isEqualTo(keys("c", "tags[]"));
        assertThat(made(keys, "x", List.of("b", "a", "b", ""), null))
                .isEqualTo(List.of(List.of("x", ""), List.of("x", "a"), List.of("x", "b")));
        assertThat(made(keys, null, List.of("a"), null))
                .isEqualTo(List.of(Arrays.asList(null, "a")));
    }

    @Test
    void aRecordWithoutElementsHasNone() {
        assertThat(made(keys("tags[]"), "x", null, null)).isEmpty();
        assertThat(made(keys("tags[]"), "x", List.of(), null)).isEmpty();
        assertThat(made(keys("u.n[]"), "x", List.of("a"), null)).isEmpty();
    }

    @Test
    void theTwoZerosAreOneElement() {
        assertThat(made(keys("u.n[]"), null, null, List.of(0.0, 1.5, -0.0)))
                .isEqualTo(List.of(List.of(0.0), List.of(1.5)));
    }

    @Test
    void tooManyOrTooLongElementsAreRefused() {
        EntryKeys keys = keys("tags[]");
        List<String> many = IntStream.rangeClosed(0, EntryKeys.COUNT_MAX)
                .mapToObj(String::valueOf)
                .toList();
        assertThatThrownBy(() -> made(keys, null, many, null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index i: the array has more than 65,536");
        assertThat(made(keys, null, many.subList(1, many.size()), null))
                .hasSize(EntryKeys.COUNT_MAX);
        assertThatThrownBy(() ->
                        made(keys, null, List.of("a", "x".repeat(Limits.KEY_BYTES_MAX)), null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("tags[]");
    }

    @Test
    void anIndexHasOneArray() {
        assertThatThrownBy(() -> keys("tags[]", "u.n[]"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index i names two arrays, 'tags[]' and 'u.n[]'");
        assertThatThrownBy(() -> keys("tags"))
                .hasMessageContaining("names the array 'tags'")
                .hasMessageContaining("'tags[]'");
        assertThatThrownBy(() -> keys("u")).hasMessageContaining("names the record 'u'");
        assertThatThrownBy(() -> KeySpec.of(TYPE, List.of("tags[]"), "primary key"))
                .hasMessageContaining("primary key names 'tags[]', the elements of an array");
    }
}
