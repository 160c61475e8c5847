package io.turbidite.feeds.parse;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.csv.CsvFactory;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The fields of one CSV record as characters, split by Jackson. Its parser goes from frame to frame, so
 * that records make no garbage; after an error, and for a record that spans lines, a new one is made.
 *
 * <p><em>Confined to one thread.</em> The characters are valid until the next {@link #read}.
 */
final class CsvRow {
    private static final CsvFactory CSV = new CsvFactory();

    /** A row of one field. */
    private static final String FILLER = "-\n";

    private final CsvSchema schema;
    private final CharsetDecoder utf8 = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);

    private CharBuffer decoded = CharBuffer.allocate(1024);

    /** Field {@code i} is {@code chars[ends[i] .. ends[i + 1])}. */
    private char[] chars = new char[1024];

    private int[] ends = new int[65];
    private int count;
    private @Nullable CsvParser parser;
    private boolean fillerIsNext;
    private final View view = new View();

    CsvRow(char separator) {
        schema = CsvSchema.emptySchema().withColumnSeparator(separator);
    }

    /**
     * Splits a frame.
     *
     * @throws MalformedFrameException if it isn't one CSV record of valid UTF-8
     */
    void read(Frame frame) {
        decode(frame);
        count = 0;
        // Only the last character of such a frame can end a row, so the parser can't get out of
        // step.
        boolean plain = !frame.spansLines() && !hasCarriageReturn(frame);
        CsvParser reused = plain ? parser : null;
        parser = null; // whatever goes wrong below, the next frame begins anew
        fillerIsNext = false;
        try {
            CsvParser current = reused == null ? newParser() : reused;
            if (reused != null) {
                passFiller(current);
            }
            fillerIsNext = plain;
            readRow(current);
            if (plain) {
                parser = current;
            } else if (current.nextToken() != null) {
                throw new MalformedFrameException(
                        "there is a carriage return inside an unquoted field");
            }
        } catch (JacksonException e) {
            throw new MalformedFrameException(oneLine(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // characters in memory can't fail to be read
        }
    }

    private CsvParser newParser() throws IOException {
        CsvParser made = CSV.createParser(new DecodedReader());
        made.setSchema(schema);
        return made;
    }

    private static void passFiller(CsvParser current) throws IOException {
        JsonToken token = current.nextToken();
        while (token != null && token != JsonToken.END_ARRAY) {
            token = current.nextToken();
        }
    }

    private void readRow(CsvParser current) throws IOException {
        JsonToken token = current.nextToken();
        if (token != JsonToken.START_ARRAY) {
            throw new MalformedFrameException("there is no record");
        }
        for (token = current.nextToken();
                token == JsonToken.VALUE_STRING;
                token = current.nextToken()) {
            add(current);
        }
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

    private void decode(Frame frame) {
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

    private static boolean hasCarriageReturn(Frame frame) {
        byte[] bytes = frame.bytes();
        for (int i = frame.start(); i < frame.start() + frame.length(); i++) {
            if (bytes[i] == '\r') {
                return true;
            }
        }
        return false;
    }

    private void add(CsvParser at) throws IOException {
        String text = at.getText(); // made by the parser in any case
        int start = ends[count];
        int end = start + text.length();
        if (end > chars.length) {
            chars = Arrays.copyOf(chars, Math.max(end, chars.length * 2));
        }
        text.getChars(0, text.length(), chars, start);
        if (count + 2 > ends.length) {
            ends = Arrays.copyOf(ends, ends.length * 2);
        }
        ends[++count] = end;
    }

    private static String oneLine(String message) {
        int lineEnd = message.indexOf('\n');
        return lineEnd < 0 ? message : message.substring(0, lineEnd);
    }

    /**
     * Gives a parser the current frame. Before it ends a row, the parser looks for the next one; what it
     * finds between frames is a filler.
     */
    private final class DecodedReader extends Reader {
        @Override
        public int read(char[] target, int offset, int charCount) {
            int step = Math.min(charCount, decoded.remaining());
            if (step > 0) {
                decoded.get(target, offset, step);
                return step;
            }
            if (!fillerIsNext || charCount < FILLER.length()) {
                return -1;
            }
            fillerIsNext = false;
            FILLER.getChars(0, FILLER.length(), target, offset);
            return FILLER.length();
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
