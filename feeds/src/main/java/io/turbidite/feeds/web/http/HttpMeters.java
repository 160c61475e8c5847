package io.turbidite.feeds.web.http;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;

/**
 * What a server counts. Routes are told by their templates, so that no
 * client can make up new series. <em>Thread-safe.</em>
 */
final class HttpMeters {
    private static final String NO_ROUTE = "none";

    private final Meters meters;
    private final Clock clock;
    private final Counter bytesIn;
    private final Counter bytesOut;

    HttpMeters(Meters meters, Clock clock, HttpServer server) {
        this.meters = meters;
        this.clock = clock;
        this.bytesIn = meters.counter("http.bytes.in");
        this.bytesOut = meters.counter("http.bytes.out");
        meters.gauge("http.connections", server::connectionCount);
        meters.gauge("http.requests.running", server::requestCount);
        meters.gauge("http.streams", server::streamCount);
    }

    void begin(Exchange exchange) {
        exchange.begunAt(clock.monotonicNanos());
    }

    void end(Exchange exchange, int code) {
        count(routeOf(exchange), code);
        meters.scope("route", routeOf(exchange))
                .latency("http.time")
                .record(clock.monotonicNanos() - exchange.begunNanos());
    }

    private static String routeOf(Exchange exchange) {
        return exchange.template().isEmpty() ? NO_ROUTE : exchange.template();
    }

    void refused(int code) {
        count(NO_ROUTE, code);
    }

    private void count(String route, int code) {
        meters.scope("route", route)
                .scope("code", Integer.toString(code))
                .counter("http.requests")
                .increment();
    }

    void countIn(long bytes) {
        bytesIn.add(bytes);
    }

    void countOut(long bytes) {
        bytesOut.add(bytes);
    }
}
