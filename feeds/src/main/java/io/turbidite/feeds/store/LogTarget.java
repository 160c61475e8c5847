package io.turbidite.feeds.store;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.store.Delivery.DurableListener;
import io.turbidite.feeds.store.LogPositionsFile.State;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.RejectedRecord;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A hash log, written by one session: each record is there once however often the feed is killed.
 *
 * <p>A log has no atomic batch, and positions are kept in a file of their own, now and then: each
 * says that all of the source before it lies in the log below an address, and is written once the
 * log is durable to there. So after a crash the log may hold records from behind the last position,
 * in the order of the source. Delivery begins there again, and as long as a record of the source
 * equals the next one behind the address, it is there already and is passed over. One that does not
 * was refused before, and is refused again; the first that the log takes is the first that was
 * lost.
 *
 * <p>What others append to the log while the feed does not run is left alone: it equals nothing of
 * the source that was lost, unless it is the same records.
 */
final class LogTarget implements DeliveryTarget {
    private static final String DIRECTORY = "feeds/";
    private static final long COMMIT_NANOS = 250_000_000;

    private final HashLog log;
    private final Clock clock;
    private final IngestSession session;
    private final LogPositionsFile positionsFile;
    private final long letterBytes;
    private final Map<String, PartitionState> files = new HashMap<>();
    private final Slice slice = new Slice();
    private final ByteSink refused = new ByteSink(64, Integer.MAX_VALUE - 16);
    private String reason = "";
    private @Nullable State pending;
    private long committedNanos;

    /**
     * Addresses of records behind the last position, oldest first; empty once the source is past
     * them.
     */
    private long[] behind = new long[0];

    private int nextBehind;

    /**
     * Whether records of a batch may be in the log that no position tells of. Then none is written:
     * its address would be behind them, and the next run take them again.
     */
    private boolean isTorn;

    private LogTarget(
            HashLog log, Clock clock, LogPositionsFile positionsFile, State state, String feed) {
        this.log = log;
        this.clock = clock;
        this.positionsFile = positionsFile;
        this.letterBytes = state.letterBytes();
        files.putAll(state.files());
        String name = "feed " + feed;
        session = log.openSession(name, log.recoveredSerial(name), this::refuse);
        committedNanos = clock.monotonicNanos();
    }

    static LogTarget open(HashLog log, Disk disk, Clock clock, String feed) {
        LogPositionsFile positionsFile =
                new LogPositionsFile(disk, DIRECTORY + feed + ".positions");
        State state = positionsFile.read();
        if (state == null) {
            State first = new State(log.log().safeTail(), 0, Map.of());
            positionsFile.write(first);
            return new LogTarget(log, clock, positionsFile, first, feed);
        }
        long[] behind = addressesFrom(log, state.address());
        LogTarget target = new LogTarget(log, clock, positionsFile, state, feed);
        target.behind = behind;
        return target;
    }

    /** A log is written by one session. */
    @Override
    public DeliveryTarget another() {
        return this;
    }

    @Override
    public long letterBytes() {
        return letterBytes;
    }

    /** Also of records that somebody deleted: they were taken from the source. */
    private static long[] addressesFrom(HashLog log, long address) {
        long[] found = new long[64];
        int count = 0;
        try (LogReader reader = log.openReader("feed")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(Math.max(address, log.log().begin()), Long.MAX_VALUE);
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                    if (count == found.length) {
                        found = Arrays.copyOf(found, 2 * count);
                    }
                    found[count++] = scan.address();
                }
            }
        }
        return Arrays.copyOf(found, count);
    }

    @Override
    public @Nullable PartitionState taken(String partition) {
        synchronized (files) {
            return files.get(partition);
        }
    }

    @Override
    public Map<String, PartitionState> taken() {
        synchronized (files) {
            return Map.copyOf(files);
        }
    }

    @Override
    public @Nullable PartitionState last(String partition) {
        return taken(partition);
    }

    @Override
    public Taken take(Batch batch, LetterWriter letters, DurableListener durable) {
        if (isTorn) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "write",
                    positionsFile.name(),
                    "a batch before it failed; what the log has of that is known when the feed is opened again",
                    null);
        }
        isTorn = true;
        refused.clear();
        List<Rejection> refusals = new ArrayList<>();
        int taken = 0;
        int passed = 0;
        int refusedCount = 0;
        for (int i = 0; i < batch.recordCount(); i++) {
            Slice record = batch.record(i, slice);
            if (isThere(record)) {
                passed++;
            } else if (session.append(record.segment(), record.offset(), record.length())) {
                behind = new long[0];
                taken++;
            } else {
                batch.appendLetter(i, reason, refused);
                refusals.add(batch.rejection(i, reason));
                refusedCount++;
            }
        }
        if (!letters.append(refused.asSlice(slice))) {
            throw new IllegalStateException("a log has one lane");
        }
        batch.rejections().forEach(one -> durable.rejected(batch.partition(), one));
        refusals.forEach(one -> durable.rejected(batch.partition(), one));
        note(batch, taken + passed, refusedCount);
        isTorn = false;
        commitIfDue(letters.byteCount(), durable);
        return new Taken(taken, passed, refusedCount);
    }

    /** Whether the record equals the next one behind the last position, which is then passed. */
    private boolean isThere(Slice record) {
        if (nextBehind >= behind.length) {
            return false;
        }
        try (LogReader reader = log.openReader("feed")) {
            reader.protect();
            long word = reader.seekRecord(behind[nextBehind]);
            Slice there = new Slice()
                    .set(
                            reader.segment(),
                            reader.offset() + RecordHeader.payloadOffset(word),
                            RecordHeader.payloadBytes(word));
            if (there.compareBytes(record) != 0) {
                return false;
            }
        }
        nextBehind++;
        return true;
    }

    /** What is in a log stays. */
    @Override
    public boolean replaces(Slice before, Slice after) {
        return false;
    }

    private void refuse(RejectedRecord record) {
        reason = record.reason();
    }

    private void note(Batch batch, int taken, int refusedCount) {
        String name = batch.partition();
        synchronized (files) {
            files.put(name, batch.stateBehind(files.get(name), taken, refusedCount));
        }
    }

    /** A position waits until the log is durable to it; then the next is taken. */
    private void commitIfDue(long letterBytesNow, DurableListener durable) {
        long now = clock.monotonicNanos();
        if (pending == null
                && now - committedNanos >= COMMIT_NANOS
                && nextBehind >= behind.length) {
            pending = state(letterBytesNow);
        }
        if (pending != null && log.log().durable() >= pending.address()) {
            positionsFile.write(pending);
            tell(pending, durable);
            pending = null;
            committedNanos = now;
        }
    }

    private static void tell(State state, DurableListener durable) {
        state.files().forEach((name, taken) -> durable.durable(name, taken.position()));
    }

    private State state(long letterBytesNow) {
        synchronized (files) {
            return new State(log.log().safeTail(), letterBytesNow, files);
        }
    }

    @Override
    public void commit(DeadLetterFile letters, DurableListener durable) {
        session.awaitDurable();
        if (!isTorn && nextBehind >= behind.length) {
            State now = state(letters.byteCount());
            log.log().awaitDurable(now.address());
            positionsFile.write(now);
            tell(now, durable);
        }
        pending = null;
    }

    @Override
    public void close() {
        session.close();
    }
}
