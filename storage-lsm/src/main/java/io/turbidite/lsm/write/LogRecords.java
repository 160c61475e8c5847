package io.turbidite.lsm.write;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * The log record of an operation or an atomic batch, version 2: logical, one for all indexes, so that
 * replay is doing it again (LUO19 §2.2: no-steal, no-force, redo only).
 *
 * <pre>
 * record    := timestamp i56, version u8 (2), operationCount i32, operation*
 * operation := kind u8, datasetId i32, keyBytes i32, recordBytes i32, key, record
 * kind      := 1 upsert, 2 delete; + 128, the update bit, if a bitmap must be changed
 * </pre>
 *
 * Little-endian. In version 1, which had no update bit, the version's byte was the timestamp's highest and
 * always 0. An insert is logged as an upsert: that its key was free is known when it is logged.
 *
 * <p>The update bit (LUO19 §5.2) says that the superseded version was not in the memory component of its
 * successor: replay finds it by its key and marks it dead. The log holds no ordinals (design §4 rule 7): they
 * are others after a merge.
 */
public final class LogRecords {
    static final int VERSION = 2;

    private static final int UPSERT = 1;
    private static final int DELETE = 2;
    private static final int UPDATE = 1 << 7;

    /** Of the first word; what is below is the timestamp. */
    private static final int VERSION_SHIFT = 56;

    private static final int HEADER_BYTES = Long.BYTES + Integer.BYTES;
    private static final int OPERATION_BYTES = 1 + 3 * Integer.BYTES;

    private LogRecords() {}

    /** Bytes of a record of {@code operationCount} operations with {@code payloadBytes} in all. */
    public static long bytes(int operationCount, long payloadBytes) {
        return HEADER_BYTES + (long) operationCount * OPERATION_BYTES + payloadBytes;
    }

    /**
     * Writes the head of a record.
     *
     * @return the offset behind it
     */
    public static long begin(MemorySegment target, long at, long timestamp, int operationCount) {
        target.set(Bytes.I64, at, timestamp | (long) VERSION << VERSION_SHIFT);
        target.set(Bytes.I32, at + Long.BYTES, operationCount);
        return at + HEADER_BYTES;
    }

    /**
     * Writes an operation.
     *
     * @return the offset behind it
     */
    public static long put(MemorySegment target, long at, Change change) {
        Slice key = change.key();
        Slice record = change.record();
        int kind = (change.isDelete() ? DELETE : UPSERT) | (change.isUpdate() ? UPDATE : 0);
        target.set(Bytes.U8, at, (byte) kind);
        target.set(Bytes.I32, at + 1, change.datasetId());
        target.set(Bytes.I32, at + 1 + Integer.BYTES, key.length());
        target.set(Bytes.I32, at + 1 + 2 * Integer.BYTES, record.length());
        long keyAt = at + OPERATION_BYTES;
        MemorySegment.copy(key.segment(), key.offset(), target, keyAt, key.length());
        long recordAt = keyAt + key.length();
        MemorySegment.copy(record.segment(), record.offset(), target, recordAt, record.length());
        return recordAt + record.length();
    }

    /**
     * Hands each operation of a record to {@code visitor}.
     *
     * @throws CorruptionException if it is no such record
     * @throws FormatVersionException if another release wrote it
     */
    public static void replay(long position, Slice payload, Visitor visitor) {
        Change change = new Change();
        Slice key = new Slice();
        Slice record = new Slice();
        long at = payload.offset();
        long end = at + payload.length();
        check(position, end - at >= HEADER_BYTES, "a header", payload.length());
        long word = payload.segment().get(Bytes.I64, at);
        int version = (int) (word >>> VERSION_SHIFT);
        if (version != VERSION) {
            throw new FormatVersionException(
                    "log, at position " + position, "log record", Math.max(1, version), VERSION);
        }
        long timestamp = word & ((1L << VERSION_SHIFT) - 1);
        int count = payload.segment().get(Bytes.I32, at + Long.BYTES);
        at += HEADER_BYTES;
        for (int i = 0; i < count; i++) {
            check(position, end - at >= OPERATION_BYTES, "operation " + i, payload.length());
            int kind = payload.segment().get(Bytes.U8, at) & 0xFF;
            boolean delete = (kind & ~UPDATE) == DELETE;
            int datasetId = payload.segment().get(Bytes.I32, at + 1);
            int keyBytes = payload.segment().get(Bytes.I32, at + 1 + Integer.BYTES);
            int recordBytes = payload.segment().get(Bytes.I32, at + 1 + 2 * Integer.BYTES);
            at += OPERATION_BYTES;
            boolean fits = keyBytes >= 0
                    && recordBytes >= 0
                    && (delete || (kind & ~UPDATE) == UPSERT)
                    && (long) keyBytes + recordBytes <= end - at;
            check(position, fits, "operation " + i, payload.length());
            key.set(payload.segment(), at, keyBytes);
            record.set(payload.segment(), at + keyBytes, recordBytes);
            at += (long) keyBytes + recordBytes;
            if (delete) {
                change.delete(datasetId, key);
            } else {
                change.upsert(datasetId, key, record);
            }
            visitor.operation(timestamp, change.update((kind & UPDATE) != 0));
        }
        check(position, at == end, "nothing behind the last operation", payload.length());
    }

    private static void check(long position, boolean holds, String expected, int found) {
        if (!holds) {
            throw new CorruptionException(
                    "log", position, "log record", expected, found + " bytes that do not fit");
        }
    }

    /** Gets the operations of a record in order; they are valid during the call. */
    @FunctionalInterface
    public interface Visitor {
        void operation(long timestamp, Change change);
    }
}
