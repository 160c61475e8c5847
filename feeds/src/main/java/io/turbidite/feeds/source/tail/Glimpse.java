package io.turbidite.feeds.source.tail;

import java.util.Arrays;

/** How a content begins and ends. <em>Immutable.</em> */
final class Glimpse {
    /** Enough to tell most contents apart without a look at their ends. */
    private static final int HEAD_BYTES = 4_096;

    /** Enough to tell most small files apart without a look at them. */
    private static final int FIRST_BYTES = 64;

    private final byte[] head;
    private final byte[] end;
    private final long byteCount;

    private Glimpse(byte[] head, byte[] end, long byteCount) {
        this.head = head;
        this.end = end;
        this.byteCount = byteCount;
    }

    static Glimpse of(Content content) {
        long byteCount = content.byteCount();
        int endBytes = (int) Math.min(byteCount, Window.BYTES_MAX);
        return new Glimpse(
                bytes(content, 0, (int) Math.min(byteCount, HEAD_BYTES)),
                bytes(content, byteCount - endBytes, endBytes),
                byteCount);
    }

    private static byte[] bytes(Content content, long offset, int wanted) {
        byte[] bytes = new byte[wanted];
        int count = content.read(offset, bytes, wanted);
        return Arrays.copyOf(bytes, count);
    }

    /** Whether a content with these first bytes may begin like this one. */
    boolean mayBegin(byte[] first) {
        int common = Math.min(first.length, head.length);
        return Arrays.equals(first, 0, common, head, 0, common);
    }

    /** Whether {@code followed}, which is {@code other}, begins like this one, all of it. */
    boolean begins(TailedFile followed, Content other) {
        byte[] there = bytes(other, 0, Math.max(head.length, FIRST_BYTES));
        followed.first = Arrays.copyOf(there, Math.min(there.length, FIRST_BYTES));
        return other.byteCount() >= byteCount
                && Arrays.equals(
                        there, 0, Math.min(there.length, head.length), head, 0, head.length)
                && Arrays.equals(bytes(other, byteCount - end.length, end.length), end);
    }
}
