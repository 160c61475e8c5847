package io.turbidite.feeds.web;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.query.KeyArgument;
import io.turbidite.feeds.command.store.Inspection;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/** Stores as they are, and their records one by one. <em>Thread-safe.</em> */
final class StoreRoutes {
    private final ServedStores stores;
    private final EventHub events;

    StoreRoutes(ServedStores stores, EventHub events) {
        this.stores = stores;
        this.events = events;
    }

    List<Route> routes() {
        return List.of(
                Route.of("GET", "/v1/stores", Right.NONE, this::list),
                Route.of("GET", "/v1/stores/{store}", Right.READ, this::describe)
                        .withParameters("since"),
                Route.of(
                        "GET",
                        "/v1/stores/{store}/datasets/{dataset}/records/{key}",
                        Right.READ,
                        this::get));
    }

    /** Those that the caller may read. */
    private void list(Exchange exchange) {
        List<Map<String, @Nullable Object>> lines = stores.all().entrySet().stream()
                .filter(one -> exchange.caller().may(Right.READ, "store", one.getKey()))
                .map(one -> Json.line()
                        .put("name", one.getKey())
                        .put("directory", one.getValue().environment().disk().description())
                        .put(
                                "datasets",
                                one.getValue().datasets().stream()
                                        .map(Dataset::name)
                                        .toList())
                        .toMap())
                .toList();
        exchange.answer(200, Map.of("stores", lines));
    }

    private void describe(Exchange exchange) {
        String name = exchange.name("store");
        Store store = stores.store(exchange);
        long since = number(exchange.parameter("since"), "since", 0);
        long last = events.lastNumber(); // before the events: those come again rather than never
        Map<String, @Nullable Object> line = Inspection.toMap(
                store.environment().disk().description(),
                store.describe(),
                dataset -> store.dataset(dataset).type());
        line.put("name", name);
        line.put("lastEvent", last);
        line.put("events", events.since(since, name, Sight.of(exchange, List.of(name))));
        exchange.answer(200, line);
    }

    /** A parameter that is a number, not below 0. */
    static long number(@Nullable String text, String name, long otherwise) {
        if (text == null) {
            return otherwise;
        }
        try {
            return Math.max(0, Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw Problem.of(400, "'%s' must be a whole number".formatted(name));
        }
    }

    private void get(Exchange exchange) {
        Store store = stores.store(exchange);
        Dataset dataset = store.findDataset(exchange.name("dataset"));
        if (dataset == null) {
            throw Problem.of(404, "there is no dataset '%s'".formatted(exchange.name("dataset")));
        }
        OwnDatasets.of(exchange).require(dataset.name());
        List<Object> values =
                KeyArgument.parse(dataset.type(), dataset.primaryKey(), exchange.name("key"));
        ByteSink encoded = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        dataset.primaryKeySpec().appendValues(encoded, values);
        ByteSink record = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX + 64);
        if (!dataset.getRecord(encoded.asSlice(new Slice()), record)) {
            throw Problem.of(
                    404,
                    "%s has no record with key %s".formatted(dataset.name(), exchange.name("key")));
        }
        ByteSink json = new ByteSink(1 << 10, Integer.MAX_VALUE - 8);
        new RecordView(dataset.type()).wrap(record.asSlice(new Slice())).toJson(json);
        byte[] line = json.putByte('\n').asSlice(new Slice()).toByteArray();
        exchange.answer(200, "application/json", line, Map.of());
    }
}
