package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The calls that desktop tools make through drivers that they don't know. */
class ToolCallsTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void make() {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("Pets")
                            .field("id", "int64")
                            .field("name", "string?")
                            .field("born", "datetime?")
                            .field("tags", "[string]?")
                            .primaryKey("id")
                            .index(IndexSpec.btree("by_name", "name")))
                    .upsert(Map.of("id", 1L, "name", "Rex"));
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:turbidite:" + directory);
    }

    /** Each row as its values with bars between; each column is described and read. */
    private static List<String> rows(ResultSet given) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (ResultSet result = given) {
            ResultSetMetaData of = result.getMetaData();
            for (int i = 1; i <= of.getColumnCount(); i++) {
                assertThat(of.getColumnName(i)).isNotEmpty();
                assertThat(of.getColumnLabel(i)).isNotEmpty();
                assertThat(of.getColumnTypeName(i)).isNotEmpty();
                assertThat(of.getColumnClassName(i)).contains(".");
                assertThat(of.getSchemaName(i) + of.getCatalogName(i)).isEmpty();
                assertThat(of.getTableName(i)).isNotNull();
                assertThat(of.getPrecision(i)).isNotNegative();
                assertThat(of.getScale(i)).isNotNegative();
                assertThat(of.getColumnDisplaySize(i)).isNotNegative();
                assertThat(of.isNullable(i)).isBetween(0, 2);
                assertThat(of.isAutoIncrement(i)).isFalse();
                assertThat(of.isReadOnly(i) || of.isWritable(i)).isTrue();
            }
            while (result.next()) {
                StringBuilder row = new StringBuilder();
                for (int i = 1; i <= of.getColumnCount(); i++) {
                    row.append(result.getObject(i)).append('|');
                }
                rows.add(row.toString());
            }
            assertThat((Object) result.getWarnings()).isNull();
        }
        return rows;
    }

    @Test
    void the_tree_of_a_tool_is_filled() throws SQLException {
        try (Connection connection = connect()) {
            DatabaseMetaData of = connection.getMetaData();
            assertThat(rows(of.getCatalogs())).isEmpty();
            assertThat(rows(of.getSchemas())).isEmpty();
            assertThat(rows(of.getSchemas(null, "%"))).isEmpty();
            assertThat(rows(of.getTableTypes())).containsExactly("TABLE|");
            for (String pattern : new String[] {null, "%", "Pets", "P_t%"}) {
                for (String[] types : new String[][] {null, {"TABLE"}, {"VIEW", "TABLE"}}) {
                    assertThat(rows(of.getTables(null, null, pattern, types)))
                            .singleElement()
                            .asString()
                            .startsWith("null|null|Pets|TABLE|");
                }
            }
            assertThat(rows(of.getTables(null, null, "%", new String[] {"VIEW"})))
                    .isEmpty();
            assertThat(rows(of.getTables(null, null, "pet_", null))).isEmpty();
            assertThat(rows(of.getColumns(null, null, "Pets", "%")))
                    .hasSize(4)
                    .allMatch(row -> row.startsWith("null|null|Pets|"));
            assertThat(rows(of.getColumns(null, null, "Pets", "name"))).hasSize(1);
            assertThat(rows(of.getPrimaryKeys(null, null, "Pets")))
                    .containsExactly("null|null|Pets|id|1|primary|");
            assertThat(rows(of.getIndexInfo(null, null, "Pets", false, true)))
                    .hasSize(2)
                    .anyMatch(row -> row.contains("|by_name|") && row.endsWith("|btree|"));
            assertThat(rows(of.getIndexInfo(null, null, "Pets", true, true))).hasSize(1);
            assertThat(rows(of.getBestRowIdentifier(null, null, "Pets", 0, true)))
                    .hasSize(1);
            assertThat(rows(of.getTypeInfo())).hasSizeGreaterThan(10);
            for (ResultSet none : List.of(
                    of.getImportedKeys(null, null, "Pets"),
                    of.getExportedKeys(null, null, "Pets"),
                    of.getCrossReference(null, null, "Pets", null, null, "Pets"),
                    of.getProcedures(null, null, "%"),
                    of.getProcedureColumns(null, null, "%", "%"),
                    of.getFunctions(null, null, "%"),
                    of.getUDTs(null, null, "%", null),
                    of.getSuperTables(null, null, "%"),
                    of.getSuperTypes(null, null, "%"),
                    of.getAttributes(null, null, "%", "%"),
                    of.getTablePrivileges(null, null, "%"),
                    of.getColumnPrivileges(null, null, "Pets", "%"),
                    of.getVersionColumns(null, null, "Pets"),
                    of.getPseudoColumns(null, null, "%", "%"),
                    of.getClientInfoProperties())) {
                assertThat(rows(none)).isEmpty();
            }
        }
    }

    /** All that is asked without arguments: terms, separators, limits, what is supported. */
    @Test
    void what_a_tool_asks_about_the_driver_is_answered() throws Exception {
        try (Connection connection = connect()) {
            DatabaseMetaData of = connection.getMetaData();
            int asked = 0;
            for (Method method : DatabaseMetaData.class.getMethods()) {
                if (method.getParameterCount() > 0) {
                    continue;
                }
                asked++;
                try {
                    Object answer = method.invoke(of);
                    if (answer instanceof ResultSet rows) {
                        rows.close();
                    }
                } catch (InvocationTargetException e) {
                    assertThat(e.getCause())
                            .as(method.getName())
                            .isInstanceOf(SQLFeatureNotSupportedException.class);
                }
            }
            assertThat(asked).isGreaterThan(140);
            assertThat(of.getIdentifierQuoteString()).isEqualTo("\"");
            assertThat(of.supportsResultSetType(ResultSet.TYPE_FORWARD_ONLY)).isTrue();
            assertThat(of.supportsTransactionIsolationLevel(Connection.TRANSACTION_NONE))
                    .isFalse();
        }
    }

    /** The bug: !importedkeys, !exportedkeys and !procedures of sqlline were "no such method". */
    @Test
    void tools_that_pass_over_defaults_of_interfaces_find_every_method() throws SQLException {
        try (Connection connection = connect()) {
            Class<?> type = connection.getMetaData().getClass();
            for (Method asked : DatabaseMetaData.class.getMethods()) {
                assertThat(Arrays.stream(type.getMethods())
                                .filter(found -> found.getName().equals(asked.getName()))
                                .filter(found -> Arrays.equals(
                                        found.getParameterTypes(), asked.getParameterTypes())))
                        .as(asked.getName())
                        .anyMatch(found -> asked.isDefault() || !found.isDefault());
            }
        }
    }

    @Test
    void a_session_of_a_tool_goes_through() throws SQLException {
        try (Connection connection = connect()) {
            assertThat(connection.isValid(5)).isTrue();
            connection.clearWarnings();
            assertThat((Object) connection.getWarnings()).isNull();
            assertThat(connection.getClientInfo()).isNotNull();
            assertThat(connection.getCatalog()).isNull();
            assertThat(connection.getSchema()).isNull();
            assertThat(connection.getTypeMap()).isEmpty();
            assertThat(connection.nativeSQL("select 1")).isEqualTo("select 1");
            connection.setReadOnly(true);
            assertThat(connection.isReadOnly()).isTrue();
            connection.setReadOnly(false);
            connection.setAutoCommit(false);
            assertThat(connection.getTransactionIsolation())
                    .isEqualTo(connection.getMetaData().getDefaultTransactionIsolation());
            connection.rollback();
            connection.setAutoCommit(true);
            try (Statement statement = connection.createStatement(
                    ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
                statement.setFetchSize(200);
                statement.setMaxRows(200);
                statement.setQueryTimeout(60);
                statement.setEscapeProcessing(false);
                assertThat(statement.execute("select * from Pets")).isTrue();
                assertThat(rows(statement.getResultSet())).containsExactly("1|Rex|null|null|");
                assertThat(statement.getMoreResults()).isFalse();
                assertThat(statement.getUpdateCount()).isEqualTo(-1);
                assertThat(statement.execute("update Pets set name = 'Tib'")).isFalse();
                assertThat(statement.getUpdateCount()).isEqualTo(1);
                assertThat((Object) statement.getWarnings()).isNull();
                statement.clearWarnings();
            }
        }
    }
}
