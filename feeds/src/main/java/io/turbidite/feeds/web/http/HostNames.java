package io.turbidite.feeds.web.http;

import io.netty.util.NetUtil;

import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Under which names a server is asked. A browser that was led here by another site's name (DNS
 * rebinding) brings that name, and is sent away. <em>Immutable.</em>
 */
final class HostNames {
    private final Set<String> names = new TreeSet<>();
    private final boolean anyAddress;

    /**
     * @param listens addresses that the server listens at
     * @param named by whoever started it
     * @param anyAddress it listens at all addresses of the machine: an address is no name, so
     *     nobody can have been led astray by one
     */
    HostNames(Collection<String> listens, Collection<String> named, boolean anyAddress) {
        names.add("localhost");
        names.add("127.0.0.1");
        names.add("::1");
        listens.forEach(this::add);
        named.forEach(this::add);
        this.anyAddress = anyAddress;
    }

    private void add(String name) {
        names.add(name.toLowerCase(Locale.ROOT));
    }

    /** Whether the header {@code Host} names this server; the port does not matter. */
    boolean has(String host) {
        String name = nameOf(host).toLowerCase(Locale.ROOT);
        return names.contains(name)
                || (anyAddress
                        && (NetUtil.isValidIpV4Address(name) || NetUtil.isValidIpV6Address(name)));
    }

    /** Without port, and without the brackets of an address of IPv6. */
    static String nameOf(String host) {
        if (host.startsWith("[")) {
            int end = host.indexOf(']');
            return end < 0 ? "" : host.substring(1, end);
        }
        int colon = host.lastIndexOf(':');
        return colon < 0 ? host : host.substring(0, colon);
    }
}
