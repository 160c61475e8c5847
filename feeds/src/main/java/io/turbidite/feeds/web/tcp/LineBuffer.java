package io.turbidite.feeds.web.tcp;

import io.netty.buffer.ByteBuf;
import io.turbidite.core.Limits;

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
    private static final int BYTES_MIN = 4 << 10;
    private static final byte[] NOTHING = new byte[0];
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

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

    /** Bytes that nobody writes to. */
    static final class Text {
        private final byte[] bytes;

        private Text(byte[] bytes) {
            this.bytes = bytes;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    /** Takes all of {@code in}. */
    void append(ByteBuf in) {
        while (in.isReadable()) {
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
                endLine();
            }
        }
    }

    private void endLine() {
        if (linesBefore + lineCount == 0) {
            passByteOrderMark();
        }
        int chars = length - lineStart;
        boolean isEmpty = chars == 0 || (chars == 1 && bytes[lineStart] == '\r');
        bytes[length++] = '\n';
        lineStart = length;
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
            long wanted = Math.max((long) length + count, Math.max(BYTES_MIN, 2L * length));
            bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.min(wanted, Integer.MAX_VALUE - 8)));
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

    /** Takes all whole lines out. */
    Lines takeLines() {
        Lines lines =
                new Lines(new Text(Arrays.copyOf(bytes, lineStart)), recordCount, linesBefore + 1);
        remove(lineStart);
        linesBefore += lineCount;
        lineCount = 0;
        recordCount = 0;
        return lines;
    }

    private void remove(int count) {
        length -= count;
        lineStart -= count;
        if (length == 0) {
            bytes = NOTHING; // a connection at rest holds nothing
        } else {
            System.arraycopy(bytes, count, bytes, 0, length);
        }
    }
}
