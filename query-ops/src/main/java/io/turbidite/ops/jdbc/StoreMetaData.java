package io.turbidite.ops.jdbc;

import io.turbidite.core.time.Clock;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.RowIdLifetime;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What a store has: its datasets are tables without catalogs and schemas. <em>Thread-safe.</em>
 */
final class StoreMetaData extends NothingOfIt {
    private static final String TABLE = "TABLE";

    private final StoreConnection connection;

    StoreMetaData(StoreConnection connection) {
        this.connection = connection;
    }

    private static ResultSet rows(Columns columns, List<@Nullable Object[]> rows) {
        return new Rows(
                null, columns, new RowCursor.OfList(rows), new Execution(Clock.system(), 0), 0);
    }

    static ResultSet none(String... columns) {
        return rows(Columns.described(columns), List.of());
    }

    /**
     * What the store says.
     *
     * @param isHere whether it can have any: else there are the columns alone
     */
    private ResultSet described(
            boolean isHere,
            Session.Subject subject,
            @Nullable String dataset,
            @Nullable String column,
            boolean unique)
            throws SQLException {
        connection.checkOpen();
        Session.Asked asked = new Session.Asked(subject, dataset, column, unique);
        return isHere
                ? rows(connection.session().described(asked))
                : rows(Descriptions.columns(subject), List.of());
    }

    private static ResultSet rows(Session.Described described) {
        return rows(described.columns(), described.rows());
    }

    /** Whether a catalog or a schema that is asked for can be the one without a name. */
    private static boolean isNameless(@Nullable String name) {
        return name == null || name.isEmpty() || name.equals("%");
    }

    @Override
    public ResultSet getTables(
            @Nullable String catalog,
            @Nullable String schemaPattern,
            @Nullable String tableNamePattern,
            String @Nullable [] types)
            throws SQLException {
        boolean isAsked = types == null || Arrays.asList(types).contains(TABLE);
        boolean isHere = isAsked && isNameless(catalog) && isNameless(schemaPattern);
        return described(isHere, Session.Subject.TABLES, tableNamePattern, null, false);
    }

    @Override
    public ResultSet getColumns(
            @Nullable String catalog,
            @Nullable String schemaPattern,
            @Nullable String tableNamePattern,
            @Nullable String columnNamePattern)
            throws SQLException {
        boolean isHere = isNameless(catalog) && isNameless(schemaPattern);
        return described(
                isHere, Session.Subject.COLUMNS, tableNamePattern, columnNamePattern, false);
    }

    @Override
    public ResultSet getPrimaryKeys(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return described(true, Session.Subject.PRIMARY_KEYS, table, null, false);
    }

    /**
     * Beside the columns of JDBC a {@code KIND}: {@code btree}, {@code rtree}, {@code inverted} or
     * {@code pm}.
     */
    @Override
    public ResultSet getIndexInfo(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            boolean unique,
            boolean approximate)
            throws SQLException {
        return described(true, Session.Subject.INDEXES, table, null, unique);
    }

    @Override
    public ResultSet getTypeInfo() throws SQLException {
        connection.checkOpen();
        List<@Nullable Object[]> found = new ArrayList<>();
        for (TypeKind kind : TypeKind.values()) {
            ColumnType type = ColumnType.of(kind);
            boolean isKnown = found.stream().anyMatch(row -> type.name().equals(row[0]));
            if (!isKnown) {
                found.add(new @Nullable Object[] {
                    type.name(),
                    type.code(),
                    type.precision(),
                    type.prefix().isEmpty() ? null : type.prefix(),
                    type.prefix().isEmpty() ? null : "'",
                    null,
                    typeNullable,
                    kind == TypeKind.STRING,
                    kind.isScalar() ? typeSearchable : typePredNone,
                    !type.isSigned(),
                    false,
                    false,
                    kind.name().toLowerCase(Locale.ROOT),
                    0,
                    type.scale(),
                    null,
                    null,
                    10
                });
            }
        }
        found.sort(Comparator.comparingInt(row -> Integer.parseInt(String.valueOf(row[1]))));
        return rows(
                Columns.described(
                        "TYPE_NAME",
                        "DATA_TYPE#",
                        "PRECISION#",
                        "LITERAL_PREFIX",
                        "LITERAL_SUFFIX",
                        "CREATE_PARAMS",
                        "NULLABLE#",
                        "CASE_SENSITIVE!",
                        "SEARCHABLE#",
                        "UNSIGNED_ATTRIBUTE!",
                        "FIXED_PREC_SCALE!",
                        "AUTO_INCREMENT!",
                        "LOCAL_TYPE_NAME",
                        "MINIMUM_SCALE#",
                        "MAXIMUM_SCALE#",
                        "SQL_DATA_TYPE#",
                        "SQL_DATETIME_SUB#",
                        "NUM_PREC_RADIX#"),
                found);
    }

    @Override
    public ResultSet getTableTypes() throws SQLException {
        connection.checkOpen();
        return rows(
                Columns.described("TABLE_TYPE"), List.<@Nullable Object[]>of(new Object[] {TABLE}));
    }

    @Override
    public ResultSet getSchemas() throws SQLException {
        connection.checkOpen();
        return none("TABLE_SCHEM", "TABLE_CATALOG");
    }

    @Override
    public ResultSet getSchemas(@Nullable String catalog, @Nullable String schemaPattern)
            throws SQLException {
        return getSchemas();
    }

    @Override
    public ResultSet getCatalogs() throws SQLException {
        connection.checkOpen();
        return none("TABLE_CAT");
    }

    @Override
    public ResultSet getBestRowIdentifier(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            int scope,
            boolean nullable)
            throws SQLException {
        return described(true, Session.Subject.BEST_ROW, table, null, false);
    }

    @Override
    public ResultSet getFunctionColumns(
            @Nullable String catalog,
            @Nullable String schemaPattern,
            @Nullable String functionNamePattern,
            @Nullable String columnNamePattern)
            throws SQLException {
        throw Errors.unsupported("getFunctionColumns");
    }

    @Override
    public Connection getConnection() throws SQLException {
        connection.checkOpen();
        return connection;
    }

    @Override
    public String getURL() throws SQLException {
        connection.checkOpen();
        return connection.address().url();
    }

    @Override
    public boolean isReadOnly() throws SQLException {
        return connection.isReadOnly();
    }

    @Override
    public String getDatabaseProductVersion() {
        return getDriverVersion();
    }

    @Override
    public String getDriverVersion() {
        return TurbiditeDriver.MAJOR + "." + TurbiditeDriver.MINOR;
    }

    @Override
    public int getDriverMajorVersion() {
        return TurbiditeDriver.MAJOR;
    }

    @Override
    public int getDriverMinorVersion() {
        return TurbiditeDriver.MINOR;
    }

    @Override
    public int getDatabaseMajorVersion() {
        return TurbiditeDriver.MAJOR;
    }

    @Override
    public int getDatabaseMinorVersion() {
        return TurbiditeDriver.MINOR;
    }

    @Override
    public int getJDBCMajorVersion() {
        return 4;
    }

    @Override
    public int getJDBCMinorVersion() {
        return 3;
    }

    @Override
    public int getSQLStateType() {
        return sqlStateSQL;
    }

    @Override
    public int getDefaultTransactionIsolation() {
        return Connection.TRANSACTION_SERIALIZABLE;
    }

    @Override
    public boolean supportsTransactionIsolationLevel(int level) {
        return level != Connection.TRANSACTION_NONE;
    }

    @Override
    public int getResultSetHoldability() {
        return ResultSet.CLOSE_CURSORS_AT_COMMIT;
    }

    @Override
    public boolean supportsResultSetHoldability(int holdability) {
        return holdability == ResultSet.CLOSE_CURSORS_AT_COMMIT;
    }

    @Override
    public boolean supportsResultSetType(int type) {
        return type == ResultSet.TYPE_FORWARD_ONLY;
    }

    @Override
    public boolean supportsResultSetConcurrency(int type, int concurrency) {
        return type == ResultSet.TYPE_FORWARD_ONLY && concurrency == ResultSet.CONCUR_READ_ONLY;
    }

    @Override
    public RowIdLifetime getRowIdLifetime() {
        return RowIdLifetime.ROWID_UNSUPPORTED;
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
