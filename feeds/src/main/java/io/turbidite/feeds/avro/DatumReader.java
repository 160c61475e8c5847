package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.feeds.parse.JsonText;
import io.turbidite.feeds.parse.MalformedFrameException;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.UUID;

/**
 * Walks over the bytes of datums by their shapes, and writes them as JSON, or passes over them.
 * <em>Confined to one thread.</em>
 *
 * <ol>
 *   <li>A {@link MalformedFrameException} says that the bytes are no datum: where it would end
 *       nobody knows. Any other {@link InvalidRequestException} says that they are one which can't
 *       be written: it can be passed over.
 *   <li>A length or a count that is more than the bytes which are left is refused before anything
 *       is made of it. So work is proportional to the bytes, and what is written is bounded by its
 *       {@link JsonText}.
 * </ol>
 */
final class DatumReader {
    /** As deep as records of JSON. */
    private static final int WRITTEN_DEPTH_MAX = Limits.NESTING_DEPTH_MAX;

    /** What is deeper has no end that would be looked for: each level takes two stack frames. */
    private static final int PASSED_DEPTH_MAX = 8 * WRITTEN_DEPTH_MAX;

    /** Some 1,200 digits; to write a number as text takes the square of its length. */
    private static final int DECIMAL_BYTES_MAX = 512;

    private static final int VARINT_BYTES_MAX = 10;
    private static final long MILLIS = 1_000;
    private static final long MICROS = 1_000_000;
    private static final long NANOS = 1_000_000_000;
    private static final long NANOS_OF_DAY = 86_400 * NANOS;

    private static final VarHandle INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BIG_LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private byte[] bytes = new byte[0];
    private int start;
    private int at;
    private int end;

    /** Where the block of an array or a map that was begun last should end; -1 if it says not. */
    private int blockEnd;

    /** Stands at {@code from}; the bytes end at {@code to}, and are not copied. */
    void begin(byte[] newBytes, int from, int to) {
        bytes = newBytes;
        start = from;
        at = from;
        end = to;
    }

    /** Where the next datum begins. */
    int at() {
        return at;
    }

    /** Goes back to where a datum begins. */
    void goTo(int index) {
        at = index;
        start = index;
    }

    int left() {
        return end - at;
    }

    /** Moves behind a datum, which is written behind what is in {@code text}. */
    void write(Shape shape, JsonText text) {
        start = at;
        write(shape, text, 0);
    }

    /** Moves behind a datum. */
    void pass(Shape shape) {
        start = at;
        pass(shape, 0);
    }

    private void write(Shape shape, JsonText text, int depth) {
        switch (shape.kind) {
            case NULL -> text.ascii("null");
            case BOOLEAN -> text.ascii(truth() ? "true" : "false");
            case INT -> text.number(integer());
            case LONG -> text.number(number());
            case FLOAT -> {
                float value = Float.intBitsToFloat((int) INTS.get(bytes, take(Float.BYTES)));
                real(text, Float.toString(value), Float.isFinite(value));
            }
            case DOUBLE -> {
                double value = Double.longBitsToDouble((long) LONGS.get(bytes, take(Double.BYTES)));
                real(text, Double.toString(value), Double.isFinite(value));
            }
            case STRING -> string(text);
            case BYTES -> base64(text, length("bytes"));
            case FIXED -> base64(text, shape.byteCount);
            case ENUM -> text.put(shape.texts[index(shape.texts.length, "symbol")]);
            case ARRAY, MAP -> writeItems(shape, text, depth);
            case RECORD -> writeRecord(shape, text, depth);
            case UNION -> write(shape.part(index(shape.partCount(), "branch")), text, depth);
            case DATE -> quoted(text, LocalDate.ofEpochDay(integer()).toString());
            case TIME_MILLIS -> time(text, integer(), NANOS / MILLIS);
            case TIME_MICROS -> time(text, number(), NANOS / MICROS);
            case TIMESTAMP_MILLIS -> instant(text, number(), MILLIS);
            case TIMESTAMP_MICROS -> instant(text, number(), MICROS);
            case TIMESTAMP_NANOS -> instant(text, number(), NANOS);
            case LOCAL_MILLIS -> local(text, number(), MILLIS);
            case LOCAL_MICROS -> local(text, number(), MICROS);
            case LOCAL_NANOS -> local(text, number(), NANOS);
            case DECIMAL -> decimal(text, length("decimal"), shape.scale);
            case DECIMAL_FIXED -> decimal(text, shape.byteCount, shape.scale);
            case UUID_FIXED -> {
                int from = take(2 * Long.BYTES);
                long high = (long) BIG_LONGS.get(bytes, from);
                quoted(text, new UUID(high, (long) BIG_LONGS.get(bytes, from + 8)).toString());
            }
        }
    }

    private static void checkDepth(int depth) {
        if (depth == WRITTEN_DEPTH_MAX) {
            throw new InvalidRequestException(
                    "it is nested deeper than %d".formatted(WRITTEN_DEPTH_MAX));
        }
    }

    private void writeRecord(Shape shape, JsonText text, int depth) {
        checkDepth(depth);
        text.put('{');
        for (int i = 0; i < shape.partCount(); i++) {
            if (i > 0) {
                text.put(',');
            }
            text.put(shape.texts[i]);
            write(shape.part(i), text, depth + 1);
        }
        text.put('}');
    }

    private void writeItems(Shape shape, JsonText text, int depth) {
        checkDepth(depth);
        boolean isMap = shape.kind == Shape.Kind.MAP;
        Shape item = shape.part(0);
        boolean isFirst = true;
        text.put(isMap ? '{' : '[');
        for (long count = blockCount(); count > 0; count = blockCount()) {
            int wantedEnd = blockEnd;
            for (long i = 0; i < count; i++) {
                if (!isFirst) {
                    text.put(',');
                }
                isFirst = false;
                if (isMap) {
                    string(text);
                    text.put(':');
                }
                write(item, text, depth + 1);
            }
            checkBlockEnd(wantedEnd);
        }
        text.put(isMap ? '}' : ']');
    }

    private void pass(Shape shape, int depth) {
        if (depth > PASSED_DEPTH_MAX) {
            throw malformed("it is nested deeper than %d".formatted(PASSED_DEPTH_MAX));
        }
        switch (shape.kind) {
            case NULL -> {}
            case BOOLEAN -> truth();
            case INT, DATE, TIME_MILLIS -> integer();
            case LONG,
                    TIME_MICROS,
                    TIMESTAMP_MILLIS,
                    TIMESTAMP_MICROS,
                    TIMESTAMP_NANOS,
                    LOCAL_MILLIS,
                    LOCAL_MICROS,
                    LOCAL_NANOS -> number();
            case FLOAT -> take(Float.BYTES);
            case DOUBLE -> take(Double.BYTES);
            case STRING -> take(length("text"));
            case BYTES, DECIMAL -> take(length("bytes"));
            case FIXED, DECIMAL_FIXED, UUID_FIXED -> take(shape.byteCount);
            case ENUM -> index(shape.texts.length, "symbol");
            case UNION -> pass(shape.part(index(shape.partCount(), "branch")), depth);
            case ARRAY, MAP -> passItems(shape, depth);
            case RECORD -> {
                for (int i = 0; i < shape.partCount() && !shape.isEmpty(); i++) {
                    pass(shape.part(i), depth + 1);
                }
            }
        }
    }

    private void passItems(Shape shape, int depth) {
        boolean isMap = shape.kind == Shape.Kind.MAP;
        Shape item = shape.part(0);
        for (long count = blockCount(); count > 0; count = blockCount()) {
            int wantedEnd = blockEnd;
            for (long i = 0; i < count && (isMap || !item.isEmpty()); i++) {
                if (isMap) {
                    take(length("text"));
                }
                pass(item, depth + 1);
            }
            checkBlockEnd(wantedEnd);
        }
    }

    /**
     * Begins a block of an array or a map. Items that have no bytes are refused where there are
     * more than bytes behind them: no writer would have a use for them.
     *
     * @return how many items it has; 0 at the end
     */
    private long blockCount() {
        long count = number();
        blockEnd = -1;
        if (count < 0) {
            long byteCount = number();
            if (byteCount < 0 || byteCount > left()) {
                throw malformed(
                        "a block of %d bytes, but %d are left".formatted(byteCount, left()));
            }
            blockEnd = at + (int) byteCount;
            count = -count;
        }
        if (count < 0 || count > left()) {
            throw malformed("%s items, but %d bytes are left"
                    .formatted(Long.toUnsignedString(count), left()));
        }
        return count;
    }

    private void checkBlockEnd(int wantedEnd) {
        if (wantedEnd >= 0 && at != wantedEnd) {
            throw malformed("a block that should end at byte %d".formatted(wantedEnd - start));
        }
    }

    private static void real(JsonText text, String value, boolean isNumber) {
        if (isNumber) {
            text.ascii(value);
        } else {
            quoted(text, value);
        }
    }

    private static void quoted(JsonText text, String ascii) {
        text.put('"');
        text.ascii(ascii);
        text.put('"');
    }

    private void string(JsonText text) {
        int byteCount = length("text");
        int from = take(byteCount);
        text.string(bytes, from, from + byteCount);
    }

    private void base64(JsonText text, int byteCount) {
        int from = take(byteCount);
        if (byteCount > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("it has %d bytes in a field, above the limit of %d"
                    .formatted(byteCount, Limits.RECORD_BYTES_MAX));
        }
        text.put('"');
        text.put(Base64.getEncoder().encode(Arrays.copyOfRange(bytes, from, from + byteCount)));
        text.put('"');
    }

    private void decimal(JsonText text, int byteCount, int scale) {
        int from = take(byteCount);
        if (byteCount == 0 || byteCount > DECIMAL_BYTES_MAX) {
            throw new InvalidRequestException(
                    "a decimal has 1 to %d bytes, not %d".formatted(DECIMAL_BYTES_MAX, byteCount));
        }
        text.ascii(new BigDecimal(new BigInteger(bytes, from, byteCount), scale).toString());
    }

    private static void time(JsonText text, long value, long nanosOfUnit) {
        if (value < 0 || value >= NANOS_OF_DAY / nanosOfUnit) {
            throw new InvalidRequestException("%d is no time of a day".formatted(value));
        }
        quoted(
                text,
                DateTimeFormatter.ISO_LOCAL_TIME.format(
                        LocalTime.ofNanoOfDay(value * nanosOfUnit)));
    }

    private static void instant(JsonText text, long value, long unitsOfSecond) {
        Instant instant = Instant.ofEpochSecond(
                Math.floorDiv(value, unitsOfSecond), nanos(value, unitsOfSecond));
        quoted(text, instant.toString());
    }

    private static void local(JsonText text, long value, long unitsOfSecond) {
        LocalDateTime local = LocalDateTime.ofEpochSecond(
                Math.floorDiv(value, unitsOfSecond),
                (int) nanos(value, unitsOfSecond),
                ZoneOffset.UTC);
        quoted(text, DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(local));
    }

    private static long nanos(long value, long unitsOfSecond) {
        return Math.floorMod(value, unitsOfSecond) * (NANOS / unitsOfSecond);
    }

    private boolean truth() {
        byte b = bytes[take(1)];
        if (b != 0 && b != 1) {
            throw malformed("a truth value %d".formatted(b));
        }
        return b == 1;
    }

    private int integer() {
        long value = number();
        if (value != (int) value) {
            throw malformed("an int %d, which is none".formatted(value));
        }
        return (int) value;
    }

    private int index(int count, String what) {
        long index = number();
        if (index < 0 || index >= count) {
            throw malformed("%s %d of %d".formatted(what, index, count));
        }
        return (int) index;
    }

    private int length(String what) {
        long byteCount = number();
        if (byteCount < 0 || byteCount > left()) {
            throw malformed("%s of %d bytes, but %d are left".formatted(what, byteCount, left()));
        }
        return (int) byteCount;
    }

    /** A number of seven bits a byte, the lowest first, whose lowest bit is the sign. */
    private long number() {
        long value = 0;
        for (int i = 0; i < VARINT_BYTES_MAX; i++) {
            byte b = bytes[take(1)];
            if (i == VARINT_BYTES_MAX - 1 && b != 0 && b != 1) {
                break; // beyond 64 bits
            }
            value |= (long) (b & 0x7F) << (7 * i);
            if (b >= 0) {
                return value >>> 1 ^ -(value & 1);
            }
        }
        throw malformed("a number of more than 64 bits");
    }

    /** Moves behind so many bytes; where they begin. */
    private int take(int byteCount) {
        if (byteCount > left()) {
            throw malformed("%d bytes are missing".formatted(byteCount - left()));
        }
        int from = at;
        at += byteCount;
        return from;
    }

    private MalformedFrameException malformed(String what) {
        return new MalformedFrameException(
                "it is no datum of its schema: %s, at byte %d".formatted(what, at - start));
    }
}
