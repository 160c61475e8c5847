package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

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
import java.util.Arrays;
import java.util.stream.Stream;

/** Feeds of a store that is served, from another process's command line. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class FeedCommandTest {
    @TempDir
    private Path directory;

    private Path definition(String feed, String more) throws IOException {
        return Files.writeString(directory.resolve(feed + ".yaml"), """
                feed: %s
                dataset:
                  name: D
                  type: { id: int64, name: string }
                  primaryKey: id
                source: { kind: tail, path: in.json }
                parser: { kind: json }
                %s
                """.formatted(feed, more));
    }

    private Result feed(String what, Object... more) {
        Object[] line = new Object[3 + more.length];
        line[0] = "feed";
        line[1] = what;
        line[2] = directory.resolve("store");
        System.arraycopy(more, 0, line, 3, more.length);
        return Command.run(line);
    }

    private static void await(Store store, FeedManager feeds, String feed, FeedState state) {
        store.environment().tasks().await(() -> feeds.status(feed).state() == state);
    }

    @Test
    void aFeedIsStartedWatchedAndEnded() throws IOException {
        Files.writeString(
                directory.resolve("in.json"),
                "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n{\"id\":\"c\"}\n");
        Path yaml = definition("f", "");
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store);
                StoreServer server = StoreServer.start(store, feeds)) {
            assertThat(server.problem()).isEmpty();
            assertThat(feed("list").out()).isEqualTo("no feed\n");
            Result started = feed("start", yaml);
            assertThat(started.err()).isEmpty();
            assertThat(started.out()).startsWith("f: ").contains(" into D");
            await(store, feeds, "f", FeedState.WAITING);
            assertThat(feed("list").out())
                    .matches("f: waiting since [^;]+; 2 records into D, 1 rejected\n");
            JsonNode status = feed("status", "f", "--json").json();
            assertThat(status.path("state").asText()).isEqualTo("waiting");
            assertThat(status.path("records").asLong()).isEqualTo(2);
            assertThat(status.path("definition").asText()).isEqualTo(Files.readString(yaml));
            assertThat(feed("status", "f").out()).contains("  feed: f\n");
            assertThat(feed("pause", "f").out()).startsWith("f: paused");
            assertThat(feed("pause", "f").code()).isEqualTo(2);
            assertThat(feed("resume", "f").code()).isZero();
            await(store, feeds, "f", FeedState.WAITING);

            Result letters = feed("letters", "f");
            assertThat(letters.out()).startsWith("in.json#").contains("line 3: ", "{\"id\":\"c\"}");
            assertThat(letters.err()).isEmpty();
            assertThat(feed("letters", "f", "--json").json().path("raw").asText())
                    .isEqualTo("{\"id\":\"c\"}");

            assertThat(feed("letters", "f", "--retry").out())
                    .isEqualTo("f: 0 dead letters fed again, 1 rejected again\n");
            assertThat(feed("letters", "f", "--json").out().lines()).hasSize(1);
            assertThat(feed("letters", "f", "--json", "--from", "0").out().lines())
                    .hasSize(2);
            await(store, feeds, "f", FeedState.WAITING);

            assertThat(feed("start", yaml).err())
                    .contains("there is a feed f, which is waiting", "with --change");
            assertThat(feed("status", "f").out()).doesNotContain("worker");
            definition("f", "transform: { name: upper(name) }\nworkers: 2");
            assertThat(feed("start", yaml, "--change").code()).isZero();
            await(store, feeds, "f", FeedState.WAITING);
            assertThat(feed("status", "f").out()).as("of one file").contains(", 1 worker\n");
            assertThat(feed("list").out()).contains(", 1 worker\n");
            Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
            Path moved = Files.copy(yaml, elsewhere.resolve("f.yaml"));
            Files.copy(directory.resolve("in.json"), elsewhere.resolve("in.json"));
            assertThat(feed("start", moved, "--change").err())
                    .isEqualTo(
                            "feed f: relative paths in its definition are from %s now, and were from %s%n"
                                    .formatted(elsewhere, directory));
            assertThat(feed("start", moved, "--change").err()).isEmpty();
            assertThat(feed("status", "f").out()).contains("with paths from " + elsewhere);
            Files.writeString(yaml, Files.readString(yaml).replace("in.json", "out.json"));
            Result refused = feed("start", yaml, "--change");
            assertThat(refused.code()).isEqualTo(2);
            assertThat(refused.err())
                    .startsWith("turbidite: %s:6: source.path can't change".formatted(yaml));
            Files.writeString(yaml, Files.readString(yaml) + "sauce: b\n");
            for (String[] more : new String[][] {{}, {"--change"}}) {
                Object[] line = Stream.concat(Stream.of(yaml), Stream.of(more)).toArray();
                assertThat(feed("start", line).err())
                        .startsWith("turbidite: %s:10: sauce ".formatted(yaml));
            }

            assertThat(feed("stop", "f").out()).startsWith("f: stopped");
            assertThat(feed("drop", "f").out()).isEqualTo("dropped feed f\n");
            assertThat(feed("drop", "f").err()).contains("there is no feed 'f'");
        }
    }

    @Test
    void withoutAServerTheErrorNamesIt() throws IOException {
        Path yaml = definition("f", "");
        for (Object[] command : new Object[][] {
            {"list"},
            {"start", yaml},
            {"status", "f"},
            {"pause", "f"},
            {"resume", "f"},
            {"stop", "f"},
            {"drop", "f"},
            {"letters", "f"}
        }) {
            Object[] more = Arrays.copyOfRange(command, 1, command.length);
            Result result = feed((String) command[0], more);
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err()).contains("store does not exist").doesNotContain("serve");
        }
        assertThat(directory.resolve("store")).doesNotExist();
        Store.open(directory.resolve("store")).close();
        assertThat(feed("list").err()).contains("no process serves the store", "./turbidite serve");
        try (Store store = Store.open(directory.resolve("store"));
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            Result result = feed("list");
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err())
                    .contains("runs no feeds beside its own work", "./turbidite serve");
        }
        assertThat(Command.run("feed").err()).contains("say what to do: start, list");
    }
}
