package io.turbidite.feeds.parse;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * An input whose first bytes may be looked at before they are read. <em>Confined to one thread.
 * </em>
 */
public final class PeekedInput implements RecordFramer.Input {
    /** Between the beginning of a text and its first value there is seldom more white space. */
    private static final int PEEKED_BYTES_MAX = 4 << 10;

    private static final int MARK_BYTES = 3;

    private final RecordFramer.Input input;
    private byte[] peeked = new byte[0];
    private int given;

    /** An input of which nothing is read yet. */
    public PeekedInput(RecordFramer.Input input) {
        this.input = input;
    }

    @Override
    public int read(byte[] target, int offset, int byteCount) {
        int left = peeked.length - given;
        if (left == 0) {
            return input.read(target, offset, byteCount);
        }
        int count = Math.min(left, byteCount);
        System.arraycopy(peeked, given, target, offset, count);
        given += count;
        return count;
    }

    /**
     * Whether it begins as an array of JSON objects does, or as an empty array; before anything is
     * read. Text of lines, each of which is an object, never does. It looks no further than it
     * must: what is behind may be damaged, and that is another matter.
     */
    public boolean beginsArray() {
        byte[] first = new byte[PEEKED_BYTES_MAX];
        int count = 0;
        int more = 0;
        Boolean answer = null;
        while (answer == null && count < first.length && more >= 0) {
            more = input.read(first, count, first.length - count);
            count += Math.max(0, more);
            answer = answer(first, count);
        }
        peeked = Arrays.copyOf(first, count);
        return answer == null ? endsInBracket(first, count) : answer;
    }

    /** What so many first bytes say; null if they say nothing yet. */
    private static @Nullable Boolean answer(byte[] first, int count) {
        int begin = passBlanks(first, textStart(first, count), count);
        if (begin == count) {
            return null;
        }
        if (first[begin] != '[') {
            return (begin == 0 && isPartOfMark(first, count)) ? null : Boolean.FALSE;
        }
        int within = passBlanks(first, begin + 1, count);
        return within == count ? null : first[within] == '{' || first[within] == ']';
    }

    private static boolean endsInBracket(byte[] first, int count) {
        int begin = passBlanks(first, textStart(first, count), count);
        return begin < count && first[begin] == '[';
    }

    private static int textStart(byte[] first, int count) {
        return BufferedFramer.hasByteOrderMark(first, 0, count) ? MARK_BYTES : 0;
    }

    /** Whether the rest of a byte order mark may come. */
    private static boolean isPartOfMark(byte[] first, int count) {
        return count < MARK_BYTES && first[0] == (byte) 0xEF;
    }

    private static int passBlanks(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && JsonEnd.isBlank(bytes[at])) {
            at++;
        }
        return at;
    }
}
