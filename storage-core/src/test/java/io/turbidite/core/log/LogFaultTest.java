package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.BuggyDisk.Bug;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;

/**
 * Every call of the disk fails (R8): a typed error, no acknowledgement after it, reopening
 * recovers.
 */
class LogFaultTest {
    private static final List<Fault> FAULTS =
            List.of(Fault.EIO, Fault.ENOSPC, Fault.SHORT_WRITE, Fault.EMFILE);
    private static final int OPERATION_COUNT = Tier.count(40, 200, 1_000);

    @ParameterizedTest
    @EnumSource(Durability.class)
    @Timeout(900)
    void everyCallThatFailsLeavesATypedErrorAndALogThatRecovers(Durability durability) {
        String test = "LogFaultTest";
        long seed = Seeds.of(test + durability);
        LogFaults clean = new LogFaults(seed, durability, Bug.NONE);
        clean.run(LogFaults.script(Fault.EIO, Long.MAX_VALUE, false), OPERATION_COUNT, false);
        long calls = clean.callCount();
        long runs = 0;
        long failed = 0;
        for (long call = 1; call <= calls; call++) {
            for (int variant = 0; variant < 16; variant++) {
                // By default three of the sixteen for each call, in turn.
                if (!Tier.isLong() && variant % 5 != call % 5) {
                    continue;
                }
                Fault fault = FAULTS.get(variant % 4);
                boolean forever = (variant & 4) != 0;
                boolean restart = (variant & 8) != 0;
                LogFaults faults = new LogFaults(seed, durability, Bug.NONE);
                try {
                    faults.run(LogFaults.script(fault, call, forever), OPERATION_COUNT, restart);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(
                            "%s, %s at call %d%s%s: %s%n%s"
                                    .formatted(
                                            durability,
                                            fault,
                                            call,
                                            forever ? " and after" : "",
                                            restart ? ", restart" : "",
                                            e.getMessage(),
                                            Seeds.replay(test, seed)),
                            e);
                }
                runs++;
                failed += faults.logFailed() ? 1 : 0;
            }
        }
        System.out.printf(
                "LogFaultTest %s: %d calls, %d runs, %d ended in a failed log%n",
                durability, calls, runs, failed);
        assertTrue(failed > 0);
    }

    @Test
    void aFailedSyncFailsTheLogWithItsCauseAndIsNotRetried() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        LogDriver driver = new LogDriver(1, disk, LogDriver.TINY, new LogOracle());
        var _ = driver.open();
        driver.append(10);
        driver.flush();
        FaultScript script =
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).call(1));
        driver.append(10);
        var first = assertThrows(RuntimeException.class, driver::flush);
        var second = assertThrows(RuntimeException.class, () -> driver.append(1));
        assertTrue(driver.log().failed());
        assertEquals(first.getCause(), second.getCause());
        driver.tasks().runForMicros(1_000_000);
        driver.close();
        assertEquals(1, script.matchCount());
        assertEquals(0, disk.openHandleCount());
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void aFullDiskRefusesClaimsAndTheLogGoesOnWhenThereIsSpace(Durability durability) {
        SimDisk disk = new SimDisk(2, Profile.ADVERSARIAL);
        LogOracle oracle = new LogOracle();
        disk.capacity(40 << 10);
        LogOptions options = LogDriver.TINY.withDurability(durability);
        LogDriver driver = new LogDriver(2, disk, options, oracle);
        var _ = driver.open();
        StorageIoException refused = null;
        for (int i = 0; i < 10_000 && refused == null; i++) {
            try {
                driver.append(50);
            } catch (StorageIoException e) {
                refused = e;
            }
        }
        assertEquals(StorageIoException.Kind.NO_SPACE, refused == null ? null : refused.kind());
        assertThrows(StorageIoException.class, () -> driver.append(50));
        assertFalse(driver.log().failed());
        driver.flush();
        // Truncation gives space back without the disk having any: the segment is used again.
        driver.truncate();
        driver.tasks().runForMicros(200_000);
        for (int i = 0; i < 50; i++) {
            driver.append(50);
        }
        disk.capacity(Long.MAX_VALUE);
        driver.tasks().runForMicros(200_000);
        for (int i = 0; i < 500; i++) {
            driver.append(50);
        }
        assertTrue(driver.log().statistics().recycledCount() > 0);
        driver.close();
        oracle.check(driver.open());
        driver.close();
    }

    /**
     * A segment that grows does so until somebody else has taken the space: what was accepted goes
     * to the reserve. One that was written ahead has it.
     */
    @ParameterizedTest
    @EnumSource
    void aDiskThatOthersFillCostsNoAcceptedRecord(Durability durability) {
        SimDisk disk = new SimDisk(3, Profile.ADVERSARIAL);
        LogOracle oracle = new LogOracle();
        LogOptions options = LogDriver.TINY
                .withSegmentBytes(32 << 10, 8, 64, 2 << 10)
                .withDurability(durability);
        LogDriver driver = new LogDriver(3, disk, options, oracle);
        var _ = driver.open();
        driver.append(50);
        driver.tasks().runForMicros(10_000);
        disk.capacity(disk.usedBytes());
        StorageIoException refused = null;
        for (int i = 0; i < 1_000 && refused == null; i++) {
            try {
                driver.append(50);
            } catch (StorageIoException e) {
                refused = e;
            }
        }
        assertEquals(StorageIoException.Kind.NO_SPACE, refused == null ? null : refused.kind());
        assertFalse(driver.log().failed());
        long reserveUses = options.writesAhead(disk) ? 0 : 1;
        assertEquals(reserveUses, driver.log().statistics().reserveUseCount());
        driver.flush();
        assertEquals(oracle.end(), driver.log().durableSequence());
        assertThrows(StorageIoException.class, () -> driver.append(50));
        SimDisk image = disk.crashImage(4, Profile.ADVERSARIAL);
        image.capacity(Long.MAX_VALUE);
        try (LogDriver reader = new LogDriver(4, image, options, new LogOracle())) {
            oracle.check(reader.open());
        }

        disk.capacity(Long.MAX_VALUE);
        driver.tasks().runForMicros(200_000);
        for (int i = 0; i < 500; i++) {
            driver.append(50);
        }
        driver.close();
        oracle.check(driver.open());
        driver.close();
    }

    /**
     * What was kept of the refused write are whole frames, and no mark says that the log goes on
     * elsewhere.
     */
    @Test
    @LeaksOnPurpose("the log that wrote was killed")
    void framesOfARefusedWriteGiveWayToTheReserve() {
        SimDisk disk = new SimDisk(5, Profile.STRICT);
        LogOracle oracle = new LogOracle();
        LogOptions options = LogDriver.TINY
                .withSegmentBytes(256 << 10, 64, 1 << 10, 8 << 10)
                .withDurability(Durability.BUFFERED);
        LogDriver driver = new LogDriver(5, new RefusingDisk(disk, 20_000), options, oracle);
        var _ = driver.open();
        driver.append(50);
        driver.flush();
        for (int i = 0; i < 40; i++) {
            driver.append(900);
        }
        driver.flush();
        assertEquals(1, driver.log().statistics().reserveUseCount());
        driver.kill();
        disk.processDied();
        try (LogDriver reader = new LogDriver(6, disk, options, new LogOracle())) {
            oracle.check(reader.open());
        }
    }

    @Test
    void aGrowingLogWritesZerosForItsReserveAlone() {
        SimDisk disk = new SimDisk(4, Profile.STRICT);
        LogOptions options = LogDriver.TINY.withDurability(Durability.BUFFERED);
        LogDriver driver = new LogDriver(4, disk, options, new LogOracle());
        var _ = driver.open();
        for (int i = 0; i < 1_000; i++) {
            driver.append(50);
        }
        LogStatistics statistics = driver.log().statistics();
        assertTrue(statistics.createdCount() > 5, statistics.toString());
        assertEquals(options.reserveBytes(), statistics.zeroBytes());
        driver.close();
    }
}
