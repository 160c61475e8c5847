package io.turbidite.core.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntUnaryOperator;

/**
 * A file whose pages are filled with a pattern of their own, and a check of that. Counts the loads
 * of each page. <em>Thread-safe.</em>
 */
final class PatternFile implements PageLoader {
    private final long salt;
    private final IntUnaryOperator pageBytes;
    final AtomicIntegerArray loads;

    PatternFile(long salt, int pageCount, IntUnaryOperator pageBytes) {
        this.salt = salt;
        this.pageBytes = pageBytes;
        this.loads = new AtomicIntegerArray(pageCount);
    }

    @Override
    public int pageBytes(int page) {
        return pageBytes.applyAsInt(page);
    }

    @Override
    public void load(int page, MemorySegment target) {
        loads.incrementAndGet(page);
        long word = word(page);
        long bytes = target.byteSize();
        for (long at = 0; at + 8 <= bytes; at += 8) {
            target.set(Bytes.I64, at, word + at);
        }
        for (long at = bytes & ~7L; at < bytes; at++) {
            target.set(Bytes.U8, at, (byte) word);
        }
    }

    /** All of a page. */
    void checkAll(int page, MemorySegment segment) {
        assertThat(segment.byteSize()).isEqualTo(pageBytes(page));
        for (long at = 0; at + 8 <= segment.byteSize(); at += 8) {
            checkWord(page, segment, at);
        }
        for (long at = segment.byteSize() & ~7L; at < segment.byteSize(); at++) {
            assertThat(segment.get(Bytes.U8, at)).isEqualTo((byte) word(page));
        }
    }

    /** Both ends and the middle of a page. */
    void checkSome(int page, MemorySegment segment) {
        long words = segment.byteSize() / 8;
        if (segment.byteSize() != pageBytes(page)) {
            throw new AssertionError("page " + page + " has " + segment.byteSize() + " bytes");
        }
        if (words > 0) {
            checkWord(page, segment, 0);
            checkWord(page, segment, words / 2 * 8);
            checkWord(page, segment, (words - 1) * 8);
        }
    }

    int loadCount() {
        int sum = 0;
        for (int page = 0; page < loads.length(); page++) {
            sum += loads.get(page);
        }
        return sum;
    }

    private void checkWord(int page, MemorySegment segment, long at) {
        long found = segment.get(Bytes.I64, at);
        if (found != word(page) + at) {
            throw new AssertionError("page %d at %d: expected %x, found %x"
                    .formatted(page, at, word(page) + at, found));
        }
    }

    private long word(int page) {
        return (salt * 1_000_003 + page) * 0x9E3779B97F4A7C15L;
    }
}
