package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A record of the log's own: how far a session had come in its input. Recovery finds with it, for
 * each session, the last input record that is in the log.
 *
 * <p><em>Immutable.</em> A record of kind {@link RecordHeader#SESSION_MARK} without key pointers;
 * payload:
 *
 * <pre>
 * offset bytes field
 *      0     8 serial   input records that the session has been given, all of which lie below this mark
 *                       or were refused
 *      8     n name     of the session, UTF-8
 * </pre>
 */
public record SessionMark(String session, long serial) {
    /** Longest name in UTF-8. */
    public static final int NAME_BYTES_MAX = 256;

    private static final int NAME_OFFSET = 8;

    /** Bytes in the log of a mark for a name of this many bytes. */
    public static int recordBytes(int nameBytes) {
        return RecordHeader.BYTES + RecordHeader.align(NAME_OFFSET + nameBytes);
    }

    /** Writes a whole, visible mark to {@code place}. */
    public static void write(MemorySegment memory, long place, byte[] name, long serial) {
        int payloadBytes = NAME_OFFSET + name.length;
        long payload = place + RecordHeader.BYTES;
        memory.set(Bytes.I64, payload + RecordHeader.align(payloadBytes) - 8, 0L); // padding
        memory.set(Bytes.I64, payload, serial);
        MemorySegment.copy(name, 0, memory, Bytes.U8, payload + NAME_OFFSET, name.length);
        RecordHeader.storeRelease(
                memory, place, RecordHeader.ofKind(RecordHeader.SESSION_MARK, payloadBytes));
    }

    /** Reads the mark whose header word at {@code offset} is {@code header}. */
    public static SessionMark read(MemorySegment segment, long offset, long header) {
        long payload = offset + RecordHeader.BYTES;
        byte[] name = new byte[Math.max(0, RecordHeader.payloadBytes(header) - NAME_OFFSET)];
        MemorySegment.copy(segment, Bytes.U8, payload + NAME_OFFSET, name, 0, name.length);
        return new SessionMark(
                new String(name, StandardCharsets.UTF_8), segment.get(Bytes.I64, payload));
    }
}
