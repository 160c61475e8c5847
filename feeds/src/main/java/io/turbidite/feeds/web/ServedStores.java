package io.turbidite.feeds.web;

import io.turbidite.core.NearestName;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.lsm.Store;

import java.util.LinkedHashMap;
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

    Store store(String name) {
        Store store = stores.get(name);
        if (store == null) {
            throw Problem.of(
                    404,
                    "there is no store '%s'; stores are %s%s"
                            .formatted(
                                    name,
                                    String.join(", ", stores.keySet()),
                                    NearestName.hint(name, stores.keySet())));
        }
        return store;
    }
}
