package io.turbidite.lsm.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Writers, readers and scanners at once. Each version's value can be computed from its key and
 * timestamp, so a torn or misplaced entry shows; what was put before a read began must be seen by
 * it.
 */
class MemoryComponentStressTest {
    private static final int ROUNDS = Tier.count(1, 2, 200);
    private static final int PUTS_PER_WRITER = 20_000;
    private static final int WRITERS = 3;
    private static final long SEED = Long.getLong("turbidite.seed", 4_711);

    /** The component, and for each key number the highest timestamp whose put has returned. */
    private static final class Shared {
        final MemoryComponent component;
        final AtomicLongArray settled;
        final AtomicLong clock = new AtomicLong();
        final AtomicLong writersLeft = new AtomicLong(WRITERS);

        Shared(MemoryComponent component, int keys) {
            this.component = component;
            this.settled = new AtomicLongArray(keys);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 900, 200_000})
    void readers_see_whole_entries_and_all_that_was_put_before(int keys) throws Exception {
        TestChunks chunks = new TestChunks(64 << 10);
        for (int round = 0; round < ROUNDS; round++) {
            try (MemoryComponent component = MemoryComponent.create(chunks);
                    ExecutorService pool = Executors.newCachedThreadPool()) {
                Shared shared = new Shared(component, keys);
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < WRITERS; i++) {
                    long seed = SEED + round * 10L + i;
                    all.add(pool.submit(() -> {
                        try {
                            write(shared, keys, seed);
                        } finally {
                            shared.writersLeft.decrementAndGet();
                        }
                    }));
                }
                long seed = SEED + round;
                all.add(pool.submit(() -> read(shared, keys, seed)));
                all.add(pool.submit(() -> scan(shared, keys, seed)));
                for (Future<?> one : all) {
                    one.get();
                }
                assertThat(component.entryCount()).isEqualTo((long) WRITERS * PUTS_PER_WRITER);
                assertThat(scanOnce(shared, new Slice(), new long[keys], Integer.MAX_VALUE))
                        .isEqualTo((long) WRITERS * PUTS_PER_WRITER);
            }
            assertThat(chunks.taken()).isZero();
        }
        chunks.close();
    }

    /** A key of 9 to 12 bytes whose first bytes are shared by many. */
    private static Slice key(int number, MemorySegment buffer, Slice slice) {
        buffer.set(Bytes.I64_BE, 0, 0x0101_0101_0100_0000L | number >>> 8);
        buffer.set(Bytes.U8, 8, (byte) number);
        buffer.set(Bytes.I32, 9, 0);
        return slice.set(buffer, 0, 9 + (number & 3));
    }

    private static int number(Slice key) {
        int high = (int) key.segment().get(Bytes.I64_BE, key.offset()) & 0xFF_FFFF;
        return high << 8 | key.byteAt(8);
    }

    private static int valueLength(int number, long timestamp) {
        return (int) ((number * 31L + timestamp * 17) % 90);
    }

    private static void write(Shared shared, int keys, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySegment buffer = Arena.ofAuto().allocate(128, 8);
        Slice key = new Slice();
        Slice value = new Slice();
        for (int i = 0; i < PUTS_PER_WRITER; i++) {
            int number = random.nextInt(keys);
            long timestamp = shared.clock.incrementAndGet();
            int length = valueLength(number, timestamp);
            for (int at = 0; at < length; at++) {
                buffer.set(Bytes.U8, 16 + at, (byte) (timestamp + at));
            }
            boolean antimatter = timestamp % 5 == 0;
            shared.component.put(
                    key(number, buffer, key), timestamp, antimatter, value.set(buffer, 16, length));
            shared.settled.accumulateAndGet(number, timestamp, Math::max);
        }
    }

    private static void read(Shared shared, int keys, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySegment buffer = Arena.ofAuto().allocate(16, 8);
        Slice key = new Slice();
        Slice value = new Slice();
        Found found = new Found(1 << 10);
        while (shared.writersLeft.get() > 0) {
            int number = random.nextInt(keys);
            long settled = shared.settled.get(number);
            long snapshot = random.nextBoolean() ? Long.MAX_VALUE : settled + random.nextInt(1_000);
            int code = shared.component.find(key(number, buffer, key), snapshot, found, true);
            if (code == Found.ABSENT) {
                check(settled == 0, number, settled);
                continue;
            }
            check(found.timestamp >= settled && found.timestamp <= snapshot, number, settled);
            found.value.asSlice(value);
            check(number, found.timestamp, code == Found.ANTIMATTER, value);
        }
    }

    private static void scan(Shared shared, int keys, long seed) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x5CA7);
        MemorySegment buffer = Arena.ofAuto().allocate(16, 8);
        Slice key = new Slice();
        while (shared.writersLeft.get() > 0) {
            int from = random.nextInt(keys);
            int to = Math.min(keys, from + 500);
            long[] settled = new long[to];
            for (int i = from; i < to; i++) {
                settled[i] = shared.settled.get(i);
            }
            if (random.nextBoolean()) {
                key(from, buffer, key);
                scanOnce(shared, key, settled, to);
            } else {
                key(to, buffer, key);
                scanBack(shared, key, settled, from);
            }
        }
    }

    /** The same from {@code to} downwards, where each key's oldest version comes first. */
    private static void scanBack(Shared shared, Slice to, long[] settled, int fromNumber) {
        int number = Integer.MAX_VALUE;
        long timestamp = 0;
        try (EntryCursor cursor = shared.component.cursor()) {
            cursor.seek(to);
            while (cursor.previous()) {
                int next = number(cursor.key());
                if (next < fromNumber) {
                    break;
                }
                check(next < number || (next == number && cursor.timestamp() > timestamp), next, 0);
                number = next;
                timestamp = cursor.timestamp();
                if (timestamp == settled[number]) {
                    settled[number] = 0;
                }
                check(number, timestamp, cursor.isAntimatter(), cursor.value());
            }
        }
        for (int i = fromNumber; i < settled.length; i++) {
            check(settled[i] == 0, i, settled[i]);
        }
    }

    /**
     * Checks order, content, and that each key's settled version is met; returns the entries seen.
     */
    private static long scanOnce(Shared shared, Slice from, long[] settled, int toNumber) {
        long count = 0;
        int number = -1;
        long timestamp = 0;
        try (EntryCursor cursor = shared.component.cursor()) {
            cursor.seek(from);
            while (cursor.next()) {
                int next = number(cursor.key());
                if (next >= toNumber) {
                    break;
                }
                if (next == number) {
                    check(cursor.timestamp() < timestamp, next, timestamp);
                } else {
                    check(next > number, next, cursor.timestamp());
                    check(cursor.timestamp() >= settled[next], next, cursor.timestamp());
                }
                if (settled[next] != 0 && cursor.timestamp() <= settled[next]) {
                    check(cursor.timestamp() == settled[next], next, settled[next]);
                    settled[next] = 0;
                }
                number = next;
                timestamp = cursor.timestamp();
                check(number, timestamp, cursor.isAntimatter(), cursor.value());
                count++;
            }
        }
        for (int i = 0; i < Math.min(settled.length, toNumber); i++) {
            check(settled[i] == 0, i, settled[i]);
        }
        return count;
    }

    private static void check(int number, long timestamp, boolean antimatter, Slice value) {
        check(antimatter == (timestamp % 5 == 0), number, timestamp);
        int length = valueLength(number, timestamp);
        check(value.length() == length, number, timestamp);
        for (int at = 0; at < length; at++) {
            check(value.byteAt(at) == ((timestamp + at) & 0xFF), number, timestamp);
        }
    }

    private static void check(boolean holds, int number, long timestamp) {
        if (!holds) {
            throw new AssertionError("key " + number + " at " + timestamp + ", seed " + SEED);
        }
    }
}
