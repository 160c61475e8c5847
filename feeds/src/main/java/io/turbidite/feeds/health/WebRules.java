package io.turbidite.feeds.health;

import io.turbidite.feeds.health.Finding.Unit;

import java.util.List;

/** Rules of a server's connections and requests. Static, without state. */
final class WebRules {
    private WebRules() {}

    static final List<Rule> ALL = List.of(
            Rule.warn(
                            "http.requests",
                            Measure.grownFor("http.requests", 20),
                            5,
                            Unit.PERCENT,
                            "many requests end with code 5xx or 429",
                            "turbidite_http_requests_total of /metrics says which routes and codes")
                    .where("code", "5..|429"),
            Rule.warn(
                    "http.connections",
                    Measure.shareOf("bound:http.connections"),
                    90,
                    Unit.PERCENT_OF_BOUND,
                    "nearly all connections are taken",
                    "raise --connections"),
            Rule.warn(
                    "http.connections.broken",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "connections ended by a fault of the server",
                    "the server's log has the first of each kind: report it"),
            Rule.warn(
                    "http.requests.running",
                    Measure.leastShareOf("bound:http.requests"),
                    99,
                    Unit.PERCENT_OF_BOUND,
                    "as many requests are at work as may be; further ones get 429",
                    "raise --requests, or find out what makes them slow"),
            Rule.warn(
                    "http.streams",
                    Measure.shareOf("bound:http.streams"),
                    90,
                    Unit.PERCENT_OF_BOUND,
                    "nearly all event streams are taken",
                    "raise --streams, or close consoles that nobody looks at"),
            Rule.warn(
                    "http.events.lost",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "events came faster than they could be sent",
                    "consoles have to be loaded again to show all; see what makes the events"),
            Rule.warn(
                    "http.events.failures",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "samples or events for consoles could not be made",
                    "the server's log has the first of each kind: report it"),
            Rule.warn(
                    "tcp.connections",
                    Measure.shareOf("bound:tcp.connections"),
                    90,
                    Unit.PERCENT_OF_BOUND,
                    "nearly all connections that send lines are taken",
                    "raise --connections"),
            Rule.warn(
                    "tcp.bytes.held",
                    Measure.leastShareOf("bound:tcp.bytes.held"),
                    90,
                    Unit.PERCENT_OF_BOUND,
                    "what clients have sent by TCP and no feed takes stays near its bound",
                    "look at the findings of the feeds: clients have to wait"),
            Rule.warn(
                    "tcp.refused",
                    Measure.grown(),
                    60,
                    Unit.COUNT_A_MINUTE,
                    "many connections that send lines end with an error",
                    "look at what clients send: the error is the last line that they get"),
            Rule.warn(
                    "http.series.refused",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "/metrics leaves instruments out, for there are more than 2,000 series",
                    "serve fewer stores and feeds in one process"));
}
