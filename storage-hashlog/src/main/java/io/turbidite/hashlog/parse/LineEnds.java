package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/**
 * Where lines end: every byte of a batch is looked at for that, so there are two ways, by
 * {@link ScanMode}, and one answer. <em>Stateless.</em>
 */
public interface LineEnds {
    /**
     * The offset of the first newline at or behind {@code from}, or {@code to} if there is none
     * before it.
     */
    long end(MemorySegment segment, long from, long to);

    /** The end of the line's content, without a carriage return before the newline. */
    static long contentEnd(MemorySegment segment, long from, long end) {
        return end > from && segment.get(Bytes.U8, end - 1) == '\r' ? end - 1 : end;
    }
}
