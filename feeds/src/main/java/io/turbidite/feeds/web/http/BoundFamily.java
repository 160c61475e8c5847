package io.turbidite.feeds.web.http;

import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioServerSocketChannel;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;

/**
 * Sockets that listen at the given address and no other: the JDK's own take IPv6 too where they
 * are bound to {@code 0.0.0.0}. Static, without state.
 */
public final class BoundFamily {
    private BoundFamily() {}

    /** Makes sockets of IPv4 alone for an address of it; else of both. */
    public static ChannelFactory<ServerChannel> of(InetSocketAddress at) {
        if (at.getAddress() instanceof Inet4Address) {
            return () -> new NioServerSocketChannel(
                    SelectorProvider.provider(), SocketProtocolFamily.INET);
        }
        return NioServerSocketChannel::new;
    }
}
