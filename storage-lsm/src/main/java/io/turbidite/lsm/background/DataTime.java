package io.turbidite.lsm.background;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Objects;

/**
 * What time it is at least, as far as the records of one dataset tell: the newest value of its
 * first filter field (of a day, its end), and the running time since it was seen. A wall clock that
 * jumps does not move it.
 *
 * <p>It never goes back. <em>Confined to one thread.</em>
 */
final class DataTime {
    private final KeySpec filter;
    private byte @Nullable [] newest;
    private long newestMicros;
    private long seenNanos;

    /**
     * @param filter a datetime or a date
     */
    DataTime(KeySpec filter) {
        this.filter = filter;
    }

    /** There is a record with this encoded value. */
    void observe(byte @Nullable [] value, long monotonicNanos) {
        byte[] before = newest;
        if (value == null
                || (before != null && Slice.of(value).compareBytes(Slice.of(before)) <= 0)) {
            return;
        }
        newest = value;
        long micros = micros(value);
        if (before == null || micros > wallMicros(monotonicNanos)) {
            newestMicros = micros;
            seenNanos = monotonicNanos;
        }
    }

    private long micros(byte[] value) {
        Object decoded = filter.decode(Slice.of(value), 0).getFirst();
        Instant at = decoded instanceof LocalDate day
                ? day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant()
                : (Instant) Objects.requireNonNull(decoded);
        return ChronoUnit.MICROS.between(Instant.EPOCH, at);
    }

    /** What time it is at least; {@link Long#MAX_VALUE} if no record has told any. */
    long wallMicros(long monotonicNanos) {
        return newest == null
                ? Long.MAX_VALUE
                : newestMicros + (monotonicNanos - seenNanos) / 1_000;
    }
}
