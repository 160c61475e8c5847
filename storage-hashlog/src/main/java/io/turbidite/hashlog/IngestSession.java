package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Counter;
import io.turbidite.hashlog.chain.LogRecordWriter;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSession;
import io.turbidite.hashlog.parse.CsvRows;
import io.turbidite.hashlog.parse.LineEnds;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.ScanMode;
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

    private final HashLog owner;
    private final Sessions sessions;
    private final HybridLog log;
    private final LogSession session;
    private final Callers.Caller caller;
    private final LogRecordWriter writer;
    private final RejectedRecord.Listener listener;
    private final byte[] name;
    private final Properties properties = new Properties();
    private final SessionMarks marks;
    private final int recordBytesMax;
    private final Counter acceptedTotal;
    private final Counter rejectedTotal;
    private final Counter payloadTotal;
    private final Counter hardTotal;
    private final PlanWatch.Follower follower;

    private final LineEnds lineEnds = ScanMode.best().newLineEnds();

    /** The format of CSV rows; null: records are lines. */
    private final ParserSpec.@Nullable Csv rows;

    private final HeldRecords held = new HeldRecords();

    /** The plan by which held records were evaluated. */
    private Registrations.Plan heldPlan;

    private boolean writingHeld;
    private Registrations.Plan plan;
    private PropertyExtractor extractor;
    private long serial;
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
        this.serial = startSerial;
        this.marks = new SessionMarks(log, session, sessions, this::turn, this.name, startSerial);
        this.recordBytesMax = log.shape().recordBytesMax();
        Sessions.Counters counters = sessions.counters();
        this.acceptedTotal = counters.accepted();
        this.rejectedTotal = counters.rejected();
        this.payloadTotal = counters.payloadBytes();
        this.hardTotal = counters.hardInsertions();
        this.rows = owner.parser() instanceof ParserSpec.Csv csv ? csv : null;
        this.plan = owner.plan();
        this.heldPlan = plan;
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
        boolean isNested = writingHeld; // a listener hands in more: they don't wait for the others
        begin();
        try {
            marks.markTimeIfDue(serial);
            long end = offset + byteCount;
            for (long at = offset; at < end; ) {
                long lineEnd = recordEnd(segment, at, end);
                long contentEnd = LineEnds.contentEnd(segment, at, lineEnd);
                if (contentEnd > at) {
                    if (contentEnd - at > Integer.MAX_VALUE) {
                        if (!isNested) {
                            writeHeld(segment);
                        }
                        throw new InvalidRequestException(
                                "a record of %d bytes at offset %d".formatted(contentEnd - at, at));
                    }
                    if (isNested) {
                        take(segment, at, (int) (contentEnd - at));
                    } else {
                        hold(segment, at, (int) (contentEnd - at));
                    }
                }
                at = lineEnd + 1;
            }
            if (!isNested) {
                writeHeld(segment);
            }
            marks.markIfDue(serial);
            marks.markTimeIfDue(serial);
        } finally {
            if (!isNested) {
                held.clear();
            }
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
        return lineEnds.end(segment, at, end);
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
            marks.markTimeIfDue(serial);
            take(segment, offset, byteCount);
            marks.markIfDue(serial);
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
        return log.isNullDevice() ? serial : marks.durableSerial();
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
        if (marks.areBefore(serial)) {
            begin();
            try {
                marks.markPause(serial);
            } finally {
                end();
            }
        }
        log.awaitDurable(marks.end());
    }

    /** Marks how far the session has come, even if there is nothing new. */
    void markNow() {
        begin();
        try {
            marks.mark(serial);
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
        return logBytes + marks.logBytes();
    }

    /** Its name, as marks in the log keep it. */
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
            if (marks.areBefore(serial)
                    && !log.isNullDevice()
                    && !log.isFailed()
                    && !caller.isLogClosed()) {
                begin();
                try {
                    marks.markPause(serial);
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

    /** Evaluates a record, and writes it with others as soon as there are enough. */
    private void hold(MemorySegment segment, long offset, int byteCount) {
        if (held.count() == 0) {
            if ((serial & REFRESH_MASK) < HeldRecords.COUNT_MAX) {
                session.refresh();
                followPlan();
            }
            if (extractor.callsFunctions()) {
                take(segment, offset, byteCount); // a function may wait for the records before
                return;
            }
            heldPlan = plan;
        }
        if (extractor.extract(segment, offset, byteCount, held.next())) {
            held.add(offset, byteCount);
            if (held.isFull()) {
                writeHeld(segment);
            }
        } else {
            RejectedRecord refused = refusal(serial + held.count() + 1, offset, byteCount);
            writeHeld(segment);
            serial++;
            reject(refused);
        }
    }

    private void writeHeld(MemorySegment segment) {
        caller.checkOpen(); // another thread may want to close it
        int count = held.count();
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            writer.touch(held.properties(i));
            bytes += held.byteCount(i);
        }
        writer.touchSpace(bytes);
        writingHeld = true;
        try {
            for (int i = 0; i < count; i++) {
                settle(segment, held.offset(i), held.byteCount(i), held.properties(i), heldPlan);
            }
        } finally {
            writingHeld = false;
            held.clear();
        }
    }

    /** Evaluates and writes a record at once. */
    private void take(MemorySegment segment, long offset, int byteCount) {
        if ((serial & REFRESH_MASK) == 0) {
            session.refresh();
            followPlan();
        }
        settle(segment, offset, byteCount, properties, null);
    }

    /**
     * Writes a record, or rejects it.
     *
     * @param evaluated the plan whose properties are in {@code found}; null if there are none yet
     */
    private void settle(
            MemorySegment segment,
            long offset,
            int byteCount,
            Properties found,
            Registrations.@Nullable Plan evaluated) {
        serial++;
        long settled = acceptedCount + rejectedCount;
        try {
            writeOrReject(segment, offset, byteCount, found, evaluated);
        } finally {
            if (acceptedCount + rejectedCount == settled) {
                serial--; // neither: the log failed or had no page for too long
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // each plan is a new one
    private void writeOrReject(
            MemorySegment segment,
            long offset,
            int byteCount,
            Properties found,
            Registrations.@Nullable Plan evaluated) {
        Registrations.Plan by = evaluated;
        while (true) {
            while (by != plan) {
                by = plan;
                if (!extractor.extract(segment, offset, byteCount, found)) {
                    reject(refusal(serial, offset, byteCount));
                    return;
                }
                caller.checkOpen(); // a function may have closed the log
                writer.touch(found);
            }
            long recordBytes = writer.plan(byteCount, found);
            if (recordBytes == 0 || recordBytes > recordBytesMax) {
                reject(new RejectedRecord.TooLarge(serial, offset, byteCount, recordBytesMax));
                return;
            }
            long address = session.allocate((int) recordBytes);
            if (address >= 0) {
                try {
                    writer.write(address, segment, offset, found);
                } finally {
                    session.published(address + recordBytes);
                }
                acceptedCount++;
                payloadBytes += byteCount;
                logBytes += recordBytes;
                marks.written(recordBytes);
                return;
            }
            // The page is full. The plan may change while we wait.
            turn(address);
            followPlan();
        }
    }

    /** Why the extractor refused the last record. */
    private RejectedRecord refusal(long number, long offset, int byteCount) {
        FunctionFailure failed = extractor.functionFailure();
        return failed == null
                ? new RejectedRecord.Malformed(number, offset, byteCount, extractor.rejection())
                : new RejectedRecord.FunctionFailed(number, offset, byteCount, failed);
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

    @Override
    public String toString() {
        return "IngestSession[%s: %d records, %d refused, durable to %d]"
                .formatted(name(), acceptedCount, rejectedCount, durableSerial());
    }
}
