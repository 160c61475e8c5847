package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;

/**
 * Encodes records of one type: from a map, from a JSON object, or field by field without any
 * garbage:
 *
 * <pre>{@code
 * writer.begin();
 * writer.setLong(0, id);
 * writer.setString(1, name);          // a slice of UTF-8
 * writer.openString("note", note);
 * Slice record = writer.finish();     // valid until the next begin
 * }</pre>
 *
 * <p><em>Confined to one thread at a time</em>, reusable, also after an error: a field that was
 * refused is as if it had not been set.
 *
 * <p>What lies in a nested record is set by its own index; the nested record is there then. An
 * array is begun, its elements are set one by one by the index that stands for them, and it is
 * ended:
 *
 * <pre>{@code
 * writer.beginArray(hashtags);
 * writer.setString(type.eachOf(hashtags), tag);  // as often as there are elements
 * writer.endArray(hashtags);
 * }</pre>
 *
 * <p>Fields come in any order, each at most once. Values are checked when they are set; that every
 * required field is there, and the size, at the end. Everything wrong is an {@link
 * InvalidRequestException} that names the field.
 */
public final class RecordWriter {
    private static final int FIRST_BYTES = 512;

    private final RecordType type;
    private final RecordLayout layout;

    /**
     * The record as far as it is known: its fixed part, then the bytes of variable-width fields in
     * the order they were set, which mostly is theirs in the type; if not, {@link #finish} orders
     * them.
     */
    private final ByteSink record = new ByteSink(FIRST_BYTES, Limits.RECORD_BYTES_MAX);

    private final Slice result = new Slice();
    private final ByteSink inOrder = new ByteSink(16, Limits.RECORD_BYTES_MAX);

    /** Where in {@link #record} the bytes of each variable-width field are. */
    private final int[] starts;

    private final int[] ends;

    /** Behind the last field that was not refused. */
    private int variableEnd;

    private int lastVariable;
    private boolean ordered;

    private static final int NO_ARRAY = -1;

    /** The array whose elements are being set. */
    private int array = NO_ARRAY;

    private int arrayStart;
    private int elementCount;

    /** Null where the type has no nested record. */
    private final @Nullable NestedFields nested;

    private final OpenWriter open = new OpenWriter(Limits.RECORD_BYTES_MAX);
    private final OpenNames openNames = new OpenNames();
    private int openEnd;
    private int openCount;
    private final JsonRecordReader json;
    private final TextFields texts;

    public RecordWriter(RecordType type) {
        this.type = type;
        this.layout = RecordLayout.of(type);
        this.starts = new int[layout.variableCount()];
        this.ends = new int[layout.variableCount()];
        this.nested = type.hasNested() ? new NestedFields(this, type) : null;
        this.json = new JsonRecordReader(this, type);
        this.texts = new TextFields(this);
        begin();
    }

    public RecordType type() {
        return type;
    }

    /**
     * Encodes a record of these fields, declared or not; {@link Missing#MISSING} is as if it wasn't
     * there.
     *
     * @return valid until the writer is used again
     */
    public Slice write(Map<String, ? extends @Nullable Object> fields) {
        begin();
        for (Map.Entry<String, ? extends @Nullable Object> entry : fields.entrySet()) {
            int field = type.memberOf(RecordType.TOP, entry.getKey());
            if (field >= 0) {
                setObject(field, entry.getValue());
            } else {
                openField(entry.getKey(), entry.getValue());
            }
        }
        return finish();
    }

    /**
     * Encodes the record that is written as one JSON object in UTF-8.
     *
     * <p>Wrong types are rejected, not coerced; an integer is a double where a double is declared.
     * Points are {@code [x,y]}, rectangles {@code [minX,minY,maxX,maxY]}, bytes base64, uuids and
     * times strings (ISO 8601); a float or double that no JSON number can be is {@code "NaN"},
     * {@code "Infinity"} or {@code "-Infinity"}. An undeclared integer beyond 64 bits is kept as a
     * decimal.
     *
     * @return valid until the writer is used again
     * @throws InvalidRequestException with the byte where it is, for what isn't a record in JSON
     */
    public Slice writeJson(Slice utf8) {
        begin();
        json.read(utf8);
        return finish();
    }

    /** Forgets everything and starts a record whose fields are all missing. */
    public RecordWriter begin() {
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
        if (nested != null) {
            nested.clear(0, layout.fieldCount());
        }
        open.clear();
        openNames.truncate(0);
        openEnd = 0;
        openCount = 0;
        return this;
    }

    /** Sets bool (0 or 1), an integer, date (days), time, datetime or duration (microseconds). */
    public void setLong(int field, long value) {
        TypeKind kind = layout.kind(field);
        if (!KindValues.isLong(kind)) {
            throw wrongSetter(field, "an integer");
        }
        if (!KindValues.inRange(kind, value)) {
            throw invalid(field, "%d is out of range for type %s".formatted(value, kind.label()));
        }
        int at = slot(field);
        MemorySegment segment = record.segment();
        switch (RecordFormat.slotBytes(kind)) {
            case 1 -> segment.set(Bytes.U8, at, (byte) value);
            case 2 -> segment.set(Bytes.I16, at, (short) value);
            case 4 -> segment.set(Bytes.I32, at, (int) value);
            default -> segment.set(Bytes.I64, at, value);
        }
    }

    /** Sets a double, or a float that {@code value} is exactly; NaN is stored in one form. */
    public void setDouble(int field, double value) {
        TypeKind kind = layout.kind(field);
        if (kind == TypeKind.DOUBLE) {
            int at = slot(field);
            record.segment().set(Bytes.I64, at, Double.doubleToLongBits(value));
        } else if (kind == TypeKind.FLOAT) {
            if (Double.compare((float) value, value) != 0) {
                throw invalid(field, "%s is no exact value of type float".formatted(value));
            }
            int at = slot(field);
            record.segment().set(Bytes.I32, at, Float.floatToIntBits((float) value));
        } else {
            throw wrongSetter(field, "a floating-point number");
        }
    }

    /** Sets a point. */
    public void setPoint(int field, double x, double y) {
        if (!layout.kind(field).isPoint()) {
            throw wrongSetter(field, "a point");
        }
        if (!Double.isFinite(x) || !Double.isFinite(y)) {
            throw invalid(field, "point(%s, %s) is not finite".formatted(x, y));
        }
        if (layout.kind(field) == TypeKind.LONLAT) {
            requireLonLat(field, x, y);
        }
        int at = slot(field);
        putDouble(at, 0, x);
        putDouble(at, 1, y);
    }

    private void requireLonLat(int field, double x, double y) {
        try {
            Point.requireLonLat(x, y);
        } catch (InvalidRequestException outside) {
            throw invalid(field, String.valueOf(outside.getMessage()));
        }
    }

    /** Sets a string from its UTF-8 bytes, which are checked and copied. */
    public void setString(int field, Slice utf8) {
        checkSetter(field, TypeKind.STRING, "a string");
        int invalidAt = Utf8.firstInvalid(utf8.segment(), utf8.offset(), utf8.length());
        if (invalidAt >= 0) {
            throw invalid(field, "the text is not UTF-8 at byte " + invalidAt);
        }
        setVariable(field, utf8);
    }

    /** Sets a string. */
    public void setString(int field, CharSequence text) {
        checkSetter(field, TypeKind.STRING, "a string");
        checkLength(field, text.length());
        if (field >= layout.fieldCount()) {
            appendText(field, text, inOrder.clear());
            endScratchElement(field);
            return;
        }
        beginOwn();
        appendText(field, text, record);
        endVariable(field);
    }

    private void appendText(int field, CharSequence text, ByteSink sink) {
        try {
            Utf8.append(sink, text);
        } catch (InvalidRequestException e) {
            throw invalid(field, e);
        }
    }

    /** Sets bytes, which are copied. */
    public void setBinary(int field, Slice bytes) {
        checkSetter(field, TypeKind.BINARY, "bytes");
        setVariable(field, bytes);
    }

    /**
     * Sets a declared field from text, as {@link ValueParser} reads it; integers, doubles of up to
     * 15 digits, strings, dates and times without garbage. Empty text is a value like any other:
     * the empty string, or wrong.
     */
    public void setText(int field, CharSequence text) {
        try {
            texts.set(field, layout.kind(field), text);
        } catch (FieldException e) {
            throw e;
        } catch (InvalidRequestException e) {
            throw invalid(field, e);
        }
    }

    void setJson(int field, CharSequence text) {
        json.readField(field, text);
    }

    /** Sets null: an optional field that is there and has no value. */
    public void setNull(int field) {
        if (field >= layout.fieldCount()) {
            throw invalid(field, "an element of an array can't be null");
        }
        if (!type.isOptionalMember(field)) {
            throw invalid(field, "a required field can't be null");
        }
        mark(field, RecordFormat.STATE_NULL);
    }

    /**
     * Sets a declared field from the Java value of its kind, or from one that widens to it (see
     * {@link KindValues}); null and {@link Missing#MISSING} are taken where the field is optional.
     */
    public void setObject(int field, @Nullable Object value) {
        if (value == null) {
            setNull(field);
        } else if (value != Missing.MISSING) {
            try {
                setValue(field, layout.kind(field), value);
            } catch (FieldException e) {
                throw e;
            } catch (InvalidRequestException e) {
                throw invalid(field, e);
            }
        }
    }

    private void setValue(int field, TypeKind kind, Object value) {
        switch (kind) {
            case FLOAT, DOUBLE -> setDouble(field, KindValues.toDouble(kind, value));
            case STRING -> setString(field, KindValues.as(kind, String.class, value));
            case BINARY -> {
                byte[] bytes = KindValues.as(kind, byte[].class, value);
                setVariable(field, result.set(MemorySegment.ofArray(bytes), 0, bytes.length));
            }
            case DECIMAL -> {
                if (field >= layout.fieldCount()) {
                    DecimalBytes.appendWithScale(inOrder.clear(), KindValues.toDecimal(value));
                    endScratchElement(field);
                    break;
                }
                beginOwn();
                DecimalBytes.appendWithScale(record, KindValues.toDecimal(value));
                endVariable(field);
            }
            case UUID -> {
                UUID uuid = KindValues.as(kind, UUID.class, value);
                int at = slot(field);
                record.segment().set(Bytes.I64_BE, at, uuid.getMostSignificantBits());
                record.segment().set(Bytes.I64_BE, at + 8, uuid.getLeastSignificantBits());
            }
            case POINT, LONLAT -> {
                Point point = KindValues.as(kind, Point.class, value);
                setPoint(field, point.x(), point.y());
            }
            case RECTANGLE -> {
                Rectangle rectangle = KindValues.as(kind, Rectangle.class, value);
                int at = slot(field);
                putDouble(at, 0, rectangle.minX());
                putDouble(at, 1, rectangle.minY());
                putDouble(at, 2, rectangle.maxX());
                putDouble(at, 3, rectangle.maxY());
            }
            case ARRAY -> {
                Iterable<?> elements = KindValues.as(kind, Iterable.class, value);
                beginArray(field);
                int each = type.eachOf(field);
                for (Object element : elements) {
                    setObject(each, element == Missing.MISSING ? null : element);
                }
                endArray(field);
            }
            case RECORD -> nested().set(field, KindValues.as(kind, Map.class, value));
            default -> setLong(field, KindValues.toLong(kind, value));
        }
    }

    /**
     * Sets a field, with all that lies in it, to what another record has there, without an object
     * for arrays.
     *
     * @param from of a type that has the same field by another index
     */
    public void copy(int field, RecordView from, int source) {
        if (from.isMissing(source)) {
            return;
        }
        if (from.isNull(source)) {
            setNull(field);
            return;
        }
        TypeKind kind = layout.kind(field);
        if (kind != from.type().field(source).kind()) {
            throw wrongSetter(field, "what lies in a field of another type");
        }
        switch (kind) {
            case STRING, BINARY, DECIMAL -> setVariable(field, from.getBytes(source, result));
            case ARRAY -> {
                if (type.field(field).element() != from.type().field(source).element()) {
                    throw wrongSetter(field, "elements of another type");
                }
                setVariable(field, from.getBytes(source, result));
            }
            case RECORD -> {
                nested().copy(field, from, source);
                openWithin(field).sink().putBytes(from.getBytes(source, result));
            }
            case POINT, LONLAT ->
                setPoint(field, from.getCoordinate(source, 0), from.getCoordinate(source, 1));
            case FLOAT, DOUBLE -> setDouble(field, from.getDouble(source));
            case UUID, RECTANGLE -> setObject(field, from.get(source));
            default -> setLong(field, from.getLong(source));
        }
    }

    /**
     * Adds an undeclared field: any Java value that stands for a kind, a list, or a map with string
     * keys. Integers come back as {@link Long} whatever their class. {@link Missing#MISSING} adds
     * nothing.
     */
    public void openField(String name, @Nullable Object value) {
        if (value != Missing.MISSING) {
            openName(name);
            try {
                open.value(value, 1);
            } catch (InvalidRequestException e) {
                throw new FieldException(name, e);
            }
            endOpen();
        }
    }

    /** Adds an undeclared string field. */
    public void openString(String name, CharSequence text) {
        openName(name);
        try {
            open.string(text);
        } catch (InvalidRequestException e) {
            throw new FieldException(name, e);
        }
        endOpen();
    }

    /**
     * Adds the name, which counts only from {@link #endOpen} on; in between the caller writes the
     * value to {@link #open}. What was left by one that failed is dropped here.
     */
    void openName(String name) {
        if (type.indexOf(name) >= 0) {
            throw new FieldException(name, "is declared: it is set by its index, or where it lies");
        }
        open.sink().truncate(openEnd);
        openNames.truncate(openCount);
        int start = open.name(name);
        if (!openNames.add(open.sink().segment(), start, open.length() - start)) {
            throw new FieldException(name, "is there twice");
        }
    }

    /** The open field is complete. */
    void endOpen() {
        openEnd = open.length();
        openCount++;
    }

    /** Where the values of undeclared fields go. */
    OpenWriter open() {
        return open;
    }

    /**
     * Ends the record.
     *
     * @return its bytes, valid until the writer is used again
     */
    public Slice finish() {
        int fieldCount = layout.fieldCount();
        dropArray();
        if (nested != null) {
            nested.finish();
        }
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
        int openOffset = variableEnd;
        checkSize((long) openOffset + openEnd);
        beginVariable();
        if (!ordered) {
            orderVariable();
        }
        record.putBytes(open.sink().segment(), 0, openEnd);
        MemorySegment segment = record.segment();
        segment.set(Bytes.U8, RecordFormat.VERSION_OFFSET, (byte) layout.version());
        segment.set(Bytes.U8, RecordFormat.FLAGS_OFFSET, (byte)
                (openEnd > 0 ? RecordFormat.FLAG_OPEN_AREA : 0));
        segment.set(Bytes.I16, RecordFormat.FIELD_COUNT_OFFSET, (short) fieldCount);
        segment.set(Bytes.I32, RecordFormat.OPEN_OFFSET_OFFSET, openOffset);
        return record.asSlice(result);
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

    private void setVariable(int field, Slice bytes) {
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
        endVariable(field);
    }

    private void endElement() {
        variableEnd = record.length();
        elementCount++;
    }

    /** An element that is made in {@link #inOrder}, since its length comes first. */
    private void endScratchElement(int each) {
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

    /** The same for what is no element: an array that was begun and not ended is dropped. */
    private void beginOwn() {
        dropArray();
        beginVariable();
    }

    private void endVariable(int field) {
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

    private void putDouble(int at, int index, double value) {
        record.segment().set(Bytes.I64, at + 8L * index, Double.doubleToLongBits(value));
    }

    /** Where the fixed-width value of a field goes, which is marked as there. */
    private int slot(int field) {
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

    /** Begins an array, which replaces what was begun and not ended. */
    public void beginArray(int field) {
        checkSetter(field, TypeKind.ARRAY, "elements");
        dropArray();
        mark(field, RecordFormat.STATE_MISSING); // throws if it is there already
        beginVariable();
        array = field;
        arrayStart = variableEnd;
        elementCount = 0;
    }

    /** Ends the array: what was set since it was begun are its elements. */
    public void endArray(int field) {
        if (array != field) {
            throw new InvalidRequestException("field '%s': the array has not been begun"
                    .formatted(type.field(field).name()));
        }
        array = NO_ARRAY;
        int end = variableEnd;
        variableEnd = arrayStart;
        record.truncate(end);
        endVariable(field);
    }

    /** Forgets the elements of an array that was begun and not ended. */
    private void dropArray() {
        if (array != NO_ARRAY) {
            array = NO_ARRAY;
            variableEnd = arrayStart;
            beginVariable();
        }
    }

    /** Sets a nested record that may have no field. */
    public void setNested(int field) {
        checkSetter(field, TypeKind.RECORD, "a record");
        mark(field, RecordFormat.STATE_PRESENT);
    }

    private NestedFields nested() {
        NestedFields fields = nested;
        if (fields == null) {
            throw new IllegalStateException("the type has no nested record");
        }
        return fields;
    }

    /** Where the values of undeclared fields of a nested record go. */
    OpenWriter openWithin(int field) {
        return nested().open(field);
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
        nested().clear(from, to);
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

    private void checkLength(int field, int byteCount) {
        if (variableEnd + (long) byteCount > Limits.RECORD_BYTES_MAX) {
            throw invalid(
                    field,
                    "with it the record is larger than the limit of %d bytes"
                            .formatted(Limits.RECORD_BYTES_MAX));
        }
    }

    private static void checkSize(long bytes) {
        if (bytes > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("a record of %d bytes is larger than the limit of %d"
                    .formatted(bytes, Limits.RECORD_BYTES_MAX));
        }
    }

    private void checkSetter(int field, TypeKind kind, String what) {
        if (layout.kind(field) != kind) {
            throw wrongSetter(field, what);
        }
    }

    private FieldException wrongSetter(int field, String what) {
        return invalid(
                field, "type %s does not take %s".formatted(layout.kind(field).label(), what));
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

    /** What is wrong with one field; names it once, however deep the cause. */
    static final class FieldException extends InvalidRequestException {
        private static final long serialVersionUID = 1L;

        FieldException(String name, String reason) {
            super("field %s: %s".formatted(Text.quoted(name), reason));
        }

        FieldException(String name, InvalidRequestException cause) {
            super("field %s: %s".formatted(Text.quoted(name), cause.getMessage()), cause);
        }
    }
}
