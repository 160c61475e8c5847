package io.turbidite.feeds.parse;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSearch;

import org.jspecify.annotations.Nullable;

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
public final class LineFramer extends BufferedFramer {
    private static final int SPAN_BYTES_MIN = 4 << 10;
    private static final byte QUOTE = '"';

    private final Quotes quotes;
    private final byte separator;

    /** Whether what is left ends within quotes. */
    private boolean restIsOpen;

    /** Whether the quote that is open there is one that nobody will close. */
    private boolean restIsCut;

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
    public LineFramer(Input input, Quotes quotes, char separator, long offset, long line) {
        this(input, quotes, separator, offset, line, Limits.RECORD_BYTES_MAX);
    }

    /**
     * As {@link #LineFramer(Input, Quotes, char, long, long)}.
     *
     * @param buffer to read into, of any length but 0; who else has it must leave it alone until
     *     the framer is at its end
     */
    public LineFramer(
            Input input, Quotes quotes, char separator, long offset, long line, byte[] buffer) {
        this(input, quotes, separator, offset, line, Limits.RECORD_BYTES_MAX, buffer);
    }

    /**
     * A framer over a text that is there, of lines without quotes; its bytes are not copied.
     *
     * @param text nobody writes to it while it is read; read up to {@code byteCount}
     * @param offset of the text in the source
     * @param line which line begins there, from 1
     */
    public static LineFramer over(byte[] text, int byteCount, long offset, long line) {
        return new LineFramer(text, byteCount, offset, line, Limits.RECORD_BYTES_MAX);
    }

    LineFramer(byte[] text, int byteCount, long offset, long line, int recordBytesMax) {
        super(text, byteCount, offset, line, recordBytesMax);
        this.quotes = Quotes.NONE;
        this.separator = 0;
        this.spanBytesMax = recordBytesMax;
    }

    LineFramer(
            Input input,
            Quotes quotes,
            char separator,
            long offset,
            long line,
            int recordBytesMax) {
        this(input, quotes, separator, offset, line, recordBytesMax, new byte[BUFFER_BYTES]);
    }

    private LineFramer(
            Input input,
            Quotes quotes,
            char separator,
            long offset,
            long line,
            int recordBytesMax,
            byte[] buffer) {
        super(input, buffer, offset, line, recordBytesMax);
        this.quotes = quotes;
        this.separator = (byte) separator;
        this.spanBytesMax = recordBytesMax;
    }

    /**
     * Has {@link #next} read on where its input had no more: something has come since.
     */
    public void goOn() {
        ended = false;
    }

    @Override
    public boolean next() {
        if (frameHeldBack) {
            if (!ended) {
                goOnInLine();
            } else {
                frameHeldBack = !restIsRecord;
            }
            return !frameHeldBack;
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

    @Override
    public @Nullable RecordFrame rest() {
        if (frameHeldBack) {
            return frame;
        }
        int length = end - next;
        if (length == 0 || (length == 1 && buffer[next] == '\r')) {
            return null;
        }
        frame.problem = null;
        moveFrameTo(end);
        frame.spansLines = false;
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
        return frame;
    }

    @Override
    public boolean restIsOpen() {
        return restIsOpen;
    }

    @Override
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

    @Override
    public void cutOpenRest() {
        restIsCut = true;
    }

    @Override
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

    @Override
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
        refuseTooLong();
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
        moveFrameTo(lineEnd);
        frame.spansLines = lines > 1;
        if (cut) {
            advance(recordBytesMax, 0);
            passRestOfLine();
        } else {
            advance(Math.min(lineEnd + 1, end) - next, lines);
        }
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
    }

    /** The frame is an overlong line whose end was not there yet. */
    private void goOnInLine() {
        frameHeldBack = false;
        nextLine--; // it was counted as if it had ended
        passRestOfLine();
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
    }

    private void moveFrameTo(int lineEnd) {
        boolean hasReturn = lineEnd > next && buffer[lineEnd - 1] == '\r';
        moveFrame(lineEnd - next - (hasReturn ? 1 : 0));
    }

    /**
     * Drops the rest of an overlong line, keeping the start of it in the buffer for the frame. That
     * learns how long the line is.
     */
    private void passRestOfLine() {
        findEndOfLine();
        // it ends in a line end, unless the source does
        frame.fullLength = nextOffset - frame.offset - (ended && next == end ? 0 : 1);
    }

    private void findEndOfLine() {
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

    @Override
    void shifted(int byteCount) {
        firstLineEnd = firstLineEnd < 0 ? -1 : firstLineEnd - byteCount;
    }

    long scannedBytes() {
        return scannedBytes;
    }
}
