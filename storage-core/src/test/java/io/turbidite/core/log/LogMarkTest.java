package io.turbidite.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Each sync leaves a mark behind what it has covered: damage below one that is on disk is never
 * taken for a torn end, whatever the mode, though the process was killed.
 */
@Timeout(120)
class LogMarkTest {
    private static final int FLIPS = 60;
    private static final int RECORDS = 40;

    private final SimDisk disk = new SimDisk(21, Profile.STRICT);
    private final LogOracle oracle = new LogOracle();

    private LogDriver driver(Durability durability) {
        disk.createDirectories("log");
        disk.syncDirectory("");
        LogOptions options = LogDriver.TINY
                .withSegmentBytes(64 << 10, 8, 64, 2 << 10)
                .withDurability(durability);
        return new LogDriver(21, disk, options, oracle);
    }

    private static void append(LogDriver driver) {
        for (int i = 0; i < RECORDS; i++) {
            driver.append(i % 3 == 0 ? 300 : 40);
        }
    }

    /** Behind the last byte in use of the segment that has any. */
    private int usedBytes() {
        byte[] content = disk.content(segment());
        int used = content.length;
        while (content[used - 1] == 0) {
            used--;
        }
        return used;
    }

    private String segment() {
        return disk.files().stream()
                .filter(name -> {
                    byte[] content = disk.content(name);
                    int first = (int) Segment.FIRST_FRAME_OFFSET;
                    return content.length > first
                            && !Arrays.equals(content, first, first + 32, new byte[32], 0, 32);
                })
                .findFirst()
                .orElseThrow();
    }

    /** How many of the flips between two offsets open without a word though records are gone. */
    private int silentLosses(SimDisk damaged, int from, int to) {
        SplittableRandom random = new SplittableRandom(5);
        int silent = 0;
        for (int i = 0; i < FLIPS; i++) {
            SimDisk copy = damaged.copy();
            copy.flipBit(segment(), random.nextInt(from, to), random.nextInt(8));
            try {
                silent += replay(copy).size() == RECORDS ? 0 : 1;
            } catch (CorruptionException noticed) {
                assertThat(noticed.file()).isEqualTo(segment());
            }
        }
        System.out.printf("LogMarkTest: %d of %d flips cost records silently%n", silent, FLIPS);
        return silent;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    @LeaksOnPurpose("the log was killed")
    void damageBelowASyncIsNoticed(Durability durability) {
        LogDriver driver = driver(durability);
        driver.resume();
        append(driver);
        driver.log().awaitWritten(oracle.end() - 1);
        int from = (int) Segment.FIRST_FRAME_OFFSET;
        int to = usedBytes();
        driver.log().sync();
        driver.kill();
        SimDisk cut = disk.crashImage(3, Profile.STRICT);
        assertThat(replay(cut)).hasSize(RECORDS);
        assertThat(silentLosses(cut, from, to)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void damageBelowACloseIsNoticed(Durability durability) {
        LogDriver driver = driver(durability);
        driver.resume();
        append(driver);
        driver.log().awaitWritten(oracle.end() - 1);
        int from = (int) Segment.FIRST_FRAME_OFFSET;
        int to = usedBytes();
        driver.close();
        SimDisk cut = disk.crashImage(3, Profile.STRICT);
        assertThat(replay(cut)).hasSize(RECORDS);
        assertThat(silentLosses(cut, from, to)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void aSyncOfWhatIsMarkedCostsNothing(Durability durability) {
        LogDriver driver = driver(durability);
        driver.resume();
        driver.log().sync(); // of nothing
        append(driver);
        driver.log().sync();
        long steps = disk.stepCount();
        driver.log().sync();
        driver.tasks().runForMicros(1_000_000);
        driver.log().sync();
        assertThat(disk.stepCount()).isEqualTo(steps);
        driver.close();
    }

    /**
     * What was published is durable; a mark that there is no space for is left out, and nothing
     * waits for it.
     */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void aSyncEndsOnAFullDisk(Durability durability) {
        LogDriver driver = driver(durability);
        driver.resume();
        append(driver);
        driver.log().awaitWritten(oracle.end() - 1);
        disk.capacity(disk.usedBytes());
        driver.log().sync();
        assertThat(driver.log().durableSequence()).isEqualTo(oracle.end());
        assertThat(driver.log().failed()).isFalse();
        disk.capacity(Long.MAX_VALUE);
        driver.tasks().runForMicros(1_000_000);
        append(driver);
        driver.log().sync();
        driver.close();
    }

    /** The mark of the one is durable with the other, though nobody asked for either. */
    @Test
    @LeaksOnPurpose("the log was killed")
    void damageBelowTheLastIntervalIsNoticed() {
        LogDriver driver = driver(Durability.INTERVAL);
        driver.resume();
        append(driver);
        driver.log().awaitWritten(oracle.end() - 1);
        int from = (int) Segment.FIRST_FRAME_OFFSET;
        int to = usedBytes();
        driver.tasks().runForMicros(50_000);
        long syncs = driver.log().statistics().syncCount();
        driver.tasks().runForMicros(500_000);
        assertThat(driver.log().statistics().syncCount()).isEqualTo(syncs);
        driver.kill();
        assertThat(silentLosses(disk, from, to)).isZero();
    }

    private static NavigableMap<Long, byte[]> replay(SimDisk disk) {
        NavigableMap<Long, byte[]> replayed = new TreeMap<>();
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(1, clock)) {
            WriteAheadLog.open(
                            new LogEnvironment(disk, "log", LogDriver.STORE_ID, tasks, clock),
                            LogDriver.TINY,
                            0,
                            (position, payload) -> replayed.put(position, payload.toByteArray()))
                    .close();
        }
        return replayed;
    }
}
