package io.turbidite.ops.jdbc;

import java.sql.SQLException;

/** What an object of JDBC may be looked at as: what it is. Static. */
final class Wrapped {
    private Wrapped() {}

    static <T> T unwrap(Object whole, Class<T> type) throws SQLException {
        if (!type.isInstance(whole)) {
            throw Errors.of(
                    "a %s is no %s"
                            .formatted(whole.getClass().getSimpleName(), type.getSimpleName()),
                    Errors.ARGUMENT);
        }
        return type.cast(whole);
    }
}
