package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** What an index of kind pm can't be, by commands and in definitions: exit 2, and no change. */
class RegionCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");
    private Path empty = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
        empty = Files.createDirectory(directory.resolve("empty"));
    }

    private String filled(String text) throws IOException {
        return text.replace("DIR", directory.toRealPath().toString());
    }

    private Result create(String... more) {
        List<Object> args =
                new ArrayList<>(List.of("index", "create", store, "Trips", "by_note", "--kind"));
        args.addAll(Arrays.asList(more));
        return Command.run(args.toArray());
    }

    @Test
    void an_index_that_can_not_be_is_refused_by_the_command() throws IOException {
        String[][] wrong = {
            // what is said | arguments
            {"pageBytes must be a multiple of 256", "--param", "pageBytes=3000"},
            {"primary keys may have 1024 bytes: it must be 1280", "--param", "pageBytes=1KiB"},
            {"bytes of a region must be from 262144", "--param", "bytes=1KiB"},
            {"unknown mode 'fast'", "--param", "mode=fast"},
            {"mode dax is not to be had in DIR/store; there is file", "--param", "mode=dax"},
            {
                "mode dax is not to be had in DIR/empty; there is file",
                "--param",
                "mode=dax",
                "--param",
                "path=DIR/empty"
            },
            {"must be absolute", "--param", "path=here"},
            {"path: DIR/none does not exist", "--param", "path=DIR/none"},
            {"path: DIR/trips.csv is not a directory", "--param", "path=DIR/trips.csv"},
            {"path: /proc takes no files", "--param", "path=/proc"},
            {"path: DIR/store lies in the store", "--param", "path=DIR/store"},
            {"not [speed]", "--param", "speed=high"},
            {"only a btree can be unique", "--unique"},
            {"eager", "--maintenance", "eager"},
            {"pages of components don't go with kind pm", "--page-bytes", "8KiB"},
            {"pages of components don't go with kind pm", "--compression", "none"},
        };
        for (String[] one : wrong) {
            List<String> more = new ArrayList<>(List.of("pm", "--on", "note"));
            for (String argument : Arrays.asList(one).subList(1, one.length)) {
                more.add(filled(argument));
            }
            Result result = create(more.toArray(String[]::new));
            assertThat(result.code()).as(result.err()).isEqualTo(2);
            assertThat(result.out()).isEmpty();
            assertThat(result.errLines()).hasSizeBetween(1, 2);
            assertThat(result.err()).contains(filled(one[0]));
        }
        assertThat(Command.run("inspect", store).out()).doesNotContain("by_note");
        try (Stream<Path> files = Files.list(empty)) {
            assertThat(files).isEmpty();
        }
        Result rightOne = create("pm", "--on", "note", "--param", filled("path=DIR/empty"));
        assertThat(rightOne.code()).as(rightOne.err()).isZero();
        assertThat(Command.run("verify", store).code()).isZero();
    }

    @Test
    void the_directory_of_regions_is_told_and_that_it_is_not_there() throws IOException {
        Path mount = Files.createDirectory(directory.toRealPath().resolve("mount"));
        assertThat(create("pm", "--on", "note", "--param", "path=" + mount).code())
                .isZero();
        assertThat(Command.run("inspect", store).out())
                .contains("pm index by_note on note in " + mount + ", ");
        assertThat(Command.run("doctor", store).out()).isEqualTo("nothing to worry about\n");
        Files.move(mount, directory.resolve("elsewhere"));
        Result lost = Command.run("doctor", store);
        assertThat(lost.code()).isEqualTo(1);
        assertThat(lost.out())
                .contains("warn: " + mount + " is not there, or is another directory, and has ")
                .contains(" of index by_note of Trips")
                .contains("is a file system not mounted?");
        Files.createDirectory(mount); // as it is seen where nothing is mounted
        assertThat(Command.run("doctor", store).out()).contains("by_note");
        assertThat(Command.run("inspect", store).out()).contains(" in " + mount);
        try (Stream<Path> files = Files.list(store.resolve("regions"))) {
            for (Path marker :
                    files.filter(one -> one.toString().endsWith(".outside")).toList()) {
                byte[] bytes = Files.readAllBytes(marker);
                bytes[70] ^= 1;
                Files.write(marker, bytes);
            }
        }
        assertThat(Command.run("doctor", store).out()).contains("can't be read");
    }

    private Result run(String index) throws IOException {
        Path definition = directory.resolve("more.yaml");
        Files.writeString(
                definition,
                Command.FEED
                        .replace("feed: trips", "feed: more")
                        .replace("name: Trips", "name: More")
                        .replace("  indexes:", "  maintenance: validation\n  indexes:")
                        .replace("kind: btree, on: tail", filled(index)));
        return Command.run("run", definition, "--store", store);
    }

    @Test
    void a_definition_that_asks_for_what_is_not_there_is_told_the_line_and_the_key()
            throws IOException {
        String[][] wrong = {
            {
                "kind: pm, on: tail, mode: dax",
                "dataset.indexes[0].mode",
                "mode dax is not to be had in DIR/store; there is file"
            },
            {
                "kind: pm, on: tail, path: DIR/empty, mode: dax",
                "dataset.indexes[0].mode",
                "mode dax is not to be had in DIR/empty; there is file"
            },
            {
                "kind: pm, on: tail, path: DIR/store/data, mode: file",
                "dataset.indexes[0].path",
                "lies in the store"
            },
        };
        for (String[] one : wrong) {
            Result result = run(one[0]);
            assertThat(result.code()).as(result.err()).isEqualTo(2);
            assertThat(result.err()).contains("more.yaml:20: " + one[1], filled(one[2]));
        }
        assertThat(Command.run("inspect", store).out()).doesNotContain("More");
        Result rightOne = run("kind: pm, on: tail, bytes: 1048576, pageBytes: 2048, mode: file");
        assertThat(rightOne.code()).as(rightOne.err()).isZero();
        assertThat(Command.run("query", store, "More", "--eq", "tail=N1", "--explain")
                        .err())
                .contains("by_tail");
    }
}
