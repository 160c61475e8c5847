package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Writes the open area of a record (see {@link RecordFormat}): names and self-describing values.
 * <em>Confined to one thread</em>; belongs to a {@link RecordWriter}.
 */
final class OpenWriter {
    private final ByteSink sink;
    private final ByteSink scratch;

    OpenWriter(int bytesMax) {
        sink = new ByteSink(64, bytesMax);
        scratch = new ByteSink(64, bytesMax);
    }

    void clear() {
        sink.clear();
    }

    ByteSink sink() {
        return sink;
    }

    int length() {
        return sink.length();
    }

    /** Appends a name and returns where its bytes begin. */
    int name(CharSequence name) {
        int start = text(name);
        if (sink.length() - start > RecordFormat.OPEN_NAME_BYTES_MAX) {
            throw new InvalidRequestException("field name %s is longer than %d bytes"
                    .formatted(Text.quoted(name), RecordFormat.OPEN_NAME_BYTES_MAX));
        }
        return start;
    }

    void nil() {
        sink.putByte(RecordFormat.TAG_NULL);
    }

    void bool(boolean value) {
        sink.putByte(value ? RecordFormat.TAG_TRUE : RecordFormat.TAG_FALSE);
    }

    void integer(long value) {
        sink.putByte(RecordFormat.TAG_INTEGER);
        sink.putVarint((value << 1) ^ (value >> 63));
    }

    void real(double value) {
        tagged(RecordFormat.TAG_DOUBLE, Double.doubleToLongBits(value));
    }

    void decimal(BigDecimal value) {
        scratch.clear();
        DecimalBytes.appendWithScale(scratch, value);
        sink.putByte(RecordFormat.TAG_DECIMAL);
        sink.putVarint(scratch.length());
        sink.putBytes(scratch.segment(), 0, scratch.length());
    }

    void string(CharSequence value) {
        sink.putByte(RecordFormat.TAG_STRING);
        text(value);
    }

    /** Begins an array or object; give what this returns to {@link #end}. */
    int begin(int tag) {
        sink.putByte(tag);
        return sink.reserve(4);
    }

    void end(int begun) {
        sink.segment().set(Bytes.I32, begun, sink.length() - begun - 4);
    }

    /** Appends any supported Java value; {@code depth} counts the arrays and objects around it. */
    void value(@Nullable Object value, int depth) {
        switch (value) {
            case null -> nil();
            case Missing m -> nil();
            case Boolean b -> bool(b);
            case Byte b -> integer(b);
            case Short s -> integer(s);
            case Integer i -> integer(i);
            case Long l -> integer(l);
            case BigInteger i when i.bitLength() < Long.SIZE -> integer(i.longValue());
            case BigInteger i -> decimal(new BigDecimal(i));
            case Float f -> {
                sink.putByte(RecordFormat.TAG_FLOAT);
                sink.putInt(Float.floatToIntBits(f));
            }
            case Double d -> real(d);
            case BigDecimal d -> decimal(d);
            case String s -> string(s);
            case byte[] b -> {
                sink.putByte(RecordFormat.TAG_BINARY);
                sink.putVarint(b.length);
                sink.putBytes(b);
            }
            case UUID u -> {
                sink.putByte(RecordFormat.TAG_UUID);
                sink.putLongBigEndian(u.getMostSignificantBits());
                sink.putLongBigEndian(u.getLeastSignificantBits());
            }
            case LocalDate d -> {
                sink.putByte(RecordFormat.TAG_DATE);
                sink.putInt((int) KindValues.toLong(TypeKind.DATE, d));
            }
            case LocalTime t -> tagged(RecordFormat.TAG_TIME, KindValues.toLong(TypeKind.TIME, t));
            case Instant i ->
                tagged(RecordFormat.TAG_DATETIME, KindValues.toLong(TypeKind.DATETIME, i));
            case Duration d ->
                tagged(RecordFormat.TAG_DURATION, KindValues.toLong(TypeKind.DURATION, d));
            case Point p -> {
                tagged(RecordFormat.TAG_POINT, Double.doubleToLongBits(p.x()));
                sink.putLong(Double.doubleToLongBits(p.y()));
            }
            case Rectangle r -> {
                tagged(RecordFormat.TAG_RECTANGLE, Double.doubleToLongBits(r.minX()));
                sink.putLong(Double.doubleToLongBits(r.minY()));
                sink.putLong(Double.doubleToLongBits(r.maxX()));
                sink.putLong(Double.doubleToLongBits(r.maxY()));
            }
            case List<?> list -> array(list, depth);
            case Map<?, ?> map -> object(map, depth);
            default ->
                throw new InvalidRequestException("a field can't hold a value of class "
                        + value.getClass().getName());
        }
    }

    private void array(List<?> list, int depth) {
        checkDepth(depth + 1);
        int begun = begin(RecordFormat.TAG_ARRAY);
        for (Object element : list) {
            value(element, depth + 1);
        }
        end(begun);
    }

    private void object(Map<?, ?> map, int depth) {
        checkDepth(depth + 1);
        int begun = begin(RecordFormat.TAG_OBJECT);
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String name)) {
                throw new InvalidRequestException(
                        "an object's field names must be strings, not " + entry.getKey());
            }
            if (entry.getValue() != Missing.MISSING) {
                name(name);
                value(entry.getValue(), depth + 1);
            }
        }
        end(begun);
    }

    /** The record itself is the first of the {@link Limits#NESTING_DEPTH_MAX} levels. */
    static void checkDepth(int depth) {
        if (depth > Limits.NESTING_DEPTH_MAX) {
            throw new InvalidRequestException("a record is nested deeper than the limit of %d"
                    .formatted(Limits.NESTING_DEPTH_MAX));
        }
    }

    private void tagged(int tag, long bits) {
        sink.putByte(tag);
        sink.putLong(bits);
    }

    /** Byte count and UTF-8; returns where the latter begins. */
    private int text(CharSequence text) {
        // a text's UTF-8 is at least as long as its char count, and mostly exactly that
        int start = sink.length();
        sink.putVarint(text.length());
        int textStart = sink.length();
        int byteCount = Utf8.append(sink, text);
        if (byteCount != text.length()) {
            scratch.clear();
            MemorySegment written = sink.segment();
            scratch.putBytes(written, textStart, byteCount);
            sink.truncate(start);
            sink.putVarint(byteCount);
            textStart = sink.length();
            sink.putBytes(scratch.segment(), 0, byteCount);
        }
        return textStart;
    }
}
