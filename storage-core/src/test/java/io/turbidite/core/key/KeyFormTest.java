package io.turbidite.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Stream;

/** The two zeros are one key, but in what older releases wrote. */
class KeyFormTest {
    private static final RecordType TYPE =
            RecordType.of(Stream.of("a double", "b float", "c point", "d rectangle", "e int64")
                    .map(field -> Field.parse(field.substring(0, 1), field.substring(2)))
                    .toList());
    private static final List<String> FIELDS = List.of("a", "b", "c", "d", "e");

    private static Slice key(KeyForm form, String zero) {
        RecordWriter writer = new RecordWriter(TYPE);
        String json = "{\"a\":Z,\"b\":Z,\"c\":[Z,1],\"d\":[Z,2,3,4],\"e\":5}".replace("Z", zero);
        byte[] utf8 = json.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        RecordView view = new RecordView(TYPE).wrap(writer.writeJson(Slice.of(utf8)));
        ByteSink sink = new ByteSink(64, 1 << 10);
        KeySpec.of(TYPE, FIELDS, "test", form).append(view, sink);
        return Slice.of(sink.asSlice(new Slice()).toByteArray());
    }

    @Test
    void both_zeros_have_one_key_now_and_had_two() {
        Slice positive = key(KeyForm.CURRENT, "0.0");
        assertThat(key(KeyForm.CURRENT, "-0.0").contentEquals(positive)).isTrue();
        assertThat(key(KeyForm.SIGNED_ZEROS, "0.0").contentEquals(positive)).isTrue();
        Slice negative = key(KeyForm.SIGNED_ZEROS, "-0.0");
        assertThat(negative.compareBytes(positive)).isNegative();
        KeySpec old = KeySpec.of(TYPE, FIELDS, "test", KeyForm.SIGNED_ZEROS);
        // four zeros, each of either sign
        List<Slice> others = old.alternatives(positive);
        assertThat(others).hasSize(15).anyMatch(other -> other.contentEquals(negative));
        assertThat(others).noneMatch(other -> other.contentEquals(positive));
        assertThat(old.alternatives(negative)).anyMatch(other -> other.contentEquals(positive));
        assertThat(old.withForm(KeyForm.CURRENT).alternatives(positive)).isEmpty();
        assertThat(old).isNotEqualTo(old.withForm(KeyForm.CURRENT));
    }

    @Test
    void an_older_encoding_has_its_place_between_the_lowest_and_the_canonical() {
        for (TypeKind kind :
                List.of(TypeKind.DOUBLE, TypeKind.FLOAT, TypeKind.POINT, TypeKind.RECTANGLE)) {
            byte[] canonical = encode(kind, KeyForm.CURRENT, 0.0);
            byte[] lowest = KeyForm.SIGNED_ZEROS.lowest(kind, canonical);
            assertThat(Slice.of(lowest).compareBytes(Slice.of(canonical))).isNegative();
            assertThat(KeyForm.SIGNED_ZEROS.canonical(kind, Slice.of(lowest)).toByteArray())
                    .isEqualTo(canonical);
            assertThat(KeyForm.CURRENT.lowest(kind, canonical)).isEqualTo(canonical);
            // null stays what it is
            ByteSink sink = new ByteSink(8, 8);
            KeyCodec.appendNull(sink, kind);
            Slice none = sink.asSlice(new Slice());
            assertThat(KeyForm.SIGNED_ZEROS.canonical(kind, none)).isSameAs(none);
        }
        assertThat(encode(TypeKind.DOUBLE, KeyForm.CURRENT, -0.0))
                .isEqualTo(encode(TypeKind.DOUBLE, KeyForm.CURRENT, 0.0));
        assertThat(KeyForm.SIGNED_ZEROS.lowest(
                        TypeKind.DOUBLE, encode(TypeKind.DOUBLE, KeyForm.CURRENT, 0.0)))
                .isEqualTo(encode(TypeKind.DOUBLE, KeyForm.SIGNED_ZEROS, -0.0));
    }

    @Test
    void every_nan_is_one_key_above_all_numbers() {
        byte[] nan = encode(TypeKind.DOUBLE, KeyForm.CURRENT, Double.NaN);
        for (long bits : new long[] {0x7FF8_0000_0000_0001L, 0xFFF8_0000_0000_0000L, -1L}) {
            double other = Double.longBitsToDouble(bits);
            assertThat(encode(TypeKind.DOUBLE, KeyForm.CURRENT, other)).isEqualTo(nan);
        }
        byte[] infinity = encode(TypeKind.DOUBLE, KeyForm.CURRENT, Double.POSITIVE_INFINITY);
        assertThat(Slice.of(infinity).compareBytes(Slice.of(nan))).isNegative();
    }

    @Test
    void forms_have_their_numbers_for_ever() {
        assertThat(KeyForm.SIGNED_ZEROS.number()).isEqualTo(1);
        assertThat(KeyForm.ONE_ZERO.number()).isEqualTo(2);
        assertThat(KeyForm.ofNumber(1)).isEqualTo(KeyForm.SIGNED_ZEROS);
        assertThatThrownBy(() -> KeyForm.ofNumber(3)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void points_and_rectangles_have_one_zero() {
        assertThat(new Point(-0.0, 1)).isEqualTo(new Point(0.0, 1));
        assertThat(new Rectangle(-0.0, -0.0, -0.0, 1)).isEqualTo(new Rectangle(0, 0, 0, 1));
        assertThat(new Point(-0.0, 1).toString()).doesNotContain("-");
    }

    private static byte[] encode(TypeKind kind, KeyForm form, double value) {
        Object of = switch (kind) {
            case FLOAT -> (float) value;
            case POINT, LONLAT -> new Point(value, 1);
            case RECTANGLE -> new Rectangle(value, 1, 2, 3);
            default -> value;
        };
        ByteSink sink = new ByteSink(32, 32);
        KeyCodec.append(sink, kind, of, form);
        return sink.asSlice(new Slice()).toByteArray();
    }
}
