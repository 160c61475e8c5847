package io.turbidite.feeds.web;

import io.turbidite.core.Undo;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.health.Readiness;
import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.EventPush;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.HttpServer;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;
import io.turbidite.feeds.web.http.TlsFiles;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Answers for some stores over HTTP. Close it before them. <em>Thread-safe.</em>
 *
 * <p>{@code /health/live} says that the process answers; {@code /health/ready} that each store
 * takes writes, or why not.
 */
public final class WebServer implements AutoCloseable {
    /** While a store takes no writes, its clients come again after so long. */
    static final int RETRY_SECONDS = 10;

    /** While it starts, so soon. */
    private static final int STARTING_SECONDS = 1;

    private final Meters meters;
    private final ServedStores stores;
    private final EventHub events;
    private final Scrape scrape;
    private final ConsoleFiles console = new ConsoleFiles();
    private final List<Route> routes = new ArrayList<>();
    private @Nullable HttpServer http;

    /** Whether all is there that is to be served. */
    private volatile boolean started;

    /**
     * How it serves.
     *
     * @param listens addresses; port 0 means any that is free
     * @param hostNames further names that the header {@code Host} may have
     * @param tls null: HTTP without TLS
     * @param files where files may lie that clients name
     */
    public record Options(
            List<InetSocketAddress> listens,
            List<String> hostNames,
            HttpOptions http,
            Doorkeeper doorkeeper,
            @Nullable TlsFiles tls,
            FilesRoot files) {}

    private WebServer(ServedStores stores, FilesRoot files, Meters meters, Clock clock) {
        this.stores = stores;
        this.meters = meters;
        this.scrape = new Scrape(stores.all(), meters);
        this.events = new EventHub(stores.all(), meters, clock);
        routes.add(Route.light(
                        "GET",
                        "/health/live",
                        Right.NONE,
                        exchange -> exchange.answer(200, Map.of("live", true)))
                .withAnyParameters());
        routes.add(Route.of("GET", "/health/ready", Right.NONE, this::ready).withAnyParameters());
        routes.add(Route.of(
                        "GET",
                        "/metrics",
                        Right.NONE,
                        exchange -> scrape.answer(exchange, sightOf(exchange)))
                .withAnyParameters());
        routes.addAll(new StoreRoutes(stores, events).routes());
        routes.addAll(new SqlRoute(stores, files, clock).routes());
        routes.addAll(new QueryRoute(stores, clock).routes());
        routes.addAll(new StoreWork(stores, files).routes());
        FeedRoutes feeds = new FeedRoutes(stores, files);
        events.showFeeds(feeds::figures);
        routes.addAll(feeds.routes());
        routes.add(Route.of("GET", "/v1/events", Right.NONE, this::follow).withParameters("since"));
    }

    /**
     * Starts to serve.
     *
     * @throws IOException if an address can't be listened at
     */
    public static WebServer start(ServedStores stores, Options options, Clock clock)
            throws IOException {
        WebServer server = startUnready(stores, options, clock);
        server.hasStarted();
        return server;
    }

    /**
     * As {@link #start}, but is not ready until {@link #hasStarted} says that all feeds are there.
     */
    public static WebServer startUnready(ServedStores stores, Options options, Clock clock)
            throws IOException {
        Meters meters = new Meters(clock);
        WebServer server = new WebServer(stores, options.files(), meters, clock);
        try (Undo undo = Undo.of(server::close)) {
            server.http = HttpServer.start(
                    new HttpServer.Parts(
                            options.http(),
                            server.routes,
                            server.console::answer,
                            options.doorkeeper(),
                            options.hostNames(),
                            options.tls(),
                            meters,
                            clock),
                    options.listens());
            return undo.keep(server);
        }
    }

    /** All feeds are there that are to be served. */
    public void hasStarted() {
        started = true;
    }

    /** Where it listens, with the ports that it got. */
    public List<InetSocketAddress> addresses() {
        return http == null ? List.of() : http.addresses();
    }

    /** Requests that are at work now. */
    int requestCount() {
        return http == null ? 0 : http.requestCount();
    }

    /** What the server counts itself. */
    public Meters meters() {
        return meters;
    }

    /** Every route that there is, as method and template. */
    List<Route> routes() {
        return routes;
    }

    private void ready(Exchange exchange) {
        List<Map<String, @Nullable Object>> reasons = new ArrayList<>();
        if (!started) {
            reasons.add(Json.line()
                    .put("store", null)
                    .put("reason", "not all feeds are started yet")
                    .toMap());
        }
        stores.all()
                .forEach((name, store) -> Readiness.of(store)
                        .ifPresent(why -> reasons.add(Json.line()
                                .put("store", name)
                                .put("reason", why)
                                .toMap())));
        exchange.answer(
                reasons.isEmpty() ? 200 : 503,
                Json.line()
                        .put("ready", reasons.isEmpty())
                        .put("reasons", reasons)
                        .toMap(),
                reasons.isEmpty()
                        ? Map.of()
                        : Map.of(
                                "Retry-After",
                                Integer.toString(started ? RETRY_SECONDS : STARTING_SECONDS)));
    }

    /** Who may read nothing is refused here. */
    private Sight sightOf(Exchange exchange) {
        return Sight.of(exchange, stores.all().keySet());
    }

    private void follow(Exchange exchange) {
        Sight sight = sightOf(exchange);
        String seen = exchange.header("Last-Event-ID");
        long since =
                StoreRoutes.number(seen == null ? exchange.parameter("since") : seen, "since", -1);
        EventPush push = exchange.push("text/event-stream");
        events.subscribe(push, since, sight);
    }

    /** Ends what is asked, and forgets the stores. */
    @Override
    public void close() {
        events.close();
        if (http != null) {
            http.close();
        }
        scrape.close();
    }
}
