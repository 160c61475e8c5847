package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.BuggyDisk.Bug;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The crash and fault suites catch each planted mistake (R23). */
@LeaksOnPurpose("killed logs have nobody who closes them")
@Timeout(120)
class LogTeethTest {
    private static final int TRY_COUNT_MAX = 400;

    @ParameterizedTest
    @EnumSource(
            value = Bug.class,
            names = {"SKIP_SYNC", "SKIP_DIRECTORY_SYNC", "ACKNOWLEDGE_BEFORE_SYNC", "SKIP_MARK_SYNC"
            })
    void theCrashSuiteCatches(Bug bug) {
        assertCaught(bug, seed -> {
            Durability[] modes = Durability.values();
            Durability mode = modes[(int) Long.remainderUnsigned(seed, modes.length)];
            new LogCrash(seed, mode, bug).run(3, 40);
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Bug.class,
            names = {"RETRY_FAILED_SYNC", "SWALLOW_WRITE_ERROR", "SKIP_HARDENING"})
    void theFaultSuiteCatches(Bug bug) {
        boolean onWrite = bug == Bug.SWALLOW_WRITE_ERROR;
        assertCaught(bug, seed -> {
            long call = 1 + Long.remainderUnsigned(seed, 40);
            FaultScript script = FaultScript.with(Fault.EIO)
                    .on(onWrite ? OperationKind.WRITE : OperationKind.SYNC)
                    .call(call);
            new LogFaults(seed, Durability.SYNC, bug).run(script, 100, true);
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Bug.class,
            names = {"SPARSE_PREALLOCATION"})
    void theFullDiskCatches(Bug bug) {
        assertCaught(bug, seed -> {
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            LogOptions options = LogDriver.TINY.withSegmentBytes(64 << 10, 8, 64, 2 << 10);
            LogDriver driver =
                    new LogDriver(seed, new BuggyDisk(disk, bug), options, new LogOracle());
            var _ = driver.open();
            driver.append(50);
            driver.flush();
            disk.capacity(disk.usedBytes()); // something else takes the rest
            StorageException refused = null;
            for (int i = 0; i < 1_000 && refused == null; i++) {
                try {
                    driver.append(50);
                } catch (StorageException e) {
                    refused = e;
                }
            }
            boolean failed = driver.log().failed();
            driver.closeAnyhow();
            if (failed) {
                throw new AssertionError("a full disk fails the log", refused);
            }
        });
    }

    private static void assertCaught(Bug bug, Suite suite) {
        long base = Seeds.of("LogTeethTest" + bug);
        Throwable caught = null;
        int tries = 0;
        while (caught == null && tries < TRY_COUNT_MAX) {
            caught = failureOf(suite, Seeds.mix(base, tries));
            tries++;
        }
        assertNotNull(caught, bug + " is not caught in " + tries + " runs");
        System.out.printf("LogTeethTest: %s is caught by run %d%n", bug, tries);
    }

    /** What the suite says; anything it throws counts. */
    private static @Nullable Throwable failureOf(Suite suite, long seed) {
        try {
            suite.run(seed);
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e;
        }
    }

    @FunctionalInterface
    private interface Suite {
        void run(long seed);
    }
}
