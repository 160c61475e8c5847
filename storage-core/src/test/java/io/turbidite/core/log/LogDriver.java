package io.turbidite.core.log;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Runs a log through seeded random operations and keeps the oracle. <em>Confined to one
 * thread.</em>
 */
final class LogDriver implements AutoCloseable {
    static final long STORE_ID = 0x5EED_0123_4567_89ABL;

    /**
     * As small as it goes: segments fill, rings wrap and memory runs short within a few operations.
     */
    static final LogOptions TINY = LogOptions.defaults()
            .withSegmentBytes(8 << 10, 8, 64, 2 << 10)
            .withIntervalMicros(3_000);

    final Disk disk;
    final LogOptions options;
    final LogOracle oracle;
    final SimClock clock = new SimClock();
    private final SplittableRandom random;
    private final long seed;
    private SimTasks tasks;
    private @Nullable WriteAheadLog log;

    private long survivesProcess;

    LogDriver(long seed, Disk disk, LogOptions options, LogOracle oracle) {
        this.seed = seed;
        this.disk = disk;
        this.options = options;
        this.oracle = oracle;
        this.random = new SplittableRandom(seed);
        this.tasks = new SimTasks(seed, clock);
    }

    /** Opens the log and returns what it replays. */
    NavigableMap<Long, byte[]> open() {
        NavigableMap<Long, byte[]> replayed = new TreeMap<>();
        if (disk instanceof BuggyDisk buggy) {
            buggy.opening = true;
        }
        try {
            tasks = new SimTasks(seed, clock);
            log = WriteAheadLog.open(
                    new LogEnvironment(disk, "log", STORE_ID, tasks, clock),
                    options,
                    oracle.start(),
                    (position, payload) -> {
                        byte[] previous = replayed.put(position, payload.toByteArray());
                        if (previous != null) {
                            throw new AssertionError("replayed twice: " + position);
                        }
                    });
        } finally {
            if (disk instanceof BuggyDisk buggy) {
                buggy.opening = false;
            }
        }
        return replayed;
    }

    boolean isOpen() {
        return log != null;
    }

    WriteAheadLog log() {
        return Objects.requireNonNull(log);
    }

    SimTasks tasks() {
        return tasks;
    }

    /** What the log says is durable is acknowledged, whether anybody has asked or not. */
    void noteDurable() {
        if (log != null) {
            oracle.acknowledge(log.durableSequence());
        }
    }

    /** One random operation. */
    void operate() {
        switch (random.nextInt(32)) {
            case 0, 1 -> interleave();
            case 2, 3 -> awaitDurable();
            case 4 -> {
                if (random.nextBoolean()) {
                    sync();
                } else {
                    flush();
                }
            }
            case 5 -> {
                truncate();
                if (random.nextInt(8) == 0) {
                    rest(); // the log lets its space go
                }
            }
            case 6, 7 -> tasks.runForMicros(random.nextInt(6_000));
            case 8 -> {
                if (random.nextBoolean()) {
                    truncate(); // a close that finds nothing to keep
                }
                reopen();
            }
            case 9, 10, 11 -> appendLarge();
            case 12, 13, 14, 15 -> {
                boolean _ = tasks.step();
            }
            default -> append(random.nextInt(65));
        }
    }

    void append(int length) {
        publish(log().claim(length), length);
    }

    void appendLarge() {
        append(65 + random.nextInt(random.nextInt(4) == 0 ? options.payloadBytesMax() - 65 : 400));
    }

    /** Several claims at once, ended in another order, some of them cancelled. */
    private void interleave() {
        List<Claim> claims = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        try {
            for (int i = 0; i < count; i++) {
                claims.add(log().claim(40));
            }
        } finally {
            Collections.shuffle(claims, random);
            for (Claim claim : claims) {
                if (random.nextInt(3) == 0) {
                    claim.cancel();
                } else {
                    publish(claim, random.nextInt(41));
                }
                if (random.nextBoolean()) {
                    boolean _ = tasks.step();
                }
            }
        }
    }

    private void publish(Claim claim, int length) {
        byte[] payload = LogOracle.payload(claim.sequence(), length, random);
        MemorySegment.copy(payload, 0, claim.segment(), Bytes.U8, claim.offset(), length);
        oracle.publish(claim.sequence(), payload);
        long _ = claim.publish(length);
    }

    void awaitDurable() {
        long last = oracle.end() - 1;
        if (last >= oracle.start() && log().position() > last) {
            log().awaitDurable(last);
            switch (options.durability()) {
                case SYNC -> oracle.acknowledge(last + 1);
                case INTERVAL, PROCESS -> survivesProcess = last + 1;
                case BUFFERED -> {}
            }
        }
    }

    void flush() {
        long end = oracle.end();
        log().flush();
        oracle.acknowledge(end);
    }

    void sync() {
        long end = oracle.end();
        log().sync();
        oracle.acknowledge(end);
    }

    /** As a store does after installing components: flush, manifest, truncate. */
    void truncate() {
        long position = log().position();
        log().flush();
        oracle.acknowledge(oracle.end());
        oracle.moveStart(position);
        log().truncateBefore(position);
    }

    /** Nobody writes for so long that a log of which nothing is needed gives its space back. */
    void rest() {
        tasks.runForMicros(WriteAheadLog.LET_GO_NANOS / 1_000 + 5_000_000);
    }

    private void reopen() {
        close();
        resume();
    }

    /** Opens, checks what is replayed, and goes on from that. */
    void resume() {
        NavigableMap<Long, byte[]> replayed = open();
        oracle.check(replayed);
        oracle.adopt(replayed);
    }

    /** What a killed process leaves behind must hold all records below this. */
    long survivesProcess() {
        return survivesProcess;
    }

    /** Stops as a killed process does: no seal. */
    void kill() {
        tasks.close();
        log = null;
    }

    /** Closes, whatever state the log is in. */
    void closeAnyhow() {
        try {
            close();
        } catch (StorageException e) {
            // A fault was injected; the handles are what matters here, and the caller counts them.
            log = null;
        }
    }

    @Override
    public void close() {
        WriteAheadLog closing = log;
        log = null;
        try {
            if (closing != null) {
                closing.close();
                oracle.acknowledge(closing.durableSequence());
            }
        } finally {
            tasks.close();
        }
    }
}
