package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Files that no manifest names are shown, and deleted when they are told to be. */
class TrashCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = directory.resolve("store");
        try (Store open = Store.open(store)) {
            Dataset dataset = open.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            dataset.upsert(Map.of("id", 1L));
            dataset.flush();
        }
        Files.copy(files("data").getFirst(), store.resolve("data/0000000000fe.component"));
        Store.open(store).close();
    }

    private List<Path> files(String name) throws IOException {
        try (Stream<Path> paths = Files.list(store.resolve(name))) {
            return paths.sorted().toList();
        }
    }

    @Test
    void trash_is_listed_inspected_and_emptied() throws IOException {
        long bytes = Files.size(store.resolve("trash/0000000000fe.component"));
        Result listed = Command.run("trash", store);
        assertThat(listed.code()).isZero();
        assertThat(listed.outLines()).hasSize(2);
        assertThat(listed.outLines().getFirst()).startsWith("0000000000fe.component, ");
        assertThat(Command.run("inspect", store).out()).contains("trash: 1 file, ");
        assertThat(Command.run("inspect", store, "--json").json().path("trash").get(0))
                .hasToString("{\"name\":\"0000000000fe.component\",\"bytes\":%d}".formatted(bytes));
        Result emptied = Command.run("trash", store, "--empty", "--json");
        assertThat(emptied.json())
                .hasToString(("{\"deleted\":true,\"bytes\":%d,\"files\":[{\"name\":"
                                + "\"0000000000fe.component\",\"bytes\":%d}]}")
                        .formatted(bytes, bytes));
        assertThat(files("trash")).isEmpty();
        assertThat(Command.run("trash", store, "--empty").outLines())
                .containsExactly("the trash is empty");
        assertThat(Command.run("inspect", store).out()).doesNotContain("trash");
    }
}
