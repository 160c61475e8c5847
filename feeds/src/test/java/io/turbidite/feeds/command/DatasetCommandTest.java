package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Datasets that no feed has made. */
class DatasetCommandTest {
    @TempDir
    private Path directory;

    private Path store() {
        return directory.resolve("store");
    }

    private static Result create(Path store, String line) {
        return Command.run((Object[]) ("dataset create " + store + " " + line).split(" ", -1));
    }

    @Test
    void a_dataset_is_created_from_options_with_its_store() {
        Result result = create(
                store(),
                "People --key id --field id=int64 --field name=string --field tags=[string]"
                        + " --filter id --partitions 2 --maintenance validation"
                        + " --merge-policy leveling --page-bytes 8KiB --compression lz4");
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("dataset People is created\n");
        assertThat(Command.run("put", store(), "People", "{\"id\":1,\"name\":\"Ann\",\"tags\":[]}")
                        .code())
                .isZero();
        JsonNode listed = Command.run("dataset", "list", store(), "--json").json();
        assertThat(listed.path("dataset").asText()).isEqualTo("People");
        assertThat(listed.path("type").path("tags").asText()).isEqualTo("[string]");
        assertThat(listed.path("primaryKey").path(0).asText()).isEqualTo("id");
        assertThat(listed.path("partitions").asInt()).isEqualTo(2);
        JsonNode inspected = Command.run("inspect", store(), "--json").json();
        JsonNode dataset = inspected.path("datasets").path(0);
        assertThat(dataset.path("maintenance").asText()).isEqualTo("validation");
        assertThat(dataset.path("mergePolicy").asText()).startsWith("leveling");
        JsonNode primary = dataset.path("partitions").path(0).path("indexes").path(0);
        assertThat(primary.path("pageBytes").asInt()).isEqualTo(8192);
        assertThat(primary.path("compression").asText()).isEqualTo("lz4");
    }

    @Test
    void a_dataset_is_created_from_the_definition_of_a_feed() throws IOException {
        Path file = directory.resolve("trips.yaml");
        Files.writeString(file, Command.FEED); // there is no trips.csv
        Result result = Command.run("dataset", "create", store(), "--from", file);
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("dataset Trips is created\n");
        assertThat(Command.run("dataset", "list", store()).out())
                .isEqualTo(
                        "Trips: key carrier, number; 2 partitions; indexed by by_tail on tail; 0 B on disk, 0 B in memory\n");
        // the section alone is enough
        int section = Command.FEED.indexOf("dataset:");
        Files.writeString(file, Command.FEED.substring(section, Command.FEED.indexOf("source:")));
        result = Command.run("dataset", "create", store(), "--from", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("there is a dataset named Trips already");
        result =
                Command.run("dataset", "create", store(), "--from", file, "--if-missing", "--json");
        assertThat(result.json().path("state").asText()).isEqualTo("there");
        Files.writeString(file, Command.FEED.replace("delay: int32?", "delay: int64?"));
        result = Command.run("dataset", "create", store(), "--from", file, "--if-missing");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("delay");
        Files.writeString(file, Command.FEED.replace("kind: btree", "kind: bush"));
        result = Command.run("dataset", "create", store(), "--from", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("trips.yaml:19", "bush");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "People",
                "People --field id=int64",
                "People --key id",
                "People --key id --field id",
                "People --key id --field id=number",
                "People --key no --field id=int64",
                "_own --key id --field id=int64",
                "a/b --key id --field id=int64",
                "People --key id --field id=int64 --partitions 0",
                "People --key id --field id=int64 --maintenance lazy",
                "People --key id --field id=int64 --merge-policy none-such",
                "People --key id --field id=int64 --compression gzip",
                "People --key id --field id=int64 --page-bytes 1",
                "People --from no.yaml",
                "--from no.yaml",
                "--from no.yaml --partitions 2",
            })
    void what_is_wrong_makes_no_store(String line) {
        Result result = create(store(), line.isEmpty() ? "--json" : line);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).startsWith("turbidite: ").doesNotContain("internal");
        assertThat(store()).doesNotExist();
    }

    @Test
    void datasets_are_dropped_and_listed() {
        create(store(), "People --key id --field id=int64");
        Result refused = Command.run("dataset", "drop", store(), "People");
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).contains("--yes");
        Result result = Command.run("dataset", "drop", store(), "People", "--yes");
        assertThat(result.out()).isEqualTo("dataset People is dropped\n");
        assertThat(Command.run("dataset", "list", store()).out()).isEqualTo("no dataset\n");
        assertThat(Command.run("dataset", "list", store(), "--json").out()).isEmpty();
        assertThat(Command.run("dataset", "drop", "--help").out())
                .startsWith("Usage: ./turbidite dataset drop");
        assertThat(Command.run("dataset").err()).contains("create, drop or list");
    }
}
