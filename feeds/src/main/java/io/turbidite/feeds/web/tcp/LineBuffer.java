package io.turbidite.feeds.web.tcp;

import io.netty.buffer.ByteBuf;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSearch;
import io.turbidite.feeds.web.http.SpareBytes;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Bytes that came, cut behind whole lines. Of a line that is longer than a record may be it keeps
 * one byte more than that, enough for it to be rejected, and its end. <em>Confined to one
 * thread.</em>
 *
 * <p>Invariant: what is before {@code lineStart} is whole lines.
 */
final class LineBuffer {
    private static final int LINE_BYTES_MAX = Limits.RECORD_BYTES_MAX + 1;

    /** Up to so many bytes of lines are copied out of an array that is meant for more. */
    private static final int COPIED_BYTES_MAX = SpareBytes.LENGTH_MIN / 2;

    private static final byte[] NOTHING = new byte[0];
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final SpareBytes spare;
    private byte[] bytes = NOTHING;
    private int length;

    /** Where the line begins that has no end yet. */
    private int lineStart;

    private int recordCount;
    private int lineCount;

    /** Lines that were taken out. */
    private long linesBefore;

    /**
     * Some whole lines.
     *
     * @param recordCount those that are not empty
     * @param firstLine the number of their first, from 1
     */
    record Lines(Text text, int recordCount, long firstLine) {}

    /** Bytes that nobody writes to until they are given back. */
    static final class Text {
        private final byte[] bytes;
        private final int byteCount;

        private Text(byte[] bytes, int byteCount) {
            this.bytes = bytes;
            this.byteCount = byteCount;
        }

        /** Of use up to {@link #byteCount()}. */
        byte[] bytes() {
            return bytes;
        }

        int byteCount() {
            return byteCount;
        }
    }

    /** A buffer that takes its arrays from {@code spare}. */
    LineBuffer(SpareBytes spare) {
        this.spare = spare;
    }

    /** Takes all of {@code in}. */
    void append(ByteBuf in) {
        while (in.isReadable()) {
            if (linesBefore + lineCount == 0
                    || (long) unfinishedByteCount() + in.readableBytes() > LINE_BYTES_MAX) {
                appendLine(in);
            } else {
                appendAll(in);
            }
        }
    }

    /** Takes what is there up to the next line end: the first line, or one that may be too long. */
    private void appendLine(ByteBuf in) {
        int from = in.readerIndex();
        int end = in.indexOf(from, in.writerIndex(), (byte) '\n');
        boolean isWhole = end >= 0;
        int count = (isWhole ? end : in.writerIndex()) - from;
        int kept = Math.min(count, LINE_BYTES_MAX - (length - lineStart));
        reserve(kept + 1);
        in.readBytes(bytes, length, kept);
        in.skipBytes(count - kept);
        length += kept;
        if (isWhole) {
            in.skipBytes(1);
            if (linesBefore + lineCount == 0) {
                passByteOrderMark();
            }
            bytes[length++] = '\n';
            endLine(length);
        }
    }

    /** Takes all at once, and looks for line ends where it lies then. */
    private void appendAll(ByteBuf in) {
        int count = in.readableBytes();
        reserve(count);
        in.readBytes(bytes, length, count);
        int at = length;
        length += count;
        while (true) {
            at = ByteSearch.lineEnd(bytes, at, length);
            if (at == length) {
                return;
            }
            endLine(++at);
        }
    }

    /** A line is whole, up to {@code end}, which is behind its LF. */
    private void endLine(int end) {
        int chars = end - 1 - lineStart;
        boolean isEmpty = chars == 0 || (chars == 1 && bytes[lineStart] == '\r');
        lineStart = end;
        lineCount++;
        recordCount += isEmpty ? 0 : 1;
    }

    private void passByteOrderMark() {
        int count = BYTE_ORDER_MARK.length;
        if (length >= count && Arrays.equals(bytes, 0, count, BYTE_ORDER_MARK, 0, count)) {
            System.arraycopy(bytes, count, bytes, 0, length - count);
            length -= count;
        }
    }

    private void reserve(int count) {
        if (bytes.length - length < count) {
            byte[] longer = spare.take(Math.addExact(length, count));
            System.arraycopy(bytes, 0, longer, 0, length);
            spare.give(bytes);
            bytes = longer;
        }
    }

    /** All that is here, whole lines or not. */
    int byteCount() {
        return length;
    }

    boolean hasLines() {
        return lineCount > 0;
    }

    /** Bytes of the line that has no end yet. */
    int unfinishedByteCount() {
        return length - lineStart;
    }

    /** Whether it begins with these. */
    boolean startsWith(byte[] first) {
        return length >= first.length
                && Arrays.equals(bytes, 0, first.length, first, 0, first.length);
    }

    /** The first line, without its end; there must be one. */
    byte[] peekLine() {
        int end = firstEnd();
        return Arrays.copyOf(bytes, end > 0 && bytes[end - 1] == '\r' ? end - 1 : end);
    }

    private int firstEnd() {
        int end = 0;
        while (bytes[end] != '\n') {
            end++;
        }
        return end;
    }

    /** Takes the first line out, without its end; null if it is not whole. */
    byte @Nullable [] takeLine() {
        if (lineCount == 0) {
            return null;
        }
        byte[] line = peekLine();
        remove(firstEnd() + 1);
        linesBefore++;
        lineCount--;
        recordCount -= line.length == 0 ? 0 : 1;
        return line;
    }

    /** Takes all whole lines out, with the array that they lie in unless they are few. */
    Lines takeLines() {
        Lines lines = new Lines(takeText(lineStart), recordCount, linesBefore + 1);
        linesBefore += lineCount;
        lineCount = 0;
        recordCount = 0;
        return lines;
    }

    private Text takeText(int count) {
        if (count <= COPIED_BYTES_MAX) {
            byte[] copy = Arrays.copyOf(bytes, count);
            remove(count);
            return new Text(copy, count);
        }
        byte[] taken = bytes;
        int left = length - count;
        bytes = NOTHING;
        length = 0;
        lineStart = 0;
        if (left > 0) {
            reserve(left);
            System.arraycopy(taken, count, bytes, 0, left);
            length = left;
        }
        return new Text(taken, count);
    }

    /** Holds nothing any more. */
    void close() {
        spare.give(bytes);
        bytes = NOTHING;
        length = 0;
        lineStart = 0;
        lineCount = 0;
        recordCount = 0;
    }

    private void remove(int count) {
        length -= count;
        lineStart -= count;
        if (length == 0) {
            spare.give(bytes);
            bytes = NOTHING; // a connection at rest holds nothing
        } else {
            System.arraycopy(bytes, count, bytes, 0, length);
        }
    }
}
