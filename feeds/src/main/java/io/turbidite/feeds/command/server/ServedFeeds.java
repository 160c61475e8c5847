package io.turbidite.feeds.command.server;

import io.turbidite.feeds.command.feed.Serving;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;

import java.nio.file.Path;

/** Lets other processes read a store and manage its feeds. */
@FunctionalInterface
public interface ServedFeeds {
    /**
     * Starts to serve; to be closed before the feeds and the store.
     *
     * @param home where the project lies
     */
    Serving.Server start(Store store, FeedManager feeds, Path home);
}
