package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.type.Point;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Each statement of the corpus, and each description, says the same in process and by socket. */
@EnabledOnOs(OS.LINUX)
class HeldCorpusTest {
    private static final Path CORPUS =
            Path.of("../query-ops/src/test/resources/io/turbidite/ops/sql/statements.txt");

    @TempDir
    Path directory;

    private static List<String> statements() throws IOException {
        List<String> statements = new ArrayList<>();
        for (String part : Files.readString(CORPUS).split("\n\n", -1)) {
            List<String> lines = part.lines()
                    .filter(line -> line.startsWith("> "))
                    .map(line -> line.substring(2))
                    .toList();
            if (!lines.isEmpty()) {
                statements.add(String.join("\n", lines));
            }
        }
        return statements;
    }

    private static void fill(Store store) {
        Dataset people = store.createDataset(DatasetSpec.named("People")
                .field("id", "int64")
                .field("name", "string?")
                .field("age", "int32?")
                .field("city", "string?")
                .field("score", "double?")
                .field("born", "date?")
                .field("seen", "datetime?")
                .field("ok", "bool?")
                .field("price", "decimal?")
                .field("tags", "[string]?")
                .field("home", "point?")
                .field("user", "{lang: string?, rank: int32?}?")
                .primaryKey("id")
                .index(IndexSpec.btree("by_city", "city")));
        String[] names = {"Ada", "Bob", "Cem", null, "eve_x", "Fay", "Gil%", "Dana"};
        String[] cities = {"London", "Paris", "Berlin", "London", null, "Rome", "Paris", "Oslo"};
        for (int i = 0; i < 8; i++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("id", i + 1L);
            row.put("name", names[i]);
            row.put("age", i == 2 ? null : 13 * i - 3);
            row.put("city", cities[i]);
            row.put("score", i == 4 ? null : i * 1.25 - 1);
            row.put("born", i == 3 ? null : LocalDate.of(1970 + 7 * i, 2, 28));
            row.put("seen", i == 2 ? null : Instant.ofEpochSecond(1_577_872_800L * i / 4, 500_000));
            row.put("ok", i % 3 == 2 ? null : i % 2 == 0);
            row.put("price", i == 3 ? null : new BigDecimal("10.50").multiply(new BigDecimal(i)));
            if (i % 2 == 1) {
                row.put("tags", List.of("t" + (i + 1), "even"));
            }
            if (i < 6) {
                row.put("home", new Point(i, 10 * i));
            }
            Map<String, @Nullable Object> user = new LinkedHashMap<>();
            user.put("lang", i > 3 ? "de" : "en");
            user.put("rank", i == 4 ? null : 10 - i);
            row.put("user", user);
            row.put("extra", List.of(30L, "41", "abc", 2.5, true, 7L, 8L, 9L).get(i));
            if (i == 0) {
                row.put("deep", Map.of("a", Map.of("b", 5L), "list", List.of(10L, "x")));
            }
            people.upsert(row);
        }
        Dataset sizes = store.createDataset(DatasetSpec.named("Cities")
                .field("city", "string")
                .field("country", "string?")
                .field("size", "int64?")
                .primaryKey("city"));
        sizes.upsert(Map.of("city", "London", "country", "UK", "size", 8_900_000L));
        sizes.upsert(Map.of("city", "Paris", "country", "France", "size", 2_100_000L));
        sizes.upsert(Map.of("city", "Rome", "country", "Italy"));
        sizes.upsert(Map.of("city", "Lyon", "country", "France", "size", 500_000L));
    }

    private static String cell(@Nullable Object value) {
        return value == null
                ? "null"
                : value.getClass().getSimpleName().replaceAll("Unmodifiable.*|Collections.*", "")
                        + " "
                        + (value instanceof byte[] raw ? Arrays.toString(raw) : value);
    }

    private static List<String> lines(ResultSet rows) throws SQLException {
        List<String> lines = new ArrayList<>();
        ResultSetMetaData columns = rows.getMetaData();
        StringBuilder head = new StringBuilder();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            head.append(columns.getColumnName(i))
                    .append(' ')
                    .append(columns.getColumnTypeName(i))
                    .append(columns.isNullable(i))
                    .append(", ");
        }
        while (rows.next()) {
            StringBuilder line = new StringBuilder();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                Object value = rows.getObject(i);
                line.append(
                                value instanceof List<?> || value instanceof Map<?, ?>
                                        ? "= " + value
                                        : cell(value))
                        .append(rows.wasNull())
                        .append('/')
                        .append(rows.getString(i))
                        .append(" | ");
            }
            lines.add(line.toString());
        }
        lines.sort(null);
        lines.addFirst(head.toString());
        return lines;
    }

    private static List<String> answer(Statement statement, String text) {
        try {
            if (statement.execute(text)) {
                try (ResultSet rows = statement.getResultSet()) {
                    return lines(rows);
                }
            }
            return List.of("changed " + statement.getUpdateCount());
        } catch (SQLException e) {
            return List.of(e.getClass() + " " + e.getSQLState() + " " + e.getErrorCode() + " "
                    + e.getMessage());
        }
    }

    private Map<String, List<String>> answers() throws IOException, SQLException {
        Map<String, List<String>> answers = new LinkedHashMap<>();
        try (Connection connection = DriverManager.getConnection(
                        "jdbc:turbidite:" + directory + "?readOnly=true");
                Statement statement = connection.createStatement()) {
            for (String text : statements()) {
                answers.put(text, answer(statement, text));
            }
            DatabaseMetaData store = connection.getMetaData();
            answers.put("tables", lines(store.getTables(null, null, "%", null)));
            answers.put("columns", lines(store.getColumns(null, null, "%", "%e%")));
            answers.put("keys", lines(store.getPrimaryKeys(null, null, "People")));
            answers.put("indexes", lines(store.getIndexInfo(null, null, "People", false, false)));
            answers.put("row", lines(store.getBestRowIdentifier(null, null, "Cities", 0, true)));
            answers.put("types", lines(store.getTypeInfo()));
        }
        return answers;
    }

    @Test
    void both_ways_give_equal_types_values_and_errors() throws IOException, SQLException {
        try (Store store = Store.open(directory)) {
            fill(store);
        }
        Map<String, List<String>> own = answers();
        assertThat(own).hasSizeGreaterThan(300);
        assertThat(own.values().stream().filter(lines -> lines.size() > 1).count())
                .as("statements with rows")
                .isGreaterThan(200);
        try (Store store = Store.open(directory);
                StoreServer server = StoreServer.start(store)) {
            Map<String, List<String>> held = answers();
            assertThat(held.keySet()).isEqualTo(own.keySet());
            held.forEach((text, lines) -> assertThat(lines).as(text).isEqualTo(own.get(text)));
            assertThat(server.sessionCount()).isZero();
        }
    }
}
