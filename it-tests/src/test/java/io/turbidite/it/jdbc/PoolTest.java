package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A pool as it is: HikariCP. */
class PoolTest {
    @TempDir
    Path directory;

    private HikariConfig config() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:turbidite:" + directory);
        config.setMaximumPoolSize(3);
        config.setMinimumIdle(1);
        return config;
    }

    @Test
    void threads_share_the_connections_of_a_pool() throws Exception {
        aStore();
        checkPool();
        // the last connection closed the store
        Store.open(directory).close();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void threads_share_the_connections_of_a_pool_to_a_store_that_is_held() throws Exception {
        aStore();
        try (Store store = Store.open(directory);
                StoreServer server = StoreServer.start(store)) {
            checkPool();
            assertThat(server.sessionCount()).isZero();
        }
    }

    private void aStore() {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("Pets")
                            .field("id", "int32")
                            .field("name", "string?")
                            .primaryKey("id"))
                    .upsert(Map.of("id", 0, "name", "Rex"));
        }
    }

    private void checkPool() throws Exception {
        try (HikariDataSource pool = new HikariDataSource(config());
                ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<Future<Integer>> done = new ArrayList<>();
            for (int i = 1; i <= 24; i++) {
                int id = i;
                Callable<Integer> insert = () -> inserted(pool, id);
                done.add(threads.submit(insert));
            }
            for (Future<Integer> one : done) {
                assertThat(one.get()).isEqualTo(1);
            }
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                assertThat(count(connection)).isEqualTo(25);
                // not ended: the pool does it
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isTrue();
                assertThat(inserted(pool, 25)).isEqualTo(1);
                assertThat(count(connection)).isEqualTo(26);
            }
        }
    }

    private static int inserted(HikariDataSource pool, int id) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("insert into Pets (id, name) values (?, ?)")) {
            insert.setInt(1, id);
            insert.setString(2, "pet " + id);
            return insert.executeUpdate();
        }
    }

    private static long count(Connection connection) throws SQLException {
        try (PreparedStatement count =
                        connection.prepareStatement("select count(*) as n from Pets");
                ResultSet rows = count.executeQuery()) {
            assertThat(rows.next()).isTrue();
            return rows.getLong("n");
        }
    }

    @Test
    void a_pool_without_a_store_says_so() {
        HikariConfig config = config();
        config.setJdbcUrl("jdbc:turbidite:" + directory.resolve("none"));
        assertThatThrownBy(() -> new HikariDataSource(config)).hasMessageContaining("none");
    }
}
