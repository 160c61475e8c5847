package io.turbidite.feeds.web.http;

import io.netty.handler.codec.DecoderException;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;

/**
 * What a server counts. Routes are told by their templates, so that no
 * client can make up new series. <em>Thread-safe.</em>
 */
final class HttpMeters {
    private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);
    private static final String NO_ROUTE = "none";

    private final Meters meters;
    private final Clock clock;
    private final Counter bytesIn;
    private final Counter bytesOut;
    private final FailureTally broken = new FailureTally(LOG);

    HttpMeters(Meters meters, Clock clock, HttpServer server) {
        this.meters = meters;
        this.clock = clock;
        this.bytesIn = meters.counter("http.bytes.in");
        this.bytesOut = meters.counter("http.bytes.out");
        meters.gauge("http.connections", server::connectionCount);
        meters.gauge("http.requests.running", server::requestCount);
        meters.gauge("http.streams", server::streamCount);
        meters.total("http.connections.broken", broken::count);
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

    /**
     * A connection ends by what nobody handled. Resets and a client's TLS are of the network; any
     * other is a fault of the server.
     */
    void broken(Throwable cause) {
        Throwable root = cause instanceof DecoderException && cause.getCause() != null
                ? cause.getCause()
                : cause;
        if (root instanceof IOException) {
            LOG.debug("a connection ends", cause);
        } else {
            broken.note("a connection ends by a fault of the server", cause);
        }
    }

    void countIn(long bytes) {
        bytesIn.add(bytes);
    }

    void countOut(long bytes) {
        bytesOut.add(bytes);
    }
}
