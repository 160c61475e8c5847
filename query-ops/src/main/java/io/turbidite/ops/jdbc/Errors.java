package io.turbidite.ops.jdbc;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.ops.sql.SqlException;

import java.sql.SQLDataException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransientException;
import java.util.concurrent.CancellationException;

/** What fails, as JDBC says it: an exception with a state of the standard. Static. */
final class Errors {
    static final String CANCELLED = "57014";
    static final String CLOSED_CONNECTION = "08003";
    static final String NOT_OPENED = "08001";
    static final String CONNECTION_LOST = "08006";
    static final String PROTOCOL = "08P01";
    static final String RESOURCES = "53000";
    static final String TOO_LONG = "54000";
    static final String CURSOR = "24000";
    static final String NO_COLUMN = "42703";
    static final String READ_ONLY = "25006";
    static final String TRANSACTION = "25000";
    static final String IN_TRANSACTION = "25001";
    static final String WRONG_CONVERSION = "07006";
    static final String UNREADABLE = "22018";
    static final String OUT_OF_RANGE = "22003";
    static final String PARAMETER = "07001";
    static final String ARGUMENT = "HY024";

    private static final String NOT_SUPPORTED = " is not supported";

    private Errors() {}

    static SQLFeatureNotSupportedException unsupported(String what) {
        return new SQLFeatureNotSupportedException(what + NOT_SUPPORTED, "0A000");
    }

    static SQLException closed(String what) {
        return what.equals("connection")
                ? new SQLNonTransientConnectionException(
                        "the connection is closed", CLOSED_CONNECTION)
                : new SQLException("the %s is closed".formatted(what), CURSOR);
    }

    static SQLException of(String message, String state) {
        return state.startsWith("22")
                ? new SQLDataException(message, state)
                : new SQLException(message, state);
    }

    /** What a statement or a result threw. */
    static SQLException of(RuntimeException e) {
        String message = String.valueOf(e.getMessage());
        return switch (e) {
            case SqlException _
            when message.contains(NOT_SUPPORTED) ->
                new SQLFeatureNotSupportedException(message, "0A000", e);
            case SqlException _ -> new SQLSyntaxErrorException(message, "42000", e);
            case StoreInUseException _ ->
                new SQLNonTransientConnectionException(message, NOT_OPENED, e);
            case DuplicateKeyException _ ->
                new SQLIntegrityConstraintViolationException(message, "23505", e);
            case ClosedException _ -> new SQLException(message, CURSOR, e);
            case InvalidRequestException _ -> new SQLDataException(message, "22000", e);
            case CancellationException _ ->
                new SQLTransientException("the statement was cancelled", CANCELLED, e);
            case CorruptionException _ -> new SQLNonTransientException(message, "XX001", e);
            case StorageException _ -> new SQLNonTransientException(message, "58030", e);
            default -> new SQLException(message, "XX000", e);
        };
    }
}
