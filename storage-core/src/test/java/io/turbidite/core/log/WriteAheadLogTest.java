package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/** The log on the real disk with real threads: what is published is replayed, in order. */
@Timeout(20)
class WriteAheadLogTest {
    static final LogOptions SMALL =
            LogOptions.defaults().withSegmentBytes(64 << 10, 16, 256, 8 << 10);

    @TempDir
    Path directory;

    /**
     * No thread could be made for the second worker, say. The first must not work on what is given
     * back.
     */
    @Test
    void aLogWhoseWriterCanNotBeStartedLeavesNothingRunningAndOpensAgain() {
        try (ThreadTasks real = ThreadTasks.create("log-test")) {
            List<String> running = new ArrayList<>();
            Tasks refusing = new Tasks() {
                @Override
                public Worker start(String name, long idleMicros, Step step) {
                    if (name.equals("log-writer")) {
                        throw new OutOfMemoryError("no thread, says the test");
                    }
                    running.add(name);
                    CountDownLatch stepped = new CountDownLatch(2);
                    Worker worker = real.start(name, idleMicros, () -> {
                        stepped.countDown();
                        return step.run() || stepped.getCount() > 0;
                    });
                    try {
                        stepped.await(); // it has had the time to make files of its own
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    return new Worker() {
                        @Override
                        public void wake() {
                            worker.wake();
                        }

                        @Override
                        public void close() {
                            worker.close();
                            running.remove(name);
                        }
                    };
                }

                @Override
                public void await(BooleanSupplier condition) {
                    real.await(condition);
                }

                @Override
                public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
                    return real.awaitUnlessInterrupted(condition);
                }

                @Override
                public void signal() {
                    real.signal();
                }

                @Override
                public void close() {
                    throw new AssertionError("the log closes its workers, not its tasks");
                }
            };
            LogEnvironment environment = new LogEnvironment(
                    RealDisk.open(directory), "log", 77, refusing, Clock.system());
            assertThrows(
                    OutOfMemoryError.class,
                    () -> WriteAheadLog.open(environment, SMALL, 0, (sequence, payload) -> {}));
            assertEquals(List.of(), running);
        }
        try (Opened opened = new Opened(SMALL, 0)) {
            assertEquals(Map.of(), opened.replayed);
        }
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void replaysWhatWasPublishedInOrder(Durability durability) {
        LogOptions options = SMALL.withDurability(durability);
        Map<Long, String> published = new TreeMap<>();
        for (int session = 0; session < 3; session++) {
            try (Opened opened = new Opened(options, 0)) {
                assertEquals(published, opened.replayed);
                for (int i = 0; i < 500; i++) {
                    String text = "session " + session + " record " + i + "x".repeat(i * 3);
                    long sequence = opened.log.append(utf8(text));
                    published.put(sequence, text);
                }
                assertTrue(opened.log.position() > published.size());
            }
        }
        try (Opened opened = new Opened(options, 0)) {
            assertEquals(published, opened.replayed);
        }
    }

    @Test
    void manyProducersShareTheRing() throws InterruptedException {
        Map<Long, String> published = new ConcurrentSkipListMap<>();
        LogOptions options = SMALL.withDurability(Durability.BUFFERED);
        try (Opened opened = new Opened(options, 0);
                Tasks producers = ThreadTasks.create("producers")) {
            CountDownLatch done = new CountDownLatch(4);
            for (int producer = 0; producer < 4; producer++) {
                int id = producer;
                int[] count = {0};
                producers.start("producer-" + id, 1_000, () -> {
                    if (count[0] == 2_000) {
                        done.countDown();
                    }
                    if (count[0]++ >= 2_000) {
                        return false;
                    }
                    Slice text = utf8(id + ":" + count[0]);
                    Claim claim = opened.log.claim(count[0] % 3 == 0 ? 300 : 30);
                    if (count[0] % 7 == 0) {
                        claim.cancel();
                        return true;
                    }
                    MemorySegment.copy(
                            text.segment(), 0, claim.segment(), claim.offset(), text.length());
                    long sequence = claim.publish(text.length());
                    published.put(sequence, text.toUtf8());
                    return true;
                });
            }
            done.await();
        }
        assertEquals(4 * (2_000 - 2_000 / 7), published.size());
        try (Opened opened = new Opened(options, 0)) {
            assertEquals(published, opened.replayed);
        }
    }

    @Test
    void truncationDeletesSegmentsAndReplayStartsAtThePosition() {
        Map<Long, String> kept = new TreeMap<>();
        long position;
        try (Opened opened = new Opened(SMALL, 0)) {
            for (int i = 0; i < 1_000; i++) {
                opened.log.append(utf8("dropped " + i + "y".repeat(150)));
            }
            opened.log.flush();
            long before = opened.log.bytes();
            position = opened.log.position();
            opened.log.truncateBefore(position);
            assertTrue(opened.log.bytes() < before / 2);
            for (int i = 0; i < 500; i++) {
                String text = "kept " + i;
                kept.put(opened.log.append(utf8(text)), text);
            }
            assertTrue(opened.log.statistics().recycledCount() <= 1);
        }
        try (Opened opened = new Opened(SMALL, position)) {
            assertEquals(kept, opened.replayed);
        }
    }

    @Test
    void aCleanCloseKeepsNoSegmentThatHoldsNothing() {
        long position = 0;
        for (int session = 0; session < 3; session++) {
            try (Opened opened = new Opened(SMALL, position)) {
                assertEquals(Map.of(), opened.replayed);
                for (int i = 0; i < 1_000; i++) {
                    opened.log.append(utf8("dropped " + i + "y".repeat(150)));
                }
                opened.log.flush();
                position = opened.log.position();
                opened.log.truncateBefore(position);
            }
            assertEquals(Segment.CLOSING_BYTES, bytesOfTheLog());
        }
        try (Opened onlyReads = new Opened(SMALL, position)) {
            assertEquals(Map.of(), onlyReads.replayed);
            assertEquals(0, onlyReads.log.statistics().createdCount());
        }
        Map<Long, String> kept = new TreeMap<>();
        try (Opened opened = new Opened(SMALL, position)) {
            kept.put(opened.log.append(utf8("kept")), "kept");
        }
        try (Opened opened = new Opened(SMALL, position)) {
            assertEquals(kept, opened.replayed);
        }
        assertEquals(Segment.CLOSING_BYTES + SMALL.segmentBytes(), bytesOfTheLog());
    }

    @Test
    void aCleanCloseDeletesTheSpareButNoRecord() {
        Map<Long, String> kept = new TreeMap<>();
        try (Opened opened = new Opened(SMALL, 0)) {
            for (int i = 0; i < 150; i++) {
                String text = "kept " + i + "y".repeat(150);
                kept.put(opened.log.append(utf8(text)), text);
            }
            opened.log.flush();
            opened.tasks.await(() -> opened.log.statistics().createdCount() == 2);
        }
        assertEquals(SMALL.segmentBytes(), bytesOfTheLog());
        try (Opened opened = new Opened(SMALL, 0)) {
            assertEquals(kept, opened.replayed);
        }
    }

    private long bytesOfTheLog() {
        Disk disk = RealDisk.open(directory);
        long bytes = 0;
        for (String name : disk.list("log")) {
            try (DiskFile file = disk.openReadOnly("log/" + name)) {
                bytes += file.size();
            }
        }
        return bytes;
    }

    @Test
    void refusesPayloadsAboveTheLimitAndUseAfterClose() {
        Opened opened = new Opened(SMALL, 0);
        assertThrows(InvalidRequestException.class, () -> opened.log.claim((8 << 10) + 1));
        opened.log.claim(8 << 10).publish(8 << 10);
        opened.close();
        assertThrows(ClosedException.class, () -> opened.log.claim(1));
    }

    static Slice utf8(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private final class Opened implements AutoCloseable {
        final Map<Long, String> replayed = new TreeMap<>();
        final Tasks tasks = ThreadTasks.create("log-test");
        final WriteAheadLog log;

        Opened(LogOptions options, long startPosition) {
            Disk disk = RealDisk.open(directory);
            log = WriteAheadLog.open(
                    new LogEnvironment(disk, "log", 77, tasks, Clock.system()),
                    options,
                    startPosition,
                    (position, payload) -> replayed.put(position, payload.toUtf8()));
        }

        @Override
        public void close() {
            log.close();
            tasks.close();
        }
    }
}
