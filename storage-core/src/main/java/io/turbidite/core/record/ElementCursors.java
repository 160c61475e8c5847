package io.turbidite.core.record;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Where a {@link RecordView} stands in each array of its record. <em>Confined to one thread</em>;
 * belongs to its view.
 *
 * <p>Invariant: an element lies within the bytes of its array, which lie within the record.
 */
final class ElementCursors {
    private static final int NONE = -1;

    private final TypeKind[] kinds;

    /** Where the current elements begin, from the start of the record; {@link #NONE}: nowhere. */
    private final int[] starts;

    private final int[] lengths;
    private final int[] nexts;
    private final int[] ends;
    private final Slice array = new Slice();

    ElementCursors(TypeKind[] kinds) {
        this.kinds = kinds;
        starts = new int[kinds.length];
        lengths = new int[kinds.length];
        nexts = new int[kinds.length];
        ends = new int[kinds.length];
        clear();
    }

    /** There is no current element anywhere. */
    void clear() {
        Arrays.fill(starts, NONE);
        Arrays.fill(nexts, 0);
        Arrays.fill(ends, 0);
    }

    /** To be moved to the bytes of an array, for {@link #begin}. */
    Slice array() {
        return array;
    }

    /** Stands in front of the elements of an array, whose bytes are in {@link #array}. */
    void begin(int cursor, long origin) {
        nexts[cursor] = (int) (array.offset() - origin);
        ends[cursor] = nexts[cursor] + array.length();
        starts[cursor] = NONE;
    }

    /** There are no elements. */
    void beginEmpty(int cursor) {
        nexts[cursor] = 0;
        ends[cursor] = 0;
        starts[cursor] = NONE;
    }

    /** Moves to the next element; false if there is none. */
    boolean next(int cursor, MemorySegment segment, long origin) {
        int at = nexts[cursor];
        int end = ends[cursor];
        if (at >= end) {
            starts[cursor] = NONE;
            return false;
        }
        TypeKind kind = kinds[cursor];
        int length;
        if (RecordFormat.isVariable(kind)) {
            int begun = at;
            length = 0;
            for (int shift = 0; ; shift += 7) {
                if (at == end || shift > 28) {
                    throw RecordFormat.damaged(begun, "byte count", "within its array", "none");
                }
                int part = segment.get(Bytes.U8, origin + at++);
                length |= (part & 0x7F) << shift;
                if (part >= 0) {
                    break;
                }
            }
            if (length < 0 || length > end - at) {
                throw RecordFormat.damaged(begun, "byte count", "at most " + (end - at), length);
            }
        } else {
            length = RecordFormat.slotBytes(kind);
            if (length > end - at) {
                throw RecordFormat.damaged(at, "element", length + " bytes", end - at);
            }
        }
        starts[cursor] = at;
        lengths[cursor] = length;
        nexts[cursor] = at + length;
        return true;
    }

    boolean isAtElement(int cursor) {
        return starts[cursor] != NONE;
    }

    /** Where the current element begins, from the start of the record. */
    int start(int cursor) {
        return starts[cursor];
    }

    /** Bytes of the current element. */
    int length(int cursor) {
        return lengths[cursor];
    }
}
