package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.web.Ipv6;
import io.turbidite.feeds.web.access.Gate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.List;

/** Who reaches a server, by the address that it listens at. */
@Timeout(60)
class BoundFamilyTest {
    private static HttpServer listen(String host) throws IOException {
        return HttpServer.start(
                new HttpServer.Parts(
                        HttpOptions.defaults(),
                        List.of(),
                        exchange -> {
                            throw Problem.of(404, "no file");
                        },
                        Gate.of(List.of(), true),
                        List.of(),
                        null,
                        new Meters(),
                        Clock.system()),
                List.of(new InetSocketAddress(host, 0)));
    }

    /** The bug: what was to be reached from a network of IPv4 was open to that of IPv6 too. */
    @Test
    void addresses_of_ipv4_are_not_reached_by_ipv6() throws IOException {
        Ipv6.assumeThere();
        try (HttpServer server = listen("0.0.0.0")) {
            InetSocketAddress at = server.addresses().getFirst();
            assertThat(HttpServer.textOf(at)).isEqualTo("0.0.0.0:" + at.getPort());
            Ipv6.knock("127.0.0.1", at.getPort());
            assertThatThrownBy(() -> Ipv6.knock("::1", at.getPort()))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void any_address_of_ipv6_is_any_of_ipv4_too() throws IOException {
        Ipv6.assumeThere();
        try (HttpServer server = listen("::")) {
            int port = server.addresses().getFirst().getPort();
            Ipv6.knock("::1", port);
            Ipv6.knock("127.0.0.1", port);
        }
    }
}
