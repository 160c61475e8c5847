package io.turbidite.ops.jdbc;

import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.NClob;
import java.sql.SQLException;
import java.sql.SQLXML;
import java.sql.Savepoint;
import java.sql.Struct;
import java.util.concurrent.Executor;

/** What connections have not: procedures, large objects, savepoints. */
interface PlainConnection extends Connection {
    @Override
    default Array createArrayOf(String name, Object[] value) throws SQLException {
        throw Errors.unsupported("createArrayOf");
    }

    @Override
    default Blob createBlob() throws SQLException {
        throw Errors.unsupported("createBlob");
    }

    @Override
    default Clob createClob() throws SQLException {
        throw Errors.unsupported("createClob");
    }

    @Override
    default NClob createNClob() throws SQLException {
        throw Errors.unsupported("createNClob");
    }

    @Override
    default SQLXML createSQLXML() throws SQLException {
        throw Errors.unsupported("createSQLXML");
    }

    @Override
    default Struct createStruct(String name, Object[] value) throws SQLException {
        throw Errors.unsupported("createStruct");
    }

    @Override
    default CallableStatement prepareCall(String sql, int value, int length, int fourth)
            throws SQLException {
        throw Errors.unsupported("prepareCall");
    }

    @Override
    default CallableStatement prepareCall(String sql, int value, int length) throws SQLException {
        throw Errors.unsupported("prepareCall");
    }

    @Override
    default CallableStatement prepareCall(String sql) throws SQLException {
        throw Errors.unsupported("prepareCall");
    }

    @Override
    default void releaseSavepoint(Savepoint value) throws SQLException {
        throw Errors.unsupported("releaseSavepoint");
    }

    @Override
    default void rollback(Savepoint value) throws SQLException {
        throw Errors.unsupported("rollback");
    }

    @Override
    default void setNetworkTimeout(Executor executor, int millis) throws SQLException {
        throw Errors.unsupported("setNetworkTimeout");
    }

    @Override
    default Savepoint setSavepoint() throws SQLException {
        throw Errors.unsupported("setSavepoint");
    }

    @Override
    default Savepoint setSavepoint(String name) throws SQLException {
        throw Errors.unsupported("setSavepoint");
    }
}
