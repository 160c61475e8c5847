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
    private final RecordBuffer fields;
    private final Slice result = new Slice();

    /** Null where the type has no nested record. */
    private final @Nullable NestedFields nested;

    private final OpenWriter open = new OpenWriter(Limits.RECORD_BYTES_MAX);
    private final OpenNames openNames = new OpenNames();
    private int openEnd;
    private int openCount;
    private final JsonRecordReader json;
    private final TextFields texts;

    /** Writes records of that type. */
    public RecordWriter(RecordType type) {
        this(type, new ByteSink(FIRST_BYTES, Limits.RECORD_BYTES_MAX));
    }

    /**
     * @param target where records go; the caller's again when the writer is not used any more
     */
    public RecordWriter(RecordType type, ByteSink target) {
        this.type = type;
        this.layout = RecordLayout.of(type);
        this.fields = new RecordBuffer(type, target);
        this.nested = type.hasNested() ? new NestedFields(this, fields, type) : null;
        this.json = new JsonRecordReader(this, type);
        this.texts = new TextFields(this);
        begin();
    }

    /** The type of the records that it writes. */
    public RecordType type() {
        return type;
    }

    /**
     * Encodes a record of these fields, declared or not; {@link Missing#MISSING} is as if it wasn't
     * there.
     *
     * @return valid until the writer is used again
     */
    public Slice write(Map<String, ? extends @Nullable Object> values) {
        begin();
        if (values instanceof RecordMap map && map.writeTo(this)) {
            return finish();
        }
        for (Map.Entry<String, ? extends @Nullable Object> entry : values.entrySet()) {
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
        fields.begin();
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
            throw fields.invalid(
                    field, "%d is out of range for type %s".formatted(value, kind.label()));
        }
        int at = fields.slot(field);
        MemorySegment segment = fields.segment();
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
            int at = fields.slot(field);
            fields.segment().set(Bytes.I64, at, Double.doubleToLongBits(value));
        } else if (kind == TypeKind.FLOAT) {
            if (Double.compare((float) value, value) != 0) {
                throw fields.invalid(field, "%s is no exact value of type float".formatted(value));
            }
            int at = fields.slot(field);
            fields.segment().set(Bytes.I32, at, Float.floatToIntBits((float) value));
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
            throw fields.invalid(field, "point(%s, %s) is not finite".formatted(x, y));
        }
        if (layout.kind(field) == TypeKind.LONLAT) {
            requireLonLat(field, x, y);
        }
        int at = fields.slot(field);
        putDouble(at, 0, x);
        putDouble(at, 1, y);
    }

    private void requireLonLat(int field, double x, double y) {
        try {
            Point.requireLonLat(x, y);
        } catch (InvalidRequestException outside) {
            throw fields.invalid(field, String.valueOf(outside.getMessage()));
        }
    }

    /** Sets a string from its UTF-8 bytes, which are checked and copied. */
    public void setString(int field, Slice utf8) {
        checkSetter(field, TypeKind.STRING, "a string");
        int invalidAt = Utf8.firstInvalid(utf8.segment(), utf8.offset(), utf8.length());
        if (invalidAt >= 0) {
            throw fields.invalid(field, "the text is not UTF-8 at byte " + invalidAt);
        }
        fields.setVariable(field, utf8);
    }

    /** As {@link #setString(int, Slice)}, of bytes that were checked. */
    void setCheckedString(int field, Slice utf8) {
        checkSetter(field, TypeKind.STRING, "a string");
        fields.setVariable(field, utf8);
    }

    /** Sets a string. */
    public void setString(int field, CharSequence text) {
        checkSetter(field, TypeKind.STRING, "a string");
        fields.checkLength(field, text.length());
        if (field >= layout.fieldCount()) {
            appendText(field, text, fields.scratch());
            fields.endScratchElement(field);
            return;
        }
        appendText(field, text, fields.beginOwn());
        fields.endOwn(field);
    }

    /** Sets a string that another record of the type has, whose bytes are ASCII. */
    void copyAscii(int field, FieldBytes from) {
        fields.checkLength(field, from.byteCount(field));
        from.copy(field, fields.beginOwn());
        fields.endOwn(field);
    }

    private void appendText(int field, CharSequence text, ByteSink sink) {
        try {
            Utf8.append(sink, text);
        } catch (InvalidRequestException e) {
            throw fields.invalid(field, e);
        }
    }

    /** Sets bytes, which are copied. */
    public void setBinary(int field, Slice bytes) {
        checkSetter(field, TypeKind.BINARY, "bytes");
        fields.setVariable(field, bytes);
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
            throw fields.invalid(field, e);
        }
    }

    void setJson(int field, CharSequence text) {
        json.readField(field, text);
    }

    /** Sets null: an optional field that is there and has no value. */
    public void setNull(int field) {
        if (field >= layout.fieldCount()) {
            throw fields.invalid(field, "an element of an array can't be null");
        }
        if (!type.isOptionalMember(field)) {
            throw fields.invalid(field, "a required field can't be null");
        }
        fields.mark(field, RecordFormat.STATE_NULL);
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
                throw fields.invalid(field, e);
            }
        }
    }

    private void setValue(int field, TypeKind kind, Object value) {
        switch (kind) {
            case FLOAT, DOUBLE -> setDouble(field, KindValues.toDouble(kind, value));
            case STRING -> setString(field, KindValues.as(kind, String.class, value));
            case BINARY -> {
                byte[] bytes = KindValues.as(kind, byte[].class, value);
                fields.setVariable(
                        field, result.set(MemorySegment.ofArray(bytes), 0, bytes.length));
            }
            case DECIMAL -> {
                if (field >= layout.fieldCount()) {
                    DecimalBytes.appendWithScale(fields.scratch(), KindValues.toDecimal(value));
                    fields.endScratchElement(field);
                    break;
                }
                DecimalBytes.appendWithScale(fields.beginOwn(), KindValues.toDecimal(value));
                fields.endOwn(field);
            }
            case UUID -> {
                UUID uuid = KindValues.as(kind, UUID.class, value);
                int at = fields.slot(field);
                fields.segment().set(Bytes.I64_BE, at, uuid.getMostSignificantBits());
                fields.segment().set(Bytes.I64_BE, at + 8, uuid.getLeastSignificantBits());
            }
            case POINT, LONLAT -> {
                Point point = KindValues.as(kind, Point.class, value);
                setPoint(field, point.x(), point.y());
            }
            case RECTANGLE -> {
                Rectangle rectangle = KindValues.as(kind, Rectangle.class, value);
                int at = fields.slot(field);
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
            case STRING, BINARY, DECIMAL ->
                fields.setVariable(field, from.getBytes(source, result));
            case ARRAY -> {
                if (type.field(field).element() != from.type().field(source).element()) {
                    throw wrongSetter(field, "elements of another type");
                }
                fields.setVariable(field, from.getBytes(source, result));
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
        fields.dropArray();
        if (nested != null) {
            nested.finish();
        }
        int openOffset = fields.length();
        ByteSink record = fields.endFields();
        checkSize((long) openOffset + openEnd);
        record.putBytes(open.sink().segment(), 0, openEnd);
        MemorySegment segment = record.segment();
        segment.set(Bytes.U8, RecordFormat.VERSION_OFFSET, (byte) layout.version());
        segment.set(Bytes.U8, RecordFormat.FLAGS_OFFSET, (byte)
                (openEnd > 0 ? RecordFormat.FLAG_OPEN_AREA : 0));
        segment.set(Bytes.I16, RecordFormat.FIELD_COUNT_OFFSET, (short) layout.fieldCount());
        segment.set(Bytes.I32, RecordFormat.OPEN_OFFSET_OFFSET, openOffset);
        return record.asSlice(result);
    }

    private void putDouble(int at, int index, double value) {
        fields.segment().set(Bytes.I64, at + 8L * index, Double.doubleToLongBits(value));
    }

    /** Begins an array, which replaces what was begun and not ended. */
    public void beginArray(int field) {
        checkSetter(field, TypeKind.ARRAY, "elements");
        fields.beginArray(field);
    }

    /** Ends the array: what was set since it was begun are its elements. */
    public void endArray(int field) {
        fields.endArray(field);
    }

    /** Sets a nested record that may have no field. */
    public void setNested(int field) {
        checkSetter(field, TypeKind.RECORD, "a record");
        fields.mark(field, RecordFormat.STATE_PRESENT);
    }

    private NestedFields nested() {
        NestedFields there = nested;
        if (there == null) {
            throw new IllegalStateException("the type has no nested record");
        }
        return there;
    }

    /** Where the values of undeclared fields of a nested record go. */
    OpenWriter openWithin(int field) {
        return nested().open(field);
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
        return fields.invalid(
                field, "type %s does not take %s".formatted(layout.kind(field).label(), what));
    }

    FieldException invalid(int field, InvalidRequestException cause) {
        return fields.invalid(field, cause);
    }
}
