package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The declared fields of a record that is being written: which of them are known, the slots of
 * fixed width, and the bytes of those of variable width in the order they were set. A value that is
 * refused on the way leaves no trace.
 *
 * <p><em>Confined to one thread at a time</em>, reusable.
 */
final class RecordBuffer {
    private static final int NO_ARRAY = -1;

    private final RecordType type;
    private final RecordLayout layout;

    /**
     * The record as far as it is known: its fixed part, then the bytes of variable-width fields in
     * the order they were set, which mostly is theirs in the type; if not, {@link #endFields}
     * orders them.
     */
    private final ByteSink record;

    private final ByteSink inOrder = new ByteSink(16, Limits.RECORD_BYTES_MAX);

    /** Where in {@link #record} the bytes of each variable-width field are. */
    private final int[] starts;

    private final int[] ends;

    /** Behind the last field that was not refused. */
    private int variableEnd;

    private int lastVariable;
    private boolean ordered;

    /** The array whose elements are being set. */
    private int array = NO_ARRAY;

    private int arrayStart;
    private int elementCount;

    /** @param record where the record goes */
    RecordBuffer(RecordType type, ByteSink record) {
        this.record = record;
        this.type = type;
        this.layout = RecordLayout.of(type);
        this.starts = new int[layout.variableCount()];
        this.ends = new int[layout.variableCount()];
    }

    /** Forgets everything: all fields are missing. */
    void begin() {
        int fixedBytes = layout.variableOffset(layout.fieldCount());
        record.clear();
        record.reserve(fixedBytes);
        MemorySegment segment = record.segment();
        int at = 0;
        for (; at + 8 <= fixedBytes; at += 8) {
            segment.set(Bytes.I64, at, 0);
        }
        for (; at < fixedBytes; at++) {
            segment.set(Bytes.U8, at, (byte) 0);
        }
        variableEnd = fixedBytes;
        Arrays.fill(starts, 0);
        Arrays.fill(ends, 0);
        lastVariable = -1;
        ordered = true;
        array = NO_ARRAY;
    }

    /** What is written; it moves when it grows. */
    MemorySegment segment() {
        return record.segment();
    }

    /** Empty, for the bytes of a field that {@link #endOwn} or {@link #endScratchElement} ends. */
    ByteSink scratch() {
        return inOrder.clear();
    }

    /**
     * Checks that all required fields are there, and puts the fields into the order of the type.
     *
     * @return the record so far; the undeclared fields follow
     */
    ByteSink endFields() {
        int fieldCount = layout.fieldCount();
        MemorySegment states = record.segment();
        int statesOffset = layout.statesOffset(fieldCount);
        int end = 0;
        for (int field = 0; field < fieldCount; field++) {
            int state = (states.get(Bytes.U8, statesOffset + (field >>> 2)) >>> shift(field)) & 3;
            if (state != RecordFormat.STATE_PRESENT && !layout.isOptional(field)) {
                throw invalid(field, "a required field is missing");
            }
            int index = layout.variableIndex(field);
            if (index >= 0) {
                end += ends[index] - starts[index];
                states.set(Bytes.I32, layout.slotOffset(field), end);
            }
        }
        beginVariable();
        if (!ordered) {
            orderVariable();
        }
        return record;
    }

    /** Bytes of all declared fields. */
    int length() {
        return variableEnd;
    }

    /** Begins an array, which replaces what was begun and not ended. */
    void beginArray(int field) {
        dropArray();
        mark(field, RecordFormat.STATE_MISSING); // throws if it is there already
        beginVariable();
        array = field;
        arrayStart = variableEnd;
        elementCount = 0;
    }

    /** Ends the array: what was set since it was begun are its elements. */
    void endArray(int field) {
        if (array != field) {
            throw new InvalidRequestException("field '%s': the array has not been begun"
                    .formatted(type.field(field).name()));
        }
        array = NO_ARRAY;
        int end = variableEnd;
        variableEnd = arrayStart;
        record.truncate(end);
        endOwn(field);
    }

    /** Forgets the elements of an array that was begun and not ended. */
    void dropArray() {
        if (array != NO_ARRAY) {
            array = NO_ARRAY;
            variableEnd = arrayStart;
            beginVariable();
        }
    }

    /** Sets a field of variable width, or the next element, to a copy. */
    void setVariable(int field, Slice bytes) {
        checkLength(field, bytes.length());
        if (field >= layout.fieldCount()) {
            checkElement(field);
            beginVariable();
            record.putVarint(bytes.length());
            record.putBytes(bytes);
            endElement();
            return;
        }
        beginOwn();
        record.putBytes(bytes);
        endOwn(field);
    }

    private void endElement() {
        variableEnd = record.length();
        elementCount++;
    }

    /** An element that is made in {@link #inOrder}, since its length comes first. */
    void endScratchElement(int each) {
        checkElement(each);
        checkLength(each, inOrder.length());
        beginVariable();
        record.putVarint(inOrder.length());
        record.putBytes(inOrder.segment(), 0, inOrder.length());
        endElement();
    }

    /** Drops what a set that failed may have left, so that a refused value leaves no trace. */
    private void beginVariable() {
        record.truncate(variableEnd);
    }

    /**
     * Begins a field of variable width that is no element; an array that was begun and not ended is
     * dropped.
     *
     * @return where its bytes go, until {@link #endOwn}
     */
    ByteSink beginOwn() {
        dropArray();
        beginVariable();
        return record;
    }

    /** What was added since {@link #beginOwn} is the field. */
    void endOwn(int field) {
        mark(field, RecordFormat.STATE_PRESENT);
        endBytes(field);
    }

    /** What lies behind {@link #variableEnd} are the bytes of a field. */
    private void endBytes(int field) {
        int index = layout.variableIndex(field);
        ordered &= index > lastVariable;
        lastVariable = index;
        starts[index] = variableEnd;
        variableEnd = record.length();
        ends[index] = variableEnd;
    }

    /** Where the fixed-width value of a field goes, which is marked as there. */
    int slot(int field) {
        if (field >= layout.fieldCount()) {
            return element(field);
        }
        mark(field, RecordFormat.STATE_PRESENT);
        return layout.slotOffset(field);
    }

    /** Where the fixed-width value of the next element goes. */
    private int element(int each) {
        checkElement(each);
        int byteCount = RecordFormat.slotBytes(layout.kind(each));
        checkLength(each, byteCount);
        beginVariable();
        int at = record.reserve(byteCount);
        variableEnd = record.length();
        elementCount++;
        return at;
    }

    private void checkElement(int each) {
        if (array == NO_ARRAY || type.arrayOf(each) != array) {
            throw new InvalidRequestException("field '%s': its array has not been begun"
                    .formatted(type.field(each).name()));
        }
    }

    /**
     * What fields can be taken back to.
     *
     * @param variableEnd of those that were set before; so are the others
     */
    record Place(int variableEnd, int lastVariable, boolean ordered) {}

    /** Where it is now. */
    Place place() {
        return new Place(variableEnd, lastVariable, ordered);
    }

    /** Takes back what was set of some fields since. */
    void backTo(Place place, int from, int to) {
        array = NO_ARRAY;
        variableEnd = place.variableEnd();
        beginVariable();
        lastVariable = place.lastVariable();
        ordered = place.ordered();
        unset(from, to);
    }

    /** Adds a variable-width field whose bytes were made elsewhere, and that is marked already. */
    void addVariable(int field, ByteSink bytes) {
        checkLength(field, bytes.length());
        beginVariable();
        record.putBytes(bytes.segment(), 0, bytes.length());
        endBytes(field);
    }

    /** As if these fields had not been set. */
    private void unset(int from, int to) {
        MemorySegment segment = record.segment();
        int statesOffset = layout.statesOffset(layout.fieldCount());
        for (int field = from; field < to; field++) {
            int at = statesOffset + (field >>> 2);
            int states = segment.get(Bytes.U8, at);
            segment.set(Bytes.U8, at, (byte) (states & ~(3 << shift(field))));
            int index = layout.variableIndex(field);
            if (index >= 0) {
                starts[index] = 0;
                ends[index] = 0;
            }
            int slot = layout.slotOffset(field);
            for (int i = 0; i < RecordFormat.slotBytes(layout.kind(field)); i++) {
                segment.set(Bytes.U8, slot + i, (byte) 0);
            }
        }
    }

    /** How far a field is known. */
    int state(int field) {
        int at = layout.statesOffset(layout.fieldCount()) + (field >>> 2);
        return (record.segment().get(Bytes.U8, at) >>> shift(field)) & 3;
    }

    /** Says that a field is known; once. */
    void mark(int field, int state) {
        MemorySegment segment = record.segment();
        int at = layout.statesOffset(layout.fieldCount()) + (field >>> 2);
        int states = segment.get(Bytes.U8, at);
        if (((states >>> shift(field)) & 3) != RecordFormat.STATE_MISSING) {
            throw invalid(field, "is there twice");
        }
        segment.set(Bytes.U8, at, (byte) (states | (state << shift(field))));
    }

    private static int shift(int field) {
        return (field & 3) << 1;
    }

    /** Puts the variable-width fields into the order of the type. */
    private void orderVariable() {
        inOrder.clear();
        for (int i = 0; i < starts.length; i++) {
            inOrder.putBytes(record.segment(), starts[i], ends[i] - starts[i]);
        }
        record.truncate(layout.variableOffset(layout.fieldCount()));
        record.putBytes(inOrder.segment(), 0, inOrder.length());
    }

    void checkLength(int field, int byteCount) {
        if (variableEnd + (long) byteCount > Limits.RECORD_BYTES_MAX) {
            throw invalid(
                    field,
                    "with it the record is larger than the limit of %d bytes"
                            .formatted(Limits.RECORD_BYTES_MAX));
        }
    }

    FieldException invalid(int field, String reason) {
        return new FieldException(path(field), reason);
    }

    /** The field's path, with the place of an element: {@code hashtags[2]}. */
    private String path(int field) {
        return type.isEach(field) && type.arrayOf(field) == array
                ? "%s[%d]".formatted(type.field(array).name(), elementCount)
                : type.field(field).name();
    }

    FieldException invalid(int field, InvalidRequestException cause) {
        return cause instanceof FieldException named
                ? named
                : new FieldException(path(field), cause);
    }
}
