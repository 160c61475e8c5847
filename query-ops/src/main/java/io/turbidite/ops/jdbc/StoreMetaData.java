package io.turbidite.ops.jdbc;

import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.Source;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Field;
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
import java.util.regex.Pattern;

/**
 * What a store has: its datasets are tables without catalogs and schemas. <em>Thread-safe.</em>
 */
final class StoreMetaData extends NothingOfIt {
    private static final String TABLE = "TABLE";
    private static final String PRIMARY = "primary";

    private final StoreConnection connection;

    StoreMetaData(StoreConnection connection) {
        this.connection = connection;
    }

    private static ResultSet rows(Columns columns, List<@Nullable Object[]> rows) {
        return new Rows(
                null,
                columns,
                new RowCursor.OfList(rows),
                new Execution(Clock.system(), 0),
                null,
                0);
    }

    static ResultSet none(String... columns) {
        return rows(Columns.described(columns), List.of());
    }

    private List<? extends Source> datasets(@Nullable String pattern) throws SQLException {
        connection.checkOpen();
        Pattern names = names(pattern);
        try {
            return connection.datasets().stream()
                    .filter(dataset -> names.matcher(dataset.name()).matches())
                    .sorted(Comparator.comparing(Source::name))
                    .toList();
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    /** What {@code %} and {@code _} stand for; a backslash before one is no pattern. */
    private static Pattern names(@Nullable String pattern) {
        if (pattern == null) {
            return Pattern.compile(".*", Pattern.DOTALL);
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            boolean isEscaped = c == '\\' && i + 1 < pattern.length();
            if (isEscaped) {
                i++;
            }
            text.append(
                    isEscaped
                            ? Pattern.quote(String.valueOf(pattern.charAt(i)))
                            : c == '%' ? ".*" : c == '_' ? "." : Pattern.quote(String.valueOf(c)));
        }
        return Pattern.compile(text.toString(), Pattern.DOTALL);
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
        List<@Nullable Object[]> found = new ArrayList<>();
        boolean isAsked = types == null || Arrays.asList(types).contains(TABLE);
        if (isAsked && isNameless(catalog) && isNameless(schemaPattern)) {
            for (Source dataset : datasets(tableNamePattern)) {
                found.add(new @Nullable Object[] {
                    null, null, dataset.name(), TABLE, null, null, null, null, null, null
                });
            }
        }
        return rows(
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "TABLE_TYPE",
                        "REMARKS",
                        "TYPE_CAT",
                        "TYPE_SCHEM",
                        "TYPE_NAME",
                        "SELF_REFERENCING_COL_NAME",
                        "REF_GENERATION"),
                found);
    }

    @Override
    public ResultSet getColumns(
            @Nullable String catalog,
            @Nullable String schemaPattern,
            @Nullable String tableNamePattern,
            @Nullable String columnNamePattern)
            throws SQLException {
        List<@Nullable Object[]> found = new ArrayList<>();
        Pattern names = names(columnNamePattern);
        if (isNameless(catalog) && isNameless(schemaPattern)) {
            for (Source dataset : datasets(tableNamePattern)) {
                int place = 0;
                for (Field field : dataset.type().declared()) {
                    place++;
                    if (names.matcher(field.name()).matches()) {
                        found.add(column(dataset, field, place));
                    }
                }
            }
        }
        return rows(
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "COLUMN_NAME",
                        "DATA_TYPE#",
                        "TYPE_NAME",
                        "COLUMN_SIZE#",
                        "BUFFER_LENGTH#",
                        "DECIMAL_DIGITS#",
                        "NUM_PREC_RADIX#",
                        "NULLABLE#",
                        "REMARKS",
                        "COLUMN_DEF",
                        "SQL_DATA_TYPE#",
                        "SQL_DATETIME_SUB#",
                        "CHAR_OCTET_LENGTH#",
                        "ORDINAL_POSITION#",
                        "IS_NULLABLE",
                        "SCOPE_CATALOG",
                        "SCOPE_SCHEMA",
                        "SCOPE_TABLE",
                        "SOURCE_DATA_TYPE#",
                        "IS_AUTOINCREMENT",
                        "IS_GENERATEDCOLUMN"),
                found);
    }

    private static @Nullable Object[] column(Source dataset, Field field, int place) {
        ColumnType type = ColumnType.of(field.kind());
        return new @Nullable Object[] {
            null,
            null,
            dataset.name(),
            field.name(),
            type.code(),
            type.name(),
            type.precision(),
            null,
            type.scale(),
            10,
            field.optional() ? columnNullable : columnNoNulls,
            field.typeLabel(),
            null,
            null,
            null,
            field.kind() == TypeKind.STRING ? type.precision() : null,
            place,
            field.optional() ? "YES" : "NO",
            null,
            null,
            null,
            null,
            "NO",
            "NO"
        };
    }

    @Override
    public ResultSet getPrimaryKeys(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        List<@Nullable Object[]> found = new ArrayList<>();
        for (Source dataset : named(table)) {
            List<String> key = dataset.primaryKey();
            for (String field : key.stream().sorted().toList()) {
                found.add(new @Nullable Object[] {
                    null, null, dataset.name(), field, key.indexOf(field) + 1, PRIMARY
                });
            }
        }
        return rows(
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "COLUMN_NAME",
                        "KEY_SEQ#",
                        "PK_NAME"),
                found);
    }

    private List<? extends Source> named(@Nullable String table) throws SQLException {
        return datasets(null).stream()
                .filter(dataset -> table == null || dataset.name().equals(table))
                .toList();
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
        List<@Nullable Object[]> found = new ArrayList<>();
        for (Source dataset : named(table)) {
            addIndex(found, dataset, PRIMARY, true, "btree", dataset.primaryKey());
            indexes(dataset).stream()
                    .filter(index -> index.unique() || !unique)
                    .sorted(Comparator.comparing(IndexDefinition::name))
                    .forEach(index -> addIndex(
                            found,
                            dataset,
                            index.name(),
                            index.unique(),
                            index.kind().label(),
                            index.fields()));
        }
        return rows(
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "NON_UNIQUE!",
                        "INDEX_QUALIFIER",
                        "INDEX_NAME",
                        "TYPE#",
                        "ORDINAL_POSITION#",
                        "COLUMN_NAME",
                        "ASC_OR_DESC",
                        "CARDINALITY#",
                        "PAGES#",
                        "FILTER_CONDITION",
                        "KIND"),
                found);
    }

    private List<IndexDefinition> indexes(Source dataset) throws SQLException {
        try {
            return connection.catalog().describe(dataset.name()).indexes();
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    private static void addIndex(
            List<@Nullable Object[]> found,
            Source dataset,
            String name,
            boolean isUnique,
            String kind,
            List<String> fields) {
        int place = 0;
        for (String field : fields) {
            place++;
            found.add(new @Nullable Object[] {
                null,
                null,
                dataset.name(),
                !isUnique,
                null,
                name,
                name.equals(PRIMARY) ? (int) tableIndexClustered : (int) tableIndexOther,
                place,
                field,
                kind.equals("btree") || kind.equals("pm") ? "A" : null,
                null,
                null,
                null,
                kind
            });
        }
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
        List<@Nullable Object[]> found = new ArrayList<>();
        for (Source dataset : named(table)) {
            for (String name : dataset.primaryKey()) {
                ColumnType type = ColumnType.of(
                        dataset.type().field(dataset.type().indexOf(name)).kind());
                found.add(new @Nullable Object[] {
                    bestRowSession,
                    name,
                    type.code(),
                    type.name(),
                    type.precision(),
                    null,
                    type.scale(),
                    bestRowNotPseudo
                });
            }
        }
        return rows(
                Columns.described(
                        "SCOPE#",
                        "COLUMN_NAME",
                        "DATA_TYPE#",
                        "TYPE_NAME",
                        "COLUMN_SIZE#",
                        "BUFFER_LENGTH#",
                        "DECIMAL_DIGITS#",
                        "PSEUDO_COLUMN#"),
                found);
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
