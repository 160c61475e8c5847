package io.turbidite.feeds.parse;

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
     * read. Text of lines, each of which is an object, never does.
     */
    public boolean beginsArray() {
        byte[] first = new byte[PEEKED_BYTES_MAX];
        int count = 0;
        int more = 0;
        while (count < first.length && more >= 0) {
            more = input.read(first, count, first.length - count);
            count += Math.max(0, more);
        }
        peeked = Arrays.copyOf(first, count);
        int at = passBlanks(BufferedFramer.hasByteOrderMark(peeked, 0, count) ? MARK_BYTES : 0);
        if (at == count || peeked[at] != '[') {
            return false;
        }
        at = passBlanks(at + 1);
        return at == count || peeked[at] == '{' || peeked[at] == ']';
    }

    private int passBlanks(int from) {
        int at = from;
        while (at < peeked.length && JsonEnd.isBlank(peeked[at])) {
            at++;
        }
        return at;
    }
}
