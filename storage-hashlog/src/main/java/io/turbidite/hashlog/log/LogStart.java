package io.turbidite.hashlog.log;

import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Where a log goes on: fresh, or behind what recovery could read. <em>Immutable.</em>
 *
 * @param logId random, of the log; in every page and file
 * @param begin the smallest address that may be read
 * @param tail where the next record goes, within a page
 * @param newestPage the content of the tail's page up to the tail, or null if it has none
 * @param newestPageOpenedMicros when that page was opened
 * @param marksLost slots in TAIL, of two, whose mark is damaged: the newest one may have been there
 * @param registryNumber the highest of those that the newest pages were written under
 * @param marked whether a sound mark vouches for the tail, so that what lies behind it may go
 */
public record LogStart(
        long logId,
        long begin,
        long tail,
        @Nullable MemorySegment newestPage,
        long newestPageOpenedMicros,
        int marksLost,
        int registryNumber,
        boolean marked) {

    /** A log without records. */
    public static LogStart fresh(long logId, LogShape shape) {
        return new LogStart(logId, shape.firstAddress(), shape.firstAddress(), null, 0, 0, 0, true);
    }

    /** The mark that says the same. */
    TailMark mark(LogShape shape, long number) {
        MemorySegment used = newestPage;
        int headerBytes = shape.pageHeaderBytes();
        int usedBytes = used == null ? headerBytes : (int) used.byteSize();
        return new TailMark(
                logId,
                number,
                shape.pageOf(tail),
                used == null ? 0 : newestPageOpenedMicros,
                usedBytes,
                used == null
                        ? TailMark.NOTHING_CHECKSUM
                        : new Crc32c().compute(used, headerBytes, usedBytes - (long) headerBytes));
    }

    void fill(Ring ring, long page, long nowMicros) {
        ring.opened(page, newestPage == null ? nowMicros : newestPageOpenedMicros);
        if (newestPage != null) {
            MemorySegment.copy(newestPage, 0, ring.frame(page), 0, newestPage.byteSize());
        }
    }
}
