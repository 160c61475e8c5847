package io.turbidite.feeds.command.common;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.log.DirectoryKind;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Opens stores that are there. Static, without state. */
public final class Stores {
    private Stores() {}

    /**
     * Opens a store to be read; no byte of it changes.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public static Store openForReading(String directory) {
        return Store.openForReading(storePath(directory), StoreOptions.defaults());
    }

    /**
     * Opens a store to be changed.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public static Store openExisting(String directory) {
        return Store.openExisting(storePath(directory), StoreOptions.defaults());
    }

    /**
     * A dataset of a user's, to be changed.
     *
     * @throws InvalidRequestException if there is none of that name, or it is one that the store
     *     keeps for itself
     */
    public static Dataset usersDataset(Store store, String name) {
        if (name.startsWith("_")) {
            throw new InvalidRequestException(
                    "dataset %s is the store's own, as all whose names begin with '_': no command changes it"
                            .formatted(name));
        }
        return store.dataset(name);
    }

    private static Path storePath(String directory) {
        Path path = path("STORE", directory);
        DirectoryKind.checkNoLog(path);
        return path;
    }

    /**
     * A path as it was given.
     *
     * @param what the argument
     */
    public static Path path(String what, String text) {
        if (text.isEmpty()) {
            throw new InvalidRequestException(what + " is empty; give a path");
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new InvalidRequestException(
                    "%s '%s' is not a path: %s".formatted(what, text, e.getReason()), e);
        }
    }
}
