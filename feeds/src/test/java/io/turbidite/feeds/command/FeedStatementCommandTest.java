package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Feeds by statements of SQL, from another process's command line. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class FeedStatementCommandTest {
    @TempDir
    private Path directory;

    private Result sql(String statement) {
        return Command.run("sql", directory.resolve("store"), "--json", statement);
    }

    private void refuses(String statement, String... told) {
        Result refused = sql(statement);
        assertThat(refused.code()).as(statement).isEqualTo(2);
        assertThat(refused.err()).as(statement).contains(told);
    }

    private String create(String more) {
        return """
                create feed lines with (
                  dataset.name = 'Lines',
                  dataset.type = '{ id: int64, name: "string?" }',
                  dataset.primaryKey = id,
                  source.kind = tail,
                  source.path = '%s',
                  parser.kind = 'json'%s)""".formatted(directory.resolve("in.json"), more);
    }

    @Test
    void a_feed_is_defined_started_and_ended_where_it_is_served() throws IOException {
        Files.writeString(directory.resolve("in.json"), "{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n");
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store);
                StoreServer server = StoreServer.start(store, feeds)) {
            assertThat(server.problem()).isEmpty();
            assertThat(sql("show feeds").out()).isEmpty();
            refuses(
                    create(",\n  parser.kinds = 'json'"),
                    "line 8, column 3: parser.kinds",
                    "is 'kind' meant?");
            refuses(
                    create(",\n  dataset.indexes = '[{ name: by_name, kind: btree, on: nam }]'"),
                    "line 8, column 3: dataset.indexes[0].on ");
            refuses(create(",\n  source = '{}'"), "line 8, column 3: source is given beside");
            refuses(
                    "create feed lines with (workers = 1)",
                    "line 1, column 13: dataset is missing");
            assertThat(feeds.list()).as("nothing of what was refused").isEmpty();
            assertThat(store.findDataset("Lines")).isNull();

            assertThat(sql(create(",\n  workers = 2")).out())
                    .isEqualTo("{\"ok\":true,\"changed\":0}\n");
            await(store, feeds, FeedState.WAITING);
            assertThat(sql("select id, name from Lines order by id").out())
                    .isEqualTo("{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n");
            assertThat(sql("show feeds").out())
                    .startsWith(
                            "{\"feed\":\"lines\",\"dataset\":\"Lines\",\"state\":\"waiting\",\"since\":\"")
                    .endsWith("\"records\":2,\"rejected\":0,\"dropped\":0,\"cause\":null}\n");
            assertThat(sql("describe feed lines").out().lines())
                    .startsWith(
                            "{\"key\":\"feed\",\"value\":\"lines\"}",
                            "{\"key\":\"dataset.name\",\"value\":\"Lines\"}",
                            "{\"key\":\"dataset.type.id\",\"value\":\"int64\"}",
                            "{\"key\":\"dataset.type.name\",\"value\":\"string?\"}",
                            "{\"key\":\"dataset.primaryKey\",\"value\":\"id\"}")
                    .endsWith(
                            "{\"key\":\"parser.kind\",\"value\":\"json\"}",
                            "{\"key\":\"workers\",\"value\":\"2\"}");

            refuses(create(""), "line 1, column 13: there is a feed lines, which is waiting");
            assertThat(sql(create("").replace("feed lines", "feed if not exists lines"))
                            .code())
                    .isZero();
            refuses("start feed lines", "line 1, column 12: feed lines ");
            assertThat(sql("stop feed lines").code()).isZero();
            assertThat(feeds.status("lines").word()).isEqualTo("stopped");
            refuses("stop feed lines", "line 1, column 11: feed lines ");
            assertThat(sql("start feed lines").code()).isZero();
            await(store, feeds, FeedState.WAITING);
            assertThat(sql("drop feed lines").code()).as("one that runs").isZero();
            assertThat(feeds.list()).isEmpty();
            refuses("drop feed lines", "line 1, column 11: there is no feed 'lines'");
            assertThat(sql("drop feed if exists lines").code()).isZero();
            assertThat(sql("select count(*) as n from Lines").out()).isEqualTo("{\"n\":2}\n");
        }
    }

    private static void await(Store store, FeedManager feeds, FeedState state) {
        store.environment().tasks().await(() -> feeds.status("lines").state() == state);
    }

    @Test
    void where_nobody_runs_feeds_the_error_says_who_would() {
        try (Store store = Store.open(directory.resolve("store"));
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            refuses("show feeds", "line 1, column 6: no feed", "./turbidite serve");
        }
        refuses("show feeds", "./turbidite serve", "io.turbidite:turbidite-feeds");
        refuses(create(""), "line 1, column 13: no feed of the store is run here");
        refuses("drop feed lines", "line 1, column 11: no feed of the store is run here");
    }
}
