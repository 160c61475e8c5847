package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Random records come back as they were; damaged ones are reported or read as others, never worse.
 */
class RecordFuzzTest {
    private static final long SEED = Seeds.of("RecordFuzzTest");
    private static final String REPLAY = Seeds.replay("RecordFuzzTest", SEED);
    /** Version, flags and open offset: any change of them is noticed when the record is wrapped. */
    private static final List<Integer> IN_HEADER = List.of(0, 1, 4, 5, 6, 7);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final RandomValues values = new RandomValues(random);
    private final ByteSink sink = new ByteSink(1024, Integer.MAX_VALUE);

    @Test
    void randomRecordsComeBackAsTheyWentIn() {
        for (int i = 0; i < Tier.count(200, 1_500, 20_000); i++) {
            RecordType type = i % 2 == 0 ? values.type(12) : values.nestedType(8);
            Map<String, @Nullable Object> record = values.record(type);
            RecordView view = new RecordView(type).wrap(new RecordWriter(type).write(record));
            view.check();
            Map<String, @Nullable Object> read = view.toMap();
            assertThat(read.keySet()).containsExactlyElementsOf(record.keySet());
            record.forEach((name, value) -> {
                if (!sameValue(value, read.get(name)) || !sameValue(value, view.get(name))) {
                    throw new AssertionError("%s: field %s of %s was %s, is %s"
                            .formatted(REPLAY, name, type, value, read.get(name)));
                }
            });
        }
    }

    private static boolean sameValue(@Nullable Object a, @Nullable Object b) {
        return switch (a) {
            case byte[] bytes -> b instanceof byte[] other && Arrays.equals(bytes, other);
            case List<?> list ->
                b instanceof List<?> other
                        && list.size() == other.size()
                        && range(list.size(), i -> sameValue(list.get(i), other.get(i)));
            case Map<?, ?> map ->
                b instanceof Map<?, ?> other
                        && map.keySet().equals(other.keySet())
                        && map.keySet().stream()
                                .allMatch(name -> sameValue(map.get(name), other.get(name)));
            case null, default -> Objects.equals(RandomValues.shown(a), b);
        };
    }

    private static boolean range(int count, java.util.function.IntPredicate test) {
        return java.util.stream.IntStream.range(0, count).allMatch(test);
    }

    @Test
    void jsonOfARandomRecordMakesTheSameDeclaredFields() {
        for (int i = 0; i < Tier.count(200, 1_500, 20_000); i++) {
            RecordType type = i % 2 == 0 ? values.type(12) : values.nestedType(8);
            Map<String, @Nullable Object> record = values.record(type);
            RecordWriter writer = new RecordWriter(type);
            RecordView view = new RecordView(type).wrap(writer.write(record));
            view.toJson(sink.clear());
            Slice json = Slice.of(sink.asSlice(new Slice()).toByteArray());
            RecordView again = new RecordView(type).wrap(new RecordWriter(type).writeJson(json));
            again.check();
            for (int field = 0; field < type.fields().size(); field++) {
                Object before = view.get(field);
                Object after = again.get(field);
                // exponent notation may come with another scale
                boolean same = sameNumbers(before, after);
                assertThat(same).as("%s: %s", REPLAY, json.toUtf8()).isTrue();
                assertThat(again.isMissing(field)).isEqualTo(view.isMissing(field));
            }
        }
    }

    /** Undeclared values within others have no type that JSON would keep. */
    private static boolean sameNumbers(@Nullable Object a, @Nullable Object b) {
        if (a instanceof List<?> x && b instanceof List<?> y) {
            return x.size() == y.size() && range(x.size(), i -> sameNumbers(x.get(i), y.get(i)));
        }
        if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
            return x.keySet().equals(y.keySet());
        }
        return (a instanceof BigDecimal x && b instanceof BigDecimal y)
                ? x.compareTo(y) == 0
                : sameValue(a, b);
    }

    @Test
    void everyFlippedBitIsReportedOrReadsAsAnotherRecord() {
        for (int i = 0; i < Tier.count(3, 10, 200); i++) {
            RecordType type = i % 2 == 0 ? values.type(12) : values.nestedType(8);
            byte[] sound = new RecordWriter(type).write(values.record(type)).toByteArray();
            RecordView view = new RecordView(type);
            for (int bit = 0; bit < 8 * sound.length; bit++) {
                byte[] damaged = sound.clone();
                damaged[bit / 8] ^= (byte) (1 << (bit % 8));
                if (readAll(view, damaged) && IN_HEADER.contains(bit / 8)) {
                    throw new AssertionError(REPLAY + ": bit " + bit + " went unnoticed");
                }
            }
            for (int length = 0; length < sound.length; length++) {
                readAll(view, Arrays.copyOf(sound, length));
            }
        }
    }

    @Test
    void noiseBehindASoundHeaderIsReportedOrReadsAsARecord() {
        for (int i = 0; i < Tier.count(300, 2_500, 50_000); i++) {
            RecordType type = i % 2 == 0 ? values.type(8) : values.nestedType(6);
            byte[] damaged = new RecordWriter(type).write(values.record(type)).toByteArray();
            for (int flips = random.nextInt(1, 6); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(-3, 20);
            }
            readAll(new RecordView(type), damaged);
        }
    }

    /** Only declared errors may come out; returns whether the header passed. */
    private boolean readAll(RecordView view, byte[] bytes) {
        if (!succeeds(() -> view.wrap(Slice.of(bytes)))) {
            return false;
        }
        boolean sound = succeeds(view::check);
        // of a map what is damaged is told when it is asked for
        boolean mapped = succeeds(() -> new LinkedHashMap<>(view.toMap()));
        boolean printed = succeeds(() -> view.toJson(sink.clear()));
        assertThat(!sound || (mapped && printed)).as("%s", REPLAY).isTrue();
        succeeds(() -> view.get("nowhere"));
        for (int field = 0; field < view.type().fields().size(); field++) {
            int index = field;
            boolean read = succeeds(() -> view.get(index));
            String name = view.type().field(index).name();
            if (view.type().parent(index) == RecordType.TOP
                    && !view.isMissing(index)
                    && succeeds(() -> view.toMap())) {
                Map<String, @Nullable Object> map = view.toMap();
                assertThat(succeeds(() -> map.get(name)))
                        .as("%s: field %s alone", REPLAY, name)
                        .isEqualTo(read);
                assertThat(!read || sameValue(view.get(index), map.get(name)))
                        .as("%s: field %s", REPLAY, name)
                        .isTrue();
            }
            getter(() -> view.getLong(index));
            getter(() -> view.getDouble(index));
            getter(() -> view.getCoordinate(index, 1));
            getter(() -> view.getBytes(index));
        }
        return true;
    }

    private static boolean succeeds(Runnable access) {
        try {
            access.run();
            return true;
        } catch (CorruptionException expected) {
            return false;
        }
    }

    private static void getter(Runnable access) {
        try {
            access.run();
        } catch (CorruptionException | InvalidRequestException expected) {
            assertThat(expected).hasMessageNotContaining("null pointer");
        }
    }

    @Test
    void nestingWithoutEndIsReported() {
        int levels = 100_000;
        ByteSink bytes = new ByteSink(1024, 1 << 20);
        bytes.putByte(RecordFormat.VERSION_FLAT).putByte(RecordFormat.FLAG_OPEN_AREA);
        bytes.putByte(0).putByte(0).putInt(RecordFormat.HEADER_BYTES);
        bytes.putByte(1).putByte('x');
        for (int level = levels - 1; level >= 0; level--) {
            bytes.putByte(RecordFormat.TAG_ARRAY).putInt(5 * level);
        }
        RecordView view = new RecordView(RecordType.of(List.of()));
        view.wrap(bytes.asSlice(new Slice()));
        for (Runnable access : List.<Runnable>of(
                () -> view.get("x"), view::toMap, view::check, () -> view.toJson(sink.clear()))) {
            assertThatThrownBy(access::run)
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("nesting");
        }
        assertThat(view.get("y")).isNull();
    }

    @Test
    void damagedJsonIsRefusedOrMakesASoundRecord() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .field("at", "datetime?")
                .field("place", "point?")
                .field("price", "decimal?")
                .build();
        RecordWriter writer = new RecordWriter(type);
        RecordView view = new RecordView(type);
        byte[] text =
                "{\"id\":17,\"name\":\"a\\u00e9\\ud83d\\ude00\",\"at\":\"2013-07-04T10:15:30.25+02:00\",\"place\":[1.5,-2],\"price\":12.50,\"o\":{\"x\":[1,-2.5e3,null,true,{}],\"y\":\"ü😀\"}}"
                        .getBytes(StandardCharsets.UTF_8);
        int accepted = 0;
        for (int i = 0; i < Tier.count(1_000, 8_000, 200_000); i++) {
            byte[] damaged = Arrays.copyOf(
                    text, random.nextInt(4) == 0 ? random.nextInt(text.length) : text.length);
            for (int flips = random.nextInt(3); flips > 0 && damaged.length > 0; flips--) {
                int at = random.nextInt(damaged.length);
                damaged[at] = random.nextBoolean()
                        ? text[random.nextInt(text.length)]
                        : (byte) random.nextInt(256);
            }
            byte[] record;
            try {
                record = writer.writeJson(Slice.of(damaged)).toByteArray();
            } catch (InvalidRequestException expected) {
                continue;
            }
            accepted++;
            view.wrap(Slice.of(record)).check();
            view.toJson(sink.clear());
            assertThat(writer.writeJson(sink.asSlice(new Slice())).toByteArray())
                    .as("%s: %s", REPLAY, new String(damaged, StandardCharsets.UTF_8))
                    .isEqualTo(record);
        }
        assertThat(accepted).isPositive();
    }
}
