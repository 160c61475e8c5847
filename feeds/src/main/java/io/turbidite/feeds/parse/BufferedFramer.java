package io.turbidite.feeds.parse;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** What framers have in common: the bytes that are read but not in a frame yet. */
abstract sealed class BufferedFramer implements RecordFramer permits LineFramer, ElementFramer {
    static final int BUFFER_BYTES = 64 << 10;
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    final Input input;
    final int recordBytesMax;
    final RecordFrame frame = new RecordFrame();

    /** Bytes {@code next..end} of the buffer are read but not in a frame yet. */
    byte[] buffer;

    int next;
    int end;

    /** Whether the input has no more. */
    boolean ended;

    /** Whether what is left at the end is a record. */
    boolean restIsRecord;

    /** Whether the frame holds the start of a record over the limit whose end was not found. */
    boolean frameHeldBack;

    long nextOffset;
    long nextLine;

    /** Whether the frame has not heard yet that the buffer is another one. */
    private boolean bufferChanged = true;

    BufferedFramer(Input input, byte[] buffer, long offset, long line, int recordBytesMax) {
        this.input = input;
        this.buffer = buffer;
        this.nextOffset = offset;
        this.nextLine = line;
        this.recordBytesMax = recordBytesMax;
    }

    /** A framer over all that there is, which stays where it lies. */
    BufferedFramer(byte[] text, int byteCount, long offset, long line, int recordBytesMax) {
        this((target, at, count) -> -1, text, offset, line, recordBytesMax);
        this.end = byteCount;
        this.ended = true;
    }

    @Override
    public final RecordFrame frame() {
        return frame;
    }

    @Override
    public final void end() {
        restIsRecord = true;
    }

    @Override
    public final long nextOffset() {
        return nextOffset;
    }

    @Override
    public final long nextLine() {
        return nextLine;
    }

    /** The buffer's bytes were moved to the front by so much. */
    void shifted(int byteCount) {}

    final void advance(int byteCount, int lines) {
        next += byteCount;
        nextOffset += byteCount;
        nextLine += lines;
    }

    /** Has the frame begin at the next byte. */
    final void moveFrame(int length) {
        if (bufferChanged) {
            frame.bytes = buffer;
            frame.segment = MemorySegment.ofArray(buffer);
            bufferChanged = false;
        }
        frame.start = next;
        frame.length = length;
        frame.offset = nextOffset;
        frame.line = nextLine;
        frame.fullLength = 0;
    }

    final void refuseTooLong() {
        frame.problem = "the record is longer than the limit of %d bytes".formatted(recordBytesMax);
    }

    /** Puts bytes behind an overlong record into a fresh buffer; the frame keeps the old one. */
    final void keepForLater(byte[] rest, int from, int to) {
        buffer = new byte[BUFFER_BYTES];
        bufferChanged = true;
        System.arraycopy(rest, from, buffer, 0, to - from);
        next = 0;
        end = to - from;
    }

    /**
     * Reads more bytes behind {@code end}, first moving the {@code kept} ones to the front or to a
     * larger buffer.
     */
    final boolean fill(int kept) {
        if (ended) {
            return false;
        }
        if (next > 0 && (kept == 0 || end == buffer.length)) {
            System.arraycopy(buffer, next, buffer, 0, kept);
            shifted(next);
            next = 0;
            end = kept;
        }
        if (end == buffer.length) {
            buffer = Arrays.copyOf(buffer, buffer.length * 2);
            bufferChanged = true;
        }
        int count = input.read(buffer, end, buffer.length - end);
        if (count < 0) {
            ended = true;
            return false;
        }
        end += count;
        return true;
    }

    final void passByteOrderMark() {
        while (end - next < BYTE_ORDER_MARK.length && fill(end - next)) {
            // a short read: go on
        }
        if (hasByteOrderMark(buffer, next, end)) {
            advance(BYTE_ORDER_MARK.length, 0);
        }
    }

    /** Whether bytes begin with the mark of UTF-8, of three bytes. */
    static boolean hasByteOrderMark(byte[] bytes, int from, int to) {
        int markEnd = from + BYTE_ORDER_MARK.length;
        return to >= markEnd
                && Arrays.equals(bytes, from, markEnd, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length);
    }
}
