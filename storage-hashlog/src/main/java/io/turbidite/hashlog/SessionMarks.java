package io.turbidite.hashlog;

import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSession;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.log.TimeMark;

import java.util.function.LongConsumer;

/**
 * What a session notes in the log among its records: how far it has come, and what time it is.
 * <em>Confined to the session,</em> which is protected; serials are the session's of now.
 */
final class SessionMarks {
    /** The interval between two times in the log: queries by time are as exact as this. */
    private static final long TIME_MICROS = 100_000;

    /** How often a time mark is tried: without one, queries are less exact, not wrong. */
    private static final int TIME_TRY_COUNT = 4;

    /** Log bytes between two marks of how far the session has come. */
    private static final long MARK_BYTES = 64 << 10;

    private final HybridLog log;
    private final LogSession session;
    private final Sessions sessions;
    private final LongConsumer turn;
    private final byte[] name;
    private final DurablePoints points;
    private long markedSerial;
    private long timedSerial;
    private long end;
    private long bytesSinceMark;
    private long logBytes;

    /**
     * @param turn goes on to the next page, given what says that one is full
     * @param name of the session, in UTF-8
     */
    SessionMarks(
            HybridLog log,
            LogSession session,
            Sessions sessions,
            LongConsumer turn,
            byte[] name,
            long startSerial) {
        this.log = log;
        this.session = session;
        this.sessions = sessions;
        this.turn = turn;
        this.name = name;
        this.points = new DurablePoints(startSerial);
        this.markedSerial = startSerial;
        this.timedSerial = startSerial;
    }

    /** A record of so many bytes was written. */
    void written(long recordBytes) {
        bytesSinceMark += recordBytes;
    }

    void markIfDue(long serial) {
        if (bytesSinceMark >= MARK_BYTES && !log.isNullDevice()) {
            mark(serial);
        }
    }

    /** Marks the time if due, so that queries can tell earlier records from later ones. */
    void markTimeIfDue(long serial) {
        if (log.nowMicros() - log.notedMicros() >= TIME_MICROS && !log.isNullDevice()) {
            markTime(serial);
        }
    }

    /** Marks time and place at a pause of the client: all its records so far came before now. */
    void markPause(long serial) {
        if (timedSerial < serial) {
            markTime(serial);
        }
        mark(serial);
    }

    /**
     * The time is read behind the taking of the address, so that whatever lies below it came
     * before; and before that, so that whatever lies above came after, but for what a mark may be
     * late. A thread that was paused between, or waited for a page, tries again.
     */
    private void markTime(long serial) {
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
            turn.accept(address);
            address = session.allocate(recordBytes);
        }
        return address;
    }

    /** Marks how far the session has come. */
    void mark(long serial) {
        int recordBytes = SessionMark.recordBytes(name.length);
        long address = allocate(recordBytes);
        SessionMark.write(log.memory(), log.place(address), name, serial);
        sessions.marked(session.name(), serial, address);
        session.published(address + recordBytes);
        points.add(serial, address + recordBytes);
        markedSerial = serial;
        end = address + recordBytes;
        bytesSinceMark = 0;
        logBytes += recordBytes;
    }

    /** Whether no mark says that the session has come as far as {@code serial}. */
    boolean areBefore(long serial) {
        return markedSerial < serial;
    }

    /** The address behind the newest mark of the session. */
    long end() {
        return end;
    }

    /** All accepted records up to this serial survive a power cut. */
    long durableSerial() {
        return points.durableSerial(log.durable());
    }

    /** Bytes of all marks. */
    long logBytes() {
        return logBytes;
    }
}
