package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** All that {@link JdbcTest} asks, of a store that somebody else holds, over its socket. */
@EnabledOnOs(OS.LINUX)
class HeldJdbcTest extends JdbcTest {
    private @Nullable Store held;
    private @Nullable StoreServer server;

    @Override
    void hold() {
        Store store =
                Store.open(directory, StoreOptions.defaults().withDurability(Durability.PROCESS));
        held = store;
        server = StoreServer.start(store);
        assertThat(server.problem()).isEmpty();
    }

    private StoreServer server() {
        return Objects.requireNonNull(server);
    }

    @Override
    void checkNothingHeld() {
        // a goodbye is answered when all is closed
        assertThat(server().sessionCount()).isZero();
    }

    @AfterEach
    void nothing_is_left() {
        checkNothingHeld();
        server().close();
        Objects.requireNonNull(held).close();
    }

    @Override
    @Test
    void connections_of_a_process_share_a_store() throws SQLException {
        Connection first = connect("");
        try (Connection second = connect("?readOnly=true")) {
            assertThat(second.isReadOnly()).isTrue();
            refused("25006", () -> second.setReadOnly(false));
            refused("25006", () -> second.createStatement().executeUpdate("delete from Other_Set"));
            first.close();
            assertThat(second.isValid(1)).isTrue();
            assertThat(first.isValid(1)).isFalse();
        }
        refused("08001", () -> connect("?readonly=true"));
    }

    @Test
    void a_holder_that_serves_nobody_is_told_of() throws SQLException {
        server().close();
        assertThatThrownBy(() -> connect(""))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"))
                .hasMessageContaining("in use by this process")
                .hasMessageContaining("StoreServer.start(store)");
        server = StoreServer.start(Objects.requireNonNull(held));
        connect("").close();
    }

    @Test
    void a_holder_that_ends_in_the_middle_is_told_of() throws SQLException {
        Connection connection = connect("");
        Statement statement = connection.createStatement();
        statement.setFetchSize(10);
        ResultSet rows = statement.executeQuery("select n from Other_Set");
        assertThat(rows.next()).isTrue();
        server().close();
        // what was fetched can be read
        int read = 1;
        try {
            while (rows.next()) {
                read++;
            }
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isEqualTo("08006");
            assertThat(e.getMessage()).contains("lets go of it");
        }
        assertThat(read).isEqualTo(10);
        refused("08006", () -> statement.executeQuery("values 1"));
        assertThat(connection.isValid(1)).isFalse();
        connection.close();
        server = StoreServer.start(Objects.requireNonNull(held));
    }

    @Test
    void results_of_a_connection_are_read_side_by_side_in_any_pieces() throws SQLException {
        try (Connection connection = connect("")) {
            for (int fetchSize : new int[] {1, 7, 64, 0}) {
                List<Integer> first = new ArrayList<>();
                List<Integer> second = new ArrayList<>();
                try (Statement one = connection.createStatement();
                        Statement other = connection.createStatement()) {
                    one.setFetchSize(fetchSize);
                    ResultSet up = one.executeQuery("select n from Other_Set order by n");
                    ResultSet down = other.executeQuery("select n from Other_Set order by n desc");
                    while (up.next()) {
                        assertThat(down.next()).isTrue();
                        first.add(up.getInt(1));
                        second.add(down.getInt(1));
                    }
                    assertThat(down.next()).isFalse();
                    assertThat(up.next()).isFalse();
                }
                assertThat(first).hasSize(2_000).isSorted();
                assertThat(second.reversed()).isEqualTo(first);
            }
        }
    }

    @Test
    void rows_before_one_that_fails_are_there() throws SQLException {
        String late = "select 10 / (1999 - n) as x from Other_Set";
        try (Connection connection = connect("");
                Statement statement = connection.createStatement()) {
            ResultSet rows = statement.executeQuery(late);
            assertThat(rows.next()).isTrue();
            refused("22000", () -> {
                while (rows.next()) {
                    assertThat(rows.getString(1)).isNotNull();
                }
            });
            refused("22000", rows::next);
        }
    }

    @Test
    void more_connections_than_may_be_are_refused_and_come_when_one_has_gone() throws SQLException {
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < 32; i++) {
                open.add(connect(""));
            }
            assertThatThrownBy(() -> connect(""))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"))
                    .hasMessageContaining("32 connections of JDBC are open there");
            open.removeLast().close();
            open.add(connect(""));
        } finally {
            for (Connection one : open) {
                one.close();
            }
        }
    }

    @Test
    void long_texts_and_values_go_through() throws SQLException {
        String name = "ä€𝄞".repeat(400_000);
        Objects.requireNonNull(held)
                .dataset("All")
                .upsert(Map.of("id", 9L, "user", Map.of("lang", name)));
        try (Connection connection = connect("");
                PreparedStatement byName =
                        connection.prepareStatement("select name from \"All\" where name = ?");
                Statement statement = connection.createStatement()) {
            ResultSet rows = statement.executeQuery(
                    "select t.user.lang from \"All\" t where id = 9 -- " + "x".repeat(900_000));
            assertThat(rows.next()).isTrue();
            assertThat(rows.getString(1)).isEqualTo(name);
            byName.setString(1, "x".repeat(33 << 20));
            refused("54000", byName::executeQuery);
            assertThat(connection.isValid(1)).isTrue();
        }
    }

    @Test
    void a_driver_says_the_same_of_what_is_wrong_both_ways() throws SQLException {
        try (Connection connection = connect("");
                PreparedStatement byName =
                        connection.prepareStatement("select id from \"All\" where name = ?")) {
            byName.setObject(1, Thread.State.NEW);
            assertThatThrownBy(byName::executeQuery)
                    .hasMessage("parameter 1 is a VARCHAR: a State is no value of that type");
            byName.setString(1, "half \ud834");
            assertThatThrownBy(byName::executeQuery)
                    .hasMessageContaining("half of a surrogate pair");
        }
        assertThatThrownBy(() -> DriverManager.getConnection("jdbc:turbidite:" + directory + "/x"))
                .hasMessageContaining("/x");
    }
}
