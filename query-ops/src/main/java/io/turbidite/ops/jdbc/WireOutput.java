package io.turbidite.ops.jdbc;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A message that is written. <em>Confined to one thread.</em> Reusable. */
final class WireOutput {
    private static final int FIRST_BYTES = 1 << 10;
    private static final int KEPT_BYTES_MAX = 256 << 10;

    private final int bytesMax;
    private byte[] bytes = new byte[FIRST_BYTES];
    private ByteBuffer buffer = ByteBuffer.wrap(bytes);

    /**
     * @param bytesMax a longer message is refused
     */
    WireOutput(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Begins a message. */
    WireOutput begin(int kind) {
        if (bytes.length > KEPT_BYTES_MAX) {
            bytes = new byte[FIRST_BYTES];
            buffer = ByteBuffer.wrap(bytes);
        }
        buffer.clear().putInt(0).put((byte) kind);
        return this;
    }

    /** The message with its length, in the first {@link #size} bytes. */
    byte[] message() {
        buffer.putInt(0, size() - Wire.LENGTH_BYTES);
        return bytes;
    }

    int size() {
        return buffer.position();
    }

    /** Forgets what is behind a size. */
    void cut(int size) {
        buffer.position(size);
    }

    private ByteBuffer room(int more) {
        if (buffer.remaining() < more) {
            long needed = (long) size() + more;
            if (needed > bytesMax) {
                throw new TooLongException(needed, bytesMax);
            }
            int position = size();
            bytes = Arrays.copyOf(
                    bytes, (int) Math.min(bytesMax, Math.max(needed, 2L * bytes.length)));
            buffer = ByteBuffer.wrap(bytes).position(position);
        }
        return buffer;
    }

    /** A message would have more bytes than may be sent. */
    static final class TooLongException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooLongException(long bytes, int bytesMax) {
            super(
                    "a message of %d bytes to or from the process that holds the store is too long: %d at most"
                            .formatted(bytes, bytesMax));
        }
    }

    WireOutput putByte(int value) {
        room(1).put((byte) value);
        return this;
    }

    WireOutput putTruth(boolean value) {
        return putByte(value ? 1 : 0);
    }

    WireOutput putShort(int value) {
        room(Short.BYTES).putShort((short) value);
        return this;
    }

    WireOutput putInt(int value) {
        room(Integer.BYTES).putInt(value);
        return this;
    }

    void putIntAt(int at, int value) {
        buffer.putInt(at, value);
    }

    WireOutput putLong(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    private WireOutput putDouble(double value) {
        return putLong(Double.doubleToRawLongBits(value));
    }

    private WireOutput putBytes(byte[] value) {
        putInt(value.length);
        room(value.length).put(value);
        return this;
    }

    WireOutput putText(@Nullable String text) {
        if (text == null) {
            return putInt(Integer.MIN_VALUE);
        }
        if (isWhole(text)) {
            return putBytes(text.getBytes(StandardCharsets.UTF_8));
        }
        putInt(-1 - text.length());
        for (int i = 0; i < text.length(); i++) {
            putShort(text.charAt(i));
        }
        return this;
    }

    /** Whether it has no half of a surrogate pair. */
    private static boolean isWhole(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return StandardCharsets.UTF_8.newEncoder().canEncode(text);
            }
        }
        return true;
    }

    WireOutput putTexts(List<String> texts) {
        putInt(texts.size());
        texts.forEach(this::putText);
        return this;
    }

    WireOutput putColumns(Columns columns) {
        putInt(columns.fields().size());
        for (Field field : columns.fields()) {
            putText(field.name()).putText(field.kind().name()).putTruth(field.optional());
        }
        return this;
    }

    void putError(SQLException e) {
        putText(WireError.of(e).name())
                .putText(e.getMessage())
                .putText(e.getSQLState())
                .putInt(e.getErrorCode());
    }

    /** A whole number of a kind, without an object. */
    void putWhole(TypeKind kind, long value) {
        switch (kind) {
            case INT8 -> putByte(WireValue.BYTE).putByte((int) value);
            case INT16 -> putByte(WireValue.SHORT).putShort((int) value);
            case INT32 -> putByte(WireValue.INT).putInt((int) value);
            default -> putByte(WireValue.LONG).putLong(value);
        }
    }

    /** A value; whether it has a form here. */
    boolean putValue(@Nullable Object value) {
        switch (value) {
            case null -> putByte(WireValue.NULL);
            case Boolean truth -> putByte(truth ? WireValue.TRUE : WireValue.FALSE);
            case Byte number -> putByte(WireValue.BYTE).putByte(number);
            case Short number -> putByte(WireValue.SHORT).putShort(number);
            case Integer number -> putByte(WireValue.INT).putInt(number);
            case Long number -> putByte(WireValue.LONG).putLong(number);
            case Float number -> putByte(WireValue.FLOAT).putInt(Float.floatToRawIntBits(number));
            case Double number -> putByte(WireValue.DOUBLE).putDouble(number);
            case BigDecimal number ->
                putByte(WireValue.DECIMAL)
                        .putInt(number.scale())
                        .putBytes(number.unscaledValue().toByteArray());
            case BigInteger number -> putByte(WireValue.INTEGER).putBytes(number.toByteArray());
            case String text -> putByte(WireValue.TEXT).putText(text);
            case Character one -> putByte(WireValue.CHARACTER).putShort(one);
            case byte[] raw -> putByte(WireValue.BYTES).putBytes(raw);
            case UUID id ->
                putByte(WireValue.UUID)
                        .putLong(id.getMostSignificantBits())
                        .putLong(id.getLeastSignificantBits());
            case LocalDate day -> putByte(WireValue.DATE).putLong(day.toEpochDay());
            case LocalTime time -> putByte(WireValue.TIME).putLong(time.toNanoOfDay());
            case Instant at ->
                putByte(WireValue.INSTANT).putLong(at.getEpochSecond()).putInt(at.getNano());
            case Duration span ->
                putByte(WireValue.DURATION).putLong(span.getSeconds()).putInt(span.getNano());
            case Point at -> putByte(WireValue.POINT).putDouble(at.x()).putDouble(at.y());
            case Rectangle box ->
                putByte(WireValue.RECTANGLE)
                        .putDouble(box.minX())
                        .putDouble(box.minY())
                        .putDouble(box.maxX())
                        .putDouble(box.maxY());
            case List<?> list -> {
                putByte(WireValue.LIST).putInt(list.size());
                boolean isKnown = true;
                for (Object element : list) {
                    isKnown &= putValue(element);
                }
                return isKnown;
            }
            case Map<?, ?> map -> {
                putByte(WireValue.MAP).putInt(map.size());
                boolean isKnown = true;
                for (Map.Entry<?, ?> member : map.entrySet()) {
                    putText(String.valueOf(member.getKey()));
                    isKnown &= putValue(member.getValue());
                }
                return isKnown;
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
