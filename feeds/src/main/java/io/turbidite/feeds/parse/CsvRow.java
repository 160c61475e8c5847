package io.turbidite.feeds.parse;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvCallbackHandler;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import de.siegmar.fastcsv.reader.RecordType;

import io.turbidite.core.Limits;

import org.jspecify.annotations.Nullable;

import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The fields of one CSV record as characters, split by FastCSV. Its reader goes from frame to
 * frame, without garbage; after an error, and for a record that has line ends in it, a new one is
 * made, so that no frame can be read as part of another.
 *
 * <p><em>Confined to one thread.</em> The characters are valid until the next {@link #read}.
 */
final class CsvRow {
    /** The library tells where in its input an error is; ours is made of frames. */
    private static final String PLACE = " (record starting at line";

    private final CsvReader.CsvReaderBuilder builder;
    private final CharsetDecoder utf8 = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);

    private CharBuffer decoded = CharBuffer.allocate(1024);
    private @Nullable CloseableIterator<Boolean> rows;

    /** Field {@code i} is {@code chars[ends[i] .. ends[i + 1])}. */
    private char[] chars = new char[1024];

    private int[] ends = new int[65];
    private int count;
    private final View view = new View();

    CsvRow(char separator) {
        builder = CsvReader.builder()
                .fieldSeparator(separator)
                .skipEmptyLines(false)
                .commentStrategy(CommentStrategy.NONE)
                .allowUnclosedQuote(false)
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE) // counted with better words
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .maxBufferSize(2 * Limits.RECORD_BYTES_MAX);
    }

    /**
     * Splits a frame.
     *
     * @throws MalformedFrameException if it isn't one CSV record of valid UTF-8
     */
    void read(RecordFrame frame) {
        decode(frame);
        // Only the last character of such a frame can end a row, so the reader can't get out of
        // step.
        boolean plain = !frame.spansLines() && !hasCarriageReturn(frame);
        CloseableIterator<Boolean> current = plain ? rows : null;
        rows = null; // whatever goes wrong below, the next frame begins anew
        try {
            if (current == null) {
                current = builder.build(new Fields(), new Decoded()).iterator();
            }
            current.next();
            if (plain) {
                rows = current;
            } else {
                checkNoMore(current);
            }
        } catch (CsvParseException e) {
            String message = String.valueOf(e.getMessage());
            int place = message.indexOf(PLACE);
            throw new MalformedFrameException(place < 0 ? message : message.substring(0, place));
        }
    }

    private void checkNoMore(CloseableIterator<Boolean> current) {
        int counted = count; // looking for more counts anew
        if (current.hasNext()) {
            throw new MalformedFrameException(
                    "there is a carriage return inside an unquoted field");
        }
        count = counted;
    }

    int count() {
        return count;
    }

    /** The characters of a field; one object, moved again by the next call. */
    CharSequence field(int field) {
        view.start = ends[field];
        view.length = length(field);
        return view;
    }

    int length(int field) {
        return ends[field + 1] - ends[field];
    }

    String text(int field) {
        return new String(chars, ends[field], length(field));
    }

    private void decode(RecordFrame frame) {
        if (decoded.capacity() <= frame.length()) {
            decoded = CharBuffer.allocate(Math.max(frame.length() + 1, decoded.capacity() * 2));
        }
        decoded.clear();
        ByteBuffer bytes = ByteBuffer.wrap(frame.bytes(), frame.start(), frame.length());
        CoderResult result = utf8.reset().decode(bytes, decoded, true);
        if (result.isError()) {
            throw new MalformedFrameException("the byte at offset %d is not UTF-8"
                    .formatted(frame.offset() + bytes.position() - frame.start()));
        }
        decoded.put('\n').flip();
    }

    private static boolean hasCarriageReturn(RecordFrame frame) {
        byte[] bytes = frame.bytes();
        for (int i = frame.start(); i < frame.start() + frame.length(); i++) {
            if (bytes[i] == '\r') {
                return true;
            }
        }
        return false;
    }

    /** Takes the fields of a row as the library finds them. */
    private final class Fields extends CsvCallbackHandler<Boolean> {
        @Override
        protected void beginRecord(long startingLineNumber) {
            count = 0;
        }

        @Override
        protected void addField(char[] source, int offset, int length, boolean quoted) {
            int start = ends[count];
            int end = start + length;
            if (end > chars.length) {
                chars = Arrays.copyOf(chars, Math.max(end, chars.length * 2));
            }
            System.arraycopy(source, offset, chars, start, length);
            if (count + 2 > ends.length) {
                ends = Arrays.copyOf(ends, ends.length * 2);
            }
            ends[++count] = end;
        }

        @Override
        protected Boolean buildRecord() {
            return true;
        }

        @Override
        protected RecordType getRecordType() {
            return RecordType.DATA;
        }

        @Override
        protected int getFieldCount() {
            return count;
        }

        @Override
        protected void setComment(char[] source, int offset, int length) {
            throw new IllegalStateException("comments are off");
        }

        /** An empty line; frames are none. */
        @Override
        protected void setEmpty() {
            count = 0;
        }
    }

    /**
     * Gives the library the current frame; it doesn't ask for more before it has returned the row.
     */
    private final class Decoded extends Reader {
        @Override
        public int read(char[] target, int offset, int charCount) {
            int step = Math.min(charCount, decoded.remaining());
            if (step == 0) {
                return -1;
            }
            decoded.get(target, offset, step);
            return step;
        }

        @Override
        public void close() {}
    }

    /** A window on {@link #chars}. */
    private final class View implements CharSequence {
        private int start;
        private int length;

        @Override
        public int length() {
            return length;
        }

        @Override
        public char charAt(int index) {
            Objects.checkIndex(index, length);
            return chars[start + index];
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return toString().substring(from, to);
        }

        @Override
        public String toString() {
            return new String(chars, start, length);
        }
    }
}
