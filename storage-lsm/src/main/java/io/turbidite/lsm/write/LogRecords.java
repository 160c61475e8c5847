package io.turbidite.lsm.write;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Varints;

import java.lang.foreign.MemorySegment;

/**
 * The log record of an operation or an atomic batch, version 4: logical, one for all indexes, so
 * that replay is doing it again (LUO19 §2.2: no-steal, no-force, redo only).
 *
 * <pre>
 * record    := timestamp i56, version u8 (4), operationCount, operation*
 * operation := kind u8, datasetId, keyBytes, recordBytes, key, record
 * kind      := 1 upsert, 2 delete; + 128, the update bit, if a bitmap must be changed
 * </pre>
 *
 * The timestamp is that of the first operation; each further one has the next. Before version 4 all
 * had the same: such records are read.
 *
 * <p>Little-endian; counts, lengths and the dataset's number are {@link Varints}, of four bytes
 * each before version 3. In version 1, which had no update bit, the version's byte was the
 * timestamp's highest and always 0. An insert is logged as an upsert: that its key was free is
 * known when it is logged.
 *
 * <p>The update bit (LUO19 §5.2) says that the superseded version was not in the memory component
 * of its successor: replay finds it by its key and invalidates it. The log holds no ordinals
 * (design §4 rule 7): they are others after a merge.
 */
final class LogRecords {
    static final int VERSION = 4;

    /** The operations of a batch had one timestamp. */
    private static final int VERSION_OF_ONE_TIMESTAMP = 3;

    private static final int UPSERT = 1;
    private static final int DELETE = 2;
    private static final int UPDATE = 1 << 7;

    /** Of the first word; what is below is the timestamp. */
    private static final int VERSION_SHIFT = 56;

    private static final int HEADER_BYTES_MAX = Long.BYTES + Varints.BYTES_MAX;
    private static final int OPERATION_BYTES_MAX = 1 + 3 * Varints.BYTES_MAX;

    private LogRecords() {}

    /**
     * The most that a record of {@code operationCount} operations with {@code payloadBytes} in all
     * takes.
     */
    public static long bytesMax(int operationCount, long payloadBytes) {
        return HEADER_BYTES_MAX + (long) operationCount * OPERATION_BYTES_MAX + payloadBytes;
    }

    /**
     * Writes the head of a record.
     *
     * @param timestamp of the first operation
     * @return the offset behind it
     */
    public static long begin(MemorySegment target, long at, long timestamp, int operationCount) {
        target.set(Bytes.I64, at, timestamp | (long) VERSION << VERSION_SHIFT);
        return Varints.put(target, at + Long.BYTES, operationCount);
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
        long to = Varints.put(target, at + 1, change.datasetId());
        to = Varints.put(target, to, key.length());
        long keyAt = Varints.put(target, to, record.length());
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
        MemorySegment source = payload.segment();
        long at = payload.offset();
        long end = at + payload.length();
        check(position, end - at >= Long.BYTES, "a header", payload.length());
        long word = source.get(Bytes.I64, at);
        int version = (int) (word >>> VERSION_SHIFT);
        if (version != VERSION && version != VERSION_OF_ONE_TIMESTAMP) {
            throw new FormatVersionException(
                    "log, at position " + position, "log record", Math.max(1, version), VERSION);
        }
        long timestamp = word & ((1L << VERSION_SHIFT) - 1);
        at += Long.BYTES;
        int count = Varints.get(source, at, end);
        check(position, count != Varints.NONE, "a header", payload.length());
        at += Varints.bytes(count);
        for (int i = 0; i < count; i++) {
            int kind = at < end ? source.get(Bytes.U8, at) & 0xFF : 0;
            boolean delete = (kind & ~UPDATE) == DELETE;
            boolean fits = delete || (kind & ~UPDATE) == UPSERT;
            at++;
            int datasetId = Varints.get(source, at, end);
            at += Varints.bytes(datasetId);
            int keyBytes = Varints.get(source, at, end);
            at += Varints.bytes(keyBytes);
            int recordBytes = Varints.get(source, at, end);
            at += Varints.bytes(recordBytes);
            fits &= (datasetId | keyBytes | recordBytes) >= 0
                    && (long) keyBytes + recordBytes <= end - at;
            check(position, fits, "operation " + i, payload.length());
            key.set(source, at, keyBytes);
            record.set(source, at + keyBytes, recordBytes);
            at += (long) keyBytes + recordBytes;
            if (delete) {
                change.delete(datasetId, key);
            } else {
                change.upsert(datasetId, key, record);
            }
            visitor.operation(
                    version == VERSION ? timestamp + i : timestamp,
                    change.update((kind & UPDATE) != 0));
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
