package io.turbidite.feeds.command.server;

import io.turbidite.core.InvalidRequestException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Where a server listens, as an argument. Static, without state. */
final class ListenAddress {
    private static final int PORT_MAX = 65_535;

    private ListenAddress() {}

    /**
     * Reads {@code HOST:PORT}; an address of IPv6 stands in brackets.
     *
     * @throws InvalidRequestException if it is none
     */
    static InetSocketAddress of(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw wrong(text);
        }
        int port = portOf(text.substring(colon + 1));
        if (host.isEmpty() || port < 0) {
            throw wrong(text);
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new InvalidRequestException(
                    "--listen %s: there is no host %s".formatted(text, host), e);
        }
    }

    private static int portOf(String text) {
        if (!text.matches("[0-9]{1,5}")) {
            return -1;
        }
        int port = Integer.parseInt(text);
        return port > PORT_MAX ? -1 : port;
    }

    private static InvalidRequestException wrong(String text) {
        return new InvalidRequestException(
                "--listen %s is not HOST:PORT, such as 127.0.0.1:8470 or [::1]:8470"
                        .formatted(text));
    }
}
