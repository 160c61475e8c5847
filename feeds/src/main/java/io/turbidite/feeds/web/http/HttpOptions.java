package io.turbidite.feeds.web.http;

import io.turbidite.core.InvalidRequestException;

/**
 * Bounds of a server. <em>Immutable.</em>
 *
 * @param connectionCountMax connections at a time; further ones are closed with 503
 * @param connectionsPerPeerMax of them from one address of another machine; see {@link PeerCounts}
 * @param requestCountMax requests at work at a time; further ones get 429
 * @param streamCountMax event streams that are open at a time; further ones get 429
 * @param headBytesMax bytes of a request's headers, and of its first line
 * @param bodyBytesMax bytes of a request's body, unless its route takes more
 * @param headMillisMax a connection that has not sent a whole head so long after it was opened,
 *     or after the answer before, is closed
 * @param bodyMillisMax a request whose body brings nothing for so long is ended
 * @param writeMillisMax a client that takes nothing of an answer for so long is let go
 * @param unsentBytesMax of an answer that wait for their client; its request waits beyond that
 * @param answerBytesMax bytes of an answer; one of rows that would grow beyond tells an error
 *     behind those that fit, any other is refused; events have no bound
 * @param requestMillisMax a statement or a question that takes so long is ended, and records that
 *     are sent to a feed are waited for no longer
 */
public record HttpOptions(
        int connectionCountMax,
        int connectionsPerPeerMax,
        int requestCountMax,
        int streamCountMax,
        int headBytesMax,
        long bodyBytesMax,
        long headMillisMax,
        long bodyMillisMax,
        long writeMillisMax,
        int unsentBytesMax,
        long answerBytesMax,
        long requestMillisMax) {
    /** The longest time that {@code requestMillisMax} may be: a day. */
    public static final long REQUEST_MILLIS_MAX = 86_400_000;

    public HttpOptions {
        check("connections", connectionCountMax, 1, 1 << 16);
        check("connections of a peer", connectionsPerPeerMax, 1, 1 << 16);
        check("requests", requestCountMax, 1, 1 << 10);
        check("streams", streamCountMax, 0, 1 << 10);
        check("bytes of a head", headBytesMax, 1 << 10, 1 << 20);
        check("bytes of a body", bodyBytesMax, 1, 1L << 40);
        check("milliseconds for a head", headMillisMax, 1, 86_400_000);
        check("milliseconds for a body", bodyMillisMax, 1, 86_400_000);
        check("milliseconds for an answer", writeMillisMax, 1, 86_400_000);
        check("unsent bytes", unsentBytesMax, 1 << 10, 1 << 30);
        check("bytes of an answer", answerBytesMax, 1 << 20, 1L << 40);
        check("milliseconds for a request", requestMillisMax, 1, REQUEST_MILLIS_MAX);
    }

    /**
     * 1,024 connections, 256 of a peer, 32 requests and 64 event streams; 16 KiB of headers, 16 MiB
     * of body; half a minute for head and body, a minute for an answer; 256 KiB a client;
     * answers of 1 GiB, and an hour for each.
     */
    public static HttpOptions defaults() {
        return new HttpOptions(
                1_024, 256, 32, 64, 16 << 10, 16 << 20, 30_000, 30_000, 60_000, 256 << 10, 1 << 30,
                3_600_000);
    }

    private static void check(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new InvalidRequestException(
                    "%s: %d is not between %d and %d".formatted(what, value, min, max));
        }
    }
}
