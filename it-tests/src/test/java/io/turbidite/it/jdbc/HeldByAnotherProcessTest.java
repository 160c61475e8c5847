package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Two processes: one holds the store, the other connects by JDBC. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class HeldByAnotherProcessTest {
    @TempDir
    Path directory;

    @Test
    void a_store_of_another_process_is_read_and_changed_until_that_is_killed() throws Exception {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
        }
        Process holder = start();
        try (BufferedReader said = holder.inputReader()) {
            assertThat(said.readLine()).isEqualTo("ready");
            Connection connection = DriverManager.getConnection("jdbc:turbidite:" + directory);
            try (PreparedStatement insert =
                    connection.prepareStatement("insert into T (id) values (?)")) {
                for (int i = 0; i < 1_000; i++) {
                    insert.setLong(1, i);
                    insert.addBatch();
                }
                assertThat(insert.executeBatch()).hasSize(1_000).containsOnly(1);
            }
            DriverManager.getConnection("jdbc:turbidite:" + directory).close();
            holder.outputWriter().append("?").flush();
            assertThat(said.readLine()).isEqualTo("1");
            Statement statement = connection.createStatement();
            statement.setFetchSize(5);
            ResultSet rows = statement.executeQuery("select id from T order by id");
            assertThat(rows.next()).isTrue();
            holder.destroyForcibly().waitFor();
            assertThatThrownBy(() -> {
                        while (rows.next()) {
                            assertThat(rows.getLong(1)).isLessThan(5);
                        }
                    })
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08006"))
                    .hasMessageContaining("the process that holds the store");
            assertThat(connection.isValid(1)).isFalse();
            connection.close();
        } finally {
            holder.destroyForcibly();
        }
        // nobody holds it: what was told to be written is there
        try (Connection connection = DriverManager.getConnection("jdbc:turbidite:" + directory);
                ResultSet rows =
                        connection.createStatement().executeQuery("select count(*) from T")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getLong(1)).isEqualTo(1_000);
        }
    }

    private Process start() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HolderProcess.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
