package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;

/** What an address says of statements, and a statement of its explanation. */
class JdbcOptionsTest {
    @TempDir
    Path directory;

    @BeforeEach
    void aStore() {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("name", "string?")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_name", "name")));
            store.dataset("T").upsert(Map.of("id", 1L, "name", "Ada"));
        }
    }

    private String url(String options) {
        return "jdbc:turbidite:" + directory + options;
    }

    @Test
    void planning_has_a_limit() throws SQLException {
        String sum = "id" + " + 2".repeat(150);
        String text = "select " + (sum + ", ").repeat(100) + "id from T";
        Properties properties = new Properties();
        properties.setProperty("planningMillis", "1");
        for (Connection connection : new Connection[] {
            DriverManager.getConnection(url("?planningMillis=1")),
            DriverManager.getConnection(url(""), properties)
        }) {
            try (connection;
                    Statement statement = connection.createStatement()) {
                assertThatThrownBy(() -> statement.executeQuery(text))
                        .isInstanceOf(SQLSyntaxErrorException.class)
                        .hasMessageContaining("takes more than 0.001 s to plan");
            }
        }
        try (Connection connection =
                        DriverManager.getConnection(url("?readOnly=true&planningMillis=600000"));
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeQuery("select id from T").next()).isTrue();
        }
        for (String wrong : new String[] {"", "0", "-1", "9999999999", "1s"}) {
            assertThatThrownBy(() -> DriverManager.getConnection(url("?planningMillis=" + wrong)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("planningMillis is a number from 1 to");
        }
    }

    @Test
    void an_explanation_as_json_is_one_line() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(""));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "explain analyze as json select id from T where name = 'Ada'")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getString("plan"))
                    .startsWith("{\"dataset\":\"T\"")
                    .contains("by_name", "\"actual\":1")
                    .endsWith("}");
            assertThat(rows.next()).isFalse();
        }
    }
}
