package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Damage on disk (R10, R14): a synced record that is damaged or missing is a
 * {@link CorruptionException}; what was never known to be synced may be cut; nothing is ever a
 * wrong record.
 */
@Timeout(300)
class LogCorruptionTest {
    private static final int STEP = Tier.count(127, 16, 1);

    private final LogOracle oracle = new LogOracle();

    @Test
    void everyFlippedBitOfASealedLogIsNoticedOrProvablyUnused() {
        SimDisk disk = written(3, true);
        int noticed = 0;
        int unused = 0;
        for (String name : disk.files()) {
            int size = disk.content(name).length;
            for (int at = 0; at < size; at += at < 96 ? 1 : STEP) {
                SimDisk copy = disk.copy();
                copy.flipBit(name, at, at / STEP % 8);
                if (opensToTheSame(copy)) {
                    unused++;
                } else {
                    noticed++;
                }
            }
        }
        System.out.printf("LogCorruptionTest: %d flips noticed, %d harmless%n", noticed, unused);
        assertTrue(noticed > 0 && unused > 0);
    }

    @Test
    void everyTruncationOfASealedLogIsNoticedOrProvablyUnused() {
        SimDisk disk = written(4, true);
        for (String name : disk.files()) {
            byte[] content = disk.content(name);
            for (int size = 0; size < content.length; size += size < 128 ? 1 : 4 * STEP) {
                SimDisk copy = disk.copy();
                copy.put(name, Arrays.copyOf(content, size));
                requireSameOrCorruption(copy, name + " cut to " + size);
            }
            SimDisk copy = disk.copy();
            copy.delete(name);
            requireSameOrCorruption(copy, name + " deleted");
        }
    }

    @Test
    void swappedStaleAndForeignSegmentsAreNoticed() {
        SimDisk disk = written(5, true);
        List<String> names = disk.files();
        for (String name : names) {
            for (String other : names) {
                if (!name.equals(other)) {
                    SimDisk copy = disk.copy();
                    copy.put(name, disk.content(other));
                    assertThrows(CorruptionException.class, () -> replay(copy, 0));
                }
            }
        }
        SimDisk copy = disk.copy();
        CorruptionException foreign =
                assertThrows(CorruptionException.class, () -> replay(copy, 0, 0xF0E1, 0));
        assertTrue(foreign.toString().contains("store id"), foreign.toString());
    }

    @Test
    @LeaksOnPurpose("the log that wrote was killed")
    void damageInTheMiddleIsCorruptionAndDamageInTheUnsyncedEndIsCut() {
        SimDisk disk = written(6, false);
        TreeMap<Long, byte[]> all = new TreeMap<>(replay(disk.copy(), 0));
        String last = "";
        int end = 0;
        for (String name : disk.files()) {
            byte[] content = disk.content(name);
            int used = content.length;
            while (content[used - 1] == 0) {
                used--;
            }
            if (used > Segment.FIRST_FRAME_OFFSET) {
                last = name;
                end = used;
            }
        }
        // One record was written after the last sync, so its batch is the end that may be torn.
        SimDisk torn = disk.copy();
        torn.flipBit(last, end - 1, 0);
        NavigableMap<Long, byte[]> cut = replay(torn, 0);
        assertEquals(all.headMap(all.lastKey()).keySet(), cut.keySet());

        SimDisk damaged = disk.copy();
        damaged.flipBit(last, Segment.FIRST_FRAME_OFFSET + 40, 0);
        CorruptionException corrupt =
                assertThrows(CorruptionException.class, () -> replay(damaged, 0));
        assertEquals(last, corrupt.file());
    }

    @Test
    void aMissingSegmentThatTheManifestNeedsIsNoticed() {
        SimDisk disk = written(7, true);
        SimDisk copy = disk.copy();
        for (String name : disk.files()) {
            copy.delete(name);
        }
        assertThrows(CorruptionException.class, () -> replay(copy, 10));
        SimDisk beyond = disk.copy();
        assertThrows(CorruptionException.class, () -> replay(beyond, 100_000));
    }

    @Test
    void aSegmentThatWasEmptiedOrHasLostItsBeginningIsNamed() {
        SimDisk disk = written(10, true);
        String first = disk.files().getFirst();
        long start = replay(disk.copy(), 0).firstKey() + 1;
        for (int size : new int[] {0, 1, (int) Segment.FIRST_FRAME_OFFSET - 1}) {
            SimDisk copy = disk.copy();
            copy.put(first, Arrays.copyOf(disk.content(first), size));
            CorruptionException emptied =
                    assertThrows(CorruptionException.class, () -> replay(copy, start));
            assertEquals(first, emptied.file());
        }
        SimDisk copy = disk.copy();
        copy.flipBit(first, Segment.FIRST_FRAME_OFFSET + 5, 0);
        CorruptionException headless =
                assertThrows(CorruptionException.class, () -> replay(copy, start));
        assertTrue(headless.toString().contains(first), headless.toString());
    }

    @Test
    void anOlderAndANewerFormatAreNamed() {
        SimDisk disk = written(8, true);
        String name = disk.files().getFirst();
        byte[] content = disk.content(name);
        for (int version : new int[] {Segment.FORMAT_VERSION - 1, Segment.FORMAT_VERSION + 1}) {
            var other = new io.turbidite.core.format.FileHeader(
                    Segment.FORMAT, version, 13, LogDriver.STORE_ID, 1);
            other.write(java.lang.foreign.MemorySegment.ofArray(content), 0);
            disk.put(name, content);
            String message = assertThrows(FormatVersionException.class, () -> replay(disk, 0))
                    .toString();
            assertTrue(message.contains("version " + version), message);
            assertTrue(message.contains("version " + Segment.FORMAT_VERSION), message);
        }
    }

    /** The bug: the store did not open where a power cut had left but the name of a segment. */
    @Test
    void aNewSegmentWhoseBlocksShowWhatAnotherFileHasLeftIsNotNeeded() {
        SimDisk disk = written(11, true);
        String last = disk.files().getLast();
        byte[] content = new byte[disk.content(last).length];
        new io.turbidite.core.format.FileHeader("manifest", 1, 0, LogDriver.STORE_ID, 5)
                .write(java.lang.foreign.MemorySegment.ofArray(content), 0);
        long number = Segment.numberOf(last.substring(last.lastIndexOf('/') + 1));
        SimDisk torn = disk.copy();
        torn.put(Segment.name("log", number + 1), content);
        assertTrue(opensToTheSame(torn));
        torn.put(disk.files().getFirst(), content);
        CorruptionException needed = assertThrows(CorruptionException.class, () -> replay(torn, 1));
        assertTrue(needed.toString().contains(disk.files().getFirst()), needed.toString());
    }

    @Test
    @LeaksOnPurpose("the log that wrote was killed")
    void randomBytesNeverDoWorseThanCorruption() {
        SimDisk disk = written(9, false);
        SplittableRandom random = new SplittableRandom(Seeds.of("LogCorruptionTest"));
        int count = Tier.count(50, 400, 200_000);
        for (int i = 0; i < count; i++) {
            SimDisk copy = disk.copy();
            List<String> names = disk.files();
            String name = names.get(random.nextInt(names.size()));
            byte[] content = disk.content(name);
            int flips = 1 + random.nextInt(30);
            for (int flip = 0; flip < flips; flip++) {
                int at = random.nextInt(content.length);
                int run = Math.min(content.length - at, 1 + random.nextInt(600));
                byte[] noise = new byte[run];
                random.nextBytes(noise);
                System.arraycopy(noise, 0, content, at, run);
            }
            copy.put(name, content);
            try {
                oracle.check(replay(copy, 0));
            } catch (CorruptionException e) {
                assertTrue(e.file().startsWith("log"), e.getMessage());
            } catch (AssertionError e) {
                // A shorter prefix is possible where noise hits all that proves the rest; never
                // another record.
                assertTrue(e.toString().contains("is lost"), e.toString());
            }
        }
    }

    /** Whether the log opens to all its records; if not it must say that it is damaged. */
    private boolean opensToTheSame(SimDisk disk) {
        try {
            NavigableMap<Long, byte[]> replayed = replay(disk, 0);
            oracle.check(replayed);
            assertEquals(oracle.end(), replayed.lastKey() + 1);
            return true;
        } catch (CorruptionException | FormatVersionException e) {
            return false;
        }
    }

    private void requireSameOrCorruption(SimDisk disk, String what) {
        try {
            boolean _ = opensToTheSame(disk);
        } catch (AssertionError e) {
            throw new AssertionError(what + ": " + e.getMessage(), e);
        }
    }

    /**
     * A log of several segments and sessions; unsealed ones end in a record that was not synced.
     */
    private SimDisk written(long seed, boolean sealed) {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        LogOptions options = LogDriver.TINY.withDurability(Durability.BUFFERED);
        LogDriver driver = new LogDriver(seed, disk, options, oracle);
        for (int session = 0; session < 3; session++) {
            driver.resume();
            for (int i = 0; i < 20; i++) {
                driver.append(i);
                driver.append(400 + i);
                driver.flush();
            }
            if (session < 2) {
                driver.close();
            }
        }
        if (sealed) {
            driver.close();
        } else {
            driver.append(64);
            driver.log().awaitWritten(oracle.end() - 1);
            driver.kill();
        }
        return disk.copy();
    }

    private static NavigableMap<Long, byte[]> replay(SimDisk disk, long start) {
        return replay(disk, start, LogDriver.STORE_ID, 0);
    }

    private static NavigableMap<Long, byte[]> replay(
            SimDisk disk, long start, long storeId, long seed) {
        NavigableMap<Long, byte[]> replayed = new TreeMap<>();
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (tasks) {
            WriteAheadLog.open(
                            new LogEnvironment(disk, "log", storeId, tasks, clock),
                            LogDriver.TINY,
                            start,
                            (position, payload) -> replayed.put(position, payload.toByteArray()))
                    .close();
        } finally {
            assertEquals(0, disk.openHandleCount());
        }
        return replayed;
    }
}
