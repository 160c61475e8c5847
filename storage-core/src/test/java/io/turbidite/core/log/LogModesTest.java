package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** What each durability mode promises, and admission under pressure. */
@Timeout(60)
class LogModesTest {
    @Test
    void writersShareASync() {
        LogDriver driver = driver(Durability.SYNC);
        for (int i = 0; i < 6; i++) {
            driver.append(10);
        }
        driver.awaitDurable();
        LogStatistics statistics = driver.log().statistics();
        assertEquals(6, statistics.recordCount() - 1); // with the session's mark
        assertEquals(2, statistics.syncCount()); // the mark's, the group's
        driver.close();
    }

    @Test
    void anIntervalBoundsWhatAPowerCutCanLose() {
        LogDriver driver = driver(Durability.INTERVAL);
        driver.append(10);
        driver.log().awaitDurable(driver.oracle.end() - 1);
        assertTrue(driver.log().durableSequence() < driver.oracle.end());
        driver.tasks().runForMicros(4 * LogDriver.TINY.intervalMicros());
        assertEquals(driver.oracle.end(), driver.log().durableSequence());
        driver.close();
    }

    /** The writer looks for records a thousand times a second only while there are some. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void aLogAtRestIsAwakeAtTheNextRecord(Durability durability) {
        LogDriver driver = driver(durability);
        driver.append(10);
        driver.tasks().runForMicros(1_000_000);
        long steps = driver.tasks().stepCount();
        driver.tasks().runForMicros(10_000_000);
        long stepsOfKeeper = 10_000_000 / LogDriver.TINY.intervalMicros();
        long stepsOfWriter = driver.tasks().stepCount() - steps - stepsOfKeeper;
        assertTrue(stepsOfWriter < 1_000, stepsOfWriter + " steps in ten idle seconds");
        long records = driver.log().statistics().recordCount();
        for (int i = 1; i < 20; i++) {
            driver.append(10);
            driver.tasks().runForMicros(5_000);
            assertEquals(records + i, driver.log().statistics().recordCount());
        }
        driver.close();
    }

    /** Nobody syncs it, and no worker has run: what has been waited for lies in the file. */
    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"INTERVAL", "PROCESS"})
    @LeaksOnPurpose("the process was killed")
    void aKilledProcessLosesNothingThatWasWaitedFor(Durability durability) {
        LogDriver driver = driver(durability);
        for (int i = 0; i < 5; i++) {
            driver.append(10);
            driver.log().awaitDurable(driver.oracle.end() - 1);
        }
        assertTrue(driver.log().durableSequence() < driver.oracle.end());
        long end = driver.oracle.end();
        driver.kill();
        ((SimDisk) driver.disk).processDied();
        driver.oracle.acknowledge(end);
        driver.resume();
        driver.close();
    }

    /**
     * The record behind an open claim waits for it: what a call returns from has no gap before it.
     */
    @Test
    @Timeout(20)
    void whatIsWaitedForHasNoGapBeforeIt() throws Exception {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.createDirectories("log");
        LogOptions options = LogDriver.TINY.withDurability(Durability.PROCESS);
        try (Tasks tasks = ThreadTasks.create("gap");
                WriteAheadLog log = WriteAheadLog.open(
                        new LogEnvironment(disk, "log", 1, tasks, Clock.system()),
                        options,
                        0,
                        (_, _) -> {})) {
            Claim open = log.claim(8);
            Claim behind = log.claim(8);
            long sequence = behind.publish(8);
            Thread waiter = Thread.ofPlatform().start(() -> log.awaitDurable(sequence));
            while (waiter.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            assertTrue(waiter.isAlive());
            open.cancel();
            waiter.join();
        }
    }

    @Test
    void withoutDurabilityOnlyAFlushSyncs() {
        LogDriver driver = driver(Durability.BUFFERED);
        driver.append(10);
        driver.tasks().runForMicros(60_000_000);
        assertTrue(driver.log().durableSequence() < driver.oracle.end());
        driver.flush();
        assertEquals(driver.oracle.end(), driver.log().durableSequence());
        driver.close();
    }

    @Test
    void openingWithoutWritingWritesNothing() {
        LogDriver driver = driver(Durability.SYNC);
        driver.append(10);
        driver.close();
        SimDisk disk = (SimDisk) driver.disk;
        long steps = disk.stepCount();
        for (int i = 0; i < 3; i++) {
            driver.resume();
            // not behind the seal: nothing proves that this is on disk
            assertEquals(driver.oracle.end(), driver.log().position());
            driver.close();
        }
        assertEquals(steps, disk.stepCount());
    }

    @Test
    void anOpenClaimHoldsThePositionBack() {
        LogDriver driver = driver(Durability.BUFFERED);
        driver.append(1);
        Claim open = driver.log().claim(8);
        driver.append(1);
        assertEquals(open.sequence(), driver.log().position());
        open.cancel();
        assertEquals(driver.oracle.end(), driver.log().position());
        assertThrows(IllegalStateException.class, open::cancel);
        assertThrows(
                InvalidRequestException.class,
                () -> driver.log().truncateBefore(driver.oracle.end() + 1));
        driver.close();
    }

    /**
     * Who has met an error gives up what he may have published: the ring knows, and nobody waits.
     */
    @Test
    void aClaimCanBeGivenUpWhateverHasBecomeOfIt() {
        LogDriver driver = driver(Durability.SYNC);
        driver.append(1);
        Claim open = driver.log().claim(8);
        long sequence = open.sequence();
        driver.append(1);
        assertTrue(open.giveUp(sequence));
        assertFalse(open.giveUp(sequence));
        driver.awaitDurable();
        Claim published = driver.log().claim(8);
        long second = published.publish(0);
        assertFalse(published.giveUp(second));
        Claim large = driver.log().claim(1_000);
        assertTrue(large.giveUp(large.sequence()));
        for (int i = 0; i < 3 * LogDriver.TINY.ringSlots(); i++) {
            driver.append(1_000); // the slots, and the memory of the large one, are there again
        }
        assertFalse(published.giveUp(second));
        driver.log().flush();
        driver.close();
    }

    @Test
    void aFailedPreparationIsTriedAgainAndFailsNothing() {
        LogDriver driver = driver(Durability.SYNC);
        SimDisk disk = (SimDisk) driver.disk;
        driver.append(1);
        FaultScript script = disk.fault(
                FaultScript.with(Fault.EMFILE).on(OperationKind.CREATE).forever());
        StorageIoException refused = null;
        for (int i = 0; i < 1_000 && refused == null; i++) {
            try {
                driver.append(60);
            } catch (StorageIoException e) {
                refused = e;
            }
        }
        assertEquals(
                StorageIoException.Kind.TOO_MANY_FILES, refused == null ? null : refused.kind());
        assertFalse(driver.log().failed());
        // Not tried again by every claim that is refused.
        long tries = script.hitCount();
        for (int i = 0; i < 100; i++) {
            assertThrows(StorageIoException.class, () -> driver.append(60));
        }
        assertTrue(script.hitCount() <= tries + 1, script.toString());
        disk.clearFaults();
        driver.tasks().runForMicros(300_000);
        driver.append(60);
        driver.close();
        driver.resume();
        driver.close();
    }

    /** The file holds nothing, and a full disk refuses to write even its header. */
    @Test
    void aFullDiskIsNoReasonNotToOpen() {
        LogDriver driver = driver(Durability.INTERVAL);
        driver.append(10);
        driver.close();
        SimDisk disk = (SimDisk) driver.disk;
        disk.put("log/0000000077.log", new byte[0]);
        disk.capacity(disk.usedBytes());
        driver.resume();
        assertFalse(disk.exists("log/0000000077.log"));
        driver.close();
    }

    /** There may be no room for the mark; nobody else claims, so nobody else asks for room. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void aSyncOnAFullDiskEnds(Durability durability) {
        long reserveUses = 0;
        for (int length = 0; length < 2_000; length += 8) {
            LogDriver driver = driver(durability);
            SimDisk disk = (SimDisk) driver.disk;
            if (length % 16 == 0) {
                driver.tasks().runForMicros(10_000); // then no claim has ever waited
            }
            driver.append(length);
            driver.tasks().runForMicros(10_000);
            disk.capacity(disk.usedBytes());
            driver.append(2_000);
            driver.sync();
            assertEquals(driver.oracle.end(), driver.log().durableSequence());
            assertFalse(driver.log().failed());
            reserveUses += driver.log().statistics().reserveUseCount();
            driver.close();
        }
        assertEquals(durability == Durability.BUFFERED, reserveUses > 0);
    }

    /**
     * Real threads on a disk that is nearly full, with truncation going on: nothing is lost or
     * doubled.
     */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void manyProducersOnAFullDisk(Durability durability) throws InterruptedException {
        SimDisk disk = new SimDisk(5, Profile.STRICT);
        disk.capacity(48 << 10);
        LogOptions options = LogDriver.TINY.withDurability(durability);
        Map<Long, byte[]> published = new ConcurrentSkipListMap<>();
        AtomicLong start = new AtomicLong();
        AtomicLong refusals = new AtomicLong();
        int producers = 4;
        int records = 1_500;
        try (Tasks tasks = ThreadTasks.create("full-disk")) {
            LogEnvironment environment = new LogEnvironment(disk, "log", 1, tasks, Clock.system());
            WriteAheadLog log =
                    WriteAheadLog.open(environment, options, 0, (position, payload) -> {});
            CountDownLatch done = new CountDownLatch(producers);
            for (int i = 0; i < producers; i++) {
                SplittableRandom random = new SplittableRandom(Seeds.mix(Seeds.of("full"), i));
                int[] left = {records};
                tasks.start("producer-" + i, 1_000, () -> {
                    if (left[0] == 0) {
                        left[0] = -1;
                        done.countDown();
                    }
                    if (left[0] < 0) {
                        return false;
                    }
                    byte[] payload = new byte[random.nextInt(10) == 0 ? 700 : 40];
                    random.nextBytes(payload);
                    try {
                        long sequence = log.append(io.turbidite.core.bytes.Slice.of(payload));
                        published.put(sequence, payload);
                        log.awaitDurable(sequence);
                        left[0]--;
                    } catch (StorageIoException e) {
                        refusals.incrementAndGet();
                        long position = log.position();
                        log.flush();
                        start.accumulateAndGet(position, Math::max);
                        log.truncateBefore(position);
                    }
                    return true;
                });
            }
            done.await();
            log.close();
        }
        assertEquals(producers * records, published.size());
        assertTrue(refusals.get() > 0, "the disk was never full");
        assertEquals(0, disk.openHandleCount());
        Map<Long, byte[]> replayed = new TreeMap<>();
        try (Tasks tasks = ThreadTasks.create("replay")) {
            WriteAheadLog.open(
                            new LogEnvironment(disk, "log", 1, tasks, Clock.system()),
                            options,
                            start.get(),
                            (position, payload) -> replayed.put(position, payload.toByteArray()))
                    .close();
        }
        published.keySet().removeIf(sequence -> sequence < start.get());
        assertEquals(published.keySet(), replayed.keySet());
        published.forEach((sequence, payload) ->
                assertTrue(Arrays.equals(payload, replayed.get(sequence)), "" + sequence));
    }

    private static LogDriver driver(Durability durability) {
        SimDisk disk = new SimDisk(3, Profile.STRICT);
        LogDriver driver =
                new LogDriver(3, disk, LogDriver.TINY.withDurability(durability), new LogOracle());
        driver.resume();
        return driver;
    }
}
