package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.type.TypeKind;

/**
 * What aggregates need of one record, as one field of a tuple (little-endian).
 *
 * <pre>
 * offset  bytes  field
 *      0      8  present     bit i: argument i has a value
 *  8 + 8i     8  argument i  a whole number; the bits of a double; or where its bytes lie: length
 *                            in the low half, offset from the start of all in the high half
 *      …      …  bytes
 * </pre>
 *
 * <p>Bytes are those of strings and binary values; of other kinds without a number they are the
 * value's key, so that they are in its order.
 */
final class ArgumentFormat {
    static final int PRESENT_OFFSET = 0;
    static final int SLOTS_OFFSET = PRESENT_OFFSET + 8;
    static final int SLOT_BYTES = 8;
    static final int COUNT_MAX = 64;

    /** How a kind's values are laid down. */
    enum Form {
        NUMBER,
        DOUBLE,
        TEXT,
        KEY,
        /** Only whether there is one. */
        PRESENCE;

        static Form of(TypeKind kind) {
            if (KindValues.isLong(kind)) {
                return NUMBER;
            }
            return switch (kind) {
                case FLOAT, DOUBLE -> DOUBLE;
                case STRING, BINARY -> TEXT;
                case ARRAY, RECORD -> PRESENCE;
                default -> KEY;
            };
        }
    }

    private ArgumentFormat() {}

    static int slotOffset(int argument) {
        return SLOTS_OFFSET + SLOT_BYTES * argument;
    }

    static boolean isPresent(Slice arguments, int argument) {
        long present = arguments.segment().get(Bytes.I64, arguments.offset() + PRESENT_OFFSET);
        return (present >>> argument & 1) != 0;
    }

    static long number(Slice arguments, int argument) {
        return arguments.segment().get(Bytes.I64, arguments.offset() + slotOffset(argument));
    }

    static double fraction(Slice arguments, int argument) {
        return Double.longBitsToDouble(number(arguments, argument));
    }

    /** Moves {@code to} to the bytes of an argument. */
    static Slice bytes(Slice arguments, int argument, Slice to) {
        long place = number(arguments, argument);
        return to.set(
                arguments.segment(), arguments.offset() + (place >>> Integer.SIZE), (int) place);
    }

    /** Appends the key of an argument, or that of null. */
    static void appendKey(
            Slice arguments, int argument, TypeKind kind, Slice scratch, ByteSink to) {
        if (!isPresent(arguments, argument)) {
            KeyCodec.appendNull(to, kind);
            return;
        }
        switch (kind) {
            case BOOL -> KeyCodec.appendBool(to, number(arguments, argument) == 1);
            case FLOAT -> KeyCodec.appendFloat(to, (float) fraction(arguments, argument));
            case DOUBLE -> KeyCodec.appendDouble(to, fraction(arguments, argument));
            case STRING, BINARY -> KeyCodec.appendBytes(to, bytes(arguments, argument, scratch));
            default -> {
                if (Form.of(kind) == Form.NUMBER) {
                    KeyCodec.appendLong(to, number(arguments, argument));
                } else {
                    to.putBytes(bytes(arguments, argument, scratch));
                }
            }
        }
    }

    static long placeOf(int offset, int length) {
        return (long) offset << Integer.SIZE | length;
    }
}
