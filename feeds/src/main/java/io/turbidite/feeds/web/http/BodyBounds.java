package io.turbidite.feeds.web.http;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.TimeUnit;

/**
 * How long a request's body may be, and how slowly it may come. <em>Confined to the loop.</em>
 */
final class BodyBounds {
    /**
     * What a client must send of a body in the time that it is waited for, beyond the first
     * {@link HttpOptions#bodyMillisMax}: a byte now and then would hold a request for ever. A
     * modem of 14,400 bits a second brings 1,800.
     */
    private static final long BYTES_PER_SECOND_MIN = 1_000;

    private final long millisMax;
    private long bytesMax;
    private long bytes;

    /** Since when a piece is waited for; not while the server itself is slow. */
    private long askedNanos;

    private boolean isAsked;

    /** How long pieces were waited for, together. */
    private long waitedNanos;

    BodyBounds(HttpOptions options) {
        this.millisMax = options.bodyMillisMax();
        this.bytesMax = options.bodyBytesMax();
    }

    void takeUpTo(long newBytesMax) {
        bytesMax = newBytesMax;
    }

    /** A piece is waited for from now on. */
    void ask(long nanos) {
        if (!isAsked) {
            isAsked = true;
            askedNanos = nanos;
        }
    }

    /** A piece has come; returns what is wrong with that. */
    @Nullable
    Problem add(int byteCount, long nanos) {
        bytes += byteCount;
        if (bytes > bytesMax) {
            return tooLarge(bytesMax);
        }
        if (isAsked) {
            isAsked = false;
            waitedNanos += nanos - askedNanos;
        }
        long waitedMillis = TimeUnit.NANOSECONDS.toMillis(waitedNanos);
        return waitedMillis > millisMax + bytes * 1_000 / BYTES_PER_SECOND_MIN
                ? tooSlow(waitedMillis)
                : null;
    }

    private Problem tooSlow(long waitedMillis) {
        return Problem.of(
                408,
                "the body brought %d bytes in %d ms, which is less than %d a second after the first %d ms"
                        .formatted(bytes, waitedMillis, BYTES_PER_SECOND_MIN, millisMax));
    }

    static Problem tooLarge(long bytesMax) {
        return Problem.of(
                        413,
                        "the body is longer than the %d bytes that are taken".formatted(bytesMax))
                .advise("send it in several requests");
    }
}
