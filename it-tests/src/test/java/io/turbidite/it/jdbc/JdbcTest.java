package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.JDBCType;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

class JdbcTest {
    private static final Instant AT = Instant.parse("2013-07-04T10:15:30.123456Z");
    private static final UUID ID = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");

    @TempDir
    Path directory;

    /** Whoever has it open while connections are made; here nobody has. */
    void hold() {}

    @BeforeEach
    final void aStore() {
        // a sync for each record of each test took a minute
        StoreOptions options = StoreOptions.defaults().withDurability(Durability.PROCESS);
        try (Store store = Store.open(directory, options)) {
            store.createDataset(DatasetSpec.named("All")
                    .field("id", "int64")
                    .field("truth", "bool?")
                    .field("i8", "int8?")
                    .field("i16", "int16?")
                    .field("i32", "int32?")
                    .field("f", "float?")
                    .field("d", "double?")
                    .field("price", "decimal?")
                    .field("name", "string?")
                    .field("raw", "bytes?")
                    .field("ident", "uuid?")
                    .field("day", "date?")
                    .field("clock", "time?")
                    .field("at", "datetime?")
                    .field("span", "duration?")
                    .field("place", "point?")
                    .field("tags", "[string]?")
                    .field("user", "{lang: string?, rank: int32?}?")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_name", "name"))
                    .index(IndexSpec.rtree("by_place", "place")));
            Map<String, @Nullable Object> one = new LinkedHashMap<>();
            one.put("id", 1L);
            one.put("truth", true);
            one.put("i8", (byte) -8);
            one.put("i16", (short) 16);
            one.put("i32", 32);
            one.put("f", 1.5f);
            one.put("d", 2.25);
            one.put("price", new BigDecimal("10.50"));
            one.put("name", "Ada");
            one.put("raw", new byte[] {1, 2, 3});
            one.put("ident", ID);
            one.put("day", LocalDate.of(2013, 7, 4));
            one.put("clock", LocalTime.of(10, 15, 30));
            one.put("at", AT);
            one.put("span", Duration.ofMinutes(90));
            one.put("place", new Point(1, 2));
            one.put("tags", List.of("a", "b\"c"));
            one.put("user", Map.of("lang", "en", "rank", 7));
            store.dataset("All").upsert(one);
            store.dataset("All").upsert(Map.of("id", 2L));
            store.createDataset(DatasetSpec.named("Other_Set")
                    .field("k", "string")
                    .field("n", "int32")
                    .primaryKey("k", "n"));
            for (int i = 0; i < 2_000; i++) {
                store.dataset("Other_Set").upsert(Map.of("k", "k" + i % 10, "n", i));
            }
        }
        hold();
    }

    /** That closed connections hold nothing. */
    void checkNothingHeld() {
        Store.open(directory).close();
    }

    final Connection connect(String options) throws SQLException {
        return DriverManager.getConnection("jdbc:turbidite:" + directory + options);
    }

    private Connection connect() throws SQLException {
        return connect("");
    }

    static void refused(String state, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state));
    }

    private static void unsupported(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(SQLFeatureNotSupportedException.class);
    }

    static List<List<@Nullable Object>> all(ResultSet rows, String... columns) throws SQLException {
        List<List<@Nullable Object>> all = new ArrayList<>();
        while (rows.next()) {
            List<@Nullable Object> row = new ArrayList<>();
            for (String column : columns) {
                row.add(rows.getObject(column));
            }
            all.add(row);
        }
        rows.close();
        return all;
    }

    @Test
    void each_type_has_its_getters() throws SQLException {
        try (Connection connection = connect("?readOnly=true");
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select * from \"All\" where id = 1")) {
            assertThat(rows.isBeforeFirst()).isTrue();
            assertThat(rows.next()).isTrue();
            assertThat(rows.getRow()).isEqualTo(1);
            assertThat(rows.getObject("id")).isEqualTo(1L);
            assertThat(rows.getInt("id")).isEqualTo(1);
            assertThat(rows.getString("id")).isEqualTo("1");
            assertThat(rows.getBoolean("id")).isTrue();
            assertThat(rows.getBigDecimal("id")).isEqualByComparingTo("1");
            assertThat(rows.getObject("truth")).isEqualTo(true);
            assertThat(rows.getBoolean("truth")).isTrue();
            assertThat(rows.getInt("truth")).isEqualTo(1);
            assertThat(rows.getString("truth")).isEqualTo("true");
            assertThat(rows.getObject("i8")).isEqualTo(-8);
            assertThat(rows.getByte("i8")).isEqualTo((byte) -8);
            assertThat(rows.getDouble("i8")).isEqualTo(-8.0);
            assertThat(rows.getObject("i16")).isEqualTo(16);
            assertThat(rows.getShort("i16")).isEqualTo((short) 16);
            assertThat(rows.getObject("i32")).isEqualTo(32);
            assertThat(rows.getInt("i32")).isEqualTo(32);
            assertThat(rows.getLong("I32")).isEqualTo(32);
            assertThat(rows.getFloat("i32")).isEqualTo(32f);
            assertThat(rows.getObject("f")).isEqualTo(1.5f);
            assertThat(rows.getFloat("f")).isEqualTo(1.5f);
            assertThat(rows.getObject("d")).isEqualTo(2.25);
            assertThat(rows.getDouble("d")).isEqualTo(2.25);
            assertThat(rows.getInt("d")).isEqualTo(2);
            assertThat(rows.getBigDecimal("d")).isEqualByComparingTo("2.25");
            assertThat(rows.getObject("price")).isEqualTo(new BigDecimal("10.50"));
            assertThat(rows.getString("price")).isEqualTo("10.50");
            assertThat(rows.getLong("price")).isEqualTo(10);
            assertThat(rows.getObject("name")).isEqualTo("Ada");
            assertThat(rows.getString("name")).isEqualTo("Ada");
            assertThat(rows.getAsciiStream("name")).hasContent("Ada");
            assertThat(rows.getBytes("raw")).containsExactly(1, 2, 3);
            assertThat(rows.getBinaryStream("raw")).hasBinaryContent(new byte[] {1, 2, 3});
            assertThat(rows.getString("raw")).isEqualTo("AQID");
            assertThat(rows.getObject("ident")).isEqualTo(ID);
            assertThat(rows.getObject("ident", UUID.class)).isEqualTo(ID);
            assertThat(rows.getString("ident")).isEqualTo(ID.toString());
            assertThat(rows.getDate("day")).isEqualTo(Date.valueOf("2013-07-04"));
            assertThat(rows.getObject("day")).isEqualTo(Date.valueOf("2013-07-04"));
            assertThat(rows.getObject("day", LocalDate.class)).isEqualTo("2013-07-04");
            assertThat(rows.getTime("clock")).isEqualTo(Time.valueOf("10:15:30"));
            assertThat(rows.getObject("clock", LocalTime.class)).isEqualTo("10:15:30");
            assertThat(rows.getTimestamp("at").toInstant()).isEqualTo(AT);
            assertThat(rows.getObject("at")).isEqualTo(Timestamp.from(AT));
            assertThat(rows.getObject("at", Instant.class)).isEqualTo(AT);
            assertThat(rows.getObject("at", OffsetDateTime.class))
                    .isEqualTo(AT.atOffset(ZoneOffset.UTC));
            assertThat(rows.getObject("at", LocalDateTime.class))
                    .isEqualTo(LocalDateTime.parse("2013-07-04T10:15:30.123456"));
            assertThat(rows.getString("at")).isEqualTo("2013-07-04T10:15:30.123456Z");
            assertThat(rows.getObject("span")).isEqualTo(Duration.ofMinutes(90));
            assertThat(rows.getObject("place")).isEqualTo(new Point(1, 2));
            assertThat(rows.getString("place")).isEqualTo("[1.0,2.0]");
            assertThat(rows.getObject("tags")).isEqualTo(List.of("a", "b\"c"));
            assertThat(rows.getString("tags")).isEqualTo("[\"a\",\"b\\\"c\"]");
            assertThat((Object[]) rows.getArray("tags").getArray()).containsExactly("a", "b\"c");
            assertThat(rows.getString("user")).contains("\"lang\":\"en\"", "\"rank\":7");
            assertThat(rows.next()).isFalse();
            assertThat(rows.isAfterLast()).isTrue();
        }
    }

    @Test
    void null_is_told_by_wasNull() throws SQLException {
        try (Connection connection = connect();
                ResultSet rows = connection
                        .createStatement()
                        .executeQuery("select * from \"All\" where id = 2")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getLong(1)).isEqualTo(2);
            assertThat(rows.wasNull()).isFalse();
            int columns = rows.getMetaData().getColumnCount();
            assertThat(columns).isEqualTo(18);
            for (int i = 2; i <= columns; i++) {
                assertThat(rows.getObject(i)).isNull();
                assertThat(rows.wasNull()).isTrue();
                assertThat(rows.getString(i)).isNull();
                assertThat(rows.getInt(i)).isZero();
                assertThat(rows.wasNull()).isTrue();
                assertThat(rows.getDouble(i)).isZero();
                assertThat(rows.getBoolean(i)).isFalse();
                assertThat(rows.getTimestamp(i)).isNull();
                assertThat(rows.getBytes(i)).isNull();
                assertThat(rows.getArray(i)).isNull();
                assertThat(rows.getObject(i, String.class)).isNull();
            }
        }
    }

    @Test
    void what_does_not_convert_is_refused() throws SQLException {
        try (Connection connection = connect();
                ResultSet rows = connection
                        .createStatement()
                        .executeQuery(
                                "select *, 300 as big, 1e300 as huge from \"All\" where id = 1")) {
            refused("24000", () -> rows.getInt(1));
            assertThat(rows.next()).isTrue();
            refused("22018", () -> rows.getInt("name"));
            refused("22018", () -> rows.getDate("name"));
            refused("22018", () -> rows.getBoolean("i32"));
            refused("22003", () -> rows.getByte("big"));
            refused("22003", () -> rows.getLong("huge"));
            refused("07006", () -> rows.getInt("day"));
            refused("07006", () -> rows.getTime("day"));
            refused("07006", () -> rows.getBytes("i32"));
            refused("07006", () -> rows.getObject("i32", Class.class));
            refused("42703", () -> rows.getInt("nmae"));
            refused("42703", () -> rows.getInt(0));
            refused("42703", () -> rows.getInt(99));
            unsupported(() -> rows.getBlob(1));
            unsupported(rows::previous);
            unsupported(() -> rows.updateInt(1, 1));
        }
    }

    @Test
    void each_type_has_its_setters() throws SQLException {
        try (Connection connection = connect()) {
            found(connection, "truth = ?", s -> s.setBoolean(1, true));
            found(connection, "i8 = ?", s -> s.setByte(1, (byte) -8));
            found(connection, "i16 = ?", s -> s.setShort(1, (short) 16));
            found(connection, "i32 = ?", s -> s.setInt(1, 32));
            found(connection, "i32 = ?", s -> s.setString(1, "32"));
            found(connection, "i32 = ?", s -> s.setObject(1, "32", Types.INTEGER));
            found(connection, "id = ? and name is not null", s -> s.setLong(1, 1));
            found(connection, "f = ?", s -> s.setFloat(1, 1.5f));
            found(connection, "d = ?", s -> s.setDouble(1, 2.25));
            found(connection, "price = ?", s -> s.setBigDecimal(1, new BigDecimal("10.5")));
            found(connection, "name = ?", s -> s.setString(1, "Ada"));
            found(connection, "name = ?", s -> s.setObject(1, "Ada", JDBCType.VARCHAR));
            found(connection, "raw = ?", s -> s.setBytes(1, new byte[] {1, 2, 3}));
            found(connection, "ident = ?", s -> s.setObject(1, ID));
            found(connection, "ident = ?", s -> s.setString(1, ID.toString()));
            found(connection, "day = ?", s -> s.setDate(1, Date.valueOf("2013-07-04")));
            found(connection, "day = ?", s -> s.setObject(1, LocalDate.of(2013, 7, 4)));
            found(connection, "clock = ?", s -> s.setTime(1, Time.valueOf("10:15:30")));
            found(connection, "at = ?", s -> s.setTimestamp(1, Timestamp.from(AT)));
            found(connection, "at = ?", s -> s.setObject(1, AT.atOffset(ZoneOffset.UTC)));
            found(connection, "at = ?", s -> s.setString(1, "2013-07-04 10:15:30.123456"));
            found(connection, "span = ?", s -> s.setObject(1, Duration.ofMinutes(90)));
            try (PreparedStatement none =
                    connection.prepareStatement("select id from \"All\" where name = ?")) {
                none.setNull(1, Types.VARCHAR);
                assertThat(none.executeQuery().next()).isFalse();
                none.clearParameters();
                refused("07001", none::executeQuery);
                refused("07001", () -> none.setInt(2, 1));
                refused("07001", () -> none.setInt(0, 1));
                unsupported(() -> none.setURL(1, null));
            }
            try (PreparedStatement wrong =
                    connection.prepareStatement("select id from \"All\" where i32 = ?")) {
                refused("22018", () -> wrong.setString(1, "x"));
            }
        }
    }

    private interface Setter {
        void set(PreparedStatement statement) throws SQLException;
    }

    private static void found(Connection connection, String condition, Setter setter)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select id from \"All\" where " + condition)) {
            for (int i = 0; i < 2; i++) {
                setter.set(statement);
                assertThat(all(statement.executeQuery(), "id"))
                        .as(condition)
                        .containsExactly(List.of(1L));
            }
        }
    }

    @Test
    void a_statement_describes_itself() throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(
                        "select id, price as p, at from \"All\" where name = ? and i32 > ?")) {
            assertThat(statement.getParameterMetaData().getParameterCount()).isEqualTo(2);
            assertThat(statement.getParameterMetaData().getParameterType(1))
                    .isEqualTo(Types.VARCHAR);
            assertThat(statement.getParameterMetaData().getParameterTypeName(2))
                    .isEqualTo("BIGINT");
            assertThat(statement.getMetaData().getColumnCount()).isEqualTo(3);
            assertThat(statement.getMetaData().getColumnLabel(2)).isEqualTo("p");
            assertThat(statement.getMetaData().getColumnType(2)).isEqualTo(Types.DECIMAL);
            assertThat(statement.getMetaData().getColumnClassName(3))
                    .isEqualTo("java.sql.Timestamp");
        }
    }

    @Test
    void a_store_describes_itself() throws SQLException {
        try (Connection connection = connect("?readOnly=true")) {
            DatabaseMetaData store = connection.getMetaData();
            assertThat(store.getDatabaseProductName()).isEqualTo("Turbidite");
            assertThat(store.isReadOnly()).isTrue();
            assertThat(all(store.getTables(null, null, "%", null), "TABLE_NAME"))
                    .containsExactly(List.of("All"), List.of("Other_Set"));
            assertThat(all(
                            store.getTables(null, null, "Other\\_%", new String[] {"TABLE"}),
                            "TABLE_NAME"))
                    .containsExactly(List.of("Other_Set"));
            assertThat(all(store.getTables(null, null, null, new String[] {"VIEW"}), "TABLE_NAME"))
                    .isEmpty();
            assertThat(all(store.getSchemas(), "TABLE_SCHEM")).isEmpty();
            assertThat(all(
                            store.getColumns(null, null, "Other%", null),
                            "COLUMN_NAME",
                            "TYPE_NAME",
                            "DATA_TYPE",
                            "IS_NULLABLE",
                            "ORDINAL_POSITION"))
                    .containsExactly(
                            List.of("k", "VARCHAR", Types.VARCHAR, "NO", 1),
                            List.of("n", "INTEGER", Types.INTEGER, "NO", 2));
            assertThat(all(store.getPrimaryKeys(null, null, "Other_Set"), "COLUMN_NAME", "KEY_SEQ"))
                    .containsExactly(List.of("k", 1), List.of("n", 2));
            assertThat(all(
                            store.getIndexInfo(null, null, "All", false, true),
                            "INDEX_NAME",
                            "COLUMN_NAME",
                            "NON_UNIQUE",
                            "KIND"))
                    .containsExactly(
                            List.of("primary", "id", false, "btree"),
                            List.of("by_name", "name", true, "btree"),
                            List.of("by_place", "place", true, "rtree"));
            assertThat(all(store.getTypeInfo(), "TYPE_NAME"))
                    .contains(List.of("BIGINT"), List.of("VARCHAR"), List.of("TIMESTAMP"))
                    .doesNotHaveDuplicates();
            assertThat(all(store.getImportedKeys(null, null, "All"), "FK_NAME")).isEmpty();
            assertThat(store.getIdentifierQuoteString()).isEqualTo("\"");
        }
    }

    @Test
    void a_unique_index_is_shown_as_one() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            DatabaseMetaData store = connection.getMetaData();
            statement.execute("create unique index by_n on Other_Set (n)");
            assertThat(all(
                            store.getIndexInfo(null, null, "Other_Set", true, true),
                            "INDEX_NAME",
                            "NON_UNIQUE",
                            "TYPE"))
                    .containsExactly(
                            List.of("primary", false, (int) DatabaseMetaData.tableIndexClustered),
                            List.of("primary", false, (int) DatabaseMetaData.tableIndexClustered),
                            List.of("by_n", false, (int) DatabaseMetaData.tableIndexOther));
            statement.execute("drop index by_n on Other_Set");
        }
    }

    @Test
    void what_is_closed_is_refused() throws SQLException {
        Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select k from Other_Set");
        assertThat(rows.next()).isTrue();
        ResultSet second = statement.executeQuery("select n from Other_Set");
        assertThat(rows.isClosed()).isTrue();
        refused("24000", rows::next);
        refused("24000", () -> rows.getString(1));
        statement.close();
        statement.close();
        assertThat(second.isClosed()).isTrue();
        refused("24000", () -> statement.executeQuery("values 1"));
        Statement another = connection.createStatement();
        ResultSet third = another.executeQuery("select n from Other_Set");
        connection.close();
        connection.close();
        assertThat(connection.isClosed()).isTrue();
        assertThat(connection.isValid(0)).isFalse();
        assertThat(another.isClosed()).isTrue();
        assertThat(third.isClosed()).isTrue();
        refused("08003", connection::createStatement);
        refused("08003", connection::getAutoCommit);
        try (Connection later = connect();
                Statement completing = later.createStatement()) {
            completing.closeOnCompletion();
            completing.executeQuery("values 1").close();
            assertThat(completing.isClosed()).isTrue();
        }
        checkNothingHeld();
    }

    @Test
    void connections_of_a_process_share_a_store() throws SQLException {
        Connection first = connect();
        try (Connection second = connect("?readOnly=true")) {
            assertThat(second.isReadOnly()).isTrue();
            refused("25006", () -> second.setReadOnly(false));
            refused("25006", () -> second.createStatement().executeUpdate("delete from Other_Set"));
            first.close();
            try (ResultSet rows = second.createStatement().executeQuery("values 1")) {
                assertThat(rows.next()).isTrue();
            }
        }
        try (Connection reader = connect("?readOnly=true")) {
            refused("08001", this::connect);
            assertThat(reader.isValid(1)).isTrue();
        }
        try (Store store = Store.open(directory)) {
            refused("08001", this::connect);
            assertThat(store.datasets()).hasSize(2);
        }
        refused(
                "08001",
                () -> DriverManager.getConnection("jdbc:turbidite:" + directory + "/none"));
        refused("08001", () -> connect("?readonly=true"));
        refused("08001", () -> connect("?readOnly=yes"));
        refused("08001", () -> DriverManager.getConnection("jdbc:turbidite:"));
    }

    @Test
    void a_transaction_reads_one_moment_and_changes_nothing() throws SQLException {
        String count = "select count(*) as n from Other_Set";
        String insert = "insert into Other_Set (k, n) values ('new', 1)";
        try (Connection reader = connect();
                Connection writer = connect();
                Statement asking = reader.createStatement();
                Statement writing = writer.createStatement()) {
            refused("25000", reader::commit);
            reader.setAutoCommit(false);
            assertThat(all(asking.executeQuery(count), "n")).containsExactly(List.of(2_000L));
            assertThat(writing.executeUpdate(insert)).isEqualTo(1);
            assertThat(all(asking.executeQuery(count), "n")).containsExactly(List.of(2_000L));
            refused("25001", () -> asking.executeUpdate("delete from Other_Set"));
            ResultSet open = asking.executeQuery(count);
            reader.commit();
            assertThat(open.isClosed()).isTrue();
            assertThat(all(asking.executeQuery(count), "n")).containsExactly(List.of(2_001L));
            reader.rollback();
            reader.setAutoCommit(true);
            refused("23505", () -> writing.executeUpdate(insert));
        }
    }

    @Test
    void records_are_changed_one_by_one_and_in_batches() throws SQLException {
        try (Connection connection = connect();
                PreparedStatement insert =
                        connection.prepareStatement("insert into Other_Set (k, n) values (?, ?)");
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 3; i++) {
                insert.setString(1, "batch");
                insert.setInt(2, i);
                insert.addBatch();
            }
            assertThat(insert.executeBatch()).containsExactly(1, 1, 1);
            assertThat(insert.executeBatch()).isEmpty();
            insert.setInt(2, 5);
            insert.addBatch();
            insert.setInt(2, 2);
            insert.addBatch();
            assertThatThrownBy(insert::executeBatch)
                    .isInstanceOfSatisfying(
                            BatchUpdateException.class,
                            e -> assertThat(e.getUpdateCounts()).containsExactly(1));
            assertThat(statement.execute("delete from Other_Set where k = 'batch'"))
                    .isFalse();
            assertThat(statement.getUpdateCount()).isEqualTo(4);
            assertThat(statement.getResultSet()).isNull();
            assertThat(statement.getMoreResults()).isFalse();
            assertThat(statement.getUpdateCount()).isEqualTo(-1);
            assertThat(statement.execute("values 1")).isTrue();
            assertThat(statement.getUpdateCount()).isEqualTo(-1);
            refused("HY024", () -> statement.executeUpdate("select k from Other_Set"));
            refused("HY024", () -> statement.executeQuery("delete from Other_Set"));
            statement.addBatch("delete from Other_Set where k = 'k1'");
            statement.addBatch("delete from Other_Set where k = 'k2'");
            assertThat(statement.executeBatch()).containsExactly(200, 200);
        }
    }

    @Test
    void a_statement_ends_by_cancel_and_by_its_timeout() throws Exception {
        String endless =
                "select count(*) as n from Other_Set a, Other_Set b, Other_Set c, Other_Set d"
                        + " where a.n + b.n + c.n + d.n < 0";
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            assertThatThrownBy(() -> all(statement.executeQuery(endless), "n"))
                    .isInstanceOf(SQLTimeoutException.class);
            statement.setQueryTimeout(0);
            AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
            Thread asking = Thread.ofPlatform().start(() -> {
                try {
                    all(statement.executeQuery(endless), "n");
                } catch (SQLException e) {
                    thrown.set(e);
                }
            });
            while (asking.isAlive()) {
                statement.cancel();
                asking.join(10);
            }
            assertThat(thrown.get())
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo("57014"));
            statement.cancel();
            assertThat(all(statement.executeQuery("values 1"), "column1")).hasSize(1);
            ResultSet rows = statement.executeQuery("select n from Other_Set");
            assertThat(rows.next()).isTrue();
            statement.cancel();
            refused("57014", rows::next);
        }
    }

    @Test
    void rows_are_limited() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.setMaxRows(3);
            statement.setFetchSize(100);
            assertThat(statement.getFetchSize()).isEqualTo(100);
            assertThat(all(statement.executeQuery("select n from Other_Set"), "n"))
                    .hasSize(3);
            refused("HY024", () -> statement.setMaxRows(-1));
            refused("HY024", () -> statement.setQueryTimeout(-1));
        }
    }

    @Test
    void a_statement_is_explained() throws SQLException {
        try (Connection connection = connect();
                PreparedStatement explained = connection.prepareStatement(
                        "explain select id from \"All\" where name = ?")) {
            explained.setString(1, "Ada");
            assertThat(all(explained.executeQuery(), "plan").toString()).contains("by_name");
        }
    }

    @Test
    void an_index_and_a_dataset_may_go_while_a_statement_is_prepared() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                PreparedStatement byName =
                        connection.prepareStatement("select id from \"All\" where name = ?")) {
            byName.setString(1, "Ada");
            assertThat(all(byName.executeQuery(), "id")).containsExactly(List.of(1L));
            statement.execute("drop index by_name on \"All\"");
            assertThat(all(byName.executeQuery(), "id")).containsExactly(List.of(1L));
            statement.execute("drop dataset \"All\"");
            refused("42000", byName::executeQuery);
        }
    }

    @Test
    void a_dataset_may_come_back_with_other_types_while_a_statement_is_prepared()
            throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create dataset Pets (id int64, k int64, primary key (id))");
            try (PreparedStatement byK =
                    connection.prepareStatement("select * from Pets where k = ?")) {
                byK.setString(1, "5");
                assertThat(all(byK.executeQuery())).isEmpty();
                statement.execute("drop dataset Pets");
                statement.execute(
                        "create dataset Pets (id int64, name string, k string, primary key (id))");
                statement.execute("insert into Pets values (1, 'Rex', '5')");
                assertThat(byK.getParameterMetaData().getParameterType(1)).isEqualTo(Types.VARCHAR);
                assertThat(Objects.requireNonNull(byK.getMetaData()).getColumnCount())
                        .isEqualTo(3);
                byK.setString(1, "5");
                assertThat(all(byK.executeQuery(), "name")).containsExactly(List.of("Rex"));
            }
        }
    }

    @Test
    void a_date_of_long_ago_stays_the_day_that_it_shows() throws SQLException {
        try (Connection connection = connect();
                PreparedStatement insert = connection.prepareStatement(
                        "insert into \"All\" (id, \"day\") values (?, ?)");
                PreparedStatement found =
                        connection.prepareStatement("select id from \"All\" where \"day\" = ?")) {
            Date day = Date.valueOf("1500-01-01");
            insert.setLong(1, 3);
            insert.setDate(2, day);
            assertThat(insert.executeUpdate()).isEqualTo(1);
            found.setObject(1, LocalDate.of(1500, 1, 1));
            assertThat(all(found.executeQuery(), "id")).containsExactly(List.of(3L));
            found.setDate(1, day);
            assertThat(all(found.executeQuery(), "id")).containsExactly(List.of(3L));
        }
    }

    @Test
    void what_another_thread_closes_leaves_nothing_open_and_ends_as_JDBC_has_it() throws Exception {
        try (Connection connection = connect();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            for (int round = 0; round < 400; round++) {
                PreparedStatement statement = connection.prepareStatement(
                        "select n from Other_Set where k = 'k1' and n < 20");
                CyclicBarrier start = new CyclicBarrier(2);
                // sooner or later: while it starts, while it is read
                long waitNanos = round % 100 * 5_000L;
                Future<?> closing = other.submit(() -> {
                    start.await();
                    long begin = System.nanoTime();
                    while (System.nanoTime() - begin < waitNanos) {
                        Thread.onSpinWait();
                    }
                    statement.close();
                    return null;
                });
                start.await();
                ResultSet rows = null;
                try {
                    rows = statement.executeQuery();
                    while (rows.next()) {
                        assertThat(rows.getInt(1)).isNotNegative();
                    }
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).isEqualTo("24000");
                }
                closing.get();
                assertThat(rows == null || rows.isClosed()).isTrue();
            }
        }
    }

    @Test
    void what_is_wrong_has_a_state() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.executeQuery("select nope from Other_Set"))
                    .isInstanceOf(SQLSyntaxErrorException.class)
                    .hasMessageContaining("line 1, column 8");
            refused(
                    "22000",
                    () -> all(
                            statement.executeQuery("select 1 / (n - n) as x from Other_Set"), "x"));
            unsupported(() -> connection.prepareCall("{call x}"));
            unsupported(connection::setSavepoint);
            unsupported(() -> connection.createStatement(
                    ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY));
            unsupported(() -> statement.executeUpdate("x", Statement.RETURN_GENERATED_KEYS));
        }
    }

    @Test
    void nothing_is_written_to_standard_error() throws SQLException {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try (Connection connection = connect();
                ResultSet rows = connection
                        .createStatement()
                        .executeQuery("select count(*) from Other_Set")) {
            assertThat(rows.next()).isTrue();
        } finally {
            System.setErr(before);
        }
        assertThat(written.toString(StandardCharsets.UTF_8)).isEmpty();
    }
}
