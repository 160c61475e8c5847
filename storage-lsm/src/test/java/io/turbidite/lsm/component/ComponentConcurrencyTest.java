package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;
import io.turbidite.lsm.entry.Found;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Many threads read one component through a cache that holds a fraction of it. */
class ComponentConcurrencyTest {
    private static final int THREADS = 4;

    private final long seed = Seeds.of("ComponentConcurrencyTest");
    private final Entries entries = Entries.generate(
            new SplittableRandom(seed), 20_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);

    @Test
    void readersDoNotDisturbOneAnother() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        ComponentOptions options =
                ComponentOptions.primary().withPageBytes(8 << 10).withCompression(Compression.LZ4);
        Components.write(disk, options, entries);
        int steps = Tier.count(12, 60, 2_000);
        AtomicInteger running = new AtomicInteger(THREADS);
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (Tasks tasks = ThreadTasks.create("test", (name, e) -> failures.add(e));
                BufferCache cache = BufferCache.create(
                        MemoryBudget.of(1 << 20).account("cache"),
                        512 << 10,
                        tasks,
                        Clock.system());
                DiskComponent component = Components.open(disk, cache)) {
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
                AtomicInteger left = new AtomicInteger(steps);
                tasks.start("reader-" + i, 1_000, () -> {
                    if (left.getAndDecrement() <= 0) {
                        return false;
                    }
                    boolean done = false;
                    try {
                        read(component, random);
                        done = left.get() > 0;
                    } finally {
                        if (!done) {
                            left.set(0);
                            running.decrementAndGet();
                            tasks.signal();
                        }
                    }
                    return done;
                });
            }
            tasks.await(() -> running.get() == 0);
            assertThat(failures).isEmpty();
            assertThat(cache.statistics().pinnedFrameCount()).isZero();
            assertThat(cache.statistics().evictionCount()).isPositive();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private void read(DiskComponent component, SplittableRandom random) {
        Found found = new Found(1 << 20);
        try (PointCursor cursor = component.pointCursor()) {
            for (int i = 0; i < 200; i++) {
                Entry entry = entries.sorted.get(random.nextInt(entries.size()));
                int code = component.find(entry.keySlice(), entry.timestamp(), found, true);
                check(entry, code, found);
                code = cursor.find(entry.keySlice(), entry.timestamp(), found, true);
                check(entry, code, found);
            }
        }
        try (TreeCursor cursor = component.cursor()) {
            int index = random.nextInt(entries.size());
            byte[] key = entries.sorted.get(index).key();
            index = entries.lowerBound(key, Long.MAX_VALUE);
            cursor.seek(Slice.of(key));
            for (int i = 0; i < 500 && cursor.next(); i++, index++) {
                Entry entry = entries.sorted.get(index);
                boolean same = cursor.ordinal() == index
                        && Arrays.equals(cursor.key().toByteArray(), entry.key())
                        && Arrays.equals(cursor.value().toByteArray(), entry.value());
                if (!same) {
                    throw new AssertionError("%s, seed %d".formatted(entry, seed));
                }
            }
        }
    }

    private void check(Entry entry, int code, Found found) {
        boolean same = code == (entry.antimatter() ? Found.ANTIMATTER : Found.MATTER)
                && found.timestamp == entry.timestamp()
                && Arrays.equals(found.value.asSlice(new Slice()).toByteArray(), entry.value());
        if (!same) {
            throw new AssertionError("%s, seed %d".formatted(entry, seed));
        }
    }
}
