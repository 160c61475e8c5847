package io.turbidite.hashlog.scan;

import java.lang.foreign.MemorySegment;

/**
 * What a full scan asks of every record. <em>Confined to one thread;</em> no garbage per record.
 */
@FunctionalInterface
public interface RecordTest {
    /** Whether the record whose payload is {@code length} bytes at {@code offset} is wanted. */
    boolean matches(MemorySegment segment, long offset, int length);

    /** This and, of what passes it, {@code other}. */
    default RecordTest and(RecordTest other) {
        return (segment, offset, length) ->
                matches(segment, offset, length) && other.matches(segment, offset, length);
    }
}
