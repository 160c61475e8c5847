package io.turbidite.core.record;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.TextReader;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A flyweight over an encoded record: reads a declared field by two loads, without parsing the rest
 * and without garbage.
 *
 * <pre>{@code
 * view.wrap(record);
 * long id = view.getLong(0);
 * Slice name = view.isAbsent(1) ? none : view.getBytes(1, slice);
 * }</pre>
 *
 * <p><em>Confined to one thread.</em> Valid as long as the bytes it was wrapped around stay.
 *
 * <p>Damaged bytes give a {@link CorruptionException} from {@link #wrap} or from the access that
 * meets the damage; never anything else, and never a read outside the record. Asking an absent
 * field for its value, or a field for what its kind isn't, is an {@link InvalidRequestException}.
 */
public final class RecordView {
    /** Two bits each. */
    static final int STATES_IN_WORD = Long.SIZE / 2;

    /** The lower bit of each pair. */
    static final long LOW_BITS = 0x5555_5555_5555_5555L;

    private final RecordType type;
    private final RecordLayout layout;
    private MemorySegment segment = MemorySegment.NULL;
    private long origin;
    private int length;
    private int fieldCount;
    private int statesOffset;

    /** Those of all fields, if there are no more than {@link #STATES_IN_WORD}. */
    private long states;

    private int variableOffset;
    private int openOffset;

    private @Nullable Slice own;
    private @Nullable Slice scratch;

    /**
     * Made when first needed, as {@link #open}: many views show a record or two, and no text of
     * them.
     */
    private @Nullable TextReader texts;

    private @Nullable OpenReader open;
    private @Nullable OpenReader nestedOpen;
    private @Nullable RecordJson json;

    /** Null where the type has no arrays. */
    private final @Nullable ElementCursors cursors;

    /** A view of records of that type; it shows none yet. */
    public RecordView(RecordType type) {
        this.type = type;
        this.layout = RecordLayout.of(type);
        this.cursors = layout.arrayCount() == 0 ? null : new ElementCursors(layout.elementKinds());
    }

    /**
     * Moves the view to the record in these bytes.
     *
     * @throws CorruptionException if header and length don't fit together
     */
    public RecordView wrap(Slice record) {
        segment = record.segment();
        origin = record.offset();
        length = record.length();
        fieldCount = 0;
        if (cursors != null) {
            cursors.clear();
        }
        if (length < RecordFormat.HEADER_BYTES) {
            throw damaged(0, "length", "at least " + RecordFormat.HEADER_BYTES, length);
        }
        // all of the header at once: each record that is read pays for this
        long header = segment.get(Bytes.I64, origin);
        int version = (int) header & 0xFF;
        int flags = (int) field(header, RecordFormat.FLAGS_OFFSET) & 0xFF;
        int count = (int) field(header, RecordFormat.FIELD_COUNT_OFFSET) & 0xFFFF;
        if ((version != RecordFormat.VERSION_FLAT && version != layout.version())
                || (flags & ~RecordFormat.FLAG_OPEN_AREA) != 0
                || count > layout.fieldCount()) {
            throw unknownHeader(version, flags, count);
        }
        openOffset = (int) field(header, RecordFormat.OPEN_OFFSET_OFFSET);
        statesOffset = layout.statesOffset(count);
        variableOffset = layout.variableOffset(count);
        // an open area holds at least a name and a tag; without one the record ends here
        int openOffsetMax = flags == 0 ? length : length - 2;
        if (openOffset < variableOffset
                || openOffset > openOffsetMax
                || (flags == 0 && openOffset != length)) {
            throw damaged(
                    RecordFormat.OPEN_OFFSET_OFFSET,
                    "open offset",
                    variableOffset + " to " + openOffsetMax,
                    openOffset);
        }
        int variableBytes = endAt(layout.previousEndOffset(count));
        if (variableBytes != openOffset - variableOffset) {
            throw damaged(
                    RecordFormat.OPEN_OFFSET_OFFSET,
                    "end of the variable area",
                    variableOffset + variableBytes,
                    openOffset);
        }
        if (count <= STATES_IN_WORD) {
            // the eight bytes that end with the states: in front of these there is always a header
            int skipped = Long.BYTES - (variableOffset - statesOffset);
            states = segment.get(Bytes.I64, origin + variableOffset - Long.BYTES)
                    >>> (Byte.SIZE * skipped);
            checkStates(states);
        } else {
            for (int at = statesOffset; at < variableOffset; at++) {
                checkStates(segment.get(Bytes.U8, origin + at) & 0xFF);
            }
        }
        fieldCount = count;
        return this;
    }

    /** No pair of bits is 3: whoever makes keys of a record may rely on every state. */
    private void checkStates(long pairs) {
        if ((pairs & (pairs >>> 1) & LOW_BITS) != 0) {
            throw damaged(statesOffset, "states", "0, 1 or 2 each", Long.toHexString(pairs));
        }
    }

    private static long field(long header, int offset) {
        return header >>> (Byte.SIZE * offset);
    }

    private CorruptionException unknownHeader(int version, int flags, int count) {
        if (version != RecordFormat.VERSION_FLAT && version != layout.version()) {
            return damaged(RecordFormat.VERSION_OFFSET, "version", layout.version(), version);
        }
        if ((flags & ~RecordFormat.FLAG_OPEN_AREA) != 0) {
            return damaged(RecordFormat.FLAGS_OFFSET, "flags", "0 or 1", flags);
        }
        return damaged(
                RecordFormat.FIELD_COUNT_OFFSET,
                "declared field count",
                "at most " + layout.fieldCount(),
                count);
    }

    /** The type of the records that it shows. */
    public RecordType type() {
        return type;
    }

    /** Moves {@code slice} to the record; valid as long as the record is. */
    public Slice record(Slice slice) {
        return slice.set(segment, origin, length);
    }

    /** The states of all fields that the record knows, if they fit a word; the others are 0. */
    long knownStates() {
        return fieldCount == STATES_IN_WORD ? states : states & ((1L << (fieldCount << 1)) - 1);
    }

    /** Where the variable area begins, from the start of the record. */
    int variableOffset() {
        return variableOffset;
    }

    /** Where the variable area ends, from the start of the record. */
    int openOffset() {
        return openOffset;
    }

    /** Bytes of the record. */
    public int length() {
        return length;
    }

    /** Whether the record has fields that its type does not declare. */
    public boolean hasOpenFields() {
        return openOffset != length;
    }

    /** Whether the declared field isn't there. */
    public boolean isMissing(int field) {
        return state(field) == RecordFormat.STATE_MISSING;
    }

    /** Whether the declared field is there and null. */
    public boolean isNull(int field) {
        return state(field) == RecordFormat.STATE_NULL;
    }

    /** Whether the declared field is null or missing. */
    public boolean isAbsent(int field) {
        return state(field) != RecordFormat.STATE_PRESENT;
    }

    /**
     * A bool (0 or 1), an integer, a date (days since 1970-01-01), a time (microseconds of the
     * day), a datetime (microseconds since 1970-01-01T00:00:00Z) or a duration (microseconds).
     */
    public long getLong(int field) {
        int slot = presentSlot(field);
        TypeKind kind = layout.kind(field);
        return switch (kind) {
            case INT64, DATETIME, DURATION -> segment.get(Bytes.I64, origin + slot);
            case INT32, DATE -> segment.get(Bytes.I32, origin + slot);
            case INT16 -> segment.get(Bytes.I16, origin + slot);
            case INT8 -> segment.get(Bytes.U8, origin + slot);
            case BOOL -> checked(kind, slot, segment.get(Bytes.U8, origin + slot));
            case TIME -> checked(kind, slot, segment.get(Bytes.I64, origin + slot));
            default -> throw wrongGetter(field, "a number of whole units");
        };
    }

    private static long checked(TypeKind kind, int slot, long value) {
        if (!KindValues.inRange(kind, value)) {
            throw damaged(slot, kind.label(), "in range", value);
        }
        return value;
    }

    /** A double, or a float widened. */
    public double getDouble(int field) {
        int slot = presentSlot(field);
        return switch (layout.kind(field)) {
            case DOUBLE -> Double.longBitsToDouble(segment.get(Bytes.I64, origin + slot));
            case FLOAT -> Float.intBitsToFloat(segment.get(Bytes.I32, origin + slot));
            default -> throw wrongGetter(field, "a floating-point number");
        };
    }

    /** Coordinate {@code index} of a point (x, y) or rectangle (minX, minY, maxX, maxY). */
    public double getCoordinate(int field, int index) {
        int slot = presentSlot(field);
        int count = switch (layout.kind(field)) {
            case POINT, LONLAT -> 2;
            case RECTANGLE -> 4;
            default -> throw wrongGetter(field, "coordinates");
        };
        Objects.checkIndex(index, count);
        return Double.longBitsToDouble(segment.get(Bytes.I64, origin + slot + 8L * index));
    }

    /**
     * Moves {@code slice} to the bytes of a string (UTF-8), bytes, a uuid (most significant first)
     * or a decimal ({@link DecimalBytes} and scale). Of an array, or of a nested record, they are
     * as {@link RecordFormat} says.
     *
     * @return {@code slice}, valid as long as the record
     */
    public Slice getBytes(int field, Slice slice) {
        int slot = presentSlot(field);
        if (!isEach(field) && layout.variableIndex(field) >= 0) {
            int start = endAt(layout.previousEndOffset(field));
            int end = endAt(slot);
            if (start < 0 || start > end || end > openOffset - variableOffset) {
                throw damagedEnd(slot, start, end, openOffset - variableOffset);
            }
            return slice.set(segment, origin + variableOffset + start, end - start);
        }
        if (layout.kind(field) == TypeKind.UUID) {
            return slice.set(segment, origin + slot, RecordFormat.slotBytes(TypeKind.UUID));
        }
        if (cursors != null && isEach(field) && RecordFormat.isVariable(layout.kind(field))) {
            return slice.set(segment, origin + slot, cursors.length(cursor(field)));
        }
        throw wrongGetter(field, "bytes");
    }

    /** Where a variable-width field ends, from the start of their area; 0 before the first. */
    private int endAt(int slot) {
        return slot < 0 ? 0 : segment.get(Bytes.I32, origin + slot);
    }

    /**
     * As {@link #getBytes(int, Slice)}, with a slice of the view's own: valid until this is called
     * again.
     */
    public Slice getBytes(int field) {
        Slice slice = own;
        if (slice == null) {
            slice = new Slice();
            own = slice;
        }
        return getBytes(field, slice);
    }

    /** A slice that no caller keeps. */
    Slice scratch() {
        Slice slice = scratch;
        if (slice == null) {
            slice = new Slice();
            scratch = slice;
        }
        return slice;
    }

    /**
     * Goes to the first element of an array. The current element is what the index of the elements
     * ({@link RecordType#eachOf}) has as its value; until this is called it has none.
     *
     * @param each the index that stands for the elements
     * @return false if there is none: the array is null, missing or empty
     */
    public boolean firstElement(int each) {
        ElementCursors at = requireCursors(each);
        int array = type.arrayOf(each);
        if (isAbsent(array)) {
            at.beginEmpty(cursor(each));
        } else {
            getBytes(array, at.array());
            at.begin(cursor(each), origin);
        }
        return at.next(cursor(each), segment, origin);
    }

    /** Goes to the next element of an array; false if there is none. */
    public boolean nextElement(int each) {
        return requireCursors(each).next(cursor(each), segment, origin);
    }

    private ElementCursors requireCursors(int each) {
        if (cursors == null || !isEach(each)) {
            throw new InvalidRequestException("field '%s' does not stand for elements of an array"
                    .formatted(type.field(each).name()));
        }
        return cursors;
    }

    /** Whether the index stands for the elements of an array. */
    private boolean isEach(int field) {
        return field >= layout.fieldCount();
    }

    private int cursor(int each) {
        return each - layout.fieldCount();
    }

    /**
     * The Java value of a declared field, or of an array's current element; null if it is null or
     * missing.
     */
    public @Nullable Object get(int field) {
        return isAbsent(field) ? null : JavaValues.of(this, field, layout.kind(field));
    }

    /** The bytes of a string, checked to be UTF-8. */
    Slice utf8(int field, Slice slice) {
        Slice utf8 = getBytes(field, slice);
        int invalidAt = Utf8.firstInvalid(segment, utf8.offset(), utf8.length());
        if (invalidAt >= 0) {
            throw damaged(
                    utf8.offset() - origin + invalidAt, "string", "UTF-8", utf8.byteAt(invalidAt));
        }
        return utf8;
    }

    /**
     * The Java value of a declared field, by its path, or of an open one; null if it is null or
     * missing.
     */
    public @Nullable Object get(String name) {
        int field = type.indexOf(name);
        if (field >= 0) {
            return get(isEach(field) ? type.arrayOf(field) : field);
        }
        OpenReader fields = openFields();
        while (fields.hasNext()) {
            if (fields.string().equals(name)) {
                return fields.value(1);
            }
            fields.skipValue();
        }
        return null;
    }

    /**
     * All fields that are there: the declared ones in order, then the open ones as they came. The
     * map has a copy of the record and decodes a declared value when it is first asked for; it
     * stays whatever becomes of the bytes, and any thread may read it. A declared value that is
     * damaged is told when it is asked for.
     */
    public Map<String, @Nullable Object> toMap() {
        byte[] bytes = new byte[openOffset];
        MemorySegment.copy(segment, Bytes.U8, origin, bytes, 0, openOffset);
        return new RecordMap(new FieldBytes(type, layout, bytes, fieldCount), openValues());
    }

    private Map<String, @Nullable Object> openValues() {
        if (!hasOpenFields()) {
            return Map.of();
        }
        OpenReader fields = openFields();
        return fields.hasNext() ? fields.fields(new LinkedHashMap<>(), 1) : Map.of();
    }

    /**
     * Appends the record as one JSON object: the declared fields that are there, then the open
     * ones. Points and rectangles are arrays, bytes base64, dates and times ISO 8601 in UTC, NaN
     * and infinities strings: what {@link RecordWriter#writeJson} reads back.
     */
    public void toJson(ByteSink utf8) {
        if (json == null) {
            json = new RecordJson(type);
        }
        json.record(this, utf8);
    }

    /**
     * Reads everything and checks what the accessors have no need to: that what holds nothing is
     * zero. A record that passes holds what a writer of this version may have written, and no byte
     * more.
     *
     * @throws CorruptionException if it does not
     */
    public void check() {
        int end = 0;
        for (int field = 0; field < fieldCount; field++) {
            boolean variable = layout.variableIndex(field) >= 0;
            int slot = layout.slotOffset(field);
            if (!isAbsent(field)) {
                end = variable ? endAt(slot) : end;
            } else if (variable) {
                checkEqual(slot, "end of an absent field", end, endAt(slot));
            } else {
                for (int i = 0; i < RecordFormat.slotBytes(layout.kind(field)); i++) {
                    checkEqual(slot + i, "slot of an absent field", 0, byteAt(slot + i));
                }
            }
        }
        if ((fieldCount & 3) != 0) {
            int last = byteAt(variableOffset - 1);
            checkEqual(variableOffset - 1, "unused states", 0, last >>> ((fieldCount & 3) << 1));
        }
        for (int field = 0; field < fieldCount; field++) {
            int record = type.parent(field);
            if (record >= 0 && isAbsent(record) && !isMissing(field)) {
                throw damaged(statesOffset, "states", "nothing within an absent record", field);
            }
            get(field);
        }
        openValues();
    }

    private int byteAt(int offset) {
        return segment.get(Bytes.U8, origin + offset) & 0xFF;
    }

    private static void checkEqual(int offset, String what, int expected, int found) {
        if (expected != found) {
            throw damaged(offset, what, expected, found);
        }
    }

    /** Starts a walk through the open fields; ends the one before. */
    OpenReader openFields() {
        OpenReader reader = open;
        if (reader == null) {
            reader = new OpenReader(texts());
            open = reader;
        }
        return reader.set(segment, origin, openOffset, length);
    }

    /** The same for the undeclared fields of a nested record; ends only a walk of its kind. */
    OpenReader openFields(int field) {
        Slice bytes = getBytes(field, scratch());
        int start = (int) (bytes.offset() - origin);
        // of its own: a walk through those of the record may be under way
        OpenReader reader = nestedOpen;
        if (reader == null) {
            reader = new OpenReader(texts());
            nestedOpen = reader;
        }
        return reader.set(segment, origin, start, start + bytes.length());
    }

    TextReader texts() {
        TextReader reader = texts;
        if (reader == null) {
            reader = new TextReader();
            texts = reader;
        }
        return reader;
    }

    /** The slot of a field that must have a value. */
    private int presentSlot(int field) {
        if (state(field) != RecordFormat.STATE_PRESENT) {
            throw new InvalidRequestException("field '%s' has no value in this record"
                    .formatted(type.field(field).name()));
        }
        return slot(field);
    }

    /** Where the fixed-width part of a field is, or the current element. */
    int slot(int field) {
        if (Integer.compareUnsigned(field, fieldCount) < 0) {
            return layout.slotOffset(field);
        }
        return cursors == null ? layout.slotOffset(field) : cursors.start(cursor(field));
    }

    private int state(int field) {
        if (Integer.compareUnsigned(field, fieldCount) >= 0) {
            return stateBehind(field);
        }
        return fieldCount <= STATES_IN_WORD
                ? (int) (states >>> (field << 1)) & 3
                : segment.get(Bytes.U8, origin + statesOffset + (field >>> 2))
                                >>> ((field & 3) << 1)
                        & 3;
    }

    /** Of a field that the record does not know, or of an array's current element. */
    private int stateBehind(int field) {
        Objects.checkIndex(field, layout.fieldCount() + layout.arrayCount());
        return cursors != null && isEach(field) && cursors.isAtElement(cursor(field))
                ? RecordFormat.STATE_PRESENT
                : RecordFormat.STATE_MISSING;
    }

    private InvalidRequestException wrongGetter(int field, String what) {
        return new InvalidRequestException("field '%s' of type %s is not %s"
                .formatted(type.field(field).name(), layout.kind(field).label(), what));
    }

    /** Of bytes that don't end between where they start and where all of them end. */
    static CorruptionException damagedEnd(int slot, int start, int end, int endMax) {
        return damaged(slot, "end of bytes", "%d to %d".formatted(start, endMax), end);
    }

    static CorruptionException damaged(
            long offset, String what, Object expected, @Nullable Object found) {
        return RecordFormat.damaged(offset, what, expected, found);
    }

    @Override
    public String toString() {
        return toMap().toString();
    }
}
