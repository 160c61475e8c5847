package io.turbidite.ops.jdbc;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A message that is read. Nothing is made of a length before so many bytes are there.
 * <em>Confined to one thread.</em>
 */
final class WireInput {
    private final ByteBuffer buffer;

    /**
     * @param message without its length
     */
    WireInput(byte[] message) {
        this.buffer = ByteBuffer.wrap(message);
    }

    /** A message that is not as it should be. */
    static final class MalformedException extends IOException {
        private static final long serialVersionUID = 1L;

        MalformedException(String what) {
            super("a message that is not as it should be: " + what);
        }
    }

    /** What reads. */
    private interface Read<T extends @Nullable Object> {
        T read() throws IOException;
    }

    private static <T extends @Nullable Object> T checked(Read<T> read) throws IOException {
        try {
            return read.read();
        } catch (BufferUnderflowException e) {
            throw new MalformedException("it ends early");
        } catch (DateTimeException
                | ArithmeticException
                | InvalidRequestException
                | IllegalArgumentException e) {
            throw new MalformedException(String.valueOf(e.getMessage()));
        }
    }

    int position() {
        return buffer.position();
    }

    void position(int at) {
        buffer.position(at);
    }

    void checkEnd() throws MalformedException {
        if (buffer.hasRemaining()) {
            throw new MalformedException(buffer.remaining() + " bytes too many");
        }
    }

    private void require(long bytes) throws MalformedException {
        if (bytes > buffer.remaining()) {
            throw new MalformedException("it ends early");
        }
    }

    int getByte() throws IOException {
        require(1);
        return buffer.get() & 0xFF;
    }

    boolean getTruth() throws IOException {
        return getByte() != 0;
    }

    int getShort() throws IOException {
        require(Short.BYTES);
        return buffer.getShort() & 0xFFFF;
    }

    int getInt() throws IOException {
        require(Integer.BYTES);
        return buffer.getInt();
    }

    long getLong() throws IOException {
        require(Long.BYTES);
        return buffer.getLong();
    }

    /** How many there are of what has at least some bytes each. */
    int getCount(int bytesEach) throws IOException {
        int count = getInt();
        if (count < 0 || count > buffer.remaining() / bytesEach) {
            throw new MalformedException("a count of " + count);
        }
        return count;
    }

    private byte[] getBytes() throws IOException {
        byte[] bytes = new byte[getCount(1)];
        buffer.get(bytes);
        return bytes;
    }

    @Nullable
    String getTextOrNull() throws IOException {
        int length = getInt();
        if (length == Integer.MIN_VALUE) {
            return null;
        }
        long bytes = length >= 0 ? length : 2 * (-1L - length);
        if (bytes > buffer.remaining()) {
            throw new MalformedException("a text of %d bytes".formatted(bytes));
        }
        String text = new String(
                buffer.array(),
                buffer.position(),
                (int) bytes,
                length >= 0 ? StandardCharsets.UTF_8 : StandardCharsets.UTF_16BE);
        if (length < 0) {
            // the decoder would replace the halves
            char[] chars = new char[-1 - length];
            for (int i = 0; i < chars.length; i++) {
                chars[i] = buffer.getChar(buffer.position() + 2 * i);
            }
            text = new String(chars);
        }
        buffer.position(buffer.position() + (int) bytes);
        return text;
    }

    String getText() throws IOException {
        String text = getTextOrNull();
        if (text == null) {
            throw new MalformedException("a text is null");
        }
        return text;
    }

    List<String> getTexts() throws IOException {
        int count = getCount(Integer.BYTES);
        List<String> texts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            texts.add(getText());
        }
        return texts;
    }

    Columns getColumns() throws IOException {
        int count = getCount(2 * Integer.BYTES + 1);
        List<Field> fields = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String name = getText();
            TypeKind kind = getConstant(TypeKind.class);
            boolean isOptional = getTruth();
            // of elements and members nothing is told by JDBC
            fields.add(checked(() -> kind == TypeKind.ARRAY
                    ? Field.array(name, TypeKind.STRING, isOptional)
                    : new Field(name, kind, isOptional)));
        }
        return new Columns(fields);
    }

    /** One of an enumeration, by its name. */
    <T extends Enum<T>> T getConstant(Class<T> type) throws IOException {
        String name = getText();
        return checked(() -> Enum.valueOf(type, name));
    }

    SQLException getError() throws IOException {
        WireError error = getConstant(WireError.class);
        String message = getTextOrNull();
        String state = getTextOrNull();
        return error.make(message, state, getInt());
    }

    @Nullable
    Object[] getValues() throws IOException {
        @Nullable Object[] values = new @Nullable Object[getCount(1)];
        for (int i = 0; i < values.length; i++) {
            values[i] = getValue();
        }
        return values;
    }

    /** Whether the value is a whole number; it is not passed by. */
    boolean isWhole() throws IOException {
        require(1);
        return switch (buffer.get(buffer.position())) {
            case WireValue.BYTE, WireValue.SHORT, WireValue.INT, WireValue.LONG -> true;
            default -> false;
        };
    }

    /** A value that {@link #isWhole}. */
    long getWhole() throws IOException {
        int tag = getByte();
        return switch (tag) {
            case WireValue.BYTE -> (byte) getByte();
            case WireValue.SHORT -> (short) getShort();
            case WireValue.INT -> getInt();
            default -> getLong();
        };
    }

    @Nullable
    Object getValue() throws IOException {
        return WireInput.<@Nullable Object>checked(() -> value(0));
    }

    private @Nullable Object value(int depth) throws IOException {
        if (depth > Wire.DEPTH_MAX) {
            throw new MalformedException("values in values");
        }
        int tag = getByte();
        return switch (tag) {
            case WireValue.NULL -> null;
            case WireValue.TRUE -> true;
            case WireValue.FALSE -> false;
            case WireValue.BYTE -> buffer.get();
            case WireValue.SHORT -> buffer.getShort();
            case WireValue.INT -> buffer.getInt();
            case WireValue.LONG -> buffer.getLong();
            case WireValue.FLOAT -> buffer.getFloat();
            case WireValue.DOUBLE -> buffer.getDouble();
            case WireValue.DECIMAL -> {
                int scale = buffer.getInt();
                yield new BigDecimal(new BigInteger(getBytes()), scale);
            }
            case WireValue.INTEGER -> new BigInteger(getBytes());
            case WireValue.TEXT -> getText();
            case WireValue.CHARACTER -> buffer.getChar();
            case WireValue.BYTES -> getBytes();
            case WireValue.UUID -> new UUID(buffer.getLong(), buffer.getLong());
            case WireValue.DATE -> LocalDate.ofEpochDay(buffer.getLong());
            case WireValue.TIME -> LocalTime.ofNanoOfDay(buffer.getLong());
            case WireValue.INSTANT -> Instant.ofEpochSecond(buffer.getLong(), buffer.getInt());
            case WireValue.DURATION -> Duration.ofSeconds(buffer.getLong(), buffer.getInt());
            case WireValue.POINT -> new Point(buffer.getDouble(), buffer.getDouble());
            case WireValue.RECTANGLE ->
                new Rectangle(
                        buffer.getDouble(),
                        buffer.getDouble(),
                        buffer.getDouble(),
                        buffer.getDouble());
            case WireValue.LIST -> {
                int count = getCount(1);
                List<@Nullable Object> list = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    list.add(value(depth + 1));
                }
                yield Collections.unmodifiableList(list);
            }
            case WireValue.MAP -> {
                int count = getCount(Integer.BYTES + 1);
                Map<String, @Nullable Object> map = LinkedHashMap.newLinkedHashMap(count);
                for (int i = 0; i < count; i++) {
                    map.put(getText(), value(depth + 1));
                }
                yield Collections.unmodifiableMap(map);
            }
            default -> throw new MalformedException("a value of kind " + tag);
        };
    }

    /** Passes by a value. */
    void skipValue() throws IOException {
        int tag = getByte();
        switch (tag) {
            case WireValue.NULL, WireValue.TRUE, WireValue.FALSE -> {}
            case WireValue.BYTE -> skip(1);
            case WireValue.SHORT, WireValue.CHARACTER -> skip(Short.BYTES);
            case WireValue.INT, WireValue.FLOAT -> skip(Integer.BYTES);
            case WireValue.LONG, WireValue.DOUBLE, WireValue.DATE, WireValue.TIME ->
                skip(Long.BYTES);
            case WireValue.INSTANT, WireValue.DURATION -> skip(Long.BYTES + Integer.BYTES);
            case WireValue.UUID, WireValue.POINT -> skip(2 * Long.BYTES);
            case WireValue.INTEGER, WireValue.BYTES -> skip(getCount(1));
            case WireValue.DECIMAL -> {
                skip(Integer.BYTES);
                skip(getCount(1));
            }
            case WireValue.TEXT -> {
                int length = getInt();
                skip(length >= 0 ? length : 2 * (-1L - length));
            }
            default -> {
                buffer.position(buffer.position() - 1);
                var _ = getValue();
            }
        }
    }

    private void skip(long bytes) throws MalformedException {
        require(bytes);
        buffer.position(buffer.position() + (int) bytes);
    }
}
