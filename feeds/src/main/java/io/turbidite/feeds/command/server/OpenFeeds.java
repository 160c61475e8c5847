package io.turbidite.feeds.command.server;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.lsm.Store;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The feeds of a server's stores. <em>Confined to one thread.</em> */
final class OpenFeeds implements AutoCloseable {
    private final Map<String, FeedManager> managers = new LinkedHashMap<>();

    private OpenFeeds() {}

    /**
     * Starts those whose definitions the stores keep, and says on {@code err} which can't be. To be
     * called before anybody can ask for one: a client takes "there is none" for an answer.
     */
    static OpenFeeds open(Map<String, Store> stores, PrintStream err) {
        OpenFeeds open = new OpenFeeds();
        try (Undo undo = Undo.of(open::close)) {
            stores.forEach((name, store) -> open.managers.put(name, FeedManager.open(store)));
            open.startKept(err);
            return undo.keep(open);
        }
    }

    private void startKept(PrintStream err) {
        managers.forEach((name, manager) -> manager.startKept().stream()
                .filter(feed -> feed.state() == FeedState.FAILED)
                .forEach(feed -> err.println(failed(name, feed))));
    }

    private static String failed(String store, FeedStatus feed) {
        return "note: feed %s of store %s does not run: %s"
                .formatted(feed.name(), store, String.valueOf(feed.cause()));
    }

    Map<String, FeedManager> all() {
        return new LinkedHashMap<>(managers);
    }

    /** Ends each feed at a batch. */
    @Override
    public void close() {
        new Cleanup().addAll(List.copyOf(managers.values()), FeedManager::close).run();
    }
}
