package io.turbidite.feeds.serve;

import io.turbidite.core.InvalidRequestException;

/**
 * Whether the libraries of Netty are there: an embedder whose feeds read files, topics or a pipe,
 * and who lets nobody else reach his store, needs none.
 *
 * <p>Ask before a class is loaded that has types of Netty.
 */
public final class NettyLibrary {
    private NettyLibrary() {}

    /**
     * What a socket for other processes needs.
     *
     * @throws InvalidRequestException naming the artifact that is not there
     */
    public static void requireSocket() {
        require("a socket for other processes", "io.netty.handler.ssl.SslContext", "netty-handler");
    }

    /**
     * What a server of HTTP and of lines needs.
     *
     * @throws InvalidRequestException naming the artifact that is not there
     */
    public static void requireServer() {
        String what = "a server, which feeds of http and tcp are sent to,";
        require(what, "io.netty.handler.ssl.SslContext", "netty-handler");
        require(what, "io.netty.handler.codec.http.HttpObject", "netty-codec-http");
        require(what, "io.netty.handler.codec.compression.ZstdDecoder", "netty-codec-compression");
    }

    private static void require(String what, String type, String artifact) {
        try {
            Class.forName(type, false, NettyLibrary.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new InvalidRequestException(
                    "%s needs the library io.netty:%s".formatted(what, artifact), e);
        }
    }
}
