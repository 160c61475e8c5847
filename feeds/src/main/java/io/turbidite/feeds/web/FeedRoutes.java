package io.turbidite.feeds.web;

import io.turbidite.core.NearestName;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedStage;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.manage.FeedLetters;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The feeds of all stores. A feed's name is looked for in every store that the caller may ask;
 * where two have one of the name, the parameter {@code store} says which. A caller needs the right
 * to the feed and to its store. <em>Thread-safe.</em>
 */
final class FeedRoutes {
    /** The parameter that names a store, where several have a feed of the name. */
    private static final String STORE = "store";

    private static final long DEFINITION_BYTES_MAX = 256 << 10;
    private static final int LETTERS_MAX = 1_000;

    private final ServedStores stores;
    private final FilesRoot files;
    private final ParcelRoute parcels;

    FeedRoutes(ServedStores stores, FilesRoot files) {
        this.stores = stores;
        this.files = files;
        this.parcels = new ParcelRoute(stores);
    }

    List<Route> routes() {
        return List.of(
                Route.of("GET", "/v1/feeds", Right.NONE, this::list),
                Route.of("GET", "/v1/feeds/{feed}", Right.READ, this::show).withParameters(STORE),
                Route.of("PUT", "/v1/feeds/{feed}", Right.MANAGE, this::define)
                        .withBodyBytesMax(DEFINITION_BYTES_MAX)
                        .withParameters(STORE),
                Route.of("DELETE", "/v1/feeds/{feed}", Right.MANAGE, this::drop)
                        .withParameters(STORE),
                Route.of("POST", "/v1/feeds/{feed}", Right.WRITE, this::take)
                        .withParameters(STORE, ParcelRoute.PRODUCER, ParcelRoute.SEQUENCE),
                Route.of("POST", "/v1/feeds/{feed}/pause", Right.MANAGE, this::pause)
                        .withParameters(STORE),
                Route.of("POST", "/v1/feeds/{feed}/resume", Right.MANAGE, this::resume)
                        .withParameters(STORE),
                Route.of("GET", "/v1/feeds/{feed}/letters", Right.READ, this::letters)
                        .withParameters(STORE, "from", "limit"));
    }

    /** Those that the caller may read. */
    private void list(Exchange exchange) {
        List<Map<String, @Nullable Object>> lines = stores.feeds().entrySet().stream()
                .filter(one -> exchange.caller().may(Right.READ, "store", one.getKey()))
                .flatMap(one -> one.getValue().list().stream()
                        .filter(feed -> exchange.caller().may(Right.READ, "feed", feed.name()))
                        .map(feed -> toMap(one.getKey(), feed)))
                .toList();
        exchange.answer(200, Map.of("feeds", lines));
    }

    /** What samples say of each feed, by the names of its store and its own: {@code STORE/FEED}. */
    Map<String, ?> figures() {
        Map<String, Object> figures = new LinkedHashMap<>();
        stores.feeds()
                .forEach((store, manager) -> manager.list()
                        .forEach(feed ->
                                figures.put(store + "/" + feed.name(), toMap(store, feed))));
        return figures;
    }

    private static Map<String, @Nullable Object> toMap(String store, FeedStatus status) {
        return Json.line()
                .put("feed", status.name())
                .put("store", store)
                .put("dataset", status.dataset())
                .put("state", status.state().label())
                .put("stopped", status.stopped())
                .put("since", EventText.instant(status.sinceMicros()))
                .put("records", status.records())
                .put("rejected", status.rejected())
                .put("dropped", status.dropped())
                .put("spilled", status.spilled())
                .put("spillBytes", status.spillBytes())
                .put("workers", status.workers())
                .put("bytes", status.bytes())
                .put(
                        "lagBytes",
                        status.lagBytes().isPresent() ? status.lagBytes().getAsLong() : null)
                .put(
                        "retryAt",
                        status.retryMicros().isPresent()
                                ? EventText.instant(status.retryMicros().getAsLong())
                                : null)
                .put("cause", status.cause())
                .put("stages", status.stages().stream().map(FeedRoutes::toMap).toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(FeedStage stage) {
        return Json.line()
                .put("stage", stage.stage())
                .put("records", stage.records())
                .put("rejected", stage.rejected())
                .put("bytes", stage.bytes())
                .put("busyNanos", stage.busyNanos())
                .put("waitNanos", stage.waitNanos())
                .put("workers", stage.workers())
                .put("queuePercent", stage.queuePercent())
                .toMap();
    }

    /** A feed and the store that it is of. */
    private record Found(String store, FeedManager manager, FeedStatus status) {}

    /**
     * Stores are passed over that the caller may not ask so: they are as if they were not there.
     */
    private Found find(Exchange exchange, Right right) {
        String name = exchange.name("feed");
        String store = exchange.parameter(STORE);
        Found found = null;
        TreeSet<String> names = new TreeSet<>();
        for (Map.Entry<String, FeedManager> one : stores.feeds().entrySet()) {
            if ((store != null && !store.equals(one.getKey()))
                    || !exchange.caller().may(right, "store", one.getKey())) {
                continue;
            }
            for (FeedStatus feed : one.getValue().list()) {
                if (exchange.caller().may(right, "feed", feed.name())) {
                    names.add(feed.name());
                }
                if (!feed.name().equals(name)) {
                    continue;
                }
                if (found != null) {
                    throw Problem.of(
                                    409,
                                    "stores %s and %s have a feed %s each"
                                            .formatted(found.store(), one.getKey(), name))
                            .advise("say which: ?store=" + one.getKey());
                }
                found = new Found(one.getKey(), one.getValue(), feed);
            }
        }
        if (found == null) {
            throw Problem.of(
                    404, "there is no feed '%s'%s".formatted(name, NearestName.hint(name, names)));
        }
        return found;
    }

    private void show(Exchange exchange) {
        Found found = find(exchange, Right.READ);
        Map<String, @Nullable Object> line = toMap(found.store(), found.status());
        line.put("definition", found.status().definition());
        line.put("directory", found.status().directory());
        exchange.answer(200, line);
    }

    /** Starts or changes it; its store is the parameter's, or the only one. */
    private void define(Exchange exchange) throws IOException {
        String yaml = new String(exchange.body().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, FeedManager> all = stores.feeds();
        String store = exchange.parameter(STORE);
        if (store == null && all.size() == 1) {
            store = all.keySet().iterator().next();
        }
        FeedManager manager = store == null ? null : all.get(store);
        if (store == null || manager == null) {
            List<String> seen = all.keySet().stream()
                    .filter(one -> exchange.caller().may(Right.MANAGE, "store", one))
                    .toList();
            throw Problem.of(
                    400,
                    "say which store: ?store=" + (seen.isEmpty() ? "NAME" : " one of " + seen));
        }
        exchange.require(Right.MANAGE, "store", store);
        FeedDefinition definition = ConfinedFeeds.read(files, yaml);
        if (!definition.feed().equals(exchange.name("feed"))) {
            throw Problem.of(
                    400,
                    "the definition is of feed %s, the address of feed %s"
                            .formatted(definition.feed(), exchange.name("feed")));
        }
        exchange.answer(200, toMap(store, manager.startOrChange(yaml, files.directory())));
    }

    private void drop(Exchange exchange) {
        Found found = find(exchange, Right.MANAGE);
        exchange.answer(
                200, toMap(found.store(), found.manager().drop(found.status().name())));
    }

    private void take(Exchange exchange) throws IOException {
        Found found = find(exchange, Right.WRITE);
        parcels.take(exchange, found.store(), found.manager(), found.status());
    }

    private void pause(Exchange exchange) {
        Found found = find(exchange, Right.MANAGE);
        exchange.answer(
                200,
                toMap(
                        found.store(),
                        found.status().state() == FeedState.PAUSED
                                ? found.status()
                                : found.manager().pause(found.status().name())));
    }

    private void resume(Exchange exchange) {
        Found found = find(exchange, Right.MANAGE);
        exchange.answer(
                200,
                toMap(
                        found.store(),
                        found.status().state().isActive()
                                ? found.status()
                                : found.manager().resume(found.status().name())));
    }

    private void letters(Exchange exchange) {
        Found found = find(exchange, Right.READ);
        long from = StoreRoutes.number(exchange.parameter("from"), "from", 0);
        long limit = StoreRoutes.number(exchange.parameter("limit"), "limit", 100);
        FeedLetters page = found.manager()
                .letters(found.status().name(), from, Math.clamp(limit, 1, LETTERS_MAX));
        exchange.answer(
                200,
                Json.line()
                        .put(
                                "letters",
                                page.letters().stream().map(FeedRoutes::toMap).toList())
                        .put("next", page.next())
                        .toMap());
    }

    private static Map<String, @Nullable Object> toMap(FeedLetters.Letter letter) {
        return Json.line()
                .put("at", letter.at())
                .put("source", letter.source())
                .put("line", letter.line())
                .put("offset", letter.offset())
                .put("reason", letter.reason())
                .put("raw", letter.raw())
                .put("rawBase64", letter.rawBase64())
                .put("rawBytes", letter.rawBytes() == 0 ? null : letter.rawBytes())
                .toMap();
    }
}
