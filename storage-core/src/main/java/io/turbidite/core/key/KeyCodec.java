package io.turbidite.core.key;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.record.DecimalBytes;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.Missing;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * The order-preserving, self-delimiting encoding of one value of each kind. Static functions
 * without state; those that take primitives or slices make no garbage.
 *
 * <pre>
 *  kind                     null      value
 *  bool                     00        01 false, 02 true
 *  int8, int16, int32,      00        header, then as many bytes as the number needs, most significant
 *  int64, date, time,                 first: 80+n and n bytes of v for v at least 0, 7F-n and the lowest
 *  datetime, duration                 n bytes of v for v below 0; n is smallest (0 for 0 and -1)
 *  float                    00 00     4 bytes: all bits flipped if negative, else the sign bit
 *  double                   00 00     8 bytes, likewise; -0.0 as 0.0, NaN one value and last
 *  decimal                  00        {@link DecimalBytes}
 *  string, bytes            00        the bytes, of which 00, 01, 02 become 02 03, 02 04, 02 05; then 01
 *  uuid                     00        01 and its 16 bytes
 *  point                    00 00     x, y as double
 *  rectangle                00 00     minX, minY, maxX, maxY as double
 * </pre>
 *
 * <p>Why so: null costs no marker in front of every value, since it takes a first byte (two for
 * floats) that no value starts with: the smallest double is negative infinity, 00 0F. Short
 * integers make the eight-byte prefix, by which pages and memory components compare, hold all of an
 * id or a datetime; a fixed eight bytes behind a marker would push the lowest, most telling, byte
 * out of it. The integer kinds share one encoding, so that a field can be widened. In strings 01 is
 * the terminator and nothing else, so the end is found eight bytes at a time, and text is hardly
 * ever escaped.
 *
 * <p>Null and missing are one in keys: {@code null} alone matches both.
 */
public final class KeyCodec {
    static final int NULL = 0x00;
    private static final int FLOAT_NULL_BYTES = 2;
    private static final int FALSE = 0x01;
    private static final int TRUE = 0x02;
    private static final int NOT_NEGATIVE = 0x80;
    private static final int NEGATIVE = 0x7F;
    private static final int TERMINATOR = 0x01;
    private static final int ESCAPE = 0x02;
    /** Added to an escaped byte: no second byte of an escape is a terminator. */
    private static final int ESCAPED = 0x03;

    private static final int UUID_MARKER = 0x01;

    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private KeyCodec() {}

    /**
     * Appends the Java value of a kind, or one that widens to it (see {@link KindValues}); null and
     * {@link Missing#MISSING} give the null marker.
     *
     * @throws InvalidRequestException naming kind and class
     */
    public static void append(ByteSink sink, TypeKind kind, @Nullable Object value) {
        append(sink, kind, value, KeyForm.CURRENT);
    }

    /** As {@link #append(ByteSink, TypeKind, Object)}, in a form of keys that are on disk. */
    public static void append(ByteSink sink, TypeKind kind, @Nullable Object value, KeyForm form) {
        if (value == null || value == Missing.MISSING) {
            appendNull(sink, kind);
            return;
        }
        switch (kind) {
            case FLOAT -> appendFloat(sink, (float) KindValues.toDouble(kind, value), form);
            case DOUBLE -> appendDouble(sink, KindValues.toDouble(kind, value), form);
            case DECIMAL -> DecimalBytes.append(sink, KindValues.toDecimal(value));
            case STRING -> appendString(sink, KindValues.as(kind, String.class, value));
            case BINARY -> {
                byte[] bytes = KindValues.as(kind, byte[].class, value);
                appendBytes(sink, MemorySegment.ofArray(bytes), 0, bytes.length);
            }
            case UUID -> {
                UUID uuid = KindValues.as(kind, UUID.class, value);
                appendUuid(sink, uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
            }
            case POINT, LONLAT -> {
                Point point = KindValues.as(kind, Point.class, value);
                appendDouble(sink, point.x(), form);
                appendDouble(sink, point.y(), form);
            }
            case RECTANGLE -> {
                Rectangle rectangle = KindValues.as(kind, Rectangle.class, value);
                appendDouble(sink, rectangle.minX(), form);
                appendDouble(sink, rectangle.minY(), form);
                appendDouble(sink, rectangle.maxX(), form);
                appendDouble(sink, rectangle.maxY(), form);
            }
            case BOOL -> appendBool(sink, KindValues.toLong(kind, value) == 1);
            default -> appendLong(sink, KindValues.toLong(kind, value));
        }
    }

    /** The marker that sorts before every value of the kind. */
    public static void appendNull(ByteSink sink, TypeKind kind) {
        sink.putByte(NULL);
        if (isFloating(kind)) {
            sink.putByte(NULL);
        }
    }

    /** Appends one byte: false before true. */
    public static void appendBool(ByteSink sink, boolean value) {
        sink.putByte(value ? TRUE : FALSE);
    }

    /** For the kinds of {@link KindValues#isLong} but bool. */
    public static void appendLong(ByteSink sink, long value) {
        int byteCount = significantBytes(value);
        int at = sink.reserve(1 + byteCount);
        MemorySegment target = sink.segment();
        target.set(
                Bytes.U8, at, (byte) (value < 0 ? NEGATIVE - byteCount : NOT_NEGATIVE + byteCount));
        if (byteCount == 0) {
            return;
        }
        if (at + 9 <= target.byteSize()) {
            // one store that may spill past what was reserved, into bytes that nobody has put yet
            target.set(Bytes.I64_BE, at + 1, value << (64 - 8 * byteCount));
        } else {
            for (int i = 0; i < byteCount; i++) {
                target.set(Bytes.U8, at + 1 + i, (byte) (value >>> (8 * (byteCount - 1 - i))));
            }
        }
    }

    /** Bytes that tell {@code value} from the other numbers of its sign. */
    private static int significantBytes(long value) {
        long magnitude = value < 0 ? ~value : value;
        return (71 - Long.numberOfLeadingZeros(magnitude)) >>> 3;
    }

    /** Appends four bytes in the order of numbers; NaN comes last, and the zeros are one. */
    public static void appendFloat(ByteSink sink, float value) {
        appendFloat(sink, value, KeyForm.CURRENT);
    }

    static void appendFloat(ByteSink sink, float value, KeyForm form) {
        // the sum of -0.0 and 0.0 is 0.0; every other number stays
        int bits = Float.floatToIntBits(form == KeyForm.ONE_ZERO ? value + 0.0f : value);
        int ordered = bits ^ ((bits >> 31) | Integer.MIN_VALUE);
        int at = sink.reserve(4);
        sink.segment().set(Bytes.I32_BE, at, ordered);
    }

    /** Appends eight bytes in the order of numbers; NaN comes last, and the zeros are one. */
    public static void appendDouble(ByteSink sink, double value) {
        appendDouble(sink, value, KeyForm.CURRENT);
    }

    static void appendDouble(ByteSink sink, double value, KeyForm form) {
        long bits = Double.doubleToLongBits(form == KeyForm.ONE_ZERO ? value + 0.0 : value);
        sink.putLongBigEndian(bits ^ ((bits >> 63) | Long.MIN_VALUE));
    }

    /** Appends a marker and 16 bytes, ordered as unsigned. */
    public static void appendUuid(ByteSink sink, long mostSignificant, long leastSignificant) {
        sink.putByte(UUID_MARKER);
        sink.putLongBigEndian(mostSignificant);
        sink.putLongBigEndian(leastSignificant);
    }

    /** For strings, from UTF-8 that is well-formed, and for bytes. */
    public static void appendBytes(ByteSink sink, Slice bytes) {
        appendBytes(sink, bytes.segment(), bytes.offset(), bytes.length());
    }

    private static void appendBytes(ByteSink sink, MemorySegment segment, long offset, int length) {
        int from = 0;
        while (from < length) {
            int escapeAt = firstEscaped(segment, offset, from, length);
            sink.putBytes(segment, offset + from, escapeAt - from);
            if (escapeAt < length) {
                sink.putByte(ESCAPE);
                sink.putByte(segment.get(Bytes.U8, offset + escapeAt) + ESCAPED);
            }
            from = escapeAt + 1;
        }
        sink.putByte(TERMINATOR);
    }

    /** The first byte at or after {@code from} that is 00, 01 or 02; {@code length} if none is. */
    private static int firstEscaped(MemorySegment segment, long offset, int from, int length) {
        int i = from;
        for (; i + 8 <= length; i += 8) {
            long word = segment.get(Bytes.I64, offset + i);
            // the lowest high bit that is set is that of the first byte below 3
            long low = (word - 3 * ONES) & ~word & HIGH_BITS;
            if (low != 0) {
                return i + (Long.numberOfTrailingZeros(low) >>> 3);
            }
        }
        for (; i < length; i++) {
            int b = segment.get(Bytes.U8, offset + i);
            if (b >= 0 && b <= ESCAPE) {
                return i;
            }
        }
        return length;
    }

    private static void appendString(ByteSink sink, String text) {
        int start = sink.length();
        int byteCount = Utf8.append(sink, text);
        int end = start + byteCount;
        if (firstEscaped(sink.segment(), start, 0, byteCount) == byteCount) {
            sink.putByte(TERMINATOR);
        } else {
            byte[] utf8 = new Slice().set(sink.segment(), start, end - start).toByteArray();
            sink.truncate(start);
            appendBytes(sink, MemorySegment.ofArray(utf8), 0, byteCount);
        }
    }

    /**
     * Bytes of the encoding that starts at {@code at}.
     *
     * @throws CorruptionException if none of the kind starts there, or it does not end
     */
    public static int length(TypeKind kind, Slice bytes, int at) {
        int first = byteAt(bytes, at);
        int length = switch (kind) {
            case BOOL -> first <= TRUE ? 1 : -1;
            case INT8, INT16, INT32, INT64, DATE, TIME, DATETIME, DURATION -> longLength(first);
            case FLOAT -> isFloatNull(bytes, at) ? FLOAT_NULL_BYTES : 4;
            case DOUBLE -> isFloatNull(bytes, at) ? FLOAT_NULL_BYTES : 8;
            case POINT, LONLAT -> isFloatNull(bytes, at) ? FLOAT_NULL_BYTES : 16;
            case RECTANGLE -> isFloatNull(bytes, at) ? FLOAT_NULL_BYTES : 32;
            case DECIMAL ->
                first == NULL
                        ? 1
                        : DecimalBytes.length(
                                bytes.segment(), bytes.offset() + at, bytes.length() - at);
            case STRING, BINARY -> first == NULL ? 1 : terminatedLength(bytes, at);
            case UUID -> first == NULL ? 1 : first == UUID_MARKER ? 17 : -1;
            case ARRAY, RECORD -> -1;
        };
        if (length < 0) {
            throw damaged(kind, bytes, at, "a value of type " + kind.label());
        }
        if (length > bytes.length() - at) {
            throw damaged(kind, bytes, at, length + " bytes");
        }
        return length;
    }

    private static int longLength(int first) {
        int byteCount = first >= NOT_NEGATIVE ? first - NOT_NEGATIVE : NEGATIVE - first;
        return first == NULL ? 1 : byteCount <= 8 ? 1 + byteCount : -1;
    }

    private static int terminatedLength(Slice bytes, int at) {
        MemorySegment segment = bytes.segment();
        long offset = bytes.offset();
        int i = at;
        for (; i + 8 <= bytes.length(); i += 8) {
            long word = segment.get(Bytes.I64, offset + i) ^ (TERMINATOR * ONES);
            long zero = (word - ONES) & ~word & HIGH_BITS;
            if (zero != 0) {
                return i + (Long.numberOfTrailingZeros(zero) >>> 3) + 1 - at;
            }
        }
        for (; i < bytes.length(); i++) {
            if (segment.get(Bytes.U8, offset + i) == TERMINATOR) {
                return i + 1 - at;
            }
        }
        return -1;
    }

    /**
     * The Java value of the encoding that starts at {@code at}; null for the null marker. A decimal
     * comes without trailing zeros.
     *
     * @throws CorruptionException if none of the kind starts there
     */
    public static @Nullable Object decode(TypeKind kind, Slice bytes, int at) {
        int length = length(kind, bytes, at);
        if (isNull(kind, bytes, at)) {
            return null;
        }
        try {
            return switch (kind) {
                case BOOL -> byteAt(bytes, at) == TRUE;
                case FLOAT -> floatAt(bytes, at);
                case DOUBLE -> doubleAt(bytes, at);
                case DECIMAL -> DecimalBytes.decode(bytes.segment(), bytes.offset() + at, length);
                case STRING -> string(bytes, at, length);
                case BINARY -> unescaped(bytes, at, length);
                case UUID ->
                    new UUID(
                            bytes.segment().get(Bytes.I64_BE, bytes.offset() + at + 1),
                            bytes.segment().get(Bytes.I64_BE, bytes.offset() + at + 9));
                case POINT, LONLAT -> new Point(doubleAt(bytes, at), doubleAt(bytes, at + 8));
                case RECTANGLE ->
                    new Rectangle(
                            doubleAt(bytes, at),
                            doubleAt(bytes, at + 8),
                            doubleAt(bytes, at + 16),
                            doubleAt(bytes, at + 24));
                default -> KindValues.fromLong(kind, longAt(kind, bytes, at, length));
            };
        } catch (IllegalArgumentException | InvalidRequestException e) {
            throw damaged(kind, bytes, at, "well-formed, not " + e.getMessage());
        }
    }

    /** Whether the encoding at {@code at} is the null marker. */
    public static boolean isNull(TypeKind kind, Slice bytes, int at) {
        return isFloating(kind) ? isFloatNull(bytes, at) : byteAt(bytes, at) == NULL;
    }

    private static long longAt(TypeKind kind, Slice bytes, int at, int length) {
        int first = byteAt(bytes, at);
        long value = first >= NOT_NEGATIVE ? 0 : -1;
        for (int i = 1; i < length; i++) {
            value = (value << 8) | byteAt(bytes, at + i);
        }
        boolean canonical = value < 0 == first < NOT_NEGATIVE
                && significantBytes(value) == length - 1
                && KindValues.inRange(kind, value);
        if (!canonical) {
            throw new IllegalArgumentException("a number that is not in its shortest form");
        }
        return value;
    }

    /**
     * The number whose encoding starts at {@code at}, of a kind that {@link #appendLong} takes and
     * of a key that was made in this process: it is not checked.
     */
    public static long number(Slice bytes, int at) {
        int first = bytes.byteAt(at);
        int byteCount = first >= NOT_NEGATIVE ? first - NOT_NEGATIVE : NEGATIVE - first;
        long value = first >= NOT_NEGATIVE ? 0 : -1;
        for (int i = 1; i <= byteCount; i++) {
            value = (value << 8) | bytes.byteAt(at + i);
        }
        return value;
    }

    /**
     * Copies the string or binary value whose encoding starts at {@code at}, of a key that was made
     * in this process.
     *
     * @return how many bytes it has; {@code -1} if they are more than {@code to} has room for
     */
    public static int copyBytes(Slice bytes, int at, byte[] to) {
        int count = 0;
        for (int i = at; ; i++) {
            int b = bytes.byteAt(i);
            if (b == TERMINATOR) {
                return count;
            }
            if (count == to.length) {
                return -1;
            }
            if (b == ESCAPE) {
                i++;
                b = bytes.byteAt(i) - ESCAPED;
            }
            to[count++] = (byte) b;
        }
    }

    private static float floatAt(Slice bytes, int at) {
        int ordered = bytes.segment().get(Bytes.I32_BE, bytes.offset() + at);
        float value = Float.intBitsToFloat(ordered ^ ((~ordered >> 31) | Integer.MIN_VALUE));
        if (Float.isNaN(value)
                && ordered != (Float.floatToIntBits(Float.NaN) ^ Integer.MIN_VALUE)) {
            throw new IllegalArgumentException("a NaN of another form");
        }
        return value;
    }

    private static double doubleAt(Slice bytes, int at) {
        long ordered = bytes.segment().get(Bytes.I64_BE, bytes.offset() + at);
        double value = Double.longBitsToDouble(ordered ^ ((~ordered >> 63) | Long.MIN_VALUE));
        if (Double.isNaN(value)
                && ordered != (Double.doubleToLongBits(Double.NaN) ^ Long.MIN_VALUE)) {
            throw new IllegalArgumentException("a NaN of another form");
        }
        return value;
    }

    /**
     * A coordinate of an encoded point (x, y) or rectangle (minX, minY, maxX, maxY) that is not the
     * null marker.
     */
    public static double coordinate(Slice bytes, int index) {
        return doubleAt(bytes, index * Double.BYTES);
    }

    private static String string(Slice bytes, int at, int length) {
        Slice text = Slice.of(unescaped(bytes, at, length));
        if (!Utf8.isValid(text)) {
            throw new IllegalArgumentException("text that is not UTF-8");
        }
        return text.toUtf8();
    }

    private static byte[] unescaped(Slice bytes, int at, int length) {
        byte[] plain = new byte[length - 1];
        int count = 0;
        for (int i = at; i < at + length - 1; i++) {
            int b = byteAt(bytes, i);
            if (b == ESCAPE) {
                i++;
                b = byteAt(bytes, i) - ESCAPED;
                if (b < 0 || b > ESCAPE) {
                    throw new IllegalArgumentException("an escape of " + byteAt(bytes, i));
                }
            } else if (b < ESCAPE) {
                throw new IllegalArgumentException("a byte " + b);
            }
            plain[count++] = (byte) b;
        }
        return java.util.Arrays.copyOf(plain, count);
    }

    static boolean isFloating(TypeKind kind) {
        return switch (kind) {
            case FLOAT, DOUBLE, POINT, LONLAT, RECTANGLE -> true;
            default -> false;
        };
    }

    private static boolean isFloatNull(Slice bytes, int at) {
        return byteAt(bytes, at) == NULL && byteAt(bytes, at + 1) == NULL;
    }

    private static int byteAt(Slice bytes, int at) {
        if (at < 0 || at >= bytes.length()) {
            throw new CorruptionException("key", at, "key", "longer", bytes.length() + " bytes");
        }
        return bytes.byteAt(at);
    }

    private static CorruptionException damaged(
            TypeKind kind, Slice bytes, int at, String expected) {
        return new CorruptionException("key", at, kind.label(), expected, bytes.toString());
    }
}
