package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
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
                .hasToString("{\"name\":\"0000000000fe.component\",\"bytes\":%d,\"inData\":false}"
                        .formatted(bytes));
        Result emptied = Command.run("trash", store, "--empty", "--json");
        assertThat(emptied.json())
                .hasToString(("{\"deleted\":true,\"bytes\":%d,\"files\":[{\"name\":"
                                + "\"0000000000fe.component\",\"bytes\":%d,\"inData\":false}],\"kept\":[]}")
                        .formatted(bytes, bytes));
        assertThat(files("trash")).isEmpty();
        assertThat(Command.run("trash", store, "--empty").outLines())
                .containsExactly("the trash is empty");
        assertThat(Command.run("inspect", store).out()).doesNotContain("trash");
    }

    @Test
    void what_an_older_manifest_does_not_name_is_listed_and_outlives_the_first_emptying()
            throws IOException {
        byte[] manifest = Files.readAllBytes(store.resolve("MANIFEST"));
        Map<Path, byte[]> log = new HashMap<>();
        for (Path segment : files("log")) {
            log.put(segment, Files.readAllBytes(segment));
        }
        List<Path> before = files("data");
        try (Store open = Store.open(store)) {
            open.dataset("T").upsert(Map.of("id", 2L));
            open.dataset("T").flush();
        }
        List<Path> unnamed = new ArrayList<>(files("data"));
        unnamed.removeAll(before);
        assertThat(unnamed).isNotEmpty();
        Files.write(store.resolve("MANIFEST"), manifest);
        for (Path segment : files("log")) {
            Files.delete(segment);
        }
        for (Map.Entry<Path, byte[]> segment : log.entrySet()) {
            Files.write(segment.getKey(), segment.getValue());
        }
        String fe = "0000000000fe.component";
        List<String> names = unnamed.stream().map(TrashCommandTest::name).toList();

        Result first = Command.run("trash", store);
        assertThat(first.err()).isEmpty();
        List<String> listed = first.outLines();
        assertThat(listed).hasSize(names.size() + 2);
        assertThat(listed).filteredOn(line -> line.startsWith(fe)).noneMatch(this::isMarked);
        assertThat(names)
                .allSatisfy(name -> assertThat(listed)
                        .filteredOn(line -> line.startsWith(name))
                        .singleElement()
                        .matches(this::isMarked));
        Result json = Command.run("trash", store, "--json");
        assertThat(json.json().path("files").findValuesAsText("inData"))
                .containsOnlyOnce("false")
                .hasSize(names.size() + 1);
        assertThat(Command.run("inspect", store).out())
                .contains("trash: %d files, ".formatted(names.size() + 1))
                .contains("%d of them still in data".formatted(names.size()));
        assertThat(files("data")).containsAll(unnamed); // who reads moves nothing

        Result emptied = Command.run("trash", store, "--empty");
        assertThat(emptied.outLines().getFirst()).startsWith(fe);
        assertThat(emptied.out()).contains("1 file, ", " deleted").contains(names);
        assertThat(emptied.outLines().getLast())
                .contains(
                        "kept: this command found them in data",
                        "run this command again to delete");
        assertThat(files("trash").stream().map(TrashCommandTest::name)).hasSameElementsAs(names);

        assertThat(Command.run("trash", store, "--empty").out()).contains(names);
        assertThat(files("trash")).isEmpty();
    }

    @Test
    void a_file_that_came_by_itself_outlives_the_first_emptying_too() throws IOException {
        Command.run("trash", store, "--empty");
        String stray = "0000000000fd.component";
        Files.copy(files("data").getFirst(), store.resolve("data/" + stray));
        Files.writeString(store.resolve("data/notes.txt"), "not a component");
        Result emptied = Command.run("trash", store, "--empty", "--json");
        assertThat(emptied.json().path("files")).isEmpty();
        assertThat(emptied.json().path("kept").findValuesAsText("name")).containsExactly(stray);
        assertThat(files("trash").stream().map(TrashCommandTest::name)).containsExactly(stray);
        assertThat(store.resolve("data/notes.txt")).exists();
        assertThat(Command.run("trash", store).outLines().getFirst())
                .startsWith(stray)
                .doesNotMatch(this::isMarked);
    }

    @Test
    @Timeout(60)
    void what_is_no_file_of_the_stores_is_in_nobodys_way_and_stays() throws Exception {
        String component = "0000000000fe.component";
        List<Path> strange = List.of(
                Files.writeString(store.resolve("trash/notes.txt"), "why they are here"),
                Files.createDirectory(store.resolve("trash/0000000000f1.component")),
                Files.createSymbolicLink(
                        store.resolve("trash/0000000000f2.component"), store.resolve("MANIFEST")),
                Files.createSymbolicLink(
                        store.resolve("trash/0000000000f3.component"), store.resolve("nothing")),
                store.resolve("trash/0000000000f4.component"),
                Files.createDirectory(store.resolve("data/0000000000f5.component")),
                Files.createSymbolicLink(
                        store.resolve("data/0000000000f6.component"), store.resolve("MANIFEST")));
        Process pipe = new ProcessBuilder("mkfifo", strange.get(4).toString()).start();
        assertThat(pipe.waitFor()).isZero();
        assertThat(Command.run("query", store, "T", "--count").out()).isEqualTo("{\"count\":1}\n");
        assertThat(Command.run("trash", store).outLines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith(component);
        Result emptied = Command.run("trash", store, "--empty");
        assertThat(emptied.code()).as(emptied.err()).isZero();
        assertThat(emptied.out()).contains(component, "1 file, ", " deleted");
        assertThat(files("trash")).hasSize(5).allMatch(strange::contains);
        assertThat(files("data")).contains(strange.get(5), strange.get(6));
    }

    @Test
    void a_file_that_somebody_takes_away_meanwhile_is_no_error() throws IOException {
        String other = "0000000000fd.component";
        Files.copy(
                store.resolve("trash/0000000000fe.component"),
                store.resolve("trash").resolve(other));
        try (Store open = Store.open(store)) {
            assertThat(open.describe().trash()).hasSize(2);
            Files.delete(store.resolve("trash").resolve(other));
            assertThat(open.emptyTrash()).hasSize(1);
            assertThat(open.describe().trash()).isEmpty();
        }
    }

    private boolean isMarked(String line) {
        return line.contains("in data");
    }

    private static String name(Path path) {
        return String.valueOf(path.getFileName());
    }
}
