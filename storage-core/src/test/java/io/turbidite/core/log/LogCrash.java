package io.turbidite.core.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.BuggyDisk.Bug;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.jspecify.annotations.Nullable;

import java.util.NavigableMap;
import java.util.SplittableRandom;

/**
 * One crash run: a log is driven at random on a simulated disk; at each durable step the power is
 * cut, in an image, the image is recovered and compared with the oracle; then the run goes on from
 * one of the images. <em>Confined to one thread.</em>
 */
final class LogCrash {
    private static final Profile[] PROFILES = Profile.values();

    private final long seed;
    private final LogOptions options;
    private final boolean fillsDisk;
    private final Bug bug;
    private final SplittableRandom random;
    private long imageCount;
    private long nestedCount;
    private long reserveUseCount;

    /**
     * What an image has shown first: on a full disk the log may take its exception for the disk's.
     */
    private @Nullable Throwable shown;

    LogCrash(long seed, Durability durability, Bug bug) {
        this(seed, LogDriver.TINY.withDurability(durability), false, bug);
    }

    /**
     * A run in which the disk is full at times, met by large records too, and each life has a mode
     * of its own.
     */
    static LogCrash onFullDisk(long seed) {
        LogOptions large = LogDriver.TINY.withSegmentBytes(32 << 10, 8, 64, 10 << 10);
        return new LogCrash(seed, large, true, Bug.NONE);
    }

    private LogCrash(long seed, LogOptions options, boolean fillsDisk, Bug bug) {
        this.seed = seed;
        this.options = options;
        this.fillsDisk = fillsDisk;
        this.bug = bug;
        this.random = new SplittableRandom(Seeds.mix(seed, 1));
    }

    long imageCount() {
        return imageCount;
    }

    long nestedCount() {
        return nestedCount;
    }

    /** How often a full disk sent a log into the space kept for that. */
    long reserveUseCount() {
        return reserveUseCount;
    }

    void run(int lives, int operationsPerLife) {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        disk.createDirectories("log");
        disk.syncDirectory("");
        LogOracle oracle = new LogOracle();
        for (int life = 0; life < lives; life++) {
            disk = live(disk, oracle, life, operationsPerLife);
        }
    }

    private SimDisk live(SimDisk disk, LogOracle oracle, int life, int operationCount) {
        Durability[] modes = Durability.values();
        LogOptions own =
                fillsDisk ? options.withDurability(modes[random.nextInt(modes.length)]) : options;
        LogDriver driver = driver(disk, oracle, life, own);
        // What opening has shown must not be lost by a crash right after: it counts as
        // acknowledged.
        driver.resume();
        disk.onOperation(operation -> {
            driver.noteDurable();
            try {
                cutPower(disk, oracle);
            } catch (RuntimeException | AssertionError e) {
                shown = shown == null ? e : shown;
                throw e;
            }
        });
        for (int i = 0; i < operationCount && driver.isOpen(); i++) {
            if (fillsDisk) {
                operateOnFullDisk(driver, disk);
            } else {
                driver.operate();
            }
            requireNothingShown();
        }
        disk.capacity(Long.MAX_VALUE);
        int end = random.nextInt(3);
        if (end == 0) {
            driver.close();
        } else {
            driver.noteDurable();
            driver.kill();
            disk.processDied();
            if (end == 1) {
                oracle.acknowledge(driver.survivesProcess());
            }
        }
        disk.onOperation(operation -> {});
        requireNothingShown();
        // The process was killed and starts again on what it sees, or the power was cut.
        return end == 1 ? disk : disk.crashImage(random.nextLong(), anyProfile());
    }

    private void requireNothingShown() {
        if (shown != null) {
            throw new AssertionError(shown.getMessage(), shown);
        }
    }

    private void operateOnFullDisk(LogDriver driver, SimDisk disk) {
        int chance = random.nextInt(10);
        if (chance == 0) {
            disk.capacity(disk.usedBytes());
        } else if (chance == 1) {
            disk.capacity(Long.MAX_VALUE);
        }
        WriteAheadLog log = driver.log();
        long before = log.statistics().reserveUseCount();
        try {
            if (chance == 0) {
                driver.appendLarge();
                driver.appendLarge();
            }
            driver.operate();
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NO_SPACE || log.failed()) {
                throw e;
            }
        }
        reserveUseCount += log.statistics().reserveUseCount() - before;
    }

    private void cutPower(SimDisk disk, LogOracle oracle) {
        for (Profile profile : PROFILES) {
            imageCount++;
            SimDisk image = disk.crashImage(random.nextLong(), profile);
            SimDisk twin = random.nextInt(8) == 0 ? image.copy() : null;
            NavigableMap<Long, byte[]> replayed = recover(image, oracle);
            oracle.check(replayed);
            if (twin != null) {
                cutPowerDuringRecovery(twin, oracle, replayed);
            }
            if (random.nextInt(4) == 0) {
                goOn(image, oracle, replayed);
            }
        }
    }

    /** A crash inside recovery leads to the same records; one after it to exactly those. */
    private void cutPowerDuringRecovery(
            SimDisk disk, LogOracle oracle, NavigableMap<Long, byte[]> expected) {
        disk.onOperation(operation -> {
            nestedCount++;
            SimDisk nested = disk.crashImage(random.nextLong(), anyProfile());
            oracle.check(recover(nested, oracle));
        });
        LogOracle.compare(expected, recover(disk, oracle));
        disk.onOperation(operation -> {});
        SimDisk after = disk.crashImage(random.nextLong(), anyProfile());
        LogOracle.compare(expected, recover(after, oracle));
    }

    /** A recovered log takes records again, and they survive the next power cut. */
    private void goOn(SimDisk image, LogOracle before, NavigableMap<Long, byte[]> replayed) {
        image.capacity(Long.MAX_VALUE);
        LogOracle oracle = new LogOracle();
        oracle.moveStart(before.start());
        oracle.adopt(replayed);
        LogDriver driver = driver(image, oracle, 0);
        LogOracle.compare(replayed, driver.open());
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            driver.append(random.nextInt(65));
            driver.appendLarge();
        }
        driver.flush();
        oracle.check(recover(image.crashImage(random.nextLong(), anyProfile()), oracle));
        driver.close();
        requireNoHandles(image);
        oracle.check(recover(image, oracle));
    }

    private NavigableMap<Long, byte[]> recover(SimDisk disk, LogOracle oracle) {
        LogOracle reader = new LogOracle();
        reader.moveStart(oracle.start());
        LogDriver driver = driver(disk, reader, 0);
        NavigableMap<Long, byte[]> replayed = driver.open();
        driver.close();
        requireNoHandles(disk);
        return replayed;
    }

    private LogDriver driver(SimDisk disk, LogOracle oracle, long number) {
        return driver(disk, oracle, number, options);
    }

    private LogDriver driver(SimDisk disk, LogOracle oracle, long number, LogOptions own) {
        return new LogDriver(
                Seeds.mix(seed, number),
                bug == Bug.NONE ? disk : new BuggyDisk(disk, bug),
                own,
                oracle);
    }

    private Profile anyProfile() {
        return PROFILES[random.nextInt(PROFILES.length)];
    }

    private static void requireNoHandles(SimDisk disk) {
        if (disk.openHandleCount() != 0) {
            throw new AssertionError("files left open: " + disk.openHandles());
        }
    }
}
