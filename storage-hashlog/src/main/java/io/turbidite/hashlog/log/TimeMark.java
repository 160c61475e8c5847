package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/**
 * A record of the log's own: the time. Records below it had arrived by then; those above came
 * later, but for what was under way beside it, some microseconds. So a query by time is as exact as
 * these marks are close, where the times in page headers say no more than when the first and the
 * last record of 4 MiB came.
 *
 * <p><em>Stateless.</em> A {@link SessionMark} without a name, which no session has: a record of
 * kind {@link RecordHeader#SESSION_MARK} whose payload is 8 bytes, microseconds since 1970. A
 * release that does not know it takes it for the mark of a session that nobody asks for.
 */
public final class TimeMark {
    /** Bytes in the log. */
    public static final int RECORD_BYTES = RecordHeader.BYTES + 8;

    /**
     * So much after its address was taken a mark's time is at most: what lies above it came no
     * earlier than this before its time. Marks of several sessions may not ascend by as much.
     */
    public static final long LATE_MICROS_MAX = 1_000;

    private static final int PAYLOAD_BYTES = 8;

    private TimeMark() {}

    /** Writes a whole, visible mark to {@code place}. */
    public static void write(MemorySegment memory, long place, long micros) {
        memory.set(Bytes.I64, place + RecordHeader.BYTES, micros);
        RecordHeader.storeRelease(
                memory, place, RecordHeader.ofKind(RecordHeader.SESSION_MARK, PAYLOAD_BYTES));
    }

    /** Whether a record with this header word is one. */
    public static boolean is(long header) {
        return RecordHeader.kind(header) == RecordHeader.SESSION_MARK
                && RecordHeader.payloadBytes(header) == PAYLOAD_BYTES;
    }

    /** The time of the mark at {@code offset}. */
    public static long read(MemorySegment segment, long offset) {
        return segment.get(Bytes.I64, offset + RecordHeader.BYTES);
    }
}
