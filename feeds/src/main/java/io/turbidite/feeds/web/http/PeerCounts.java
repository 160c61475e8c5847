package io.turbidite.feeds.web.http;

import io.netty.channel.Channel;

import org.jspecify.annotations.Nullable;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts the open connections of each peer. A peer is an address of IPv4, or the first 64 bits of
 * one of IPv6, of which one machine has all the rest. Clients of this machine have one address
 * together and are not counted.
 *
 * <p><em>Thread-safe.</em> Memory: an entry for each peer that has a connection.
 */
public final class PeerCounts {
    private static final int NETWORK_BYTES = 8;

    private final int countMax;
    private final ConcurrentHashMap<Object, Integer> counts = new ConcurrentHashMap<>();

    /**
     * @param countMax connections of a peer at a time
     */
    public PeerCounts(int countMax) {
        this.countMax = countMax;
    }

    /**
     * Counts a connection until it is closed.
     *
     * @return why it is one too many, with 429; null if it is not
     */
    public @Nullable Problem enter(Channel channel) {
        Object peer = peerOf(channel);
        if (peer == null) {
            return null;
        }
        int count = counts.merge(peer, 1, Integer::sum);
        channel.closeFuture()
                .addListener(closed ->
                        counts.computeIfPresent(peer, (key, now) -> now == 1 ? null : now - 1));
        return count <= countMax
                ? null
                : Problem.of(
                                429,
                                "your address has %d connections, as many as one may"
                                        .formatted(countMax))
                        .retry(1);
    }

    /** Null if its connections are not counted. */
    private static @Nullable Object peerOf(Channel channel) {
        if (!(channel.remoteAddress() instanceof InetSocketAddress at)) {
            return null; // it has gone already
        }
        InetAddress address = at.getAddress();
        if (address == null || address.isLoopbackAddress()) {
            return null;
        }
        return address instanceof Inet6Address
                ? Arrays.toString(Arrays.copyOf(address.getAddress(), NETWORK_BYTES))
                : address;
    }

    /** Peers that have a connection now. */
    int peerCount() {
        return counts.size();
    }
}
