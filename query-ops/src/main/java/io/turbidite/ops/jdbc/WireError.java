package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.sql.SQLDataException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;

/** The classes of errors, by their names in messages. */
enum WireError {
    ANY(SQLException.class),
    DATA(SQLDataException.class),
    UNSUPPORTED(SQLFeatureNotSupportedException.class),
    CONSTRAINT(SQLIntegrityConstraintViolationException.class),
    CONNECTION(SQLNonTransientConnectionException.class),
    NON_TRANSIENT(SQLNonTransientException.class),
    SYNTAX(SQLSyntaxErrorException.class),
    TIMEOUT(SQLTimeoutException.class),
    TRANSIENT(SQLTransientException.class);

    private final Class<? extends SQLException> type;

    WireError(Class<? extends SQLException> type) {
        this.type = type;
    }

    static WireError of(SQLException e) {
        for (WireError one : values()) {
            if (one.type == e.getClass()) {
                return one;
            }
        }
        return ANY;
    }

    SQLException make(@Nullable String message, @Nullable String state, int code) {
        return switch (this) {
            case ANY -> new SQLException(message, state, code);
            case DATA -> new SQLDataException(message, state, code);
            case UNSUPPORTED -> new SQLFeatureNotSupportedException(message, state, code);
            case CONSTRAINT -> new SQLIntegrityConstraintViolationException(message, state, code);
            case CONNECTION -> new SQLNonTransientConnectionException(message, state, code);
            case NON_TRANSIENT -> new SQLNonTransientException(message, state, code);
            case SYNTAX -> new SQLSyntaxErrorException(message, state, code);
            case TIMEOUT -> new SQLTimeoutException(message, state, code);
            case TRANSIENT -> new SQLTransientException(message, state, code);
        };
    }
}
