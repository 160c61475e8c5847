package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/**
 * A record of the log's own: that a record before it was deleted. Pages below the safe tail never
 * change, in memory or on disk, so that a deletion can't be a bit of the deleted record; it is
 * durable as any record is, and recovery collects it ({@link DeletedRecords}).
 *
 * <p><em>Stateless.</em> A record of kind {@link RecordHeader#DELETION} without key pointers; its
 * payload is the address, 8 bytes. It lies above the record that it deletes, so that truncation
 * takes it later.
 */
public final class Deletion {
    /** Bytes in the log. */
    public static final int RECORD_BYTES = RecordHeader.BYTES + 8;

    private Deletion() {}

    /** Writes a whole, visible deletion of the record at {@code address} to {@code place}. */
    public static void write(MemorySegment memory, long place, long address) {
        memory.set(Bytes.I64, place + RecordHeader.BYTES, address);
        RecordHeader.storeRelease(memory, place, RecordHeader.ofKind(RecordHeader.DELETION, 8));
    }

    /** The address that the deletion at {@code offset} names. */
    public static long read(MemorySegment segment, long offset) {
        return segment.get(Bytes.I64, offset + RecordHeader.BYTES);
    }
}
