package io.turbidite.ops.jdbc;

import io.turbidite.core.Undo;
import io.turbidite.core.catalog.OpenCatalog;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A store that the connections of this process share: opened with the first, closed with the last.
 * <em>Thread-safe</em> by one lock, which openings and closings wait for.
 */
final class SharedStore {
    private static final Map<Path, SharedStore> OPEN = new HashMap<>();

    private final OpenCatalog catalog;

    /** Where it is in {@link #OPEN}. */
    private final Path place;

    private int users;

    private SharedStore(OpenCatalog catalog, Path place) {
        this.catalog = catalog;
        this.place = place;
    }

    /** The store of an address, with one user more. */
    static SharedStore use(StoreAddress address) throws SQLException {
        synchronized (OPEN) {
            Path place = place(address);
            SharedStore store = OPEN.get(place);
            if (store == null) {
                OpenCatalog opened = open(address);
                // without it a want of memory right here would hold the store for ever
                try (Undo undo = Undo.of(opened::close)) {
                    store = new SharedStore(opened, place);
                    OPEN.put(place, store);
                    undo.keep();
                }
            } else if (store.catalog.isReadOnly() && !address.readOnly()) {
                throw Errors.of(
                        "another connection of this process has the store in %s open for reading: close it first, or connect with readOnly=true"
                                .formatted(address.directory()),
                        Errors.NOT_OPENED);
            }
            store.users++;
            return store;
        }
    }

    /** A session of a connection of it. */
    Session session(StoreAddress address) {
        return OwnSession.of(catalog, Duration.ofMillis(address.planningMillis()), this::release);
    }

    private static OpenCatalog open(StoreAddress address) throws SQLException {
        try {
            return OpenCatalog.open(address.directory(), address.readOnly());
        } catch (RuntimeException e) {
            SQLException told = Errors.of(String.valueOf(e.getMessage()), Errors.NOT_OPENED);
            told.initCause(e);
            throw told;
        }
    }

    private static Path place(StoreAddress address) {
        try {
            return address.directory().toRealPath();
        } catch (IOException _) {
            // the opening says what is wrong with it
            return address.directory().toAbsolutePath().normalize();
        }
    }

    /** One user less. */
    void release() {
        synchronized (OPEN) {
            if (--users == 0) {
                OPEN.remove(place);
                catalog.close();
            }
        }
    }
}
