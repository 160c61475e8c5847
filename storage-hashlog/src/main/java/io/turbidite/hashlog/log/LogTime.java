package io.turbidite.hashlog.log;

/**
 * What time it is at least, as far as the log itself tells: the newest time that it noted before it
 * was opened, and the time that it has run since. A wall clock that jumps does not move it, nor do
 * the times that the clock gives to records meanwhile; these count at the next opening.
 * <em>Immutable.</em>
 *
 * @param micros noted
 * @param nanos of the monotonic clock, when the log was opened
 */
record LogTime(long micros, long nanos) {
    long wallMicros(long monotonicNanos) {
        return micros + (monotonicNanos - nanos) / 1_000;
    }
}
