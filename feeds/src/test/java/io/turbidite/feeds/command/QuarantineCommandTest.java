package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

class QuarantineCommandTest {
    @TempDir
    private Path directory;

    private static List<Path> components(Path store) throws IOException {
        try (Stream<Path> files = Files.list(store.resolve("data"))) {
            return files.filter(file -> file.toString().endsWith(".component"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void damage_is_listed_and_undone() throws IOException {
        Path store = Command.load(directory);
        assertThat(Command.run("quarantine", store).out()).contains("nothing is in quarantine");
        Path backup = directory.resolve("backup");
        assertThat(Command.run("backup", store, backup, "--copy").code()).isZero();
        String all = Command.run("query", store, "Trips", "--order", "number").out();
        Path damaged = components(store).getFirst();
        String name = damaged.getFileName().toString();
        byte[] bytes = Files.readAllBytes(damaged);
        bytes[bytes.length - 5] ^= 1;
        Files.write(damaged, bytes);

        Result listed = Command.run("quarantine", store);
        assertThat(listed.code()).isEqualTo(1);
        assertThat(listed.out()).contains(name, "in quarantine", "out of reach", "operations");
        assertThat(Command.run("inspect", store).out()).contains("in quarantine");
        assertThat(Command.run("verify", store).out()).contains(name, "in quarantine");
        Result copied = Command.run("backup", store, directory.resolve("second"));
        assertThat(copied.code()).isZero();
        assertThat(copied.err()).contains(name, "left out");
        Result json = Command.run("quarantine", store, "--json");
        assertThat(json.out()).contains("\"restored\":false").contains(name);

        Result restored = Command.run("quarantine", store, "--restore", backup);

        assertThat(restored.code()).isZero();
        assertThat(restored.out()).contains(name, "in use again");
        assertThat(Command.run("quarantine", store).out()).contains("nothing is in quarantine");
        assertThat(Command.run("verify", store).code()).isZero();
        assertThat(Command.run("query", store, "Trips", "--order", "number").out())
                .isEqualTo(all);
    }

    @Test
    void what_verify_finds_damaged_is_set_aside_and_restored_by_hand() throws IOException {
        Path store = Command.load(directory);
        Path backup = directory.resolve("backup");
        assertThat(Command.run("backup", store, backup, "--copy").code()).isZero();
        Path damaged = components(store).getFirst();
        String name = "data/" + damaged.getFileName();
        Result whole = Command.run("quarantine", store, name);
        assertThat(whole.code()).isNotZero();
        assertThat(whole.err()).contains(name, "is whole");
        byte[] bytes = Files.readAllBytes(damaged);
        bytes[200] ^= 1;
        Files.write(damaged, bytes);
        assertThat(Command.run("verify", store).out())
                .containsPattern(name + " at .*; part of index \\w+ of \\w+, partition \\d");
        assertThat(Command.run("quarantine", store).out()).contains("nothing is in quarantine");

        Result taken = Command.run("quarantine", store, name);

        assertThat(taken.code()).isEqualTo(1);
        assertThat(taken.out())
                .contains(
                        name + " is set aside: ",
                        "not restored: the file is as it was; give --restore");
        Result verified = Command.run("verify", store);
        assertThat(verified.outLines()).as(verified.out()).hasSize(1);
        assertThat(verified.out()).contains(name, "in quarantine");
        assertThat(verified.err()).contains("1 error in ");
        Result restored = Command.run("quarantine", store, "--restore", backup);
        assertThat(restored.code()).isZero();
        assertThat(restored.out()).contains(name, "in use again");
        assertThat(Command.run("verify", store).code()).isZero();
    }

    @Test
    void a_component_may_be_named_as_people_name_files() throws IOException {
        Path store = Command.load(directory);
        Path backup = directory.resolve("backup");
        assertThat(Command.run("backup", store, backup, "--copy").code()).isZero();
        Path file = components(store).getFirst();
        byte[] bytes = Files.readAllBytes(file);
        bytes[200] ^= 1;
        Files.write(file, bytes);
        String name = file.getFileName().toString();
        Path link = Files.createSymbolicLink(directory.resolve("link"), store);
        long number = Long.parseLong(name.substring(0, name.indexOf('.')), 16);
        List<Object> given = List.of(
                name,
                "data/" + name,
                "./data/" + name,
                file,
                store.resolve("log/../data").resolve(name),
                link.resolve("data").resolve(name),
                Path.of("").toAbsolutePath().relativize(file),
                number);
        for (Object one : given) {
            Result taken = Command.run("quarantine", store, one);
            assertThat(taken.out()).as("%s", one).contains("data/" + name + " is set aside: ");
            Result restored = Command.run("quarantine", store, "--restore", backup);
            assertThat(restored.code()).as("%s", one).isZero();
            Files.write(file, bytes);
        }
        for (Object other : List.of(
                "nobody.component",
                backup.resolve("data").resolve(name),
                directory.resolve("trips.csv"),
                store.resolve("MANIFEST"),
                4711)) {
            Result refused = Command.run("quarantine", store, other);
            assertThat(refused.code()).as("%s", other).isEqualTo(2);
            assertThat(refused.err())
                    .contains("no component that is in use has the file ", "inspect lists those");
        }
    }

    @Test
    void a_backup_that_can_give_nothing_is_refused_though_nothing_is_set_aside()
            throws IOException {
        Path store = Command.load(directory);
        Path other = Command.load(Files.createDirectory(directory.resolve("other")));
        Result foreign = Command.run("quarantine", store, "--restore", other);
        assertThat(foreign.code()).isEqualTo(2);
        assertThat(foreign.err()).contains(other.toString(), "another store");
        Result none = Command.run("quarantine", store, "--restore", directory);
        assertThat(none.code()).isEqualTo(2);
        assertThat(none.err()).contains(directory.toString(), "MANIFEST");
        Result itself = Command.run("quarantine", store, "--restore", store);
        assertThat(itself.code()).isEqualTo(2);
        assertThat(itself.err()).contains("the store itself");
        assertThat(Command.run("quarantine", store, "--restore", directory.resolve("x"))
                        .code())
                .isEqualTo(2);
    }

    @Test
    void what_can_not_be_restored_is_refused() throws IOException {
        Path store = Command.load(directory);
        Path backup = directory.resolve("backup");
        // links share the damage
        assertThat(Command.run("backup", store, backup, "--link").code()).isZero();
        Path damaged = components(store).getFirst();
        byte[] bytes = Files.readAllBytes(damaged);
        bytes[bytes.length - 5] ^= 1;
        Files.write(damaged, bytes);
        Result refused = Command.run("quarantine", store, "--restore", backup);
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.out()).contains("not restored", "damaged");
        assertThat(Command.run("quarantine", store, "--restore", store.resolve("MANIFEST"))
                        .code())
                .isNotZero();
    }

    @Test
    void a_query_that_can_do_without_the_index_is_answered() throws IOException {
        Path store = Command.load(directory);
        Object[] query = {"query", store, "Trips", "--eq", "tail=N1", "--count"};
        String right = Command.run(query).out();
        int secondaries = 0;
        for (Path file : components(store)) {
            byte[] bytes = Files.readAllBytes(file);
            byte[] damaged = bytes.clone();
            damaged[bytes.length - 5] ^= 1;
            Files.write(file, damaged);
            boolean isPrimary = Command.run("quarantine", store).out().contains("index primary");
            Result result = Command.run(query);
            if (!isPrimary) {
                secondaries++;
                assertThat(result.code()).as(result.toString()).isZero();
                assertThat(result.out()).isEqualTo(right);
            } else if (result.code() != 0) {
                assertThat(result.err()).contains("quarantine STORE");
            }
            Files.write(file, bytes);
        }
        assertThat(secondaries).isPositive();
    }

    @Test
    void an_index_is_rebuilt() throws IOException {
        Path store = Command.load(directory);
        Result rebuilt = Command.run("index", "rebuild", store, "Trips", "by_tail");
        assertThat(rebuilt.code()).as(rebuilt.toString()).isZero();
        assertThat(rebuilt.out()).contains("by_tail", "ready");
        assertThat(Command.run("verify", store).code()).isZero();
    }
}
