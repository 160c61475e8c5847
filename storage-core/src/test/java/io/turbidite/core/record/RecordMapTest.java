package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.SplittableRandom;

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
            @Nullable Object[] declared = new @Nullable Object[random.nextInt(4)];
            for (int i = 0; i < declared.length; i++) {
                if (random.nextInt(3) == 0) {
                    declared[i] = RecordMap.MISSING;
                } else {
                    declared[i] = random.nextBoolean() ? null : random.nextLong();
                    expected.put(TYPE.field(i).name(), declared[i]);
                }
            }
            LinkedHashMap<String, @Nullable Object> open = new LinkedHashMap<>();
            if (random.nextBoolean()) {
                open.put("open", 7);
                open.put("more", null);
            }
            expected.putAll(open);
            RecordMap map = new RecordMap(TYPE, declared, open.isEmpty() ? Map.of() : open);
            for (int step = 0; step < 6; step++) {
                check(map, expected, seed);
                change(map, expected, random);
            }
            check(map, expected, seed);
        }
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
        switch (random.nextInt(6)) {
            case 0 -> assertThat(map.put(name, 1)).isEqualTo(expected.put(name, 1));
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
    void anIteratorEndsAsIteratorsDo() {
        Iterator<Map.Entry<String, @Nullable Object>> entries =
                new RecordMap(TYPE, new Object[] {1L}, Map.of()).entrySet().iterator();
        assertThatThrownBy(entries::remove).isInstanceOf(IllegalStateException.class);
        assertThat(entries.next().getKey()).isEqualTo("a");
        assertThatThrownBy(entries::next).isInstanceOf(NoSuchElementException.class);
    }
}
