package io.turbidite.lsm.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.KeyValueStore;
import io.turbidite.lsm.RuntimeOptions;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.StoreRuntime;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Budgets that stores share, what they give back, and what is refused. */
@Timeout(120)
class StoreRuntimeTest {
    private static final long MIB = 1 << 20;
    private static final RuntimeOptions SMALL =
            RuntimeOptions.defaults().withWriteMemoryBytes(2 * MIB).withCacheBytes(MIB);

    @TempDir
    private Path directory;

    private final Random random = new Random(5);

    /** Stores on simulated disks: one clock and one set of workers for all of them. */
    private static final class Sim implements AutoCloseable {
        final SimClock clock = new SimClock();
        final SimTasks tasks = new SimTasks(11, clock);
        final List<Store> stores = new ArrayList<>();
        final StoreRuntime runtime = StoreRuntime.create(shared(), clock, SMALL);

        private ForwardingTasks shared() {
            return new ForwardingTasks(tasks) {
                @Override
                public void close() {
                    // the others go on
                }
            };
        }

        KeyValueStore open(SimDisk disk) {
            StoreOptions options = SimStore.options(Durability.PROCESS).withRuntime(runtime);
            Store store = Store.open(disk, shared(), clock, options);
            stores.add(store);
            return KeyValueStore.in(store, "map");
        }

        @Override
        public void close() {
            stores.forEach(Store::close);
            runtime.close();
            tasks.close();
        }
    }

    private void put(KeyValueStore map, long bytes) {
        byte[] value = new byte[1_000];
        for (long put = 0; put < bytes; put += value.length) {
            random.nextBytes(value);
            map.put(ByteBuffer.allocate(8).putLong(random.nextLong()).array(), value);
        }
    }

    private static long reading(Meters meters, String name) {
        for (Instrument one : meters.instruments()) {
            if (one instanceof Reading reading && one.name().equals(name)) {
                return reading.value();
            }
        }
        throw new AssertionError("no reading " + name);
    }

    private static long unflushed(KeyValueStore map) {
        return reading(map.store().meters(), "memory.unflushed.bytes");
    }

    @Test
    void what_a_cold_store_holds_is_taken_when_memory_is_short() {
        try (Sim sim = new Sim()) {
            KeyValueStore cold = sim.open(new SimDisk(1, Profile.STRICT));
            KeyValueStore hot = sim.open(new SimDisk(2, Profile.STRICT));
            put(cold, 200_000);
            sim.tasks.runForMicros(300_000_000);
            assertThat(unflushed(cold)).isGreaterThan(190_000); // nobody asks for it
            for (int i = 0; i < 40; i++) {
                put(hot, 200_000);
                assertThat(reading(sim.runtime.meters(), "memory.unflushed.bytes"))
                        .isEqualTo(unflushed(cold) + unflushed(hot))
                        .isLessThan(2 * MIB + 200_000);
            }
            assertThat(unflushed(cold)).isZero();
            assertThat(reading(hot.store().meters(), "memory.unflushed.bytes")).isGreaterThan(0);
        }
    }

    @Test
    void the_larger_one_of_two_hot_stores_is_flushed_and_both_go_on() {
        try (Sim sim = new Sim()) {
            KeyValueStore one = sim.open(new SimDisk(1, Profile.STRICT));
            KeyValueStore two = sim.open(new SimDisk(2, Profile.STRICT));
            for (int i = 0; i < 60; i++) {
                put(one, 200_000);
                put(two, 20_000);
                assertThat(unflushed(one) + unflushed(two)).isLessThan(2 * MIB + 300_000);
            }
            one.dataset().flush();
            two.dataset().flush();
            assertThat(reading(sim.runtime.meters(), "memory.unflushed.bytes")).isZero();
        }
    }

    @Test
    void a_store_whose_disk_is_full_keeps_what_it_holds_and_the_others_go_on() {
        try (Sim sim = new Sim()) {
            SimDisk full = new SimDisk(1, Profile.STRICT);
            KeyValueStore stuck = sim.open(full);
            KeyValueStore free = sim.open(new SimDisk(2, Profile.STRICT));
            put(stuck, 700_000);
            full.capacity(full.usedBytes());
            put(free, 6_000_000);
            assertThat(unflushed(stuck)).isGreaterThan(600_000);
            put(free, 6_000_000);
            full.capacity(Long.MAX_VALUE);
            put(free, 6_000_000);
            sim.tasks.runForMicros(30_000_000);
            put(stuck, 100_000);
        }
    }

    @Test
    void where_such_a_store_holds_all_of_it_the_others_are_refused_with_its_name() {
        try (Sim sim = new Sim()) {
            SimDisk full = new SimDisk(1, Profile.STRICT);
            KeyValueStore stuck = sim.open(full);
            KeyValueStore free = sim.open(new SimDisk(2, Profile.STRICT));
            put(stuck, 400_000);
            full.capacity(full.usedBytes());
            assertThatThrownBy(() -> put(stuck, 6_000_000)).isInstanceOf(StorageIoException.class);
            full.capacity(Long.MAX_VALUE);
            put(free, 3_000_000);
            sim.tasks.runForMicros(30_000_000);
            put(stuck, 3_000_000);
        }
    }

    @Test
    void a_closed_store_gives_all_of_it_back() {
        try (Sim sim = new Sim()) {
            KeyValueStore stays = sim.open(new SimDisk(1, Profile.STRICT));
            long before = reading(sim.runtime.meters(), "cache.frames");
            KeyValueStore goes = sim.open(new SimDisk(2, Profile.STRICT));
            put(goes, 900_000);
            goes.dataset().flush();
            put(goes, 900_000);
            goes.forEach(null, null, (_, _) -> true);
            assertThat(reading(sim.runtime.meters(), "cache.frames")).isGreaterThan(before);
            goes.store().close();
            assertThat(reading(sim.runtime.meters(), "cache.frames")).isEqualTo(before);
            assertThat(reading(sim.runtime.meters(), "memory.unflushed.bytes")).isZero();
            assertThat(sim.runtime.stores()).hasSize(1);
            put(stays, 4_000_000);
        }
    }

    @Test
    void a_runtime_is_not_closed_under_its_stores() {
        StoreRuntime runtime = StoreRuntime.create(SMALL);
        StoreOptions options = StoreOptions.defaults().withRuntime(runtime);
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        try (Store first = Store.open(one, options);
                Store _ = Store.open(two, options)) {
            assertThatThrownBy(runtime::close)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(one.toString())
                    .hasMessageContaining(two.toString());
            assertThat(first.datasets()).isEmpty(); // nothing has happened
        }
        runtime.close();
        runtime.close();
        assertThatThrownBy(() -> Store.open(one, options))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("the store runtime");
        assertThat(runtime.memoryBytes()).isZero();
    }

    @Test
    void a_directory_is_one_runtimes() {
        try (StoreRuntime one = StoreRuntime.create(SMALL);
                StoreRuntime two = StoreRuntime.create(SMALL);
                Store _ = Store.open(directory, StoreOptions.defaults().withRuntime(one))) {
            StoreOptions others = StoreOptions.defaults().withRuntime(two);
            assertThatThrownBy(() -> Store.open(directory, others))
                    .isInstanceOf(StoreInUseException.class);
            assertThat(two.stores()).isEmpty();
            assertThat(one.stores()).hasSize(1);
        }
    }

    @Test
    void a_flushed_store_at_rest_takes_less_than_a_mebibyte_of_disk() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Sim sim = new Sim()) {
            KeyValueStore map = sim.open(disk);
            put(map, 100_000);
            map.dataset().flush();
            long busy = disk.usedBytes();
            sim.tasks.runForMicros(20_000_000);
            assertThat(disk.usedBytes()).isLessThan(200_000).isLessThan(busy);
            put(map, 100_000);
            assertThat(disk.usedBytes()).isGreaterThan(200_000);
        }
    }

    @Test
    void options_out_of_range_are_refused_by_name() {
        RuntimeOptions defaults = RuntimeOptions.defaults();
        assertThatThrownBy(() -> defaults.withWriteMemoryBytes(1))
                .hasMessageContaining("writeMemoryBytes");
        assertThatThrownBy(() -> defaults.withCacheBytes(1)).hasMessageContaining("cacheBytes");
        assertThatThrownBy(() -> defaults.withIoBytesPerSecond(1))
                .hasMessageContaining("ioBytesPerSecond");
    }

    /** The bug: it was 2^63 - 1, which nothing can be divided by. */
    @Test
    void the_memory_budget_is_the_sum_of_what_its_parts_may_hold() {
        StoreOptions options =
                StoreOptions.defaults().withWriteMemoryBytes(64 * MIB).withCacheBytes(32 * MIB);
        try (KeyValueStore values = KeyValueStore.open(directory, options)) {
            Store store = values.store();
            // and merges, regions, queries; and what is known of live versions
            long parts = 64 + 32 + 64 / 4 + 64 / 4 + 64 / 4 + 64 / 16;
            assertThat(figure(store, "memory.budget.bytes")).isEqualTo(parts * MIB);
            for (int i = 0; i < 2_000; i++) {
                values.put(ByteBuffer.allocate(Integer.BYTES).putInt(i).array(), new byte[1_000]);
            }
            assertThat(figure(store, "memory.used.bytes"))
                    .isBetween(MIB, figure(store, "memory.budget.bytes"));
        }
    }

    private static long figure(Store store, String name) {
        return store.meters().instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }
}
