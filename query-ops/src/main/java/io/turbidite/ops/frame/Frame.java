package io.turbidite.ops.frame;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A block of tuples, all with the same number of fields; the unit in which operators push. One
 * contiguous piece of memory, so that it can be sent as it is.
 *
 * <pre>
 * offset        type  what
 * 0             u32   tuple count
 * 4             u32   fields of each tuple
 * 8             …     tuples, one behind the other; each is
 *                       u32 × fields: where the field ends, counted from the first byte behind these
 *                       the fields' bytes
 * end - 4(i+1)  u32   offset of tuple i
 * </pre>
 *
 * <p><em>Confined to one thread at a time.</em> Freed by the garbage collector: frames are few (two
 * for each emitter) and reused for the length of a query.
 */
public final class Frame {
    private static final int TUPLE_COUNT_OFFSET = 0;
    private static final int FIELD_COUNT_OFFSET = TUPLE_COUNT_OFFSET + 4;
    private static final int TUPLES_OFFSET = FIELD_COUNT_OFFSET + 4;
    private static final int END_BYTES = 4;

    private final int fieldCount;
    private MemorySegment segment = MemorySegment.NULL;
    private int capacity;
    private int tupleCount;
    private int tuplesEnd = TUPLES_OFFSET;

    /** An empty frame of tuples with so many fields. */
    public Frame(int fieldCount) {
        this.fieldCount = fieldCount;
    }

    /** Empties the frame; it then holds at least {@code bytes}. */
    public Frame clear(int bytes) {
        if (capacity < bytes) {
            segment = Arena.ofAuto().allocate(bytes, 8);
            capacity = bytes;
        }
        tupleCount = 0;
        tuplesEnd = TUPLES_OFFSET;
        segment.set(Bytes.I32, TUPLE_COUNT_OFFSET, 0);
        segment.set(Bytes.I32, FIELD_COUNT_OFFSET, fieldCount);
        return this;
    }

    /** Bytes that a frame needs for this tuple alone. */
    public static long bytesFor(Slice[] fields) {
        return TUPLES_OFFSET + tupleBytes(fields) + END_BYTES;
    }

    /** Appends a copy; false, and nothing is appended, where it does not fit. */
    public boolean append(Slice[] fields) {
        assert fields.length == fieldCount : fields.length + " fields for " + fieldCount;
        long bytes = tupleBytes(fields);
        if (tuplesEnd + bytes + (long) END_BYTES * (tupleCount + 1) > capacity) {
            return false;
        }
        int data = tuplesEnd + END_BYTES * fieldCount;
        int end = 0;
        for (int i = 0; i < fieldCount; i++) {
            Slice field = fields[i];
            MemorySegment.copy(
                    field.segment(), field.offset(), segment, data + end, field.length());
            end += field.length();
            segment.set(Bytes.I32, tuplesEnd + END_BYTES * i, end);
        }
        segment.set(Bytes.I32, capacity - END_BYTES * (tupleCount + 1), tuplesEnd);
        tuplesEnd = data + end;
        tupleCount++;
        segment.set(Bytes.I32, TUPLE_COUNT_OFFSET, tupleCount);
        return true;
    }

    /** What it takes of memory. */
    public int bytes() {
        return capacity;
    }

    /** How many tuples it holds. */
    public int tupleCount() {
        return tupleCount;
    }

    /** How many fields each tuple has. */
    public int fieldCount() {
        return fieldCount;
    }

    /** Moves {@code slice} to a field of a tuple; valid until the frame is cleared. */
    public Slice field(int tuple, int field, Slice slice) {
        Objects.checkIndex(tuple, tupleCount);
        Objects.checkIndex(field, fieldCount);
        int at = segment.get(Bytes.I32, capacity - END_BYTES * (tuple + 1));
        int start = field == 0 ? 0 : segment.get(Bytes.I32, at + END_BYTES * (field - 1));
        int end = segment.get(Bytes.I32, at + END_BYTES * field);
        return slice.set(segment, at + END_BYTES * fieldCount + start, end - start);
    }

    /** Forgets all tuples from {@code count} on. */
    public void truncate(int count) {
        Objects.checkFromToIndex(0, count, tupleCount);
        tupleCount = count;
        segment.set(Bytes.I32, TUPLE_COUNT_OFFSET, count);
    }

    private static long tupleBytes(Slice[] fields) {
        long bytes = (long) END_BYTES * fields.length;
        for (Slice field : fields) {
            bytes += field.length();
        }
        return bytes;
    }
}
