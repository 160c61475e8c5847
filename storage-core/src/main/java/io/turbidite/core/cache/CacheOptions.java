package io.turbidite.core.cache;

import io.turbidite.core.InvalidRequestException;

/**
 * What a cache may use. Immutable.
 *
 * @param bytesMax memory for pages, at least {@link BufferCache#BYTES_MIN}
 * @param fullWaitMicros how long a miss waits while every page is pinned, before it fails
 */
public record CacheOptions(long bytesMax, long fullWaitMicros) {
    /** Pins last for microseconds unless a cursor is left open: after seconds, one is. */
    private static final long FULL_WAIT_MICROS_DEFAULT = 5_000_000;

    public CacheOptions {
        if (bytesMax < BufferCache.BYTES_MIN) {
            throw new InvalidRequestException("a buffer cache needs at least %d bytes, not %d"
                    .formatted(BufferCache.BYTES_MIN, bytesMax));
        }
        if (fullWaitMicros < 0) {
            throw new InvalidRequestException(
                    "a buffer cache can't wait %d microseconds".formatted(fullWaitMicros));
        }
    }

    public static CacheOptions of(long bytesMax) {
        return new CacheOptions(bytesMax, FULL_WAIT_MICROS_DEFAULT);
    }

    public CacheOptions withFullWaitMicros(long micros) {
        return new CacheOptions(bytesMax, micros);
    }
}
