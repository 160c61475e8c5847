package io.turbidite.ops.jdbc;

import io.turbidite.core.Undo;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;

/**
 * Connects to a store by its directory.
 *
 * <pre>{@code
 * String url = "jdbc:turbidite:/data/store?readOnly=true";
 * try (Connection connection = DriverManager.getConnection(url);
 *         PreparedStatement byTail = connection.prepareStatement(
 *                 "select flight, dest from Flights where tailnum = ?")) {
 *     byTail.setString(1, "N14228");
 *     try (ResultSet rows = byTail.executeQuery()) { … }
 * }
 * }</pre>
 *
 * <p>The connections of a process share one store, which is closed with the last of them. Needs
 * {@code turbidite-storage-lsm} and Apache Calcite on the class path. <em>Thread-safe;</em> so are
 * connections, while a statement and its result are for one thread at a time; any thread may
 * cancel or close them.
 */
public final class TurbiditeDriver implements Driver {
    static final int MAJOR = 0;
    static final int MINOR = 1;

    static {
        try {
            DriverManager.registerDriver(new TurbiditeDriver());
        } catch (SQLException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** For {@link java.util.ServiceLoader}. */
    public TurbiditeDriver() {}

    @Override
    public boolean acceptsURL(@Nullable String url) throws SQLException {
        return StoreAddress.isOne(url);
    }

    @Override
    public @Nullable Connection connect(@Nullable String url, @Nullable Properties info)
            throws SQLException {
        if (url == null || !StoreAddress.isOne(url)) {
            return null;
        }
        StoreAddress address = StoreAddress.of(url, info == null ? new Properties() : info);
        Session session = Sessions.of(address);
        try (Undo undo = Undo.of(session::abort)) {
            return undo.keep(new StoreConnection(address, session));
        }
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, @Nullable Properties info) {
        DriverPropertyInfo readOnly = new DriverPropertyInfo(
                StoreAddress.READ_ONLY,
                info == null ? "false" : info.getProperty(StoreAddress.READ_ONLY, "false"));
        readOnly.description = "the store is opened for reading: no byte of it changes";
        readOnly.choices = new String[] {"false", "true"};
        DriverPropertyInfo planning = new DriverPropertyInfo(
                StoreAddress.PLANNING_MILLIS,
                info == null
                        ? StoreAddress.PLANNING_MILLIS_DEFAULT
                        : info.getProperty(
                                StoreAddress.PLANNING_MILLIS,
                                StoreAddress.PLANNING_MILLIS_DEFAULT));
        planning.description = "processor time that a statement may take to plan";
        return new DriverPropertyInfo[] {readOnly, planning};
    }

    @Override
    public int getMajorVersion() {
        return MAJOR;
    }

    @Override
    public int getMinorVersion() {
        return MINOR;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw Errors.unsupported("getParentLogger");
    }
}
