package io.turbidite.hashlog;

import java.lang.foreign.MemorySegment;

/** Takes the records that a query finds. */
@FunctionalInterface
public interface RecordSink {
    /** A record of {@code length} bytes; they are valid during the call. */
    void accept(long address, MemorySegment segment, long offset, int length);
}
