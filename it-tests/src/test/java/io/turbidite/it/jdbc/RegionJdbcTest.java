package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A store with an index of kind pm, opened by its JDBC address alone. */
class RegionJdbcTest {
    @TempDir
    Path directory;

    private static List<Long> ids(Statement statement, String key) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (ResultSet rows =
                statement.executeQuery("select id from Visits where user_name = '" + key + "'")) {
            while (rows.next()) {
                ids.add(rows.getLong(1));
            }
        }
        ids.sort(null);
        return ids;
    }

    @Test
    void statements_read_and_change_what_a_region_indexes() throws SQLException {
        StoreOptions options = StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
        try (Store store = Store.open(directory, options)) {
            store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user_name", "string")
                    .primaryKey("id")
                    .index(IndexSpec.pm("by_user", "user_name")));
            for (long id = 0; id < 60; id++) {
                store.dataset("Visits").upsert(Map.of("id", id, "user_name", "u" + id % 20));
            }
            store.dataset("Visits").flush();
        }
        for (String reading : List.of("", "?readOnly=true")) {
            try (Connection connection =
                            DriverManager.getConnection("jdbc:turbidite:" + directory + reading);
                    Statement statement = connection.createStatement()) {
                assertThat(ids(statement, "u7")).containsExactly(7L, 27L, 47L);
                try (ResultSet plan = statement.executeQuery(
                        "explain select id from Visits where user_name = 'u7'")) {
                    StringBuilder lines = new StringBuilder();
                    while (plan.next()) {
                        lines.append(plan.getString(1)).append('\n');
                    }
                    assertThat(lines).contains("by_user");
                }
            }
        }
        try (Connection connection = DriverManager.getConnection("jdbc:turbidite:" + directory);
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate("delete from Visits where id = 27"))
                    .isEqualTo(1);
            assertThat(statement.executeUpdate("update Visits set user_name = 'u7' where id = 8"))
                    .isEqualTo(1);
            assertThat(ids(statement, "u7")).containsExactly(7L, 8L, 47L);
            var _ = statement.execute("create index by_user_again on Visits (user_name) using pm");
            assertThat(ids(statement, "u7")).containsExactly(7L, 8L, 47L);
            assertThatThrownBy(
                            () -> statement.execute(
                                    "create index wrong on Visits (user_name) using pm with (\"pageBytes\" = '1000')"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("pageBytes must be a multiple of 256");
            var _ = statement.execute(
                    "create index by_user_too on Visits (user_name) using pm with (\"pageBytes\" = '512')");
        }
    }
}
