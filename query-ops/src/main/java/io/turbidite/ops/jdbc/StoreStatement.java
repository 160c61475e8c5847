package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A statement, and what prepared ones have in common with it. It has one result at a time.
 * <em>For one thread at a time;</em> any may cancel or close it.
 */
sealed class StoreStatement implements Statement permits StorePreparedStatement {
    private static final long NO_COUNT = -1;

    private final StoreConnection connection;
    private final List<String> batch = new ArrayList<>();
    private volatile @Nullable Execution execution;
    private volatile @Nullable Rows result;
    private long updateCount = NO_COUNT;
    private long rowsMax;
    private int timeoutSeconds;
    private int fetchSize;
    private boolean closesOnCompletion;
    private boolean poolable;
    private volatile boolean closed;

    StoreStatement(StoreConnection connection) {
        this.connection = connection;
    }

    final void checkOpen() throws SQLException {
        if (closed) {
            throw Errors.closed("statement");
        }
        connection.checkOpen();
    }

    final StoreConnection connection() {
        return connection;
    }

    /** What is begun now can be cancelled, and its time runs. */
    final Execution begun() {
        Execution run = new Execution(connection.clock(), timeoutSeconds);
        execution = run;
        return run;
    }

    /** Plans a text. */
    final Session.Plan planned(String sql, Execution run) throws SQLException {
        checkOpen();
        if (sql == null) {
            throw Errors.of("no statement is given", Errors.ARGUMENT);
        }
        return connection.session().plan(sql, run);
    }

    /** Plans a text anew; once that is done, a cancel is of the open result again. */
    final Session.Plan replanned(String sql) throws SQLException {
        Execution before = execution;
        try {
            return planned(sql, begun());
        } finally {
            if (result != null) {
                execution = before;
            }
        }
    }

    /** Runs a planned statement, of which the result before is closed. */
    final Rows rows(Session.Plan planned, @Nullable Object... values) throws SQLException {
        return rows(begun(), planned, values);
    }

    private Rows rows(Execution run, Session.Plan planned, @Nullable Object... values)
            throws SQLException {
        checkOpen();
        closeResult();
        if (!planned.givesRows()) {
            throw Errors.of("the statement gives no rows: it is an update", Errors.ARGUMENT);
        }
        execution = run;
        run.check();
        Session.Answer answer = planned.rows(run, !connection.isOneStatementATime(), values);
        Rows rows = new Rows(this, answer.columns(), answer.cursor(), run, rowsMax);
        rows.setFetchSize(fetchSize);
        result = rows;
        if (closed) {
            // by another thread, which did not see this result
            closeResult();
            throw Errors.closed("statement");
        }
        return rows;
    }

    final void closeResult() {
        Rows open = result;
        result = null;
        execution = null;
        updateCount = NO_COUNT;
        if (open != null) {
            open.release();
        }
    }

    /** A result of this statement was closed by its user. */
    final void resultClosed(Rows rows) throws SQLException {
        if (result == rows) {
            result = null;
            execution = null;
            if (closesOnCompletion) {
                close();
            }
        }
    }

    /** Runs a planned statement, whatever it does; whether it gives rows. */
    final boolean done(Session.Plan planned, @Nullable Object... values) throws SQLException {
        return done(begun(), planned, values);
    }

    private boolean done(Execution run, Session.Plan planned, @Nullable Object... values)
            throws SQLException {
        if (planned.givesRows()) {
            Rows _ = rows(run, planned, values);
            return true;
        }
        var _ = changed(run, planned, values);
        return false;
    }

    /** Runs a planned statement that changes or defines; how many records it changed. */
    final long changed(Session.Plan planned, @Nullable Object... values) throws SQLException {
        return changed(begun(), planned, values);
    }

    private long changed(Execution run, Session.Plan planned, @Nullable Object... values)
            throws SQLException {
        checkOpen();
        closeResult();
        if (planned.givesRows()) {
            throw Errors.of("the statement gives rows: it is no update", Errors.ARGUMENT);
        }
        connection.checkMayChange();
        execution = run;
        try {
            run.check();
            long count = planned.change(run, values);
            updateCount = count;
            return count;
        } finally {
            execution = null;
        }
    }

    @Override
    public ResultSet executeQuery(String sql) throws SQLException {
        Execution run = begun();
        return rows(run, planned(sql, run));
    }

    @Override
    public boolean execute(String sql) throws SQLException {
        Execution run = begun();
        return done(run, planned(sql, run));
    }

    @Override
    public long executeLargeUpdate(String sql) throws SQLException {
        Execution run = begun();
        return changed(run, planned(sql, run));
    }

    @Override
    public int executeUpdate(String sql) throws SQLException {
        return bounded(executeLargeUpdate(sql));
    }

    static int bounded(long count) {
        return (int) Math.min(count, Integer.MAX_VALUE);
    }

    @Override
    public boolean execute(String sql, int autoGeneratedKeys) throws SQLException {
        checkNoKeys(autoGeneratedKeys);
        return execute(sql);
    }

    @Override
    public boolean execute(String sql, int[] columnIndexes) throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    @Override
    public boolean execute(String sql, String[] columnNames) throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    @Override
    public int executeUpdate(String sql, int autoGeneratedKeys) throws SQLException {
        checkNoKeys(autoGeneratedKeys);
        return executeUpdate(sql);
    }

    @Override
    public int executeUpdate(String sql, int[] columnIndexes) throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    @Override
    public int executeUpdate(String sql, String[] columnNames) throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    static void checkNoKeys(int autoGeneratedKeys) throws SQLException {
        if (autoGeneratedKeys != NO_GENERATED_KEYS) {
            throw Errors.unsupported("keys that a store makes");
        }
    }

    @Override
    public ResultSet getGeneratedKeys() throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    @Override
    public void addBatch(String sql) throws SQLException {
        checkOpen();
        batch.add(sql);
    }

    @Override
    public void clearBatch() throws SQLException {
        checkOpen();
        batch.clear();
    }

    @Override
    public int[] executeBatch() throws SQLException {
        checkOpen();
        int[] counts = new int[batch.size()];
        List<String> statements = List.copyOf(batch);
        batch.clear();
        for (int i = 0; i < counts.length; i++) {
            try {
                counts[i] = executeUpdate(statements.get(i));
            } catch (SQLException e) {
                throw failed(e, counts, i);
            }
        }
        return counts;
    }

    /** A batch that failed behind some of its statements. */
    static BatchUpdateException failed(SQLException e, int[] counts, int done) {
        return new BatchUpdateException(
                e.getMessage(), e.getSQLState(), e.getErrorCode(), Arrays.copyOf(counts, done), e);
    }

    @Override
    public @Nullable ResultSet getResultSet() throws SQLException {
        checkOpen();
        return result;
    }

    @Override
    public int getUpdateCount() throws SQLException {
        return bounded(getLargeUpdateCount());
    }

    @Override
    public long getLargeUpdateCount() throws SQLException {
        checkOpen();
        return updateCount;
    }

    @Override
    public boolean getMoreResults() throws SQLException {
        checkOpen();
        closeResult();
        return false;
    }

    @Override
    public boolean getMoreResults(int current) throws SQLException {
        if (current != CLOSE_CURRENT_RESULT) {
            throw Errors.unsupported("several open results of a statement");
        }
        return getMoreResults();
    }

    @Override
    public void cancel() throws SQLException {
        if (closed) {
            throw Errors.closed("statement");
        }
        Execution running = execution;
        if (running != null) {
            running.cancel();
        }
    }

    @Override
    public void close() throws SQLException {
        if (!closed) {
            try {
                release();
            } catch (RuntimeException e) {
                throw Errors.of(e);
            }
        }
    }

    /** Closes it and its result. */
    final void release() {
        closed = true;
        try {
            closeResult();
        } finally {
            connection.closed(this);
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void closeOnCompletion() throws SQLException {
        checkOpen();
        closesOnCompletion = true;
    }

    @Override
    public boolean isCloseOnCompletion() throws SQLException {
        checkOpen();
        return closesOnCompletion;
    }

    @Override
    public Connection getConnection() throws SQLException {
        checkOpen();
        return connection;
    }

    @Override
    public int getQueryTimeout() throws SQLException {
        checkOpen();
        return timeoutSeconds;
    }

    @Override
    public void setQueryTimeout(int seconds) throws SQLException {
        checkOpen();
        checkNotNegative("a timeout", seconds);
        timeoutSeconds = seconds;
    }

    static void checkNotNegative(String what, long number) throws SQLException {
        if (number < 0) {
            throw Errors.of("%s of %d is below 0".formatted(what, number), Errors.ARGUMENT);
        }
    }

    @Override
    public int getMaxRows() throws SQLException {
        return (int) Math.min(getLargeMaxRows(), Integer.MAX_VALUE);
    }

    @Override
    public void setMaxRows(int max) throws SQLException {
        setLargeMaxRows(max);
    }

    @Override
    public long getLargeMaxRows() throws SQLException {
        checkOpen();
        return rowsMax;
    }

    @Override
    public void setLargeMaxRows(long max) throws SQLException {
        checkOpen();
        checkNotNegative("a limit", max);
        rowsMax = max;
    }

    @Override
    public int getMaxFieldSize() throws SQLException {
        checkOpen();
        return 0;
    }

    @Override
    public void setMaxFieldSize(int max) throws SQLException {
        checkOpen();
        if (max != 0) {
            throw Errors.unsupported("a limit of the length of values");
        }
    }

    @Override
    public int getFetchSize() throws SQLException {
        checkOpen();
        return fetchSize;
    }

    /** How many rows the holder of the store sends at a time; in its own process it is noted. */
    @Override
    public void setFetchSize(int rows) throws SQLException {
        checkOpen();
        checkNotNegative("a fetch size", rows);
        fetchSize = rows;
    }

    @Override
    public int getFetchDirection() throws SQLException {
        checkOpen();
        return ResultSet.FETCH_FORWARD;
    }

    @Override
    public void setFetchDirection(int direction) throws SQLException {
        checkOpen();
        if (direction != ResultSet.FETCH_FORWARD) {
            throw Errors.unsupported("another direction than forward");
        }
    }

    @Override
    public int getResultSetType() throws SQLException {
        checkOpen();
        return ResultSet.TYPE_FORWARD_ONLY;
    }

    @Override
    public int getResultSetConcurrency() throws SQLException {
        checkOpen();
        return ResultSet.CONCUR_READ_ONLY;
    }

    @Override
    public int getResultSetHoldability() throws SQLException {
        checkOpen();
        return ResultSet.CLOSE_CURSORS_AT_COMMIT;
    }

    @Override
    public void setEscapeProcessing(boolean enable) throws SQLException {
        checkOpen();
    }

    @Override
    public void setCursorName(String name) throws SQLException {
        throw Errors.unsupported("a name of a cursor");
    }

    @Override
    public void setPoolable(boolean newPoolable) throws SQLException {
        checkOpen();
        poolable = newPoolable;
    }

    @Override
    public boolean isPoolable() throws SQLException {
        checkOpen();
        return poolable;
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
