package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.lsm.Store;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.TimeZone;

/** What the contract of JDBC says of calls that follow each other. */
class JdbcContractTest {
    @TempDir
    private Path directory;

    private Connection connection;
    private TimeZone zone;

    @BeforeEach
    void connect() throws SQLException {
        zone = TimeZone.getDefault();
        Store.open(directory).close();
        connection = DriverManager.getConnection("jdbc:turbidite:" + directory);
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(
                    "create dataset T (id bigint primary key, n int, day date, at time)");
        }
    }

    @AfterEach
    void disconnect() throws SQLException {
        TimeZone.setDefault(zone);
        connection.close();
    }

    @Test
    void a_result_that_was_closed_before_closes_nothing_again() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.closeOnCompletion();
            ResultSet first = statement.executeQuery("select 1 as a");
            ResultSet second = statement.executeQuery("select 2 as b");
            first.close();
            assertThat(second.next()).isTrue();
            assertThat(second.getInt(1)).isEqualTo(2);
            second.close();
            assertThat(statement.isClosed()).isTrue();
        }
    }

    @Test
    void an_update_leaves_its_count() throws SQLException {
        try (Statement statement = connection.createStatement();
                PreparedStatement one =
                        connection.prepareStatement("insert into T (id) values (?)")) {
            statement.executeUpdate("insert into T (id) values (1), (2)");
            assertThat(statement.getUpdateCount()).isEqualTo(2);
            assertThat(statement.getMoreResults()).isFalse();
            assertThat(statement.getUpdateCount()).isEqualTo(-1);
            one.setLong(1, 3);
            one.executeUpdate();
            assertThat(one.getUpdateCount()).isEqualTo(1);
        }
    }

    @Test
    void a_batch_leaves_the_values_that_were_set() throws SQLException {
        try (PreparedStatement one = connection.prepareStatement("insert into T (id) values (?)")) {
            one.setLong(1, 1);
            one.addBatch();
            one.setLong(1, 2);
            assertThat(one.executeBatch()).containsExactly(1);
            assertThat(one.executeUpdate()).isEqualTo(1);
            one.setLong(1, 1);
            one.addBatch();
            one.setLong(1, 3);
            assertThatThrownBy(one::executeBatch).isInstanceOf(BatchUpdateException.class);
            assertThat(one.executeUpdate()).isEqualTo(1);
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select max(id), count(*) from T")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getLong(1)).isEqualTo(3);
            assertThat(rows.getLong(2)).isEqualTo(3);
        }
    }

    @Test
    void a_day_and_a_time_are_those_that_a_local_value_shows() throws SQLException {
        TimeZone.setDefault(TimeZone.getTimeZone("America/New_York"));
        try (PreparedStatement one =
                connection.prepareStatement("insert into T (id, day, at) values (1, ?, ?)")) {
            one.setObject(1, LocalDateTime.of(2020, 1, 1, 0, 0));
            one.setObject(2, LocalDateTime.of(2020, 1, 1, 3, 30));
            one.executeUpdate();
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select day, at from T")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getObject(1, LocalDate.class)).isEqualTo(LocalDate.of(2020, 1, 1));
            assertThat(rows.getObject(2, LocalTime.class)).isEqualTo(LocalTime.of(3, 30));
        }
    }

    @Test
    void a_number_of_any_scale_is_true_or_false() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "select cast(1 as decimal(5, 2)), cast(0 as decimal(5, 2)), -0.0e0, 2")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getBigDecimal(1)).isEqualByComparingTo(BigDecimal.ONE);
            assertThat(rows.getBoolean(1)).isTrue();
            assertThat(rows.getBoolean(2)).isFalse();
            assertThat(rows.getBoolean(3)).isFalse();
            assertThatThrownBy(() -> rows.getBoolean(4)).isInstanceOf(SQLException.class);
        }
    }
}
