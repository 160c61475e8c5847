package io.turbidite.pm.validate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.region.SegmentMemory;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Keys come and go: their places are used again, and readers don't notice. */
class StaleTableTest {
    private final Epochs epochs = Epochs.create(4, new SimClock());
    private final MemoryBudget.Account account = MemoryBudget.of(1 << 20).account("stale keys");
    private final SegmentMemory memory = SegmentMemory.inMemory("none", 1 << 16);
    private final StaleTable table = new StaleTable(memory, epochs, account);

    /** A key of eight bytes. */
    private static final class Key {
        private final MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
        private final Slice slice = new Slice().set(bytes, 0, 8);

        Slice of(int number) {
            bytes.set(Bytes.I64, 0, number);
            return slice;
        }
    }

    private final Key key = new Key();

    @AfterEach
    void giveTheMemoryBack() {
        table.clear();
        memory.close();
    }

    private void supersede(int number, long timestamp) {
        Slice slice = key.of(number);
        long before = VersionWord.of(0, true, 1, 0);
        long after = VersionWord.of(timestamp, true, 2, 0);
        table.superseded(
                slice, Node.hash(slice), 0, before, LayerVersion.of(timestamp, true, 1), after);
    }

    private void collect(int number) {
        Slice slice = key.of(number);
        table.collected(slice, Node.hash(slice), false, VersionWord.COUNT_MAX);
    }

    private long found(int number) {
        Slice slice = key.of(number);
        return table.find(slice, Node.hash(slice));
    }

    @Test
    void places_are_used_again_and_the_table_stays_as_large() {
        SplittableRandom random = new SplittableRandom(Seeds.of("StaleTableTest"));
        Map<Integer, Integer> counts = new HashMap<>();
        Map<Integer, Long> times = new HashMap<>();
        long bytes = 0;
        for (int step = 1; step <= 40_000; step++) {
            int number = random.nextInt(1_000);
            // about half of the keys are here
            if (counts.getOrDefault(number, 0) > 0) {
                collect(number);
                counts.merge(number, -1, Integer::sum);
            } else {
                supersede(number, step);
                counts.merge(number, 1, Integer::sum);
                times.put(number, (long) step);
            }
            if (step % 10 == 0) {
                table.release();
            }
            if (step == 5_000) {
                bytes = table.byteSize();
            }
        }
        table.release();
        assertEquals(bytes, table.byteSize(), "bytes");
        assertEquals(
                counts.values().stream().filter(count -> count > 0).count(), table.count(), "keys");
        for (Map.Entry<Integer, Integer> known : counts.entrySet()) {
            long value = found(known.getKey());
            if (known.getValue() == 0) {
                assertEquals(0, value, "key " + known.getKey());
            } else {
                assertEquals(known.getValue(), StaleTable.staleCount(value));
                assertEquals(times.get(known.getKey()), StaleTable.timestamp(value));
            }
        }
    }

    @Test
    @Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
    void readers_find_the_keys_that_stay_and_no_others_value()
            throws InterruptedException, ExecutionException {
        int stay = 20;
        for (int number = 0; number < stay; number++) {
            supersede(number, 1_000_000 + number);
        }
        AtomicBoolean done = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
            Future<Long> reader = threads.submit(() -> {
                Key mine = new Key();
                long asked = 0;
                while (!done.get() || asked == 0) {
                    for (int number = 0; number < 80; number++, asked++) {
                        Slice slice = mine.of(number);
                        long value = table.find(slice, Node.hash(slice));
                        long time = StaleTable.timestamp(value);
                        boolean isRight = number < stay
                                ? time == 1_000_000 + number
                                : value == 0 || time == number;
                        if (!isRight) {
                            throw new AssertionError("key %d at %d".formatted(number, time));
                        }
                    }
                }
                return asked;
            });
            try {
                // few places, many keys that come and go
                for (int i = 0; i < 100_000; i++) {
                    int number = stay + i % 60;
                    supersede(number, number);
                    collect(number);
                    table.release();
                }
            } finally {
                done.set(true);
            }
            assertTrue(reader.get() > 0);
        }
    }
}
