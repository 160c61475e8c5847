package io.turbidite.core.catalog;

import java.util.List;
import java.util.Map;

/**
 * The feeds of a store as SQL meets them; who runs them provides it. Not there, there already, or
 * not possible is an {@link io.turbidite.core.InvalidRequestException} that says so; all is as it
 * was then. <em>Thread-safe.</em>
 */
public interface FeedCatalog {
    /** All feeds, by name. */
    List<FeedDescription> feeds();

    /** Whether there is a feed of that name, for who is about to change it. */
    boolean has(String feed);

    /**
     * What a feed does: each key of its definition, with those above it and dots between, and its
     * value; lists in one line of YAML. In the order of the definition.
     */
    Map<String, String> definition(String feed);

    /**
     * Keeps a definition in the store and starts its feed.
     *
     * @param options the keys of its definition, but for {@code feed}
     * @throws FeedRefusedException naming the keys, if the definition is wrong or does not fit the
     *     store
     */
    void create(String feed, List<FeedOption> options);

    /** Ends a feed at a batch and forgets its definition. Its records stay. */
    void drop(String feed);

    /** Starts a feed again that is paused, was stopped, has ended or failed. */
    void start(String feed);

    /** Ends a feed at a batch, until it is started; waits for it. */
    void stop(String feed);
}
