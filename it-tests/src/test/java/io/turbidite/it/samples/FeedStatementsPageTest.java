package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedsOfManager;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs the statements of docs/feeds.md, beside what runs the feeds. */
@Timeout(60)
class FeedStatementsPageTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern BLOCK =
            Pattern.compile("^```sql\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    @TempDir
    private Path directory;

    private static String block() throws IOException {
        Matcher block = BLOCK.matcher(Files.readString(ROOT.resolve("docs/feeds.md")));
        assertThat(block.find()).isTrue();
        return block.group(1);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void the_statements_of_the_page_run_where_the_store_is_served() throws IOException {
        Path script = Files.writeString(directory.resolve("page.sql"), block());
        Path home = directory.resolve("store");
        try (Store store = Store.open(home);
                FeedManager feeds = FeedManager.open(store);
                StoreServer server = StoreServer.start(store, feeds)) {
            assertThat(server.problem()).isEmpty();
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
            int code = Main.run(
                    new String[] {"sql", home.toString(), "-f", script.toString()}, out, out);
            String text = said.toString(StandardCharsets.UTF_8);
            assertThat(code).as(text).isZero();
            assertThat(text)
                    .containsPattern("levels +Levels")
                    .containsPattern("dataset.type.metres +double")
                    .containsPattern("dataset.primaryKey +\\[gauge, at\\]");
            assertThat(feeds.list()).isEmpty();
        }
    }

    @Test
    void an_application_runs_them_by_its_own_manager() throws IOException {
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            Sql sql =
                    Sql.on(StoreCatalog.of(store, false).with(FeedsOfManager.of(feeds, directory)));
            int ran = 0;
            for (String text : List.of(block().split(";\n", -1))) {
                if (!text.isBlank() && Sql.changes(text)) {
                    SqlStatement statement = sql.statement(text);
                    assertThat(statement.execute()).isZero();
                    ran++;
                    assertThat(feeds.list()).hasSize(text.startsWith("drop") ? 0 : 1);
                }
            }
            assertThat(ran).isEqualTo(4);
        }
    }

    /** A connection opens the store by itself: nobody runs feeds there. */
    @Test
    void a_connection_says_who_runs_feeds_and_a_read_only_one_refuses() throws SQLException {
        Path home = directory.resolve("store");
        Store.open(home).close();
        String create = "create feed f with (workers = 1)";
        for (boolean isReadOnly : List.of(false, true)) {
            String url = "jdbc:turbidite:" + home + (isReadOnly ? "?readOnly=true" : "");
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                for (String text : List.of(create, "start feed f", "stop feed f", "drop feed f")) {
                    assertThat(refusal(statement, text))
                            .contains(isReadOnly ? "read" : "./turbidite serve");
                }
                assertThat(refusal(statement, "show feeds")).contains("./turbidite serve");
            }
        }
    }

    private static String refusal(Statement statement, String text) {
        try {
            var _ = statement.execute(text);
        } catch (SQLException e) {
            return String.valueOf(e.getMessage());
        }
        throw new AssertionError(text + " was taken");
    }
}
