package io.turbidite.feeds.parse;

import io.turbidite.core.Limits;

import org.jspecify.annotations.Nullable;

/**
 * Cuts a JSON array into its elements, over however many lines they stand. <em>Confined to one
 * thread.</em>
 *
 * <p>Between two elements, brackets of arrays, commas and white space only part them: how they
 * follow one another is not checked. So the framer can begin behind any element and know no more
 * than where that ends, and what is lost or wrong there costs no record.
 *
 * <p>What is no object is an element too, for its parser to refuse; see {@link ElementScan} for
 * what happens to damaged ones.
 */
public final class ElementFramer extends BufferedFramer {
    private final ElementScan scan = new ElementScan();

    /** Whether what is left ends within an object or a text. */
    private boolean restIsOpen;

    /**
     * A framer over {@code input} from where it stands.
     *
     * @param offset where {@code input} stands in the source: 0, or the end of a frame
     * @param line which line that lies in, from 1
     */
    public ElementFramer(Input input, long offset, long line) {
        this(input, offset, line, Limits.RECORD_BYTES_MAX);
    }

    ElementFramer(Input input, long offset, long line, int recordBytesMax) {
        super(input, new byte[BUFFER_BYTES], offset, line, recordBytesMax);
    }

    @Override
    public boolean next() {
        if (frameHeldBack) {
            frameHeldBack = !restIsRecord;
            return restIsRecord;
        }
        if (nextOffset == 0) {
            passByteOrderMark();
        }
        frame.problem = null;
        restIsOpen = false;
        if (!passSeparators()) {
            return false;
        }
        scan.begin();
        int scanned = 0;
        while (true) {
            int found = scan.end(buffer, next + scanned, end);
            scanned = end - next;
            if (found >= 0) {
                take(found - next);
                return true;
            }
            if (scanned > recordBytesMax) {
                return takeTooLong();
            }
            if (!fill(scanned)) {
                restIsOpen = scan.isOpen();
                if (restIsRecord) {
                    take(scanned);
                }
                return restIsRecord;
            }
        }
    }

    @Override
    public @Nullable RecordFrame rest() {
        if (frameHeldBack) {
            return frame;
        }
        if (end == next) {
            return null;
        }
        frame.problem = null;
        moveFrame(end - next);
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
        return frame;
    }

    @Override
    public boolean restIsOpen() {
        return restIsOpen;
    }

    /** Passes what is between two elements; false if there is nothing behind it. */
    private boolean passSeparators() {
        while (true) {
            int from = next;
            while (next < end && isSeparator(buffer[next])) {
                if (buffer[next] == '\n') {
                    nextLine++;
                }
                next++;
            }
            nextOffset += next - from;
            if (next < end) {
                return true;
            }
            if (!fill(0)) {
                return false;
            }
        }
    }

    private static boolean isSeparator(byte b) {
        return b == ',' || b == '[' || b == ']' || JsonEnd.isBlank(b);
    }

    /** Makes the next bytes the frame and moves behind them. */
    private void take(int byteCount) {
        moveFrame(Math.min(byteCount, recordBytesMax));
        frame.problem = scan.problem();
        if (byteCount > recordBytesMax) {
            refuseTooLong(byteCount);
        }
        next += byteCount;
        moveBehind(byteCount);
    }

    private void refuseTooLong(long byteCount) {
        refuseTooLong();
        frame.fullLength = byteCount;
    }

    private void moveBehind(long byteCount) {
        nextOffset += byteCount;
        nextLine += scan.lineEnds();
        frame.endOffset = nextOffset;
        frame.endLine = nextLine;
    }

    /** Keeps the start of an element over the limit in the buffer for the frame, drops the rest. */
    private boolean takeTooLong() {
        long byteCount = (long) end - next;
        moveFrame(recordBytesMax);
        byte[] rest = new byte[BUFFER_BYTES];
        int found = -1;
        int count = 0;
        while (found < 0 && count >= 0) {
            count = input.read(rest, 0, rest.length);
            found = scan.end(rest, 0, Math.max(0, count));
            byteCount += found < 0 ? Math.max(0, count) : found;
        }
        refuseTooLong(byteCount);
        moveBehind(byteCount);
        keepForLater(rest, Math.max(0, found), found < 0 ? 0 : count);
        ended = found < 0;
        frameHeldBack = ended && !restIsRecord;
        restIsOpen = frameHeldBack && scan.isOpen();
        return !frameHeldBack;
    }
}
