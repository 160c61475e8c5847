package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What goes into a record comes out of it, and what doesn't belong in is refused by name. */
class RecordTest {
    private static final RecordType FLIGHT = RecordType.builder()
            .field("id", "int64")
            .field("departure", "datetime")
            .field("carrier", "string")
            .field("flight", "int32")
            .field("tailnum", "string?")
            .field("price", "decimal?")
            .field("place", "point?")
            .field("delay", "double?")
            .field("day", "date?")
            .field("raw", "bytes?")
            .build();

    private final RecordWriter writer = new RecordWriter(FLIGHT);
    private final RecordView view = new RecordView(FLIGHT);

    private static Map<String, @Nullable Object> flight() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", 1L);
        fields.put("departure", Instant.parse("2013-01-01T10:15:00Z"));
        fields.put("carrier", "UA");
        fields.put("flight", 1545);
        return fields;
    }

    private RecordView json(String text) {
        return view.wrap(writer.writeJson(Slice.of(text.getBytes(StandardCharsets.UTF_8))));
    }

    private String toJson() {
        ByteSink sink = new ByteSink(16, 1 << 20);
        view.toJson(sink);
        return sink.asSlice(new Slice()).toUtf8();
    }

    @Test
    void fieldsComeBackAsTheyWentIn() {
        Map<String, @Nullable Object> fields = flight();
        fields.put("tailnum", null);
        fields.put("price", new BigDecimal("12.50"));
        fields.put("place", new Point(-95.34144, 29.98443));
        fields.put("delay", -0.0);
        fields.put("day", LocalDate.of(2013, 1, 1));
        fields.put("note", "späť 😀 \0");
        fields.put("nested", Map.of("list", List.of(1L, "two", List.of(true))));
        view.wrap(writer.write(fields));
        // the zeros are one value, shown as 0.0
        fields.put("delay", 0.0);
        assertThat(view.toMap()).isEqualTo(fields);
        assertThat(view.isNull(4)).isTrue();
        assertThat(view.isMissing(9)).isTrue();
        assertThat(view.getLong(3)).isEqualTo(1545);
        assertThat(view.getBytes(2, new Slice()).toUtf8()).isEqualTo("UA");
        assertThat(view.get("note")).isEqualTo("späť 😀 \0");
        assertThat(view.get("nowhere")).isNull();
    }

    @Test
    void aRecordOfManyFieldsIsRead() {
        RecordType.Builder builder = RecordType.builder();
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < 45; i++) {
            builder.field("f" + i, "int32?");
            fields.put("f" + i, i % 5 == 0 ? null : i);
        }
        RecordType wide = builder.build();
        RecordView read = new RecordView(wide).wrap(new RecordWriter(wide).write(fields));
        read.check();
        assertThat(read.toMap()).isEqualTo(fields);
    }

    @Test
    void theOrderOfSettingDoesNotShowInTheBytes() {
        Map<String, @Nullable Object> fields = flight();
        fields.put("tailnum", "N14228");
        fields.put("price", new BigDecimal("-7"));
        byte[] straight = writer.write(fields).toByteArray();
        List<String> names = new ArrayList<>(fields.keySet()).reversed();
        Map<String, @Nullable Object> reversed = new LinkedHashMap<>();
        names.forEach(name -> reversed.put(name, fields.get(name)));
        assertThat(writer.write(reversed).toByteArray()).isEqualTo(straight);
    }

    @Test
    void jsonGoesInAndOut() {
        String text =
                "{\"id\":1,\"departure\":\"2013-01-01T10:15:00Z\",\"carrier\":\"U\\\"A\",\"flight\":1545,"
                        + "\"tailnum\":null,\"price\":12.50,\"place\":[-95.34144,29.98443],\"delay\":2.0,"
                        + "\"day\":\"2013-01-01\",\"raw\":\"AAEC\",\"open\":{\"a\":[1,2.5,null,true,\"x\\n\"]}}";
        json(text);
        assertThat(toJson()).isEqualTo(text);
    }

    @Test
    void anIntegerIsADoubleWhereOneIsDeclared() {
        json(
                "{\"id\":1,\"departure\":\"2013-01-01T12:15:00+02:00\",\"carrier\":\"UA\",\"flight\":1,\"delay\":3}");
        assertThat(view.getDouble(7)).isEqualTo(3.0);
        assertThat(view.get("departure")).isEqualTo(Instant.parse("2013-01-01T10:15:00Z"));
    }

    @Test
    void aRequiredFieldMayNotBeMissingOrNull() {
        Map<String, @Nullable Object> fields = flight();
        fields.remove("carrier");
        assertThatThrownBy(() -> writer.write(fields))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'carrier'");
        fields.put("carrier", null);
        assertThatThrownBy(() -> writer.write(fields)).hasMessageContaining("'carrier'");
    }

    @Test
    void aRecordHasALargestSizeAndADeepestNesting() {
        Map<String, @Nullable Object> fields = flight();
        fields.put("raw", new byte[Limits.RECORD_BYTES_MAX]);
        assertThatThrownBy(() -> writer.write(fields)).isInstanceOf(InvalidRequestException.class);
        fields.remove("raw");
        Object deep = "bottom";
        for (int depth = 1; depth < Limits.NESTING_DEPTH_MAX; depth++) {
            deep = List.of(deep);
        }
        fields.put("deep", deep);
        view.wrap(writer.write(fields));
        assertThat(view.get("deep")).isEqualTo(deep);
        fields.put("deep", List.of(deep));
        assertThatThrownBy(() -> writer.write(fields)).hasMessageContaining("deep");
        Map<String, @Nullable Object> again = new HashMap<>(flight());
        view.wrap(writer.write(again));
        assertThat(view.toMap()).isEqualTo(again);
    }

    @Test
    void aRefusedFieldLeavesNoTrace() {
        Map<String, @Nullable Object> fields = flight();
        fields.put("tailnum", "N1");
        fields.put("note", "x");
        byte[] expected = writer.write(fields).toByteArray();
        writer.begin();
        writer.setLong(0, 1);
        refuse(() -> writer.setLong(0, 2), "'id': is there twice");
        refuse(() -> writer.setLong(3, 1L << 31), "'flight': 2147483648 is out of range");
        refuse(() -> writer.setLong(2, 1), "'carrier'");
        refuse(() -> writer.setString(2, "ab\uD800"), "'carrier'");
        refuse(() -> writer.setString(2, Slice.of(new byte[] {'a', (byte) 0xFF})), "byte 1");
        refuse(() -> writer.setText(1, "yesterday"), "'departure': 'yesterday'");
        refuse(() -> writer.setObject(3, "1545"), "'flight': type int32 takes Integer, not");
        refuse(() -> writer.setObject(5, new BigDecimal("1e1000000")), "'price'");
        refuse(() -> writer.setObject(6, "[1,2]"), "'place'");
        refuse(() -> writer.setPoint(6, Double.NaN, 0), "'place'");
        refuse(() -> writer.setNull(2), "'carrier'");
        refuse(() -> writer.openField("ä\uDC00", 1), "surrogate");
        refuse(() -> writer.openField("note", List.of(1, new Object())), "'note'");
        refuse(() -> writer.openField("note", Map.of(1, 2)), "'note'");
        refuse(() -> writer.openField("id", 1), "'id': is declared");
        refuse(() -> writer.openString("note", "a\uD800"), "'note'");
        writer.setText(1, "2013-01-01T10:15:00Z");
        writer.setString(2, "UA");
        refuse(() -> writer.setString(2, "XX"), "'carrier': is there twice");
        writer.setString(4, "N1");
        writer.setLong(3, 1545);
        writer.openField("note", "x");
        refuse(() -> writer.openField("note", 2), "'note': is there twice");
        assertThat(writer.finish().toByteArray()).isEqualTo(expected);
    }

    private static void refuse(ThrowingCallable set, String reason) {
        assertThatThrownBy(set)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void everyNaNIsStoredAsOne() {
        RecordType type =
                RecordType.builder().field("d", "double").field("f", "float").build();
        RecordWriter numbers = new RecordWriter(type);
        byte[] plain = numbers.write(Map.of("d", Double.NaN, "f", Float.NaN)).toByteArray();
        double oddDouble = Double.longBitsToDouble(0xFFF0_0000_0000_1234L);
        float oddFloat = Float.intBitsToFloat(0xFF80_1234);
        assertThat(numbers.write(Map.of("d", oddDouble, "f", oddFloat)).toByteArray())
                .isEqualTo(plain);
    }
}
