package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Counter;
import io.turbidite.hashlog.chain.LogRecordWriter;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSession;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.log.TimeMark;
import io.turbidite.hashlog.parse.CsvRows;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.FunctionFailure;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * One worker that puts records into a log (FISH19 §6): it parses and evaluates a record, takes
 * space, copies the record, inserts it into the chains, and makes it visible.
 *
 * <em>Confined to one thread at a time.</em> Between calls it holds nothing: an idle session stalls
 * nobody. It counts the records it gets, refused ones too. By this number, the serial, a client
 * finds its place again: {@link #durableSerial()} says up to which serial a power cut leaves all
 * records.
 *
 * <p>It allocates nothing per record. It waits only when memory is full because the device is
 * slower.
 */
public final class IngestSession implements AutoCloseable {
    /** Records between two looks at the epoch. */
    private static final int REFRESH_MASK = 255;

    /** The interval between two times in the log: queries by time are as exact as this. */
    private static final long TIME_MICROS = 100_000;

    /** How often a time mark is tried: without one, queries are less exact, not wrong. */
    private static final int TIME_TRY_COUNT = 4;

    /** Log bytes between two marks of how far the session has come. */
    private static final long MARK_BYTES = 64 << 10;

    private final HashLog owner;
    private final Sessions sessions;
    private final HybridLog log;
    private final LogSession session;
    private final Callers.Caller caller;
    private final LogRecordWriter writer;
    private final RejectedRecord.Listener listener;
    private final byte[] name;
    private final Properties properties = new Properties();
    private final DurablePoints points;
    private final int recordBytesMax;
    private final Counter acceptedTotal;
    private final Counter rejectedTotal;
    private final Counter payloadTotal;
    private final Counter hardTotal;
    private final PlanWatch.Follower follower;

    /** The format of CSV rows; null: records are lines. */
    private final ParserSpec.@Nullable Csv rows;

    private Registrations.Plan plan;
    private PropertyExtractor extractor;
    private long serial;
    private long markedSerial;
    private long timedSerial;
    private long markEnd;
    private long bytesSinceMark;
    private long acceptedCount;
    private long rejectedCount;
    private long payloadBytes;
    private long logBytes;
    private long countedAccepted;
    private long countedBytes;
    private long countedHard;
    private boolean closed;

    IngestSession(
            HashLog owner,
            Callers.Caller caller,
            String name,
            long startSerial,
            RejectedRecord.Listener listener) {
        this.owner = owner;
        this.caller = caller;
        this.sessions = owner.sessions();
        this.log = owner.log();
        this.name = name.getBytes(StandardCharsets.UTF_8);
        this.listener = listener;
        this.session = log.openSession(name);
        this.writer = new LogRecordWriter(log, owner.table());
        this.points = new DurablePoints(startSerial);
        this.serial = startSerial;
        this.markedSerial = startSerial;
        this.timedSerial = startSerial;
        this.recordBytesMax = log.shape().recordBytesMax();
        Sessions.Counters counters = sessions.counters();
        this.acceptedTotal = counters.accepted();
        this.rejectedTotal = counters.rejected();
        this.payloadTotal = counters.payloadBytes();
        this.hardTotal = counters.hardInsertions();
        this.rows = owner.parser() instanceof ParserSpec.Csv csv ? csv : null;
        this.plan = owner.plan();
        this.extractor = plan.set().newExtractor();
        writer.follow(plan.heads());
        this.follower = owner.planFollowers().enter(name);
    }

    /**
     * Takes every record of a batch of newline-delimited records. The last one needs no newline.
     * Blank lines are skipped; a carriage return before a newline is left out. A newline within the
     * quotes of a CSV value belongs to the value; if quotes are not closed within the batch, a row
     * ends with its line.
     *
     * @param segment native or heap; only read, and free again when this returns
     * @return how many records were taken; the listener got the others
     * @throws io.turbidite.core.StoreFailedException if the log failed; {@link #serial()} and the
     *     counts say how many were taken
     */
    public long ingest(MemorySegment segment, long offset, long byteCount) {
        Objects.checkFromIndexSize(offset, byteCount, segment.byteSize());
        long before = acceptedCount;
        begin();
        try {
            markTimeIfDue();
            long end = offset + byteCount;
            for (long at = offset; at < end; ) {
                long lineEnd = recordEnd(segment, at, end);
                long contentEnd = Lines.contentEnd(segment, at, lineEnd);
                if (contentEnd > at) {
                    if (contentEnd - at > Integer.MAX_VALUE) {
                        throw new InvalidRequestException(
                                "a record of %d bytes at offset %d".formatted(contentEnd - at, at));
                    }
                    take(segment, at, (int) (contentEnd - at));
                }
                at = lineEnd + 1;
            }
            markIfDue();
            markTimeIfDue();
        } finally {
            end();
        }
        return acceptedCount - before;
    }

    private long recordEnd(MemorySegment segment, long at, long end) {
        ParserSpec.Csv csv = rows;
        if (csv != null) {
            long rowEnd = CsvRows.end(segment, at, end, csv.separator());
            if (rowEnd != CsvRows.UNCLOSED) {
                return rowEnd;
            }
        }
        return Lines.end(segment, at, end);
    }

    /**
     * Takes one record as it is, newlines included.
     *
     * @return whether it was taken; if not, the listener got the reason
     */
    public boolean append(MemorySegment segment, long offset, int byteCount) {
        Objects.checkFromIndexSize(offset, byteCount, segment.byteSize());
        long before = acceptedCount;
        begin();
        try {
            markTimeIfDue();
            take(segment, offset, byteCount);
            markIfDue();
        } finally {
            end();
        }
        return acceptedCount > before;
    }

    /** The number of records that this session got so far, the start serial included. */
    public long serial() {
        return serial;
    }

    /**
     * All accepted records up to this serial survive a power cut. On the null device: the serial.
     */
    public long durableSerial() {
        return log.isNullDevice() ? serial : points.durableSerial(log.durable());
    }

    /** Blocks until all records that this session got so far are durable. */
    public void awaitDurable() {
        if (closed) {
            throw new ClosedException("session " + session.name());
        }
        caller.checkOpen();
        if (log.isNullDevice()) {
            return;
        }
        if (markedSerial < serial) {
            begin();
            try {
                closeTime();
                mark();
            } finally {
                end();
            }
        }
        log.awaitDurable(markEnd);
    }

    /** Marks how far the session has come, even if there is nothing new. */
    void markNow() {
        begin();
        try {
            mark();
        } finally {
            end();
        }
    }

    /** The number of accepted records. */
    public long acceptedCount() {
        return acceptedCount;
    }

    /** The number of refused records. */
    public long rejectedCount() {
        return rejectedCount;
    }

    /** Bytes of the accepted records. */
    public long payloadBytes() {
        return payloadBytes;
    }

    /**
     * Bytes of the accepted records in the log: headers, key pointers, evaluated values and padding
     * included.
     */
    public long logBytes() {
        return logBytes;
    }

    public String name() {
        return session.name();
    }

    /** Marks how far the session has come and frees its place. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            if (markedSerial < serial
                    && !log.isNullDevice()
                    && !log.isFailed()
                    && !caller.isLogClosed()) {
                begin();
                try {
                    closeTime();
                    mark();
                } finally {
                    end();
                }
            }
        } finally {
            closed = true;
            owner.planFollowers().leave(follower);
            session.close();
            sessions.closed(name());
            caller.close();
        }
    }

    // ---- one record -----------------------------------------------------------------------------

    private void begin() {
        if (closed) {
            throw new ClosedException("session " + session.name());
        }
        caller.enter();
        boolean begun = false;
        try {
            log.checkUsable();
            enter();
            begun = true;
        } finally {
            if (!begun) {
                caller.exit();
            }
        }
    }

    /** Protects and takes the present plan; holds nothing if the plan can't be compiled. */
    private void enter() {
        session.begin();
        boolean entered = false;
        try {
            followPlan();
            entered = true;
        } finally {
            if (!entered) {
                leave();
            }
        }
    }

    private void leave() {
        session.end();
        follower.idle();
        if (owner.plan().version() != plan.version()) {
            log.site().tasks().signal(); // a registration may wait for this
        }
    }

    private void end() {
        leave();
        caller.exit();
        acceptedTotal.add(acceptedCount - countedAccepted);
        payloadTotal.add(payloadBytes - countedBytes);
        hardTotal.add(writer.hardCount() - countedHard);
        countedAccepted = acceptedCount;
        countedBytes = payloadBytes;
        countedHard = writer.hardCount();
    }

    /**
     * Compares the plan after each protection and refresh: the original misses changes (research
     * §3).
     */
    @SuppressWarnings("ReferenceEquality") // each plan is a new one
    private void followPlan() {
        Registrations.Plan now = owner.plan();
        follower.follow(now.version());
        while (owner.plan() != now) {
            now = owner.plan(); // it may have been published before our version was seen
            follower.follow(now.version());
        }
        if (now.version() != plan.version()) {
            extractor = now.set().newExtractor();
            writer.follow(now.heads());
            plan = now;
            log.site().tasks().signal();
        }
    }

    private void take(MemorySegment segment, long offset, int byteCount) {
        serial++;
        long settled = acceptedCount + rejectedCount;
        try {
            takeOrReject(segment, offset, byteCount);
        } finally {
            if (acceptedCount + rejectedCount == settled) {
                serial--; // neither: the log failed or had no page for too long
            }
        }
    }

    private void takeOrReject(MemorySegment segment, long offset, int byteCount) {
        if ((serial & REFRESH_MASK) == 0) {
            session.refresh();
            followPlan();
        }
        while (true) {
            if (!extractor.extract(segment, offset, byteCount, properties)) {
                FunctionFailure failed = extractor.functionFailure();
                reject(
                        failed == null
                                ? new RejectedRecord.Malformed(
                                        serial, offset, byteCount, extractor.rejection())
                                : new RejectedRecord.FunctionFailed(
                                        serial, offset, byteCount, failed));
                return;
            }
            caller.checkOpen(); // a function may have closed the log
            long recordBytes = writer.plan(byteCount, properties);
            if (recordBytes == 0 || recordBytes > recordBytesMax) {
                reject(new RejectedRecord.TooLarge(serial, offset, byteCount, recordBytesMax));
                return;
            }
            long address = session.allocate((int) recordBytes);
            if (address >= 0) {
                try {
                    writer.write(address, segment, offset, properties);
                } finally {
                    session.published(address + recordBytes);
                }
                acceptedCount++;
                payloadBytes += byteCount;
                logBytes += recordBytes;
                bytesSinceMark += recordBytes;
                return;
            }
            // The page is full. The plan may have changed while we waited: evaluate again.
            turn(address);
            followPlan();
        }
    }

    private void reject(RejectedRecord record) {
        rejectedCount++;
        rejectedTotal.increment();
        // The listener may take its time, or call the log: it must not find us protected.
        leave();
        try {
            listener.rejected(record);
        } finally {
            if (!caller.isLogClosed()) {
                enter();
            }
        }
        caller.checkOpen(); // the listener may have closed the log
    }

    /** Goes on to the next page. While it waits for a page, no registration waits for it. */
    private void turn(long full) {
        follower.idle();
        session.turn(full);
    }

    // ---- durable points -------------------------------------------------------------------------

    private void markIfDue() {
        if (bytesSinceMark >= MARK_BYTES && !log.isNullDevice()) {
            mark();
        }
    }

    /** Marks the time if due, so that queries can tell earlier records from later ones. */
    private void markTimeIfDue() {
        if (log.nowMicros() - log.notedMicros() >= TIME_MICROS && !log.isNullDevice()) {
            markTime();
        }
    }

    /** Marks the time at a pause of the client: all its records so far came before this time. */
    private void closeTime() {
        if (timedSerial < serial) {
            markTime();
        }
    }

    /**
     * The time is read behind the taking of the address, so that whatever lies below it came
     * before; and before that, so that whatever lies above came after, but for what a mark may be
     * late. A thread that was paused between, or waited for a page, tries again.
     */
    private void markTime() {
        boolean exact = false;
        for (int i = 0; i < TIME_TRY_COUNT && !exact; i++) {
            long before = log.nowMicros();
            long address = allocate(TimeMark.RECORD_BYTES);
            long now = log.nowMicros();
            exact = now - before <= TimeMark.LATE_MICROS_MAX;
            if (exact) {
                log.noteTime(now);
                TimeMark.write(log.memory(), log.place(address), now);
            } else {
                RecordHeader.storeRelease(
                        log.memory(),
                        log.place(address),
                        RecordHeader.filler(TimeMark.RECORD_BYTES));
            }
            session.published(address + TimeMark.RECORD_BYTES);
            logBytes += TimeMark.RECORD_BYTES;
        }
        timedSerial = serial;
    }

    private long allocate(int recordBytes) {
        long address = session.allocate(recordBytes);
        while (address < 0) {
            turn(address);
            address = session.allocate(recordBytes);
        }
        return address;
    }

    private void mark() {
        int recordBytes = SessionMark.recordBytes(name.length);
        long address = allocate(recordBytes);
        SessionMark.write(log.memory(), log.place(address), name, serial);
        sessions.marked(session.name(), serial, address);
        session.published(address + recordBytes);
        points.add(serial, address + recordBytes);
        markedSerial = serial;
        markEnd = address + recordBytes;
        bytesSinceMark = 0;
        logBytes += recordBytes;
    }

    @Override
    public String toString() {
        return "IngestSession[%s: %d records, %d refused, durable to %d]"
                .formatted(name(), acceptedCount, rejectedCount, durableSerial());
    }
}
