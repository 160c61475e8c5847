package io.turbidite.hashlog.log;

import io.turbidite.core.InvalidRequestException;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where the next record goes: page and offset in one word, taken by fetch-and-add (FISH19 §6.2).
 *
 * <p><em>Thread-safe.</em> Of the adds that overflow a page exactly one started within it: that
 * thread writes the filler and closes the page. The others find the page full and turn to the next
 * page, or wait until it has a frame; whoever comes first opens it. Adds that hit the full page in
 * the meantime are forgotten when the word is set to the new page.
 */
final class Tail {
    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final VarHandle PACKED;

    static {
        try {
            PACKED = MethodHandles.lookup().findVarHandle(Word.class, "packed", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final LogShape shape;
    private final Ring ring;
    private final Word word = new Word();

    /** The newest page that is closed: its filler, if any, is written. */
    private volatile long closedPage;

    Tail(LogShape shape, Ring ring, long address) {
        this.shape = shape;
        this.ring = ring;
        long page = shape.pageOf(address);
        this.closedPage = page - 1;
        PACKED.setVolatile(word, pack(page, shape.offsetOf(address)));
    }

    /** The address behind everything allocated so far; never in a page's header. */
    long address() {
        long packed = (long) PACKED.getVolatile(word);
        return shape.startOf(pageOf(packed)) + Math.min(packed & OFFSET_MASK, shape.pageBytes());
    }

    /** The page that takes records, or is full and not yet followed by another. */
    long page() {
        return pageOf((long) PACKED.getVolatile(word));
    }

    /**
     * Takes {@code byteCount} bytes, a multiple of 8 and at most {@link LogShape#recordBytesMax()}.
     *
     * @return their address; or, negative, {@code ~page} if that page is full: open the next one
     *     and call again
     */
    long allocate(int byteCount) {
        assert (byteCount & 7) == 0 && byteCount <= shape.recordBytesMax() : byteCount;
        long packed = (long) PACKED.getAndAdd(word, (long) byteCount);
        long offset = packed & OFFSET_MASK;
        long page = pageOf(packed);
        if (offset + byteCount <= shape.pageBytes()) {
            return shape.startOf(page) + offset;
        }
        if (offset <= shape.pageBytes()) {
            close(page, (int) offset);
        }
        return ~page;
    }

    /** Whether the page is full and its filler written, so that the next one may be opened. */
    boolean isClosed(long page) {
        return closedPage >= page;
    }

    /** Opens {@code page}, whose frame is free; called once for each page, under the turn. */
    void open(long page) {
        if (page >= shape.pageCountMax()) {
            throw new InvalidRequestException(
                    "the log's %d pages are used up: open a new log".formatted(page));
        }
        PACKED.setVolatile(word, pack(page, shape.pageHeaderBytes()));
    }

    private void close(long page, int offset) {
        if (offset < shape.pageBytes()) {
            RecordHeader.storeRelease(
                    ring.memory(),
                    ring.offsetOf(shape.startOf(page) + offset),
                    RecordHeader.filler(shape.pageBytes() - offset));
        }
        closedPage = page;
    }

    private static long pack(long page, long offset) {
        return page << OFFSET_BITS | offset;
    }

    private static long pageOf(long packed) {
        return packed >>> OFFSET_BITS;
    }

    /** The word alone in its cache lines: every session writes it. */
    @SuppressWarnings("unused")
    private static final class Word {
        long before1;
        long before2;
        long before3;
        long before4;
        long before5;
        long before6;
        long before7;
        volatile long packed;
        long after1;
        long after2;
        long after3;
        long after4;
        long after5;
        long after6;
        long after7;
    }
}
