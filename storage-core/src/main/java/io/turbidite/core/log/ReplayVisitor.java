package io.turbidite.core.log;

import io.turbidite.core.bytes.Slice;

/** Takes the records that {@link WriteAheadLog#open} finds, in log order. */
@FunctionalInterface
public interface ReplayVisitor {
    /**
     * Takes one record.
     *
     * @param position the record's position in the log
     * @param payload what was published; valid only during the call
     */
    void record(long position, Slice payload);
}
