package io.turbidite.hashlog.log;

/** Hears how long reads from disk take. <em>Thread-safe.</em> */
@FunctionalInterface
public interface ReadTimes {
    /** A read of {@code byteCount} bytes in a row took {@code nanos}. */
    void note(int byteCount, long nanos);
}
