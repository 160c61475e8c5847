package io.turbidite.feeds.command.feed;

import io.turbidite.lsm.Store;

import java.nio.file.Path;
import java.util.Optional;

/** Lets other processes read a store that a feed fills. */
@FunctionalInterface
public interface Serving {
    /**
     * Starts to serve; to be closed before the store.
     *
     * @param home where the project lies
     */
    Server start(Store store, Path home);

    /** What answers other processes. */
    interface Server extends AutoCloseable {
        /** Why nobody is served, if so: the store can be used as if there were no server. */
        Optional<String> problem();

        @Override
        void close();
    }
}
