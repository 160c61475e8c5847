package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The map of a record is what a {@link LinkedHashMap} of its fields would be. */
class RecordMapTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("a", "int64?")
            .field("b", "string?")
            .field("c", "int64?")
            .build();
    private static final List<String> NAMES = List.of("a", "b", "c", "open", "more", "strange");

    @Test
    void anyCallsGiveWhatALinkedMapGives() {
        for (long seed = 0; seed < 2_000; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            LinkedHashMap<String, @Nullable Object> expected = new LinkedHashMap<>();
            // some are of a type that had fewer fields
            RecordType written = RecordType.of(TYPE.fields().subList(0, random.nextInt(4)));
            for (Field field : written.fields()) {
                if (random.nextInt(3) != 0) {
                    Object value = field.kind() == TypeKind.INT64 ? random.nextLong() : "text";
                    expected.put(field.name(), random.nextBoolean() ? null : value);
                }
            }
            if (random.nextBoolean()) {
                expected.put("open", 7L);
                expected.put("more", null);
            }
            RecordMap map = map(written, expected);
            for (int step = 0; step < 6; step++) {
                check(map, expected, seed);
                change(map, expected, random);
            }
            check(map, expected, seed);
        }
    }

    /** The map of a record of an older type, whose bytes are gone by then. */
    private static RecordMap map(RecordType written, Map<String, @Nullable Object> fields) {
        Slice record = new RecordWriter(written).write(fields);
        Map<String, @Nullable Object> map = new RecordView(TYPE).wrap(record).toMap();
        record.segment().asSlice(record.offset(), record.length()).fill((byte) 0xEE);
        return (RecordMap) map;
    }

    private static void check(RecordMap map, Map<String, @Nullable Object> expected, long seed) {
        assertThat(map).as("seed %d", seed).isEqualTo(expected).hasSameSizeAs(expected);
        assertThat(map.hashCode()).isEqualTo(expected.hashCode());
        assertThat(map).hasToString(expected.toString());
        assertThat(new ArrayList<>(map.keySet())).isEqualTo(new ArrayList<>(expected.keySet()));
        for (String name : NAMES) {
            assertThat(map.containsKey(name)).isEqualTo(expected.containsKey(name));
            assertThat(map.get(name)).isEqualTo(expected.get(name));
        }
    }

    private static void change(
            Map<String, @Nullable Object> map,
            Map<String, @Nullable Object> expected,
            SplittableRandom random) {
        String name = NAMES.get(random.nextInt(NAMES.size()));
        switch (random.nextInt(7)) {
            case 0 -> assertThat(map.put(name, 1)).isEqualTo(expected.put(name, 1));
            case 5 -> assertThat(map.put(name, null)).isEqualTo(expected.put(name, null));
            case 1 -> assertThat(map.remove(name)).isEqualTo(expected.remove(name));
            case 2 -> {
                map.entrySet().forEach(entry -> entry.setValue("set"));
                expected.entrySet().forEach(entry -> entry.setValue("set"));
            }
            case 3 -> {
                boolean every = random.nextBoolean();
                map.keySet().removeIf(key -> every || key.equals(name));
                expected.keySet().removeIf(key -> every || key.equals(name));
            }
            case 4 -> {
                map.clear();
                expected.clear();
            }
            default -> {}
        }
    }

    @Test
    void whatWasChangedIsWrittenAsALinkedMapWouldBe() {
        RecordType type = RecordType.builder()
                .field("a", "int64?")
                .field("b", "string?")
                .field("c", "string")
                .field("d", "bytes?")
                .field("e", "string?")
                .field("f", "string?")
                .build();
        List<String> texts =
                List.of("", "short", "eight by", "longer than eight", "späť, za lesom");
        List<String> names = List.of("a", "b", "c", "d", "e", "f", "open", "more");
        RecordWriter writer = new RecordWriter(type);
        RecordWriter plain = new RecordWriter(type);
        for (long seed = 0; seed < 2_000; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            LinkedHashMap<String, @Nullable Object> expected = new LinkedHashMap<>();
            for (String name : names) {
                if (name.equals("c") || random.nextInt(3) != 0) {
                    expected.put(name, value(name, texts, random));
                }
            }
            Map<String, @Nullable Object> map =
                    new RecordView(type).wrap(plain.write(expected)).toMap();
            for (int step = random.nextInt(4); step > 0; step--) {
                String name = names.get(random.nextInt(names.size()));
                if (random.nextInt(4) == 0 && map.get(name) instanceof byte[] handedOver) {
                    // whoever has the array of the map may change what is in it
                    handedOver[0]++;
                    expected.put(name, handedOver.clone());
                } else if (random.nextInt(8) == 0 && !name.equals("c")) {
                    map.remove(name);
                    expected.remove(name);
                } else {
                    Object value = value(name, texts, random);
                    map.put(name, value);
                    expected.put(name, value);
                }
            }
            assertThat(bytes(writer.write(map)))
                    .as("seed %d: %s", seed, expected)
                    .isEqualTo(bytes(plain.write(expected)));
        }
    }

    private static @Nullable Object value(
            String name, List<String> texts, SplittableRandom random) {
        if (!name.equals("c") && random.nextInt(6) == 0) {
            return null;
        }
        return switch (name) {
            case "a", "more" -> random.nextLong();
            case "d" -> new byte[] {(byte) random.nextInt(), 2, 3};
            default -> texts.get(random.nextInt(texts.size()));
        };
    }

    private static byte[] bytes(Slice record) {
        return record.segment()
                .asSlice(record.offset(), record.length())
                .toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void aRecordOfAnotherTypeIsWrittenByNames() {
        RecordType other =
                RecordType.builder().field("c", "int64?").field("b", "string?").build();
        Map<String, @Nullable Object> map =
                map(TYPE, new LinkedHashMap<>(Map.of("a", 1L, "b", "a text of some length")));
        assertThat(map.put("a", 3L)).isEqualTo(1L);
        Slice record = new RecordWriter(other).write(map);
        assertThat(new RecordView(other).wrap(record).toMap())
                .isEqualTo(Map.of("a", 3L, "b", "a text of some length"));
    }

    @Test
    void aDamagedTextIsNotWrittenAnew() {
        Slice record = new RecordWriter(TYPE).write(Map.of("b", "a text of some length"));
        record.segment()
                .set(ValueLayout.JAVA_BYTE, record.offset() + record.length() - 3, (byte) 0xFF);
        Map<String, @Nullable Object> map = new RecordView(TYPE).wrap(record).toMap();
        RecordWriter writer = new RecordWriter(TYPE);
        assertThatThrownBy(() -> writer.write(map)).isInstanceOf(CorruptionException.class);
    }

    @Test
    void anIteratorEndsAsIteratorsDo() {
        Iterator<Map.Entry<String, @Nullable Object>> entries =
                map(TYPE, Map.of("a", 1L)).entrySet().iterator();
        assertThatThrownBy(entries::remove).isInstanceOf(IllegalStateException.class);
        assertThat(entries.next().getKey()).isEqualTo("a");
        assertThatThrownBy(entries::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void readersOfOneMapSeeOneArray() throws Exception {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string")
                .field("data", "bytes")
                .build();
        byte[] data = new byte[1_000];
        Arrays.fill(data, (byte) 7);
        Map<String, Object> fields = Map.of("id", 1L, "name", "späť", "data", data);
        try (ExecutorService readers = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 500; round++) {
                Map<String, @Nullable Object> map = new RecordView(type)
                        .wrap(new RecordWriter(type).write(fields))
                        .toMap();
                CyclicBarrier start = new CyclicBarrier(2);
                Callable<@Nullable Object> reader = () -> {
                    start.await();
                    assertThat(map.get("name")).isEqualTo("späť");
                    assertThat(map.get("id")).isEqualTo(1L);
                    Object read = map.get("data");
                    assertThat((byte[]) read).isEqualTo(data);
                    return read;
                };
                Future<@Nullable Object> other = readers.submit(reader);
                Future<@Nullable Object> another = readers.submit(reader);
                assertThat(other.get()).isSameAs(another.get()).isSameAs(map.get("data"));
            }
        }
    }
}
