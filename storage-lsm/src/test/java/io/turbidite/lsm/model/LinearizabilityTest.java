package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.RegisterCalls;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.ConcurrentRun;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real threads fight for a few keys: whatever they write and read, by key, in batches, at views and
 * through an index, happens at one moment each, in one order, between call and return.
 */
class LinearizabilityTest {
    private static final int THREADS = 5;
    private static final int CALLS = Tier.count(400, 3_000, 100_000);

    private final long seed = Seeds.of("LinearizabilityTest");

    @ParameterizedTest
    @EnumSource
    @Timeout(120)
    void there_is_one_order_of_all_calls(Maintenance maintenance) throws Exception {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        try (Store store = open(disk)) {
            RegisterCalls calls = run(store, maintenance);
            assertThat(calls.count()).isGreaterThan(THREADS * CALLS);
            calls.check();
            assertThat(store.verify().errors()).isEmpty();
            assertThat(Inside.holdsNothing(store)).isTrue();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private RegisterCalls run(Store store, Maintenance maintenance) throws Exception {
        Dataset dataset = store.createDataset(ConcurrentRun.spec("Registers")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering")));
        return ConcurrentRun.run(store, dataset, seed, THREADS, CALLS);
    }

    static Store open(SimDisk disk) {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(1 << 20, 64, 256, 64 << 10)
                .withDurability(Durability.INTERVAL);
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(2 << 20, log);
        return Store.open(disk, ThreadTasks.create("test"), Clock.system(), options);
    }

    @Test
    @Timeout(120)
    @LeaksOnPurpose("what the bug breaks may stay")
    void a_view_whose_versions_nobody_keeps_is_found() throws Exception {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        try (Store store = open(disk)) {
            Timestamps timestamps = Inside.core(store).timestamps();
            // the bug: snapshots are let go behind the back of those who read them
            var bug = Inside.core(store).tasks().start("bug", 100, () -> {
                timestamps.snapshots().forEach(held -> timestamps.release(held.timestamp()));
                return false;
            });
            assertThatThrownBy(() -> run(store, Maintenance.EAGER).check())
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("no order explains");
            bug.close();
        }
    }
}
