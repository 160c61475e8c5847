package io.turbidite.feeds.web;

import io.turbidite.core.NearestName;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.Store;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The stores of a server by name; whoever opened them closes them, after the server.
 * <em>Immutable.</em>
 */
public final class ServedStores {
    private final Map<String, Store> stores;
    private final Map<String, FeedManager> feeds;

    /**
     * @param stores by the name under which they are asked for
     * @param feeds what runs those of each store
     */
    public ServedStores(Map<String, Store> stores, Map<String, FeedManager> feeds) {
        this.stores = new LinkedHashMap<>(stores);
        this.feeds = new LinkedHashMap<>(feeds);
    }

    Map<String, FeedManager> feeds() {
        return new LinkedHashMap<>(feeds);
    }

    Map<String, Store> all() {
        return new LinkedHashMap<>(stores);
    }

    /**
     * The store that the path names.
     *
     * @throws Problem with 404 if there is none; it names those that the caller may read
     */
    Store store(Exchange exchange) {
        String name = exchange.name("store");
        Store store = stores.get(name);
        if (store == null) {
            List<String> seen = stores.keySet().stream()
                    .filter(one -> exchange.caller().may(Right.READ, "store", one))
                    .toList();
            throw Problem.of(
                    404,
                    "there is no store '%s'%s"
                            .formatted(
                                    name,
                                    seen.isEmpty()
                                            ? ""
                                            : "; stores are %s%s"
                                                    .formatted(
                                                            String.join(", ", seen),
                                                            NearestName.hint(name, seen))));
        }
        return store;
    }
}
