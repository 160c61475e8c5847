package io.turbidite.core.record;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.TextReader;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The declared fields of one record, copied to the heap: what a map of it reads its values from
 * when it is asked. <em>Immutable</em>, so any thread may read it, whatever became of the record.
 *
 * <p>It reads an array, not a segment as {@link RecordView} does: a view that met segments on the
 * heap and off it would be slower for those who scan records, who only meet the latter. The header
 * was checked by the view that the bytes were copied from; a value that is damaged is a
 * {@link CorruptionException} when it is decoded.
 */
final class FieldBytes {
    private static final VarHandle I32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64_BE =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    /** What decoding puts in the place of bytes that are not UTF-8. */
    private static final char REPLACEMENT = '\uFFFD';

    private final RecordType type;
    private final RecordLayout layout;

    /** The record up to its open area. */
    private final byte[] bytes;

    private final int fieldCount;
    private final int statesOffset;

    /**
     * Takes over {@code bytes}.
     *
     * @param bytes a record's, from its start to the end of the variable area
     * @param fieldCount that its header names
     */
    FieldBytes(RecordType type, RecordLayout layout, byte[] bytes, int fieldCount) {
        this.type = type;
        this.layout = layout;
        this.bytes = bytes;
        this.fieldCount = fieldCount;
        this.statesOffset = layout.statesOffset(fieldCount);
    }

    RecordType type() {
        return type;
    }

    /** Declared fields that the record knows of; those of the type from there on are missing. */
    int fieldCount() {
        return fieldCount;
    }

    TypeKind kind(int field) {
        return layout.kind(field);
    }

    boolean isMissing(int field) {
        return state(field) == RecordFormat.STATE_MISSING;
    }

    private int state(int field) {
        return (bytes[statesOffset + (field >>> 2)] >>> ((field & 3) << 1)) & 3;
    }

    /** How many fields, but those within others, are not missing. */
    int presentCount() {
        int present = 0;
        if (type.hasNested()) {
            for (int i = 0; i < fieldCount; i = type.behind(i)) {
                present += isMissing(i) ? 0 : 1;
            }
            return present;
        }
        // four fields a byte, of two bits each, of which one is set where a field is there
        int whole = fieldCount >>> 2;
        for (int i = 0; i < whole; i++) {
            present += Integer.bitCount(bytes[statesOffset + i] & 0xFF);
        }
        int rest = fieldCount & 3;
        return rest == 0
                ? present
                : present + Integer.bitCount(bytes[statesOffset + whole] & ((1 << (2 * rest)) - 1));
    }

    /** The Java value of a field below the count; null if it is null or missing. */
    @Nullable
    Object get(int field) {
        return state(field) == RecordFormat.STATE_PRESENT ? value(field, layout.kind(field)) : null;
    }

    private Object value(int field, TypeKind kind) {
        int slot = layout.slotOffset(field);
        return switch (kind) {
            case ARRAY -> elements(field, slot);
            case RECORD -> nested(field, slot);
            case STRING, BINARY, DECIMAL -> variable(kind, slot, start(field, slot), end(slot));
            default -> fixed(kind, slot);
        };
    }

    private Object variable(TypeKind kind, int slot, int start, int end) {
        return switch (kind) {
            case STRING -> text(start, end - start);
            case BINARY -> Arrays.copyOfRange(bytes, start, end);
            case DECIMAL -> decimal(slot, start, end - start);
            default -> throw new IllegalArgumentException(kind.label());
        };
    }

    /** The value in a slot, or of an element of an array that is as wide. */
    private Object fixed(TypeKind kind, int slot) {
        return switch (kind) {
            // the sum of -0.0 and 0.0 is 0.0: one value, whichever was written
            case FLOAT -> Float.intBitsToFloat((int) I32.get(bytes, slot)) + 0.0f;
            case DOUBLE -> real(slot) + 0.0;
            case UUID ->
                new UUID((long) I64_BE.get(bytes, slot), (long) I64_BE.get(bytes, slot + 8));
            case POINT, LONLAT -> point(slot);
            case RECTANGLE -> rectangle(slot);
            case INT8 -> KindValues.fromLong(kind, bytes[slot]);
            case BOOL -> whole(kind, slot, bytes[slot]);
            case INT16 ->
                KindValues.fromLong(kind, (short) ((bytes[slot] & 0xFF) | (bytes[slot + 1] << 8)));
            case INT32, DATE -> KindValues.fromLong(kind, (int) I32.get(bytes, slot));
            case INT64, TIME, DATETIME, DURATION -> whole(kind, slot, (long) I64.get(bytes, slot));
            case STRING, BINARY, DECIMAL, ARRAY, RECORD ->
                throw new IllegalArgumentException(kind.label());
        };
    }

    private static Object whole(TypeKind kind, int slot, long value) {
        if (!KindValues.inRange(kind, value)) {
            throw RecordFormat.damaged(slot, kind.label(), "in range", value);
        }
        return KindValues.fromLong(kind, value);
    }

    private double real(int at) {
        return Double.longBitsToDouble((long) I64.get(bytes, at));
    }

    /** Where the bytes of a variable-width field begin, which end at or behind there. */
    private int start(int field, int slot) {
        int variableOffset = layout.variableOffset(fieldCount);
        int variableBytes = bytes.length - variableOffset;
        int before = layout.previousEndOffset(field);
        int start = before < 0 ? 0 : (int) I32.get(bytes, before);
        int end = (int) I32.get(bytes, slot);
        if (start < 0 || start > end || end > variableBytes) {
            throw RecordFormat.damaged(
                    slot, "end of bytes", "%d to %d".formatted(start, variableBytes), end);
        }
        return variableOffset + start;
    }

    private int end(int slot) {
        return layout.variableOffset(fieldCount) + (int) I32.get(bytes, slot);
    }

    /** Whether a field is there and a string of at least eight bytes, all of them ASCII. */
    boolean isAscii(int field) {
        if (layout.kind(field) != TypeKind.STRING || state(field) != RecordFormat.STATE_PRESENT) {
            return false;
        }
        int slot = layout.slotOffset(field);
        int start = start(field, slot);
        int length = end(slot) - start;
        if (length < Long.BYTES) {
            return false;
        }
        long bits = (long) I64.get(bytes, start + length - Long.BYTES);
        for (int i = 0; i + Long.BYTES <= length; i += Long.BYTES) {
            bits |= (long) I64.get(bytes, start + i);
        }
        return (bits & HIGH_BITS) == 0;
    }

    /** Bytes of a field of variable width that is there. */
    int byteCount(int field) {
        int slot = layout.slotOffset(field);
        return end(slot) - start(field, slot);
    }

    /** Appends the bytes of such a field. */
    void copy(int field, ByteSink sink) {
        int start = start(field, layout.slotOffset(field));
        int length = byteCount(field);
        int at = sink.reserve(length);
        MemorySegment.copy(bytes, start, sink.segment(), Bytes.U8, at, length);
    }

    private List<Object> elements(int field, int slot) {
        int at = start(field, slot);
        int end = end(slot);
        TypeKind kind = layout.kind(type.eachOf(field));
        boolean isVariable = RecordFormat.isVariable(kind);
        List<Object> values = new ArrayList<>();
        while (at < end) {
            int begun = at;
            int length = 0;
            if (isVariable) {
                for (int shift = 0, part = -1; part < 0; shift += 7) {
                    if (at == end || shift > 28) {
                        throw RecordFormat.damaged(begun, "byte count", "within its array", "none");
                    }
                    part = bytes[at++];
                    length |= (part & 0x7F) << shift;
                }
            } else {
                length = RecordFormat.slotBytes(kind);
            }
            if (length < 0 || length > end - at) {
                throw RecordFormat.damaged(begun, "byte count", "at most " + (end - at), length);
            }
            values.add(isVariable ? variable(kind, begun, at, at + length) : fixed(kind, at));
            at += length;
        }
        return Collections.unmodifiableList(values);
    }

    /** A nested record: what is declared, in order, then the rest. */
    private Map<String, @Nullable Object> nested(int field, int slot) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int member = field + 1; member < type.behind(field); member = type.behind(member)) {
            if (member < fieldCount && !isMissing(member)) {
                values.put(type.memberName(member), get(member));
            }
        }
        int start = start(field, slot);
        if (end(slot) > start) {
            OpenReader others = new OpenReader(new TextReader())
                    .set(MemorySegment.ofArray(bytes), 0, start, end(slot));
            while (others.hasNext()) {
                others.field(values, 1);
            }
        }
        return Collections.unmodifiableMap(values);
    }

    private String text(int start, int length) {
        String text = new String(bytes, start, length, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0) {
            // either the record has this character, or it is damaged
            int invalidAt = Utf8.firstInvalid(MemorySegment.ofArray(bytes), start, length);
            if (invalidAt >= 0) {
                throw RecordFormat.damaged(
                        (long) start + invalidAt,
                        "string",
                        "UTF-8",
                        bytes[start + invalidAt] & 0xFF);
            }
        }
        return text;
    }

    private Object decimal(int slot, int start, int length) {
        try {
            return DecimalBytes.decodeWithScale(MemorySegment.ofArray(bytes), start, length);
        } catch (IllegalArgumentException e) {
            throw RecordFormat.damaged(slot, "decimal", "well-formed", e.getMessage());
        }
    }

    private Point point(int slot) {
        try {
            return new Point(real(slot), real(slot + 8));
        } catch (InvalidRequestException e) {
            throw RecordFormat.damaged(slot, "point", "finite", e.getMessage());
        }
    }

    private Rectangle rectangle(int slot) {
        try {
            return new Rectangle(real(slot), real(slot + 8), real(slot + 16), real(slot + 24));
        } catch (InvalidRequestException e) {
            throw RecordFormat.damaged(slot, "rectangle", "finite and ordered", e.getMessage());
        }
    }
}
