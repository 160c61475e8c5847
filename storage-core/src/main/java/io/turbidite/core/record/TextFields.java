package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;

/**
 * Sets fields of a {@link RecordWriter} from text, as a column of a CSV file has it. <em>Confined to one
 * thread</em>; belongs to its writer.
 *
 * <p>Takes exactly what {@link ValueParser} takes: the short ways here are for the kinds that feeds
 * are full of, and hand what they don't like to the parser, which has the last word and the message.
 */
final class TextFields {
    /** So many digits can't overflow a long. */
    private static final int SAFE_DIGIT_COUNT = 18;

    private final RecordWriter writer;
    private final IsoReader iso = new IsoReader();
    private final Ascii ascii = new Ascii();

    TextFields(RecordWriter writer) {
        this.writer = writer;
    }

    void set(int field, TypeKind kind, Slice utf8) {
        switch (kind) {
            case STRING -> writer.setString(field, utf8);
            case INT8, INT16, INT32, INT64 -> {
                if (isShortInteger(utf8)) {
                    writer.setLong(field, shortInteger(utf8));
                } else {
                    writer.setLong(field, ValueParser.integer(kind, text(utf8)));
                }
            }
            case DATE, TIME, DATETIME, DURATION ->
                writer.setLong(
                        field, iso.read(kind, ascii.isAscii(utf8) ? ascii.set(utf8) : text(utf8)));
            case FLOAT, DOUBLE -> writer.setDouble(field, ValueParser.real(kind, text(utf8)));
            default -> writer.setObject(field, ValueParser.parse(kind, text(utf8)));
        }
    }

    private static String text(Slice utf8) {
        int invalidAt = Utf8.firstInvalid(utf8.segment(), utf8.offset(), utf8.length());
        if (invalidAt >= 0) {
            throw new InvalidRequestException("the text is not UTF-8 at byte " + invalidAt);
        }
        return utf8.toUtf8();
    }

    private static boolean isShortInteger(Slice text) {
        MemorySegment segment = text.segment();
        int start = text.length() > 0 && text.byteAt(0) == '-' ? 1 : 0;
        int digitCount = text.length() - start;
        if (digitCount < 1 || digitCount > SAFE_DIGIT_COUNT) {
            return false;
        }
        for (int i = start; i < text.length(); i++) {
            byte b = segment.get(Bytes.U8, text.offset() + i);
            if (b < '0' || b > '9') {
                return false;
            }
        }
        return true;
    }

    private static long shortInteger(Slice text) {
        MemorySegment segment = text.segment();
        boolean negative = segment.get(Bytes.U8, text.offset()) == '-';
        long number = 0;
        for (int i = negative ? 1 : 0; i < text.length(); i++) {
            number = number * 10 + (segment.get(Bytes.U8, text.offset() + i) - '0');
        }
        return negative ? -number : number;
    }

    /** Bytes below 128 seen as characters. */
    private static final class Ascii implements CharSequence {
        private final Slice bytes = new Slice();

        boolean isAscii(Slice text) {
            for (int i = 0; i < text.length(); i++) {
                if (text.byteAt(i) >= 0x80) {
                    return false;
                }
            }
            return true;
        }

        Ascii set(Slice text) {
            bytes.set(text);
            return this;
        }

        @Override
        public int length() {
            return bytes.length();
        }

        @Override
        public char charAt(int index) {
            return (char) bytes.byteAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return toString().substring(start, end);
        }

        @Override
        public String toString() {
            return bytes.toUtf8();
        }
    }
}
