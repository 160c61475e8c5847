package io.turbidite.ops.jdbc;

import java.io.InputStream;
import java.io.Reader;
import java.net.URL;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.NClob;
import java.sql.PreparedStatement;
import java.sql.Ref;
import java.sql.RowId;
import java.sql.SQLException;
import java.sql.SQLXML;

/** Values that no parameter takes. */
interface PlainParameters extends PreparedStatement {
    @Override
    default void setArray(int column, Array value) throws SQLException {
        throw Errors.unsupported("setArray");
    }

    @Override
    default void setAsciiStream(int column, InputStream value, int length) throws SQLException {
        throw Errors.unsupported("setAsciiStream");
    }

    @Override
    default void setAsciiStream(int column, InputStream value, long length) throws SQLException {
        throw Errors.unsupported("setAsciiStream");
    }

    @Override
    default void setAsciiStream(int column, InputStream value) throws SQLException {
        throw Errors.unsupported("setAsciiStream");
    }

    @Override
    default void setBlob(int column, InputStream value, long length) throws SQLException {
        throw Errors.unsupported("setBlob");
    }

    @Override
    default void setBlob(int column, InputStream value) throws SQLException {
        throw Errors.unsupported("setBlob");
    }

    @Override
    default void setBlob(int column, Blob value) throws SQLException {
        throw Errors.unsupported("setBlob");
    }

    @Override
    default void setClob(int column, Reader value, long length) throws SQLException {
        throw Errors.unsupported("setClob");
    }

    @Override
    default void setClob(int column, Reader value) throws SQLException {
        throw Errors.unsupported("setClob");
    }

    @Override
    default void setClob(int column, Clob value) throws SQLException {
        throw Errors.unsupported("setClob");
    }

    @Override
    default void setNCharacterStream(int column, Reader value, long length) throws SQLException {
        throw Errors.unsupported("setNCharacterStream");
    }

    @Override
    default void setNCharacterStream(int column, Reader value) throws SQLException {
        throw Errors.unsupported("setNCharacterStream");
    }

    @Override
    default void setNClob(int column, Reader value, long length) throws SQLException {
        throw Errors.unsupported("setNClob");
    }

    @Override
    default void setNClob(int column, Reader value) throws SQLException {
        throw Errors.unsupported("setNClob");
    }

    @Override
    default void setNClob(int column, NClob value) throws SQLException {
        throw Errors.unsupported("setNClob");
    }

    @Override
    default void setRef(int column, Ref value) throws SQLException {
        throw Errors.unsupported("setRef");
    }

    @Override
    default void setRowId(int column, RowId value) throws SQLException {
        throw Errors.unsupported("setRowId");
    }

    @Override
    default void setSQLXML(int column, SQLXML value) throws SQLException {
        throw Errors.unsupported("setSQLXML");
    }

    @Override
    default void setURL(int column, URL value) throws SQLException {
        throw Errors.unsupported("setURL");
    }

    @Deprecated
    @Override
    default void setUnicodeStream(int column, InputStream value, int length) throws SQLException {
        throw Errors.unsupported("setUnicodeStream");
    }
}
