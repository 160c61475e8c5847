package io.turbidite.core.log;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.BuggyDisk.Bug;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import java.util.SplittableRandom;

/**
 * One fault run (R8): a log is driven on a disk of which one call fails, once or for ever; then the
 * power is cut, or the process restarts on the same disk, records more, and then the power is cut.
 * <em>Confined to one thread.</em>
 */
final class LogFaults {
    private final long seed;
    private final LogOptions options;
    private final Bug bug;

    /** Calls of the disk in the run, to be failed one by one. */
    private long callCount;

    private boolean logFailed;

    LogFaults(long seed, Durability durability, Bug bug) {
        this.seed = seed;
        this.options = LogDriver.TINY.withDurability(durability);
        this.bug = bug;
    }

    long callCount() {
        return callCount;
    }

    boolean logFailed() {
        return logFailed;
    }

    void run(FaultScript script, int operationCount, boolean restart) {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        disk.createDirectories("log");
        disk.syncDirectory("");
        LogOracle oracle = new LogOracle();
        disk.fault(script);
        LogDriver driver = driver(disk, oracle);
        openAnyhow(driver);
        for (int i = 0; i < operationCount && driver.isOpen(); i++) {
            operateAnyhow(driver);
        }
        callCount = script.matchCount();
        driver.noteDurable();
        if (driver.isOpen()) {
            logFailed = driver.log().failed();
            requireRefusalAfterFailure(driver);
        }
        driver.closeAnyhow();
        if (disk.openHandleCount() != 0) {
            throw new AssertionError("files left open: " + disk.openHandles());
        }
        disk.clearFaults();
        SplittableRandom random = new SplittableRandom(Seeds.mix(seed, 2));
        LogDriver restarted = restart ? restart(disk, oracle) : null;
        for (Profile profile : Profile.values()) {
            SimDisk image = disk.crashImage(random.nextLong(), profile);
            LogOracle own = new LogOracle();
            own.moveStart(oracle.start());
            LogDriver reader = driver(image, own);
            try {
                oracle.check(reader.open());
            } catch (AssertionError e) {
                throw new AssertionError(
                        "%s after %s: %s".formatted(profile, disk.trace(), e.getMessage()), e);
            }
            reader.close();
        }
        if (restarted != null) {
            restarted.closeAnyhow();
        }
    }

    /** A log that lives on, as one that is cut off: nothing seals it. */
    private LogDriver restart(SimDisk disk, LogOracle oracle) {
        LogDriver driver = driver(disk, oracle);
        driver.resume();
        for (int i = 0; i < 4; i++) {
            driver.append(30);
            driver.flush();
        }
        return driver;
    }

    private LogDriver driver(SimDisk disk, LogOracle oracle) {
        return new LogDriver(
                seed, bug == Bug.NONE ? disk : new BuggyDisk(disk, bug), options, oracle);
    }

    /** Twice, since the fault may come once. */
    private static void openAnyhow(LogDriver driver) {
        for (int i = 0; i < 2 && !driver.isOpen(); i++) {
            try {
                driver.resume();
            } catch (StorageIoException e) {
                driver.kill();
            }
        }
    }

    private static void operateAnyhow(LogDriver driver) {
        try {
            driver.operate();
        } catch (StoreFailedException e) {
            if (driver.isOpen() && !driver.log().failed()) {
                throw new AssertionError("the log is not failed", e);
            }
            openAnyhow(driver);
        } catch (StorageIoException e) {
            if (!driver.isOpen() || driver.log().failed()) {
                openAnyhow(driver);
            }
        }
    }

    private static void requireRefusalAfterFailure(LogDriver driver) {
        if (driver.log().failed()) {
            long durable = driver.log().durableSequence();
            try {
                driver.append(1);
                throw new AssertionError("a failed log accepts a record");
            } catch (StorageException e) {
                if (!(e instanceof StoreFailedException) || e.getCause() == null) {
                    throw new AssertionError("not the first cause", e);
                }
            }
            driver.tasks().runForMicros(10_000);
            if (driver.log().durableSequence() != durable) {
                throw new AssertionError("acknowledged after a failure");
            }
        }
    }

    static FaultScript script(Fault fault, long call, boolean forever) {
        FaultScript script = FaultScript.with(fault)
                .on(OperationKind.CREATE, OperationKind.values())
                .call(call);
        return forever ? script.forever() : script;
    }
}
