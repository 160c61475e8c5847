package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSearch;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads plain JSON: an object of declared fields whose values are integers of 64 bits,
 * doubles of up to 15, truths, nulls, and strings without a backslash. Most lines of most feeds are
 * so. Whatever else a text is, or what is wrong with it, is left to the parser, which is also what
 * says what a record is: this class never takes a text that the parser refuses, or otherwise than
 * it does ({@code JsonReuseTest}).
 *
 * <p>Strings go from the text to the record as they are; a parser makes them characters first. That
 * is most of what it saves.
 *
 * <p><em>Confined to one thread</em>; belongs to its writer.
 */
final class PlainJsonReader {
    /** Behind a text that is not plain so many go to the parser at once, at most. */
    private static final int PASSED_MAX = 64;

    /** A type of more fields is searched by the parser's way, if they come in another order. */
    private static final int SEARCHED_MAX = 32;

    private static final int DIGITS_MAX = 19;
    private static final int DOUBLE_DIGITS_MAX = 15;
    private static final byte[] TRUE = utf8("true");
    private static final byte[] FALSE = utf8("false");
    private static final byte[] NULL = utf8("null");

    /** Quotients by them are rounded once: they and numbers of 15 digits are exact. */
    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };

    private final RecordWriter writer;

    /** Of the fields that lie in no other and whose names are plain: names, indexes, kinds. */
    private final byte[][] names;

    private final int[] fields;
    private final TypeKind[] kinds;

    private final IsoReader iso = new IsoReader();
    private final Ascii ascii = new Ascii();
    private final Slice slice = new Slice();
    private byte[] bytes = {};
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int end;
    private int at;

    /** The field that is expected next: mostly they come in one order. */
    private int expected;

    /** Of the number that was read last: its digits, and how many stand behind the point. */
    private long digits;

    private int scale;

    private int passed;
    private int passedNext;

    PlainJsonReader(RecordWriter writer, RecordType type) {
        this.writer = writer;
        List<Integer> top = new ArrayList<>();
        for (int i = 0; i < type.fields().size(); i++) {
            byte[] name = utf8(type.memberName(i));
            boolean isPlain = ByteSearch.plainTextEnd(name, 0, name.length) == name.length;
            if (type.parent(i) == RecordType.TOP && isPlain) {
                top.add(i);
            }
        }
        names = new byte[top.size()][];
        fields = new int[top.size()];
        kinds = new TypeKind[top.size()];
        for (int i = 0; i < fields.length; i++) {
            fields[i] = top.get(i);
            names[i] = utf8(type.memberName(fields[i]));
            kinds[i] = type.field(fields[i]).kind();
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Sets the fields of the object that is written in {@code text..length}, checked UTF-8 without
     * white space behind it.
     *
     * @param textSegment the same bytes as a segment
     * @return false if the parser must read it; some fields may be set then
     */
    boolean read(byte[] text, MemorySegment textSegment, int length) {
        if (passed > 0) {
            passed--;
            return false;
        }
        bytes = text;
        segment = textSegment;
        end = length;
        at = 0;
        expected = 0;
        boolean isPlain;
        try {
            isPlain = object();
        } catch (InvalidRequestException refused) {
            isPlain = false; // the parser meets it too, and knows how to say it
        }
        passedNext = isPlain ? 0 : Math.clamp(2L * passedNext, 1, PASSED_MAX);
        passed = passedNext;
        return isPlain;
    }

    private boolean object() {
        if (!passes('{')) {
            return false;
        }
        do {
            int field = passes('"') ? name() : -1;
            if (field < 0 || !passes(':') || !value(fields[field], kinds[field])) {
                return false;
            }
        } while (passes(','));
        return passes('}') && at == end;
    }

    /** Passes over white space, and over {@code wanted} if that follows. */
    private boolean passes(char wanted) {
        while (at < end) {
            byte b = bytes[at];
            if (b == wanted) {
                at++;
                return true;
            }
            if (!JsonRecordReader.isSpace(b)) {
                return false;
            }
            at++;
        }
        return false;
    }

    /** Which of the fields has the name that begins here; -1: none, or it is not plain. */
    private int name() {
        int field = expected;
        for (int tried = 0; tried < fields.length; tried++) {
            if (field == fields.length) {
                field = 0;
            }
            int nameEnd = at + names[field].length;
            if (nameEnd < end && bytes[nameEnd] == '"' && isHere(names[field])) {
                at = nameEnd + 1;
                expected = field + 1;
                return field;
            }
            if (fields.length > SEARCHED_MAX) {
                return -1;
            }
            field++;
        }
        return -1;
    }

    private boolean isHere(byte[] word) {
        if (end - at < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (bytes[at + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    private boolean passesWord(byte[] word) {
        boolean isHere = isHere(word);
        at += isHere ? word.length : 0;
        return isHere;
    }

    private boolean value(int field, TypeKind kind) {
        while (at < end && JsonRecordReader.isSpace(bytes[at])) {
            at++;
        }
        if (at == end) {
            return false;
        }
        return switch (bytes[at]) {
            case '"' -> string(field, kind);
            case 'n' -> {
                writer.setNull(field);
                yield passesWord(NULL);
            }
            case 't', 'f' -> truth(field, kind);
            default -> number(field, kind);
        };
    }

    private boolean truth(int field, TypeKind kind) {
        boolean truth = bytes[at] == 't';
        if (kind != TypeKind.BOOL || !passesWord(truth ? TRUE : FALSE)) {
            return false;
        }
        writer.setLong(field, truth ? 1 : 0);
        return true;
    }

    private boolean string(int field, TypeKind kind) {
        int start = at + 1;
        int textEnd = ByteSearch.plainTextEnd(bytes, start, end);
        if (textEnd == end || bytes[textEnd] != '"') {
            return false;
        }
        at = textEnd + 1;
        switch (kind) {
            case STRING ->
                writer.setCheckedString(field, slice.set(segment, start, textEnd - start));
            case DATE, TIME, DATETIME, DURATION ->
                writer.setLong(field, iso.read(kind, ascii.set(bytes, start, textEnd)));
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean number(int field, TypeKind kind) {
        boolean isNegative = bytes[at] == '-';
        at += isNegative ? 1 : 0;
        int digitCount = digits();
        if (digitCount == 0 || (isNegative && digits == 0)) {
            return false; // a zero below zero is another one for doubles
        }
        switch (kind) {
            case INT8, INT16, INT32, INT64 -> {
                if (scale > 0) {
                    return false;
                }
                writer.setLong(field, isNegative ? -digits : digits);
            }
            case DOUBLE -> {
                if (digitCount > DOUBLE_DIGITS_MAX) {
                    return false;
                }
                double number = digits / POWERS_OF_TEN[scale];
                writer.setDouble(field, isNegative ? -number : number);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads digits, with a point among them or not.
     *
     * @return how many they are, those of a zero before the point included; 0: it is no number, or
     *     an unusual one
     */
    private int digits() {
        int start = at;
        int point = -1;
        long value = 0;
        while (at < end && at - start <= DIGITS_MAX) {
            byte b = bytes[at];
            if (b >= '0' && b <= '9') {
                value = 10 * value + (b - '0');
            } else if (b == '.' && point < 0) {
                point = at;
            } else {
                break;
            }
            at++;
        }
        int whole = (point < 0 ? at : point) - start;
        if (whole == 0
                || (whole > 1 && bytes[start] == '0')
                || point == at - 1
                || at - start > DIGITS_MAX
                || value < 0) { // of 19 digits, more than a long has
            return 0;
        }
        digits = value;
        scale = point < 0 ? 0 : at - point - 1;
        return at - start - (point < 0 ? 0 : 1); // what follows, an exponent say, ends the object
    }

    /** Text of the bytes as if they were ASCII: times are, and anything else is no time. */
    private static final class Ascii implements CharSequence {
        private byte[] source = {};
        private int start;
        private int length;

        Ascii set(byte[] bytes, int from, int to) {
            source = bytes;
            start = from;
            length = to - from;
            return this;
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public char charAt(int index) {
            return (char) (source[start + index] & 0xFF);
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return toString().substring(from, to);
        }

        @Override
        public String toString() {
            return new String(source, start, length, StandardCharsets.ISO_8859_1);
        }
    }
}
