package io.turbidite.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.Missing;
import io.turbidite.core.record.RandomValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The order proof of D1: for random pairs of every kind and of composites, the order of the bytes
 * is the order of the values; and bytes come back as the value they were made from.
 */
class KeyOrderTest {
    private static final long SEED = Seeds.of("KeyOrderTest");
    private static final String REPLAY = Seeds.replay("KeyOrderTest", SEED);
    private static final int VALUE_COUNT = Tier.count(50, 400, 3_000);
    private static final int COMPOSITE_COUNT = Tier.count(125, 1_000, 20_000);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final RandomValues values = new RandomValues(random);

    private static byte[] encode(TypeKind kind, @Nullable Object value) {
        ByteSink sink = new ByteSink(16, 1 << 20);
        KeyCodec.append(sink, kind, value);
        return sink.asSlice(new Slice()).toByteArray();
    }

    @ParameterizedTest
    @EnumSource(
            value = TypeKind.class,
            names = {"ARRAY", "RECORD"},
            mode = EnumSource.Mode.EXCLUDE)
    void bytesOrderLikeValues(TypeKind kind) {
        Comparator<@Nullable Object> order = RandomValues.order(kind);
        List<@Nullable Object> sample = new ArrayList<>();
        List<byte[]> keys = new ArrayList<>();
        sample.add(null);
        for (int i = 0; i < VALUE_COUNT; i++) {
            sample.add(values.value(kind));
        }
        sample.forEach(value -> keys.add(encode(kind, value)));
        for (int i = 0; i < sample.size(); i++) {
            for (int j = 0; j < sample.size(); j++) {
                int expected = Integer.signum(order.compare(sample.get(i), sample.get(j)));
                int found = Integer.signum(Arrays.compareUnsigned(keys.get(i), keys.get(j)));
                if (expected != found || (expected != 0 && startsWith(keys.get(j), keys.get(i)))) {
                    throw new AssertionError("%s: %s %s and %s: values %d, bytes %d"
                            .formatted(
                                    REPLAY, kind, sample.get(i), sample.get(j), expected, found));
                }
            }
        }
    }

    private static boolean startsWith(byte[] bytes, byte[] prefix) {
        int common = Arrays.mismatch(bytes, prefix);
        return common < 0 || common == prefix.length;
    }

    @ParameterizedTest
    @EnumSource(
            value = TypeKind.class,
            names = {"ARRAY", "RECORD"},
            mode = EnumSource.Mode.EXCLUDE)
    void bytesComeBackAsTheValue(TypeKind kind) {
        for (int i = 0; i < VALUE_COUNT; i++) {
            Object value = values.value(kind);
            byte[] key = encode(kind, value);
            byte[] longer = new byte[key.length + 12];
            random.nextBytes(longer);
            System.arraycopy(key, 0, longer, 3, key.length);
            Slice slice = Slice.of(longer);
            assertThat(KeyCodec.length(kind, slice, 3)).as("%s", value).isEqualTo(key.length);
            Object decoded = KeyCodec.decode(kind, slice, 3);
            if (value instanceof BigDecimal decimal) {
                assertThat((BigDecimal) decoded).isEqualByComparingTo(decimal);
            } else {
                assertThat(decoded).isEqualTo(RandomValues.shown(value));
            }
            assertThat(encode(kind, decoded)).isEqualTo(key);
        }
        assertThat(KeyCodec.decode(kind, Slice.of(encode(kind, Missing.MISSING)), 0))
                .isNull();
    }

    @Test
    void compositesOrderFieldByField() {
        for (int i = 0; i < COMPOSITE_COUNT; i++) {
            RecordType type = values.type(5);
            if (type.fields().isEmpty()) {
                continue;
            }
            KeySpec spec =
                    KeySpec.of(type, type.fields().stream().map(Field::name).toList(), "test");
            List<@Nullable Object> left = tuple(type);
            List<@Nullable Object> right = tuple(type);
            // a common beginning, so that later fields decide
            for (int f = random.nextInt(left.size() + 1) - 1; f >= 0; f--) {
                right.set(f, left.get(f));
            }
            int expected = 0;
            for (int f = 0; f < left.size() && expected == 0; f++) {
                expected =
                        RandomValues.order(spec.kinds().get(f)).compare(left.get(f), right.get(f));
            }
            byte[] leftKey = spec.encode(left.toArray());
            byte[] rightKey = spec.encode(right.toArray());
            assertThat(Integer.signum(Arrays.compareUnsigned(leftKey, rightKey)))
                    .as("%s, %s: %s and %s", REPLAY, type, left, right)
                    .isEqualTo(Integer.signum(expected));
            assertThat(spec.length(Slice.of(leftKey), 0)).isEqualTo(leftKey.length);
            byte[] prefix =
                    spec.encode(left.subList(0, random.nextInt(left.size() + 1)).toArray());
            assertThat(startsWith(leftKey, prefix)).isTrue();
        }
    }

    private List<@Nullable Object> tuple(RecordType type) {
        List<@Nullable Object> tuple = new ArrayList<>();
        for (Field field : type.fields()) {
            tuple.add(random.nextInt(4) == 0 ? null : values.value(field.kind()));
        }
        return tuple;
    }

    @Test
    void theKeyOfARecordIsTheKeyOfItsValues() {
        ByteSink sink = new ByteSink(16, 1 << 20);
        for (int i = 0; i < COMPOSITE_COUNT; i++) {
            RecordType type = values.type(8);
            if (type.fields().isEmpty()) {
                continue;
            }
            Map<String, @Nullable Object> record = values.record(type);
            RecordView view = new RecordView(type).wrap(new RecordWriter(type).write(record));
            List<String> names = type.fields().stream().map(Field::name).toList();
            KeySpec spec = KeySpec.of(type, names, "test");
            spec.append(view, sink.clear());
            byte[] expected = spec.encode(names.stream().map(record::get).toArray());
            assertThat(sink.asSlice(new Slice()).toByteArray())
                    .as("%s, %s", REPLAY, record)
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TypeKind.class,
            names = {"ARRAY", "RECORD"},
            mode = EnumSource.Mode.EXCLUDE)
    void damagedBytesAreReportedOrAreAnotherValue(TypeKind kind) {
        for (int i = 0; i < 5 * VALUE_COUNT; i++) {
            byte[] bytes = random.nextInt(4) == 0 ? noise() : encode(kind, values.value(kind));
            for (int flips = random.nextInt(3); flips > 0 && bytes.length > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            for (byte[] damaged : List.of(bytes, cut)) {
                try {
                    Object value = KeyCodec.decode(kind, Slice.of(damaged), 0);
                    int length = KeyCodec.length(kind, Slice.of(damaged), 0);
                    assertThat(encode(kind, value))
                            .as("%s: %s is another form of %s", REPLAY, kind, value)
                            .isEqualTo(Arrays.copyOf(damaged, length));
                } catch (CorruptionException expected) {
                    assertThat(expected).hasMessageStartingWith("key at offset");
                }
            }
        }
    }

    private byte[] noise() {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void aPositionBehindTheEndIsReported() {
        for (TypeKind kind : TypeKind.values()) {
            assertThatThrownBy(() -> KeyCodec.length(kind, Slice.of(new byte[2]), 2))
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void idsAndDatetimesFitThePrefixByWhichPagesCompare() {
        assertThat(encode(TypeKind.INT64, 336_776L)).hasSize(4);
        assertThat(encode(TypeKind.DATETIME, java.time.Instant.parse("2013-07-04T00:00:00Z")))
                .hasSize(8);
    }

    @Test
    void everyNaNIsOneKey() {
        float oddFloat = Float.intBitsToFloat(0xFF80_1234);
        double oddDouble = Double.longBitsToDouble(0xFFF0_0000_0000_1234L);
        assertThat(encode(TypeKind.FLOAT, oddFloat)).isEqualTo(encode(TypeKind.FLOAT, Float.NaN));
        assertThat(encode(TypeKind.DOUBLE, oddDouble))
                .isEqualTo(encode(TypeKind.DOUBLE, Double.NaN));
    }
}
