package io.turbidite.ops.jdbc;

import java.io.InputStream;
import java.net.URL;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.NClob;
import java.sql.Ref;
import java.sql.ResultSet;
import java.sql.RowId;
import java.sql.SQLException;
import java.sql.SQLXML;

/** What a result that goes forward has not, and types that no column has. */
interface ForwardRows extends ResultSet {
    @Override
    default boolean absolute(int row) throws SQLException {
        throw Errors.unsupported("absolute");
    }

    @Override
    default void afterLast() throws SQLException {
        throw Errors.unsupported("afterLast");
    }

    @Override
    default void beforeFirst() throws SQLException {
        throw Errors.unsupported("beforeFirst");
    }

    @Override
    default boolean first() throws SQLException {
        throw Errors.unsupported("first");
    }

    @Override
    default Blob getBlob(String label) throws SQLException {
        throw Errors.unsupported("getBlob");
    }

    @Override
    default Blob getBlob(int column) throws SQLException {
        throw Errors.unsupported("getBlob");
    }

    @Override
    default Clob getClob(String label) throws SQLException {
        throw Errors.unsupported("getClob");
    }

    @Override
    default Clob getClob(int column) throws SQLException {
        throw Errors.unsupported("getClob");
    }

    @Override
    default String getCursorName() throws SQLException {
        throw Errors.unsupported("getCursorName");
    }

    @Override
    default NClob getNClob(String label) throws SQLException {
        throw Errors.unsupported("getNClob");
    }

    @Override
    default NClob getNClob(int column) throws SQLException {
        throw Errors.unsupported("getNClob");
    }

    @Override
    default Ref getRef(String label) throws SQLException {
        throw Errors.unsupported("getRef");
    }

    @Override
    default Ref getRef(int column) throws SQLException {
        throw Errors.unsupported("getRef");
    }

    @Override
    default RowId getRowId(String label) throws SQLException {
        throw Errors.unsupported("getRowId");
    }

    @Override
    default RowId getRowId(int column) throws SQLException {
        throw Errors.unsupported("getRowId");
    }

    @Override
    default SQLXML getSQLXML(String label) throws SQLException {
        throw Errors.unsupported("getSQLXML");
    }

    @Override
    default SQLXML getSQLXML(int column) throws SQLException {
        throw Errors.unsupported("getSQLXML");
    }

    @Override
    default URL getURL(String label) throws SQLException {
        throw Errors.unsupported("getURL");
    }

    @Override
    default URL getURL(int column) throws SQLException {
        throw Errors.unsupported("getURL");
    }

    @Deprecated
    @Override
    default InputStream getUnicodeStream(String label) throws SQLException {
        throw Errors.unsupported("getUnicodeStream");
    }

    @Deprecated
    @Override
    default InputStream getUnicodeStream(int column) throws SQLException {
        throw Errors.unsupported("getUnicodeStream");
    }

    @Override
    default boolean isLast() throws SQLException {
        throw Errors.unsupported("isLast");
    }

    @Override
    default boolean last() throws SQLException {
        throw Errors.unsupported("last");
    }

    @Override
    default boolean previous() throws SQLException {
        throw Errors.unsupported("previous");
    }

    @Override
    default boolean relative(int row) throws SQLException {
        throw Errors.unsupported("relative");
    }
}
