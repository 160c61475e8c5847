package io.turbidite.ops.jdbc;

import io.turbidite.core.StoreInUseException;
import io.turbidite.core.Undo;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.ServiceLoader;

/** How a connection comes to its store: it is opened here, or asked of whoever has it. Static. */
final class Sessions {
    private Sessions() {}

    static Session of(StoreAddress address) throws SQLException {
        SharedStore store;
        try {
            store = SharedStore.use(address);
        } catch (SQLException e) {
            if (e.getCause() instanceof StoreInUseException) {
                return held(address, e);
            }
            throw e;
        }
        try (Undo undo = Undo.of(store::release)) {
            return undo.keep(store.session(address));
        }
    }

    private static Session held(StoreAddress address, SQLException inUse) throws SQLException {
        HolderConnector connector = ServiceLoader.load(
                        HolderConnector.class, HolderConnector.class.getClassLoader())
                .findFirst()
                .orElse(null);
        if (connector == null) {
            throw told(
                    inUse,
                    "%s; if that serves others, it is reached with io.turbidite:turbidite-feeds on the class path"
                            .formatted(inUse.getMessage()));
        }
        HolderChannel channel;
        try {
            channel = connector.connect(address.directory());
        } catch (IOException e) {
            SQLException told =
                    told(inUse, "%s, which can't be reached: %s".formatted(inUse.getMessage(), e));
            told.addSuppressed(e);
            throw told;
        }
        if (channel == null) {
            throw told(
                    inUse,
                    "%s, which serves no others: it would as ./turbidite serve, or by StoreServer.start(store)"
                            .formatted(inUse.getMessage()));
        }
        return HeldSession.greet(address, channel);
    }

    private static SQLException told(SQLException inUse, String text) {
        return new SQLNonTransientConnectionException(text, Errors.NOT_OPENED, inUse.getCause());
    }
}
