package io.turbidite.lsm.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.CursorWalk;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Random puts, finds, seeks and scans against a sorted map; the seed is in each failure's message.
 */
class MemoryComponentModelTest {
    private static final int OPERATION_COUNT = Tier.count(5_000, 40_000, 2_000_000);
    private static final long SEED = Long.getLong("turbidite.seed", 20_261_121);

    enum Keys {
        RANDOM {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                return bytes(random, 8, 256);
            }
        },
        /** Every length, few byte values: prefixes of one another, many ties. */
        SHORT_AND_ALIKE {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                return bytes(random, random.nextInt(14), 3);
            }
        },
        FEW {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                return bytes(random, 1, 40);
            }
        },
        ASCENDING {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                return tagged(operation + (random.nextInt(10) == 0 ? 50 : 0));
            }
        },
        DESCENDING {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                return tagged((1 << 24) - operation / 2);
            }
        },
        LONG_SHARED_START {
            @Override
            byte[] draw(SplittableRandom random, int operation) {
                byte[] key = new byte[40];
                Arrays.fill(key, (byte) 'x');
                System.arraycopy(bytes(random, 5, 6), 0, key, 18, 5);
                System.arraycopy(bytes(random, 2, 5), 0, key, 38, 2);
                return Arrays.copyOf(key, 36 + random.nextInt(5));
            }
        };

        abstract byte[] draw(SplittableRandom random, int operation);

        static byte[] bytes(SplittableRandom random, int length, int values) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = (byte) (random.nextInt(values) - (values > 2 ? 1 : 0));
            }
            return bytes;
        }

        static byte[] tagged(int number) {
            return new byte[] {
                1,
                0,
                0,
                0,
                0,
                (byte) (number >> 24),
                (byte) (number >> 16),
                (byte) (number >> 8),
                (byte) number
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void agrees_with_a_sorted_map(Keys keys) {
        SplittableRandom random = new SplittableRandom(SEED);
        NavigableMap<Row, Row> model = new TreeMap<>(ListCursor.ORDER);
        TestChunks chunks = new TestChunks(64 << 10);
        Found found = new Found(1 << 20);
        try (MemoryComponent component = MemoryComponent.create(chunks)) {
            long clock = 0;
            for (int i = 0; i < OPERATION_COUNT; i++) {
                byte[] key = keys.draw(random, i);
                int kind = random.nextInt(100);
                if (kind < 60) {
                    clock += random.nextInt(3);
                    long late = random.nextInt(20) == 0 ? random.nextInt(60) : 0;
                    put(
                            component,
                            model,
                            new Row(
                                    key,
                                    Math.max(0, clock - late),
                                    kind < 10,
                                    Keys.bytes(random, random.nextInt(60), 256)));
                } else if (kind < 99) {
                    long snapshot = kind < 80 ? Long.MAX_VALUE : random.nextLong(clock + 2);
                    checkFind(component, model, key, snapshot, found);
                } else {
                    checkScan(component, model, key, random.nextInt(200));
                }
            }
            assertThat(component.entryCount()).as("seed %d", SEED).isEqualTo(model.size());
            checkScan(component, model, new byte[0], Integer.MAX_VALUE);
            List<Row> all = new ArrayList<>();
            try (EntryCursor cursor = component.cursor()) {
                while (cursor.next()) {
                    all.add(Row.of(cursor));
                }
            }
            assertThat(all).as("seed %d", SEED).isEqualTo(List.copyOf(model.values()));
            try (EntryCursor cursor = component.cursor()) {
                CursorWalk.run(cursor, all, random, 100_000);
            }
        }
        assertThat(chunks.taken()).isZero();
        chunks.close();
    }

    private static void put(MemoryComponent component, NavigableMap<Row, Row> model, Row row) {
        component.put(
                Slice.of(row.key()), row.timestamp(), row.antimatter(), Slice.of(row.value()));
        model.remove(row);
        model.put(row, row);
    }

    private static void checkFind(
            MemoryComponent component,
            NavigableMap<Row, Row> model,
            byte[] key,
            long snapshot,
            Found found) {
        Row expected = model.ceilingKey(new Row(key, snapshot, false, new byte[0]));
        if (expected != null && !Arrays.equals(expected.key(), key)) {
            expected = null;
        }
        int code = component.find(Slice.of(key), snapshot, found, true);
        if (expected == null) {
            check(code, Found.ABSENT);
            return;
        }
        Row actual = new Row(
                key,
                found.timestamp,
                code == Found.ANTIMATTER,
                found.value.asSlice(new Slice()).toByteArray());
        check(actual, expected);
    }

    private static void checkScan(
            MemoryComponent component, NavigableMap<Row, Row> model, byte[] from, int count) {
        var expected = model.tailMap(new Row(from, Long.MAX_VALUE, false, new byte[0]))
                .values()
                .iterator();
        try (EntryCursor cursor = component.cursor()) {
            cursor.seek(Slice.of(from));
            for (int i = 0; i < count; i++) {
                boolean there = cursor.next();
                check(there, expected.hasNext());
                if (!there) {
                    return;
                }
                check(Row.of(cursor), expected.next());
            }
        }
    }

    /** A plain comparison first: it runs millions of times. */
    private static void check(Object actual, Object expected) {
        if (!actual.equals(expected)) {
            assertThat(actual).as("seed %d", SEED).isEqualTo(expected);
        }
    }
}
