package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Oracle;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.List;

/**
 * R8: each of the first operations on the disk fails, once or for ever, in each way there is.
 * Whoever asked gets a typed error; the store goes on, or takes no writes any more; nothing is
 * acknowledged that a power cut then takes away; and when the fault is gone it opens with all that
 * was acknowledged.
 */
class FaultTest {
    private static final int CALLS = Tier.count(40, 200, 1_000);
    private static final int COMMITS = 40;

    /** In turn; what they do on disk differs, and so does what fails. */
    private static final List<Maintenance> STRATEGIES = List.of(Maintenance.values());

    @Test
    void each_call_fails_once_and_for_ever() {
        long seed = Seeds.of("FaultTest");
        int failedStores = 0;
        int survivors = 0;
        for (int call = 1; call <= CALLS; call++) {
            int way = 0;
            for (Fault fault : Fault.values()) {
                boolean forever = (call + way++) % 2 == 0;
                FaultScript script = FaultScript.with(fault).call(call);
                if (forever) {
                    script.forever();
                }
                try {
                    Maintenance strategy = STRATEGIES.get(call % STRATEGIES.size());
                    if (run(Seeds.mix(seed, call % 7), strategy, script, call % 4 < 2)) {
                        survivors++;
                    } else {
                        failedStores++;
                    }
                } catch (Throwable failure) {
                    throw new AssertionError(
                            script + "; " + Seeds.replay("FaultTest", seed), failure);
                }
            }
        }
        System.out.printf(
                "FaultTest: %d runs ended read-only, %d went on%n", failedStores, survivors);
        assertThat(failedStores).isPositive();
        assertThat(survivors).isPositive();
    }

    /** Whether the store still took writes at the end. */
    private static boolean run(
            long seed, Maintenance strategy, FaultScript script, boolean direct) {
        Oracle oracle = new Oracle();
        Workload workload = new Workload(seed, oracle, 30).withMaintenance(strategy);
        StoreOptions options = SimStore.options(Durability.SYNC).withDirectIo(direct);
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, seed, options)) {
            workload.create(sim.store);
        }
        disk.fault(script);
        boolean healthy = false;
        SimStore sim = open(disk, seed, options);
        if (sim != null) {
            healthy = write(sim, workload, oracle);
            try {
                sim.close();
            } catch (StorageException expected) {
                assertThat(expected.getMessage()).isNotBlank();
            }
        }
        assertThat(disk.openHandles()).as("under %s", strategy).isEmpty();
        SimDisk image = disk.crashImage(seed, Profile.STRICT);
        try (SimStore recovered = SimStore.open(image, seed, options)) {
            assertThat(oracle.prefixWith(recovered.contentHash()))
                    .as("%d commits, %d acknowledged", oracle.commitCount(), oracle.durableCount())
                    .isGreaterThanOrEqualTo(0);
            recovered.verify();
        }
        return healthy;
    }

    private static @Nullable SimStore open(SimDisk disk, long seed, StoreOptions options) {
        try {
            return SimStore.open(disk, seed, options);
        } catch (StorageException expected) {
            assertThat(expected.getMessage()).isNotBlank();
            return null;
        }
    }

    private static boolean write(SimStore sim, Workload workload, Oracle oracle) {
        for (int i = 0; i < COMMITS; i++) {
            int before = oracle.commitCount();
            try {
                workload.write(sim.store);
                oracle.acknowledge();
            } catch (StorageException refused) {
                if (Inside.core(sim.store).health().firstFailure() != null) {
                    // the last commit may be there or not; nothing may come after it
                    assertNoWritesAreTaken(sim, workload);
                    return false;
                }
                if (oracle.commitCount() > before) {
                    oracle.undo();
                }
            }
            try {
                workload.disturb(sim.store);
            } catch (StorageException failedFlush) {
                assertThat(failedFlush.getMessage()).isNotBlank();
            }
        }
        return true;
    }

    private static void assertNoWritesAreTaken(SimStore sim, Workload workload) {
        for (int i = 0; i < 5; i++) {
            Row row = workload.row(1_000 + i);
            assertThatThrownBy(() -> sim.store.dataset(Workload.INDEXED).upsert(row.toMap()))
                    .isInstanceOf(StoreFailedException.class)
                    .hasRootCauseInstanceOf(StorageIoException.class);
        }
    }
}
