package io.turbidite.core.record;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.TextReader;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Walks the open area of a record (see {@link RecordFormat}). <em>Confined to one thread</em>;
 * belongs to a {@link RecordView}.
 *
 * <p>Invariant: nothing is read at or past the end of the innermost thing that holds it, so a
 * damaged byte count is found where it leads out, and nothing is allocated that is larger than the
 * record.
 */
final class OpenReader {
    private MemorySegment segment = MemorySegment.NULL;
    private long origin;
    private int at;
    private int end;
    private final Slice scratch = new Slice();
    private final TextReader texts;

    OpenReader(TextReader texts) {
        this.texts = texts;
    }

    /**
     * Walks the bytes from {@code start} to {@code end} of the record that begins at
     * {@code origin}.
     */
    OpenReader set(MemorySegment newSegment, long newOrigin, int start, int newEnd) {
        segment = newSegment;
        origin = newOrigin;
        at = start;
        end = newEnd;
        return this;
    }

    boolean hasNext() {
        return at < end;
    }

    /**
     * Moves {@code slice} to the name, or text, that comes next: a byte count and as many bytes.
     */
    Slice counted(Slice slice) {
        int byteCount = count();
        int start = take(byteCount);
        return slice.set(segment, origin + start, byteCount);
    }

    /** As {@link #counted}, and checks that the bytes are UTF-8. */
    Slice text(Slice slice) {
        Slice utf8 = counted(slice);
        int invalidAt = Utf8.firstInvalid(utf8.segment(), utf8.offset(), utf8.length());
        if (invalidAt >= 0) {
            throw damaged(
                    utf8.offset() - origin + invalidAt, "text", "UTF-8", utf8.byteAt(invalidAt));
        }
        return utf8;
    }

    /** The name, or text, that comes next. */
    String string() {
        return texts.read(text(scratch));
    }

    int tag() {
        return segment.get(Bytes.U8, origin + take(1));
    }

    void skipValue() {
        int tag = tag();
        switch (tag) {
            case RecordFormat.TAG_NULL, RecordFormat.TAG_FALSE, RecordFormat.TAG_TRUE -> {}
            case RecordFormat.TAG_INTEGER -> varint();
            case RecordFormat.TAG_FLOAT, RecordFormat.TAG_DATE -> take(4);
            case RecordFormat.TAG_DOUBLE,
                    RecordFormat.TAG_TIME,
                    RecordFormat.TAG_DATETIME,
                    RecordFormat.TAG_DURATION -> take(8);
            case RecordFormat.TAG_UUID, RecordFormat.TAG_POINT -> take(16);
            case RecordFormat.TAG_RECTANGLE -> take(32);
            case RecordFormat.TAG_DECIMAL, RecordFormat.TAG_STRING, RecordFormat.TAG_BINARY ->
                take(count());
            case RecordFormat.TAG_ARRAY, RecordFormat.TAG_OBJECT -> take(containerBytes());
            default -> throw unknownTag(tag);
        }
    }

    /** The value that comes next; {@code depth} counts the arrays and objects around it. */
    @Nullable
    Object value(int depth) {
        int tag = tag();
        return switch (tag) {
            case RecordFormat.TAG_NULL -> null;
            case RecordFormat.TAG_FALSE -> false;
            case RecordFormat.TAG_TRUE -> true;
            case RecordFormat.TAG_INTEGER -> integer();
            case RecordFormat.TAG_FLOAT -> float32() + 0.0f;
            case RecordFormat.TAG_DOUBLE -> real() + 0.0;
            case RecordFormat.TAG_DECIMAL -> decimal();
            case RecordFormat.TAG_STRING -> string();
            case RecordFormat.TAG_BINARY -> counted(scratch).toByteArray();
            case RecordFormat.TAG_UUID -> uuid();
            case RecordFormat.TAG_DATE -> KindValues.fromLong(TypeKind.DATE, int32());
            case RecordFormat.TAG_TIME -> KindValues.fromLong(TypeKind.TIME, timeMicros());
            case RecordFormat.TAG_DATETIME -> KindValues.fromLong(TypeKind.DATETIME, int64());
            case RecordFormat.TAG_DURATION -> KindValues.fromLong(TypeKind.DURATION, int64());
            case RecordFormat.TAG_POINT -> point();
            case RecordFormat.TAG_RECTANGLE -> rectangle();
            case RecordFormat.TAG_ARRAY -> {
                int outerEnd = enter(depth + 1);
                List<@Nullable Object> list = new ArrayList<>();
                while (hasNext()) {
                    list.add(value(depth + 1));
                }
                end = outerEnd;
                yield list;
            }
            case RecordFormat.TAG_OBJECT -> {
                int outerEnd = enter(depth + 1);
                Map<String, @Nullable Object> map = fields(new LinkedHashMap<>(), depth + 1);
                end = outerEnd;
                yield map;
            }
            default -> throw unknownTag(tag);
        };
    }

    /** Puts all names and values up to the end into {@code map}. */
    Map<String, @Nullable Object> fields(Map<String, @Nullable Object> map, int depth) {
        while (hasNext()) {
            field(map, depth);
        }
        return map;
    }

    /** Puts the name and value that come next into {@code map}. */
    void field(Map<String, @Nullable Object> map, int depth) {
        int start = at;
        String name = string();
        if (map.containsKey(name)) {
            throw damaged(start, "field name", "there once", name);
        }
        map.put(name, value(depth));
    }

    /**
     * Narrows the walk to the array or object whose tag was just read; returns the end to restore.
     */
    int enter(int depth) {
        if (depth > Limits.NESTING_DEPTH_MAX) {
            throw damaged(at, "nesting", "at most " + Limits.NESTING_DEPTH_MAX, depth);
        }
        int byteCount = containerBytes();
        int outerEnd = end;
        end = at + byteCount;
        return outerEnd;
    }

    /** Widens the walk again. */
    void leave(int outerEnd) {
        end = outerEnd;
    }

    long integer() {
        long zigzag = varint();
        return (zigzag >>> 1) ^ -(zigzag & 1);
    }

    int int32() {
        return segment.get(Bytes.I32, origin + take(4));
    }

    float float32() {
        return Float.intBitsToFloat(int32());
    }

    long int64() {
        return segment.get(Bytes.I64, origin + take(8));
    }

    double real() {
        return Double.longBitsToDouble(int64());
    }

    long timeMicros() {
        long micros = int64();
        if (!KindValues.inRange(TypeKind.TIME, micros)) {
            throw damaged(at - 8, "time", "within a day", micros);
        }
        return micros;
    }

    BigDecimal decimal() {
        int byteCount = count();
        int start = take(byteCount);
        try {
            return DecimalBytes.decodeWithScale(segment, origin + start, byteCount);
        } catch (IllegalArgumentException e) {
            throw damaged(start, "decimal", "well-formed", e.getMessage());
        }
    }

    UUID uuid() {
        int start = take(16);
        return new UUID(
                segment.get(Bytes.I64_BE, origin + start),
                segment.get(Bytes.I64_BE, origin + start + 8));
    }

    private Point point() {
        int start = at;
        try {
            return new Point(real(), real());
        } catch (InvalidRequestException e) {
            throw damaged(start, "point", "finite", e.getMessage());
        }
    }

    private Rectangle rectangle() {
        int start = at;
        try {
            return new Rectangle(real(), real(), real(), real());
        } catch (InvalidRequestException e) {
            throw damaged(start, "rectangle", "finite and ordered", e.getMessage());
        }
    }

    /** For the tag that was just read. */
    CorruptionException unknownTag(int tag) {
        return damaged(at - 1, "value tag", "0 to " + RecordFormat.TAG_OBJECT, tag);
    }

    private int containerBytes() {
        int start = at;
        int byteCount = int32();
        if (byteCount < 0 || byteCount > end - at) {
            throw damaged(start, "byte count", "at most " + (end - at), byteCount);
        }
        return byteCount;
    }

    /** A byte count that stays within what is walked. */
    private int count() {
        int start = at;
        long byteCount = varint();
        if (byteCount < 0 || byteCount > end - at) {
            throw damaged(start, "byte count", "at most " + (end - at), byteCount);
        }
        return (int) byteCount;
    }

    private long varint() {
        int start = at;
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int part = segment.get(Bytes.U8, origin + take(1));
            value |= (part & 0x7FL) << shift;
            if (part >= 0) {
                return value;
            }
        }
        throw damaged(start, "number", "at most 10 bytes", "longer");
    }

    /** Steps over {@code byteCount} bytes and returns where they begin. */
    private int take(int byteCount) {
        int start = at;
        if (byteCount > end - start) {
            throw damaged(start, "end", byteCount + " bytes on", end - start);
        }
        at = start + byteCount;
        return start;
    }

    private static CorruptionException damaged(
            long offset, String what, Object expected, @Nullable Object found) {
        return RecordFormat.damaged(offset, what, expected, found);
    }
}
