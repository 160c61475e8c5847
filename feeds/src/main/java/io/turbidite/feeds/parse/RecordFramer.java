package io.turbidite.feeds.parse;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSearch;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Cuts a stream of bytes into records that end with a line. Works on bytes, so positions are exact
 * and a record of invalid UTF-8 harms no other. <em>Confined to one thread.</em>
 *
 * <p>With {@link Quotes#RFC_4180}, a line end inside a quoted field belongs to the record. A quote
 * that is never closed would make the rest of the file one record; so such a frame is cut back to
 * its first line ({@link #cutToFirstLine}), and the next record begins in the line behind it. To
 * keep that linear in the file's length, each time it happens the number of bytes that a record may
 * span over several lines is halved (behind its first); a good record that spans lines raises it to
 * four times its own length.
 *
 * <p>A record without a line end, at the end of what there is to read, is held back until
 * {@link #end} says that nothing will follow: half a record may well be a good one.
 *
 * <p>Line ends are LF or CR LF. Empty lines are passed over. A UTF-8 byte order mark at the very
 * beginning is passed over.
 */
public final class RecordFramer {
    /** What a line end may be part of. */
    public enum Quotes {
        /** Nothing: a record is a line. */
        NONE,
        /** A field between double quotes, in which two quotes stand for one. */
        RFC_4180
    }

    /** Supplies bytes in sequence. */
    @FunctionalInterface
    public interface Input {
        /** As {@link java.io.InputStream#read(byte[], int, int)}. */
        int read(byte[] target, int offset, int byteCount);
    }

    private static final int BUFFER_BYTES = 64 << 10;
    private static final int SPAN_BYTES_MIN = 4 << 10;
    private static final byte QUOTE = '"';
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final Input input;
    private final Quotes quotes;
    private final byte separator;
    private final int recordBytesMax;
    private final RecordFrame frame = new RecordFrame();

    /** Bytes {@code next..end} of the buffer are read but not in a frame yet. */
    private byte[] buffer = new byte[BUFFER_BYTES];

    /** Whether the frame has not heard yet that the buffer is another one. */
    private boolean bufferChanged = true;

    private int next;
    private int end;
    private boolean ended;

    /** Whether what is left without a line end is a record. */
    private boolean restIsRecord;

    /**
     * Whether the frame holds the start of a record over the limit whose line end was not found.
     */
    private boolean frameHeldBack;

    /** Whether what is left ends within quotes. */
    private boolean restIsOpen;

    /** Whether the quote that is open there is one that nobody will close. */
    private boolean restIsCut;

    private long nextOffset;
    private long nextLine;
    private int spanBytesMax;

    /** The index of the current record's first line end, or -1 before it is found. */
    private int firstLineEnd;

    /** Bytes looked at since the beginning, those looked at again included. */
    private long scannedBytes;

    /** Lines that the current record has, as far as scanned. */
    private int lineCount;

    /**
     * A framer over {@code input} from where it stands.
     *
     * @param separator between fields; of use only with quotes
     * @param offset where {@code input} stands in the source: 0, or the end of a frame
     * @param line which line begins there, from 1
     */
    public RecordFramer(Input input, Quotes quotes, char separator, long offset, long line) {
        this(input, quotes, separator, offset, line, Limits.RECORD_BYTES_MAX);
    }

    RecordFramer(
            Input input,
            Quotes quotes,
            char separator,
            long offset,
            long line,
            int recordBytesMax) {
        this.input = input;
        this.quotes = quotes;
        this.separator = (byte) separator;
        this.nextOffset = offset;
        this.nextLine = line;
        this.recordBytesMax = recordBytesMax;
        this.spanBytesMax = recordBytesMax;
    }

    /**
     * Moves the frame to the next record; false if there is no further one with a line end, and
     * after {@link #end} if there is none at all.
     */
    public boolean next() {
        if (frameHeldBack) {
            frameHeldBack = !restIsRecord;
            return restIsRecord;
        }
        if (nextOffset == 0) {
            passByteOrderMark();
        }
        if (frame.spansLines && frame.problem == null) {
            long raised = Math.max(spanBytesMax, 4L * frame.length);
            spanBytesMax = (int) Math.min(recordBytesMax, raised);
        }
        restIsOpen = false;
        while (true) {
            frame.problem = null;
            int lineEnd = scan();
            if (lineEnd < 0) {
                return false;
            }
            if (lineEnd == next || (lineEnd == next + 1 && buffer[next] == '\r')) {
                advance(Math.min(lineEnd + 1, end) - next, 1);
                continue;
            }
            take(lineEnd, lineCount);
            return !frameHeldBack;
        }
    }

    /**
     * What is left when {@link #next} has found no further record: one without a line end so far.
     * The frame is moved to it, and stays before it.
     *
     * @return null if nothing is left
     */
    public @Nullable RecordFrame rest() {
        if (frameHeldBack) {
            return frame;
        }
        int length = end - next;
        if (length == 0 || (length == 1 && buffer[next] == '\r')) {
            return null;
        }
        frame.problem = null;
        moveFrame(end);
        frame.spansLines = false;
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
        return frame;
    }

    /**
     * Whether what {@link #next} has left ends within quotes: line ends in it may belong to the
     * record, and what closes the quotes may still come.
     */
    public boolean restIsOpen() {
        return restIsOpen;
    }

    /**
     * Whether so many of the whole lines behind the first of an open rest are records by
     * themselves: then the quote is rather broken than still to be closed.
     *
     * @param isRecord is asked about a frame of its own, of one line
     */
    public boolean restHoldsRecords(int wantedCount, Predicate<RecordFrame> isRecord) {
        int found = 0;
        int from = firstLineEnd < 0 ? end : firstLineEnd + 1;
        for (int at = from; at < end && found < wantedCount; at++) {
            if (buffer[at] == '\n') {
                if (isRecord.test(RecordFrame.copyOf(buffer, from, at))) {
                    found++;
                }
                from = at + 1;
            }
        }
        return found == wantedCount;
    }

    /**
     * Says that nobody will close the quotes of an open rest: its first line is given up, and all
     * else goes on.
     */
    public void cutOpenRest() {
        restIsCut = true;
    }

    /**
     * Says that the source has ended: what is left without a line end is a record like any other.
     */
    public void end() {
        restIsRecord = true;
    }

    /**
     * For a framer that began behind a record without a line end: passes that line end if it has
     * come since.
     *
     * @return false if the line goes on with something else
     */
    public boolean passLineEnd() {
        while (end - next < 2 && fill(end - next)) {
            // a short read: go on
        }
        int left = end - next;
        if (left == 0 || (left == 1 && buffer[next] == '\r')) {
            return true;
        }
        int lineEndBytes =
                buffer[next] == '\n' ? 1 : buffer[next] == '\r' && buffer[next + 1] == '\n' ? 2 : 0;
        advance(lineEndBytes, 0); // its line was counted when the record was taken
        return lineEndBytes > 0;
    }

    /** The record that {@link #next} moved to; one object, moved again by the next call. */
    public RecordFrame frame() {
        return frame;
    }

    /** The offset behind the current frame: where {@link #next} goes on. */
    public long nextOffset() {
        return nextOffset;
    }

    /** The line that begins there. */
    public long nextLine() {
        return nextLine;
    }

    /**
     * Gives up all of the current frame but its first line: the next record begins in the line
     * behind it. For a record whose quotes turn out to be wrong.
     */
    public void cutToFirstLine() {
        if (!frame.spansLines) {
            return;
        }
        next = frame.start;
        nextOffset = frame.offset;
        nextLine = frame.line;
        take(firstLineEnd, 1);
        spanBytesMax = Math.max(SPAN_BYTES_MIN, spanBytesMax / 2);
    }

    /**
     * Finds where the record at {@code next} ends; reads on as needed.
     *
     * @return the index of its last line end, {@code end} at the end of the source, -1 if there is
     *     no further record
     */
    private int scan() {
        firstLineEnd = -1;
        lineCount = 1;
        boolean fieldStart = quotes == Quotes.RFC_4180;
        boolean quoted = false;
        int at = next;
        while (true) {
            if (at == end) {
                int scanned = at - next;
                if (!fill(scanned)) {
                    return atEnd(scanned, quoted);
                }
                at = next + scanned;
            }
            int limit = lineCount > 1
                    ? (int) Math.min(recordBytesMax, (long) firstLineEnd - next + spanBytesMax)
                    : recordBytesMax;
            int stop = (int) Math.min(end, (long) next + limit + 1);
            int from = at;
            if (quotes == Quotes.NONE) {
                at = ByteSearch.lineEnd(buffer, at, stop);
            }
            for (; at < stop; at++) {
                byte b = buffer[at];
                if (b == '\n') {
                    if (firstLineEnd < 0) {
                        firstLineEnd = at;
                    }
                    if (!quoted) {
                        scannedBytes += at - from;
                        return at;
                    }
                    lineCount++;
                    at++;
                    break; // the limit is another one from here
                }
                if (quoted) {
                    // Two quotes close the field and open it again: that is all that escaping
                    // needs.
                    quoted = b != QUOTE;
                    fieldStart = !quoted;
                } else if (b == QUOTE && fieldStart) {
                    quoted = true;
                } else {
                    fieldStart = b == separator && quotes == Quotes.RFC_4180;
                }
            }
            scannedBytes += at - from;
            if (at - next > limit) {
                return tooLong();
            }
        }
    }

    private int atEnd(int scanned, boolean quoted) {
        restIsOpen = quoted;
        if (quoted && (restIsCut || restIsRecord)) {
            restIsCut = false;
            return unterminated();
        }
        if (scanned == 0 || !restIsRecord) {
            return -1;
        }
        if (firstLineEnd < 0) {
            firstLineEnd = end;
        }
        return end;
    }

    /** The current line is longer than a record may be, or a quoted field goes on for too long. */
    private int tooLong() {
        if (lineCount > 1) {
            boolean atLimit = spanBytesMax == recordBytesMax;
            int lineEnd = unterminated();
            if (atLimit) {
                frame.problem +=
                        ", and a record can't be longer than %d bytes".formatted(recordBytesMax);
            }
            return lineEnd;
        }
        frame.problem = "the record is longer than the limit of %d bytes".formatted(recordBytesMax);
        return next + recordBytesMax;
    }

    private int unterminated() {
        frame.problem = "a quoted field is not closed";
        if (firstLineEnd < 0) {
            firstLineEnd = end;
        }
        spanBytesMax = Math.max(SPAN_BYTES_MIN, spanBytesMax / 2);
        lineCount = 1;
        return firstLineEnd;
    }

    /** Makes the bytes up to {@code lineEnd} the frame and moves behind them. */
    private void take(int lineEnd, int lines) {
        boolean cut = frame.problem != null && lineEnd == next + recordBytesMax;
        moveFrame(lineEnd);
        frame.spansLines = lines > 1;
        if (cut) {
            passRestOfLine(); // which ends in a line end, unless the source does
            frame.fullLength = nextOffset - frame.offset - (ended && next == end ? 0 : 1);
        } else {
            advance(Math.min(lineEnd + 1, end) - next, lines);
        }
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
    }

    private void moveFrame(int lineEnd) {
        if (bufferChanged) {
            frame.bytes = buffer;
            frame.segment = MemorySegment.ofArray(buffer);
            bufferChanged = false;
        }
        frame.start = next;
        frame.length = lineEnd - next;
        if (frame.length > 0 && buffer[lineEnd - 1] == '\r') {
            frame.length--;
        }
        frame.offset = nextOffset;
        frame.line = nextLine;
        frame.fullLength = 0;
    }

    /** Drops the rest of an overlong line, keeping the start of it in the buffer for the frame. */
    private void passRestOfLine() {
        advance(recordBytesMax, 0);
        byte[] rest = new byte[BUFFER_BYTES];
        while (true) {
            for (int at = next; at < end; at++) {
                if (buffer[at] == '\n') {
                    advance(at + 1 - next, 1);
                    return;
                }
            }
            advance(end - next, 0);
            int count = input.read(rest, 0, rest.length);
            if (count < 0) {
                ended = true;
                nextLine++;
                frameHeldBack = !restIsRecord;
                return;
            }
            int lineEnd = indexOfLineEnd(rest, count);
            if (lineEnd >= 0) {
                nextOffset += lineEnd + 1;
                nextLine++;
                keepForLater(rest, lineEnd + 1, count);
                return;
            }
            nextOffset += count;
        }
    }

    private static int indexOfLineEnd(byte[] bytes, int count) {
        for (int i = 0; i < count; i++) {
            if (bytes[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    /** Puts bytes behind an overlong line into a fresh buffer; the frame keeps the old one. */
    private void keepForLater(byte[] rest, int from, int to) {
        buffer = new byte[BUFFER_BYTES];
        bufferChanged = true;
        System.arraycopy(rest, from, buffer, 0, to - from);
        next = 0;
        end = to - from;
    }

    private void advance(int byteCount, int lines) {
        next += byteCount;
        nextOffset += byteCount;
        nextLine += lines;
    }

    /**
     * Reads more bytes behind {@code end}, first moving the {@code kept} ones to the front or to a
     * larger buffer.
     */
    private boolean fill(int kept) {
        if (ended) {
            return false;
        }
        if (next > 0 && (kept == 0 || end == buffer.length)) {
            System.arraycopy(buffer, next, buffer, 0, kept);
            firstLineEnd = firstLineEnd < 0 ? -1 : firstLineEnd - next;
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

    long scannedBytes() {
        return scannedBytes;
    }

    private void passByteOrderMark() {
        while (end - next < BYTE_ORDER_MARK.length && fill(end - next)) {
            // a short read: go on
        }
        if (end - next >= BYTE_ORDER_MARK.length
                && Arrays.equals(buffer, next, next + 3, BYTE_ORDER_MARK, 0, 3)) {
            advance(BYTE_ORDER_MARK.length, 0);
        }
    }
}
