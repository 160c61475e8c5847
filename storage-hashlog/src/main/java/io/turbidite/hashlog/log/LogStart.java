package io.turbidite.hashlog.log;

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
 */
public record LogStart(
        long logId,
        long begin,
        long tail,
        @Nullable MemorySegment newestPage,
        long newestPageOpenedMicros) {

    /** A log without records. */
    public static LogStart fresh(long logId, LogShape shape) {
        return new LogStart(logId, shape.firstAddress(), shape.firstAddress(), null, 0);
    }

    void fill(Ring ring, long page, long nowMicros) {
        ring.opened(page, newestPage == null ? nowMicros : newestPageOpenedMicros);
        if (newestPage != null) {
            MemorySegment.copy(newestPage, 0, ring.frame(page), 0, newestPage.byteSize());
        }
    }
}
