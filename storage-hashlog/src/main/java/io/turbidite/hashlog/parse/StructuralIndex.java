package io.turbidite.hashlog.parse;

/**
 * The shape of one JSON record as bitmaps, a window of at most {@link #WINDOW_BLOCKS} blocks at a
 * time (Mison's first phase, which FISH19 §3.2 builds on; escapes and strings as in Langdale and
 * Lemire, "Parsing gigabytes of JSON per second", 2019). <em>Confined to one thread.</em> Positions
 * are bytes from the start of the record.
 *
 * <p>Invariant: questions move forward; one about a block that left the window is a bug of the
 * caller. So a parser that stops early never pays for the rest of the record, and a record of any
 * size needs one window.
 */
final class StructuralIndex {
    static final int WINDOW_BLOCKS = 16;

    /** What a first window is worth: the fields that people want tend to stand at the start. */
    private static final int FIRST_BLOCKS = 4;

    private static final long EVEN_BITS = 0x5555_5555_5555_5555L;

    /** Quotes that are not escaped. */
    final long[] quotes = new long[WINDOW_BLOCKS];
    /** Backslashes, wherever they stand. */
    final long[] slashes = new long[WINDOW_BLOCKS];
    /** Opening brackets of both kinds outside of strings. */
    final long[] opens = new long[WINDOW_BLOCKS];
    /** Closing brackets of both kinds outside of strings. */
    final long[] closes = new long[WINDOW_BLOCKS];
    /** Commas, opening and closing brackets outside of strings. */
    final long[] separators = new long[WINDOW_BLOCKS];

    private final BlockMasks masks;
    private final RecordBytes record;
    private int length;
    private int blockCount;
    private int windowStart;
    private int windowEnd;
    /** 1 if the last byte before the window is a backslash that escapes. */
    private long escapeCarry;
    /** All ones if the window starts inside a string. */
    private long stringCarry;

    /** Whether a backslash stands before the quote that {@link #closingQuote} found. */
    private boolean escaped;

    StructuralIndex(BlockMasks masks, RecordBytes record) {
        this.masks = masks;
        this.record = record;
    }

    /** Turns to the record that {@code record} was turned to; nothing is read yet. */
    void start() {
        length = record.length();
        blockCount = (length + BlockMasks.BLOCK_BYTES - 1) >>> 6;
        windowStart = 0;
        windowEnd = 0;
        escapeCarry = 0;
        stringCarry = 0;
    }

    /**
     * The first comma or bracket at {@code from} or after it, outside of strings; -1 if there is
     * none.
     */
    int nextSeparator(int from) {
        int block = from >>> 6;
        if (block >= windowEnd && !moveTo(block)) {
            return -1;
        }
        long bits = separators[block - windowStart] & (-1L << from);
        while (bits == 0) {
            block++;
            if (block >= windowEnd && !moveTo(block)) {
                return -1;
            }
            bits = separators[block - windowStart];
        }
        return (block << 6) + Long.numberOfTrailingZeros(bits);
    }

    /** The first quote at {@code from} or after it that is not escaped; -1 if there is none. */
    int closingQuote(int from) {
        int block = from >>> 6;
        if (block >= windowEnd && !moveTo(block)) {
            return -1;
        }
        long bits = quotes[block - windowStart] & (-1L << from);
        long slash = slashes[block - windowStart] & (-1L << from);
        escaped = false;
        while (bits == 0) {
            escaped |= slash != 0;
            block++;
            if (block >= windowEnd && !moveTo(block)) {
                return -1;
            }
            bits = quotes[block - windowStart];
            slash = slashes[block - windowStart];
        }
        // those below the quote
        escaped |= (slash & ((bits & -bits) - 1)) != 0;
        return (block << 6) + Long.numberOfTrailingZeros(bits);
    }

    /** Whether a backslash stands in the string that {@link #closingQuote} was asked about last. */
    boolean escaped() {
        return escaped;
    }

    /**
     * The bracket that closes the container whose inside starts at {@code from}; -1 if none does.
     * Brackets are counted, not matched, so that a block that can't hold the end costs two
     * population counts whatever stands in it.
     */
    int closingBracket(int from) {
        int block = from >>> 6;
        if (block >= windowEnd && !moveTo(block)) {
            return -1;
        }
        long mask = -1L << from;
        int depth = 1;
        while (true) {
            long close = closes[block - windowStart] & mask;
            long open = opens[block - windowStart] & mask;
            int closeCount = Long.bitCount(close);
            if (closeCount >= depth) {
                // the end may be here: bracket by bracket
                while (close != 0) {
                    long lowest = close & -close;
                    int before = Long.bitCount(open & (lowest - 1));
                    depth += before - 1;
                    if (depth == 0) {
                        return (block << 6) + Long.numberOfTrailingZeros(lowest);
                    }
                    open &= -lowest;
                    close ^= lowest;
                }
                depth += Long.bitCount(open);
            } else {
                depth += Long.bitCount(open) - closeCount;
            }
            mask = -1L;
            block++;
            if (block >= windowEnd && !moveTo(block)) {
                return -1;
            }
        }
    }

    /** Reads windows until {@code block} is in one; false if the record ends before. */
    private boolean moveTo(int block) {
        while (block >= windowEnd) {
            if (windowEnd >= blockCount) {
                return false;
            }
            int count = windowEnd == 0 ? FIRST_BLOCKS : WINDOW_BLOCKS;
            windowStart = windowEnd;
            windowEnd = Math.min(blockCount, windowStart + count);
            readWindow();
        }
        assert block >= windowStart : block + " left the window at " + windowStart;
        return true;
    }

    private void readWindow() {
        int count = windowEnd - windowStart;
        masks.read(record.copiedTo(windowEnd << 6), windowStart << 6, count, this);
        if (windowEnd == blockCount && (length & 63) != 0) {
            // what lies after the record is none of its business
            long inside = -1L >>> -length;
            quotes[count - 1] &= inside;
            slashes[count - 1] &= inside;
            opens[count - 1] &= inside;
            closes[count - 1] &= inside;
            separators[count - 1] &= inside;
        }
        for (int i = 0; i < count; i++) {
            resolve(i);
        }
    }

    /**
     * Takes escaped quotes out of block {@code i}, and out of the others what stands inside
     * strings.
     */
    private void resolve(int i) {
        long slash = slashes[i];
        long quote = quotes[i];
        if ((slash | escapeCarry) != 0) {
            quote &= ~escapedBy(slash);
        }
        quotes[i] = quote;
        // a bit for each byte of a string, its opening quote included, its closing one not
        long inside = quote ^ (quote << 1);
        inside ^= inside << 2;
        inside ^= inside << 4;
        inside ^= inside << 8;
        inside ^= inside << 16;
        inside ^= inside << 32;
        inside ^= stringCarry;
        // the parity of the quotes, so that blocks don't wait for one another's six shifts
        stringCarry ^= -(Long.bitCount(quote) & 1L);
        long outside = ~inside;
        long open = opens[i] & outside;
        long close = closes[i] & outside;
        opens[i] = open;
        closes[i] = close;
        separators[i] = (separators[i] & outside) | open | close;
    }

    /**
     * The bytes that a backslash escapes. In a run of backslashes every second one is escaped, and
     * the byte after the run if the run is odd: adding a run's first bit to the run carries to the
     * byte after it, whose parity against that of the start tells the run's.
     */
    private long escapedBy(long allSlashes) {
        long first = escapeCarry;
        long slash = allSlashes & ~first;
        // the run that reaches the end of the block goes on in the next one; 64 of them are even
        escapeCarry = Long.numberOfLeadingZeros(~slash) & 1;
        long starts = slash & ~(slash << 1);
        long afterEven = (slash + (starts & EVEN_BITS)) & ~slash;
        long afterOdd = (slash + (starts & ~EVEN_BITS)) & ~slash;
        return first | (afterEven & ~EVEN_BITS) | (afterOdd & EVEN_BITS);
    }
}
