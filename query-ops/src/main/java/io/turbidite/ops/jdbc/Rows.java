package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.Calendar;
import java.util.Map;
import java.util.concurrent.CancellationException;

/**
 * A result, forward only. <em>For one thread at a time;</em> any may close it. A row that was read
 * to its end is gone.
 */
final class Rows implements ReadOnlyRows, ForwardRows {
    private final @Nullable StoreStatement statement;
    private final Columns columns;
    private final RowCursor cursor;
    private final Execution execution;

    private final long rowsMax;
    private long row;
    private boolean isOnRow;
    private boolean isAtEnd;
    private boolean wasNull;
    private int fetchSize;
    private volatile boolean closed;

    /**
     * @param statement whose result it is; null: it describes a store
     * @param rowsMax no more are given; 0: all
     */
    Rows(
            @Nullable StoreStatement statement,
            Columns columns,
            RowCursor cursor,
            Execution execution,
            long rowsMax) {
        this.statement = statement;
        this.columns = columns;
        this.cursor = cursor;
        this.execution = execution;
        this.rowsMax = rowsMax;
    }

    private void checkOpen() throws SQLException {
        if (closed) {
            throw Errors.closed("result");
        }
    }

    @Override
    public boolean next() throws SQLException {
        checkOpen();
        execution.check();
        isOnRow = false;
        if (isAtEnd) {
            return false;
        }
        try {
            isOnRow = (rowsMax == 0 || row < rowsMax) && cursor.next();
        } catch (CancellationException e) {
            SQLException ended = execution.ended();
            ended.initCause(e);
            throw ended;
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
        row++;
        isAtEnd = !isOnRow;
        return isOnRow;
    }

    /** The value of a column, counted from 0; null is noted. */
    private @Nullable Object value(int column) throws SQLException {
        checkRow();
        try {
            Object value = cursor.get(column);
            wasNull = value == null;
            return value;
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    private void checkRow() throws SQLException {
        checkOpen();
        if (!isOnRow) {
            throw Errors.of("the result is not on a row: call next() first", Errors.CURSOR);
        }
    }

    private long whole(int column, long least, long most, String target) throws SQLException {
        checkRow();
        try {
            if (cursor.isWhole(column)) {
                wasNull = false;
                long number = cursor.getLong(column);
                if (number < least || number > most) {
                    throw Errors.of(
                            "%d is out of range for %s".formatted(number, target),
                            Errors.OUT_OF_RANGE);
                }
                return number;
            }
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
        Object value = value(column);
        return value == null ? 0 : Conversions.whole(value, least, most, target);
    }

    @Override
    public void close() throws SQLException {
        try {
            release();
        } catch (RuntimeException e) {
            throw Errors.of(e);
        } finally {
            if (statement != null) {
                statement.resultClosed(this);
            }
        }
    }

    /** Closes it without a word to the statement. */
    void release() {
        if (closed) {
            return;
        }
        closed = true;
        cursor.close();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public boolean wasNull() throws SQLException {
        checkOpen();
        return wasNull;
    }

    @Override
    public @Nullable String getString(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.text(value);
    }

    @Override
    public @Nullable String getString(String label) throws SQLException {
        return getString(findColumn(label));
    }

    @Override
    public boolean getBoolean(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value != null && Conversions.truth(value);
    }

    @Override
    public boolean getBoolean(String label) throws SQLException {
        return getBoolean(findColumn(label));
    }

    @Override
    public byte getByte(int column) throws SQLException {
        return (byte) whole(columns.find(column), Byte.MIN_VALUE, Byte.MAX_VALUE, "byte");
    }

    @Override
    public byte getByte(String label) throws SQLException {
        return getByte(findColumn(label));
    }

    @Override
    public short getShort(int column) throws SQLException {
        return (short) whole(columns.find(column), Short.MIN_VALUE, Short.MAX_VALUE, "short");
    }

    @Override
    public short getShort(String label) throws SQLException {
        return getShort(findColumn(label));
    }

    @Override
    public int getInt(int column) throws SQLException {
        return (int) whole(columns.find(column), Integer.MIN_VALUE, Integer.MAX_VALUE, "int");
    }

    @Override
    public int getInt(String label) throws SQLException {
        return getInt(findColumn(label));
    }

    @Override
    public long getLong(int column) throws SQLException {
        return whole(columns.find(column), Long.MIN_VALUE, Long.MAX_VALUE, "long");
    }

    @Override
    public long getLong(String label) throws SQLException {
        return getLong(findColumn(label));
    }

    @Override
    public float getFloat(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? 0 : (float) Conversions.real(value, "float");
    }

    @Override
    public float getFloat(String label) throws SQLException {
        return getFloat(findColumn(label));
    }

    @Override
    public double getDouble(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? 0 : Conversions.real(value, "double");
    }

    @Override
    public double getDouble(String label) throws SQLException {
        return getDouble(findColumn(label));
    }

    @Override
    public byte @Nullable [] getBytes(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.bytes(value);
    }

    @Override
    public byte @Nullable [] getBytes(String label) throws SQLException {
        return getBytes(findColumn(label));
    }

    @Override
    public @Nullable Date getDate(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.sqlDate(value, null);
    }

    @Override
    public @Nullable Date getDate(String label) throws SQLException {
        return getDate(findColumn(label));
    }

    @Override
    public @Nullable Date getDate(int column, @Nullable Calendar calendar) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.sqlDate(value, calendar);
    }

    @Override
    public @Nullable Date getDate(String label, @Nullable Calendar calendar) throws SQLException {
        return getDate(findColumn(label), calendar);
    }

    @Override
    public @Nullable Time getTime(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.sqlTime(value, null);
    }

    @Override
    public @Nullable Time getTime(String label) throws SQLException {
        return getTime(findColumn(label));
    }

    @Override
    public @Nullable Time getTime(int column, @Nullable Calendar calendar) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.sqlTime(value, calendar);
    }

    @Override
    public @Nullable Time getTime(String label, @Nullable Calendar calendar) throws SQLException {
        return getTime(findColumn(label), calendar);
    }

    @Override
    public @Nullable Timestamp getTimestamp(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.timestamp(value, null);
    }

    @Override
    public @Nullable Timestamp getTimestamp(String label) throws SQLException {
        return getTimestamp(findColumn(label));
    }

    @Override
    public @Nullable Timestamp getTimestamp(int column, @Nullable Calendar calendar)
            throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.timestamp(value, calendar);
    }

    @Override
    public @Nullable Timestamp getTimestamp(String label, @Nullable Calendar calendar)
            throws SQLException {
        return getTimestamp(findColumn(label), calendar);
    }

    @Override
    public @Nullable Object getObject(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.natural(value);
    }

    @Override
    public @Nullable Object getObject(String label) throws SQLException {
        return getObject(findColumn(label));
    }

    @Override
    public <T> @Nullable T getObject(int column, Class<T> type) throws SQLException {
        if (type == null) {
            throw Errors.of("no class is given", Errors.ARGUMENT);
        }
        Object value = value(columns.find(column));
        return value == null ? null : type.cast(Conversions.as(value, type));
    }

    @Override
    public <T> @Nullable T getObject(String label, Class<T> type) throws SQLException {
        return getObject(findColumn(label), type);
    }

    @Override
    public @Nullable Object getObject(int column, @Nullable Map<String, Class<?>> map)
            throws SQLException {
        if (map != null && !map.isEmpty()) {
            throw Errors.unsupported("a map of types");
        }
        return getObject(column);
    }

    @Override
    public @Nullable Object getObject(String label, @Nullable Map<String, Class<?>> map)
            throws SQLException {
        return getObject(findColumn(label), map);
    }

    @Override
    public @Nullable Array getArray(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Elements.of(value);
    }

    @Override
    public @Nullable Array getArray(String label) throws SQLException {
        return getArray(findColumn(label));
    }

    @Override
    public @Nullable Reader getCharacterStream(int column) throws SQLException {
        String text = getString(column);
        return text == null ? null : new StringReader(text);
    }

    @Override
    public @Nullable Reader getCharacterStream(String label) throws SQLException {
        return getCharacterStream(findColumn(label));
    }

    @Override
    public @Nullable Reader getNCharacterStream(int column) throws SQLException {
        return getCharacterStream(column);
    }

    @Override
    public @Nullable Reader getNCharacterStream(String label) throws SQLException {
        return getNCharacterStream(findColumn(label));
    }

    @Override
    public @Nullable String getNString(int column) throws SQLException {
        return getString(column);
    }

    @Override
    public @Nullable String getNString(String label) throws SQLException {
        return getNString(findColumn(label));
    }

    @Override
    public @Nullable InputStream getAsciiStream(int column) throws SQLException {
        String text = getString(column);
        return text == null
                ? null
                : new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public @Nullable InputStream getAsciiStream(String label) throws SQLException {
        return getAsciiStream(findColumn(label));
    }

    @Override
    public @Nullable InputStream getBinaryStream(int column) throws SQLException {
        byte[] bytes = getBytes(column);
        return bytes == null ? null : new ByteArrayInputStream(bytes);
    }

    @Override
    public @Nullable InputStream getBinaryStream(String label) throws SQLException {
        return getBinaryStream(findColumn(label));
    }

    @Deprecated
    @Override
    public @Nullable BigDecimal getBigDecimal(int column, int scale) throws SQLException {
        BigDecimal number = getBigDecimal(column);
        return number == null ? null : number.setScale(scale, RoundingMode.HALF_UP);
    }

    @Deprecated
    @Override
    public @Nullable BigDecimal getBigDecimal(String label, int scale) throws SQLException {
        return getBigDecimal(findColumn(label), scale);
    }

    @Override
    public @Nullable BigDecimal getBigDecimal(String label) throws SQLException {
        return getBigDecimal(findColumn(label));
    }

    @Override
    public @Nullable BigDecimal getBigDecimal(int column) throws SQLException {
        Object value = value(columns.find(column));
        return value == null ? null : Conversions.decimal(value, "a decimal");
    }

    @Override
    public int findColumn(String label) throws SQLException {
        checkOpen();
        return columns.find(label) + 1;
    }

    @Override
    public ResultSetMetaData getMetaData() throws SQLException {
        checkOpen();
        return columns;
    }

    @Override
    public @Nullable Statement getStatement() throws SQLException {
        checkOpen();
        return statement;
    }

    @Override
    public int getRow() throws SQLException {
        checkOpen();
        return isOnRow ? (int) Math.min(row, Integer.MAX_VALUE) : 0;
    }

    @Override
    public boolean isBeforeFirst() throws SQLException {
        checkOpen();
        return row == 0;
    }

    @Override
    public boolean isAfterLast() throws SQLException {
        checkOpen();
        return isAtEnd && row > 1;
    }

    @Override
    public boolean isFirst() throws SQLException {
        checkOpen();
        return isOnRow && row == 1;
    }

    @Override
    public void setFetchDirection(int direction) throws SQLException {
        checkOpen();
        if (direction != ResultSet.FETCH_FORWARD) {
            throw Errors.unsupported("another direction than forward");
        }
    }

    @Override
    public int getFetchDirection() throws SQLException {
        checkOpen();
        return ResultSet.FETCH_FORWARD;
    }

    @Override
    public void setFetchSize(int rows) throws SQLException {
        checkOpen();
        if (rows < 0) {
            throw Errors.of("a fetch size of %d is below 0".formatted(rows), Errors.ARGUMENT);
        }
        fetchSize = rows;
        cursor.fetchSize(rows);
    }

    @Override
    public int getFetchSize() throws SQLException {
        checkOpen();
        return fetchSize;
    }

    @Override
    public int getType() throws SQLException {
        checkOpen();
        return ResultSet.TYPE_FORWARD_ONLY;
    }

    @Override
    public int getConcurrency() throws SQLException {
        checkOpen();
        return ResultSet.CONCUR_READ_ONLY;
    }

    @Override
    public int getHoldability() throws SQLException {
        checkOpen();
        return ResultSet.CLOSE_CURSORS_AT_COMMIT;
    }

    @Override
    public boolean rowUpdated() throws SQLException {
        checkOpen();
        return false;
    }

    @Override
    public boolean rowInserted() throws SQLException {
        checkOpen();
        return false;
    }

    @Override
    public boolean rowDeleted() throws SQLException {
        checkOpen();
        return false;
    }

    @Override
    public @Nullable SQLWarning getWarnings() throws SQLException {
        checkOpen();
        return null;
    }

    @Override
    public void clearWarnings() throws SQLException {
        checkOpen();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return Wrapped.unwrap(this, type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
