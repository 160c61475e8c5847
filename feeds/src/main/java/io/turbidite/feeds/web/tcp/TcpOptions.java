package io.turbidite.feeds.web.tcp;

import io.turbidite.core.InvalidRequestException;

/**
 * Bounds of all doors of a server together. <em>Immutable.</em>
 *
 * @param connectionCountMax connections at a time; further ones are told so and closed
 * @param connectionsPerPeerMax of them from one address of another machine
 * @param firstLineMillisMax a connection that has sent no whole first line so long after it was
 *     opened is closed; where a first line may be left out, one that has sent nothing is kept
 * @param lineMillisMax one in the middle of a line that brings nothing for so long is closed, after
 *     half as long again at the latest
 * @param retryMillisMax so long a feed may be away, to start or to try again, before its
 *     connections are closed
 * @param heldBytesMax of what all connections have sent and no feed has taken yet
 */
public record TcpOptions(
        int connectionCountMax,
        int connectionsPerPeerMax,
        long firstLineMillisMax,
        long lineMillisMax,
        long retryMillisMax,
        long heldBytesMax) {
    public TcpOptions {
        check("connections", connectionCountMax, 1, 1 << 16);
        check("connections of a peer", connectionsPerPeerMax, 1, 1 << 16);
        check("milliseconds for a first line", firstLineMillisMax, 1, 86_400_000);
        check("milliseconds for a line", lineMillisMax, 1, 86_400_000);
        check("milliseconds without the feed", retryMillisMax, 1, 86_400_000);
        check("bytes held", heldBytesMax, 1 << 20, 1L << 40);
    }

    /** 1,024 connections, 256 of a peer, half a minute each, 64 MiB. */
    public static TcpOptions defaults() {
        return new TcpOptions(1_024, 256, 30_000, 30_000, 30_000, 64 << 20);
    }

    private static void check(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new InvalidRequestException(
                    "%s: %d is not between %d and %d".formatted(what, value, min, max));
        }
    }
}
