package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Utf8;

import java.lang.foreign.MemorySegment;

/** The inside of JSON strings. What goes wrong is {@link #problem()} at {@link #problemAt()}. */
final class JsonText {
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private Rejection.Kind problem = Rejection.Kind.BAD_UTF8;
    private int problemAt;

    Rejection.Kind problem() {
        return problem;
    }

    /** Bytes from the start of the string that was checked or decoded. */
    int problemAt() {
        return problemAt;
    }

    /** Whether the bytes are UTF-8 without control characters. */
    boolean check(byte[] bytes, int offset, int length) {
        long high = 0;
        long control = 0;
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            long word = MachineWords.at(bytes, offset + i);
            high |= word;
            // a borrow may name a neighbour too, but only when there is a control character
            control |= (word - 0x20 * ONES) & ~word;
        }
        for (; i < length; i++) {
            int value = bytes[offset + i];
            high |= value;
            control |= (value - 0x20) & ~value & 0x80;
        }
        if ((control & HIGH_BITS) != 0) {
            return controlCharacter(bytes, offset, length);
        }
        if ((high & HIGH_BITS) != 0) {
            int invalid = Utf8.firstInvalid(MemorySegment.ofArray(bytes), offset, length);
            return invalid < 0 || fail(Rejection.Kind.BAD_UTF8, invalid);
        }
        return true;
    }

    private boolean controlCharacter(byte[] bytes, int offset, int length) {
        int invalid = Utf8.firstInvalid(MemorySegment.ofArray(bytes), offset, length);
        for (int i = 0; i < (invalid < 0 ? length : invalid); i++) {
            if ((bytes[offset + i] & 0xFF) < 0x20) {
                return fail(Rejection.Kind.CONTROL_CHARACTER, i);
            }
        }
        return fail(Rejection.Kind.BAD_UTF8, invalid);
    }

    private boolean fail(Rejection.Kind kind, int at) {
        problem = kind;
        problemAt = at;
        return false;
    }

    /** Appends what the string stands for; false if it is malformed, then the sink is as it was. */
    boolean decode(byte[] bytes, int offset, int length, ByteBuilder into) {
        if (!check(bytes, offset, length)) {
            return false;
        }
        int start = into.length();
        int i = 0;
        while (i < length) {
            int value = bytes[offset + i];
            if (value != '\\') {
                into.put(value);
                i++;
                continue;
            }
            int taken = escape(bytes, offset + i, length - i, into);
            if (taken == 0) {
                into.truncate(start);
                return fail(Rejection.Kind.BAD_ESCAPE, i);
            }
            i += taken;
        }
        return true;
    }

    /**
     * Appends the character of the escape at {@code offset}; returns its bytes, 0 if it is none.
     */
    private static int escape(byte[] bytes, int offset, int available, ByteBuilder into) {
        if (available < 2) {
            return 0;
        }
        int letter = bytes[offset + 1];
        int value = switch (letter) {
            case '"', '\\', '/' -> letter;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> -1;
        };
        if (value >= 0) {
            into.put(value);
            return 2;
        }
        return letter == 'u' ? unicode(bytes, offset, available, into) : 0;
    }

    private static int unicode(byte[] bytes, int offset, int available, ByteBuilder into) {
        int unit = available < 6 ? -1 : hex4(bytes, offset + 2);
        if (unit < 0 || Character.isLowSurrogate((char) unit)) {
            return 0;
        }
        if (!Character.isHighSurrogate((char) unit)) {
            putCodePoint(into, unit);
            return 6;
        }
        // the other half must follow: a surrogate alone has no UTF-8 form
        if (available < 12 || bytes[offset + 6] != '\\' || bytes[offset + 7] != 'u') {
            return 0;
        }
        int low = hex4(bytes, offset + 8);
        if (low < 0 || !Character.isLowSurrogate((char) low)) {
            return 0;
        }
        putCodePoint(into, Character.toCodePoint((char) unit, (char) low));
        return 12;
    }

    private static int hex4(byte[] bytes, int offset) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int c = bytes[offset + i];
            int digit = Character.digit(c, 16);
            if (digit < 0) {
                return -1;
            }
            value = (value << 4) | digit;
        }
        return value;
    }

    private static void putCodePoint(ByteBuilder into, int point) {
        if (point < 0x80) {
            into.put(point);
        } else if (point < 0x800) {
            into.put(0xC0 | (point >> 6)).put(0x80 | (point & 0x3F));
        } else if (point < 0x10000) {
            into.put(0xE0 | (point >> 12))
                    .put(0x80 | ((point >> 6) & 0x3F))
                    .put(0x80 | (point & 0x3F));
        } else {
            into.put(0xF0 | (point >> 18))
                    .put(0x80 | ((point >> 12) & 0x3F))
                    .put(0x80 | ((point >> 6) & 0x3F))
                    .put(0x80 | (point & 0x3F));
        }
    }
}
