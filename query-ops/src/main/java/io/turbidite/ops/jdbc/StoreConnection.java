package io.turbidite.ops.jdbc;

import io.turbidite.core.Cleanup;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.scan.Source;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * A connection to a store of this process. With auto-commit each statement reads a moment of its
 * own; without it all statements up to a commit or a rollback read that of the first.
 * <em>Thread-safe</em> by its own lock, but for its statements.
 */
final class StoreConnection implements PlainConnection {
    private final StoreAddress address;
    private final SharedStore store;
    private final RunOptions options;
    private final Clock clock = Clock.system();
    private final Set<StoreStatement> statements = new LinkedHashSet<>();

    /** The moment of the transaction; null: none has begun. */
    private @Nullable Reading transaction;

    private @Nullable Sql sql;
    private List<? extends Source> sqlDatasets = List.of();

    /** What was described last: mostly it is asked for again. */
    private @Nullable RecordType describedType;

    private @Nullable Columns described;
    private volatile boolean autoCommit = true;
    private volatile boolean readOnly;
    private volatile boolean closed;

    StoreConnection(StoreAddress address, SharedStore store) {
        this.address = address;
        this.store = store;
        this.readOnly = address.readOnly() || store.catalog().isReadOnly();
        this.options = RunOptions.builder()
                .spill(new RunOptions.Spill(
                        store.catalog().disk(), store.catalog().spillDirectory()))
                .tasks(store.catalog().tasks())
                .build();
    }

    void checkOpen() throws SQLException {
        if (closed) {
            throw Errors.closed("connection");
        }
    }

    OpenCatalog catalog() {
        return store.catalog();
    }

    StoreAddress address() {
        return address;
    }

    RunOptions options() {
        return options;
    }

    Clock clock() {
        return clock;
    }

    List<? extends Source> datasets() {
        return store.catalog().datasets();
    }

    /** It keeps the plans of texts, for the datasets that there are. */
    synchronized Sql sql() {
        List<? extends Source> now = datasets();
        Sql known = sql;
        if (known == null || !now.equals(sqlDatasets)) {
            known = Sql.on(catalog()).planningAtMost(Duration.ofMillis(address.planningMillis()));
            sql = known;
            sqlDatasets = now;
        }
        return known;
    }

    /** Refuses what would change the store where nothing may. */
    void checkMayChange() throws SQLException {
        checkOpen();
        if (readOnly) {
            throw Errors.of("the connection is read-only", Errors.READ_ONLY);
        }
        if (!autoCommit) {
            throw Errors.of(
                    "a transaction reads one moment and changes nothing: set auto-commit to change",
                    Errors.IN_TRANSACTION);
        }
    }

    boolean isOneStatementATime() {
        return autoCommit;
    }

    /** The moment that the next statement reads; with auto-commit the caller closes it. */
    synchronized Reading reading() throws SQLException {
        checkOpen();
        try {
            if (autoCommit) {
                return new Reading(catalog());
            }
            Reading begun = transaction;
            if (begun == null) {
                begun = new Reading(catalog());
                transaction = begun;
            }
            return begun;
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    synchronized Columns columnsOf(RecordType type) {
        Columns known = described;
        if (known == null || !Objects.equals(type, describedType)) {
            known = Columns.of(type);
            described = known;
            describedType = type;
        }
        return known;
    }

    private synchronized <T extends StoreStatement> T opened(T statement) throws SQLException {
        checkOpen();
        statements.add(statement);
        return statement;
    }

    synchronized void closed(StoreStatement statement) {
        statements.remove(statement);
    }

    @Override
    public Statement createStatement() throws SQLException {
        checkOpen();
        return opened(new StoreStatement(this));
    }

    @Override
    public Statement createStatement(int type, int concurrency) throws SQLException {
        checkForward(type, concurrency);
        return createStatement();
    }

    @Override
    public Statement createStatement(int type, int concurrency, int holdability)
            throws SQLException {
        checkHoldability(holdability);
        return createStatement(type, concurrency);
    }

    @Override
    public PreparedStatement prepareStatement(String sql) throws SQLException {
        checkOpen();
        return opened(new StorePreparedStatement(this, sql));
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int type, int concurrency)
            throws SQLException {
        checkForward(type, concurrency);
        return prepareStatement(sql);
    }

    @Override
    public PreparedStatement prepareStatement(
            String sql, int type, int concurrency, int holdability) throws SQLException {
        checkHoldability(holdability);
        return prepareStatement(sql, type, concurrency);
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int autoGeneratedKeys)
            throws SQLException {
        StoreStatement.checkNoKeys(autoGeneratedKeys);
        return prepareStatement(sql);
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int[] columnIndexes) throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    @Override
    public PreparedStatement prepareStatement(String sql, String[] columnNames)
            throws SQLException {
        throw Errors.unsupported("keys that a store makes");
    }

    private void checkForward(int type, int concurrency) throws SQLException {
        checkOpen();
        if (type != ResultSet.TYPE_FORWARD_ONLY || concurrency != ResultSet.CONCUR_READ_ONLY) {
            throw Errors.unsupported("a result that scrolls or that changes rows");
        }
    }

    private void checkHoldability(int holdability) throws SQLException {
        checkOpen();
        if (holdability != ResultSet.CLOSE_CURSORS_AT_COMMIT) {
            throw Errors.unsupported("a result that outlives its transaction");
        }
    }

    @Override
    public String nativeSQL(String sql) throws SQLException {
        checkOpen();
        return sql;
    }

    @Override
    public void setAutoCommit(boolean newAutoCommit) throws SQLException {
        checkOpen();
        if (newAutoCommit != autoCommit) {
            endTransaction();
            autoCommit = newAutoCommit;
        }
    }

    @Override
    public boolean getAutoCommit() throws SQLException {
        checkOpen();
        return autoCommit;
    }

    @Override
    public void commit() throws SQLException {
        checkInTransaction();
        endTransaction();
    }

    @Override
    public void rollback() throws SQLException {
        checkInTransaction();
        endTransaction();
    }

    private void checkInTransaction() throws SQLException {
        checkOpen();
        if (autoCommit) {
            throw Errors.of("there is no transaction: auto-commit is on", Errors.TRANSACTION);
        }
    }

    /** Closes the results of the transaction, and its moment. */
    private synchronized void endTransaction() {
        Reading ended = transaction;
        transaction = null;
        Cleanup held = new Cleanup().addAll(statements, StoreStatement::closeResult);
        if (ended != null) {
            held.add(ended::close);
        }
        held.run();
    }

    @Override
    public void close() throws SQLException {
        List<StoreStatement> open;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            open = List.copyOf(statements);
        }
        try {
            new Cleanup()
                    .addAll(open, StoreStatement::release)
                    .add(this::endTransaction)
                    .add(store::release) // the last one closes the store, which tells what failed
                    .run();
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void abort(Executor executor) throws SQLException {
        if (executor == null) {
            throw Errors.of("no executor is given", Errors.ARGUMENT);
        }
        close();
    }

    @Override
    public boolean isValid(int timeout) throws SQLException {
        StoreStatement.checkNotNegative("a timeout", timeout);
        return !closed;
    }

    @Override
    public DatabaseMetaData getMetaData() throws SQLException {
        checkOpen();
        return new StoreMetaData(this);
    }

    @Override
    public void setReadOnly(boolean newReadOnly) throws SQLException {
        checkOpen();
        if (!newReadOnly && (address.readOnly() || store.catalog().isReadOnly())) {
            throw Errors.of("the store was opened for reading", Errors.READ_ONLY);
        }
        readOnly = newReadOnly;
    }

    @Override
    public boolean isReadOnly() throws SQLException {
        checkOpen();
        return readOnly;
    }

    /** There is none: what is set is not kept. */
    @Override
    public void setCatalog(String catalog) throws SQLException {
        checkOpen();
    }

    @Override
    public @Nullable String getCatalog() throws SQLException {
        checkOpen();
        return null;
    }

    /** There is none: what is set is not kept. */
    @Override
    public void setSchema(String schema) throws SQLException {
        checkOpen();
    }

    @Override
    public @Nullable String getSchema() throws SQLException {
        checkOpen();
        return null;
    }

    /** A transaction reads one moment, whatever level is asked for. */
    @Override
    public void setTransactionIsolation(int level) throws SQLException {
        checkOpen();
        switch (level) {
            case TRANSACTION_READ_UNCOMMITTED,
                    TRANSACTION_READ_COMMITTED,
                    TRANSACTION_REPEATABLE_READ,
                    TRANSACTION_SERIALIZABLE -> {}
            default ->
                throw Errors.of("there is no isolation %d".formatted(level), Errors.ARGUMENT);
        }
    }

    @Override
    public int getTransactionIsolation() throws SQLException {
        checkOpen();
        return TRANSACTION_SERIALIZABLE;
    }

    @Override
    public void setHoldability(int holdability) throws SQLException {
        checkHoldability(holdability);
    }

    @Override
    public int getHoldability() throws SQLException {
        checkOpen();
        return ResultSet.CLOSE_CURSORS_AT_COMMIT;
    }

    @Override
    public int getNetworkTimeout() throws SQLException {
        checkOpen();
        return 0;
    }

    @Override
    public Map<String, Class<?>> getTypeMap() throws SQLException {
        checkOpen();
        return new HashMap<>();
    }

    @Override
    public void setTypeMap(Map<String, Class<?>> map) throws SQLException {
        checkOpen();
        if (map != null && !map.isEmpty()) {
            throw Errors.unsupported("a map of types");
        }
    }

    @Override
    public @Nullable String getClientInfo(String name) {
        return null;
    }

    @Override
    public Properties getClientInfo() {
        return new Properties();
    }

    /** Nobody reads it: it is not kept. */
    @Override
    public void setClientInfo(String name, String value) {}

    /** Nobody reads it: it is not kept. */
    @Override
    public void setClientInfo(Properties properties) {}

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
