package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

class BackupCommandTest {
    @TempDir
    private Path directory;

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    private Path at(String name) {
        return directory.resolve(name);
    }

    private static List<String> records(Path of) {
        return Command.run("query", of, "Trips").outLines();
    }

    @Test
    void a_backup_is_a_store_that_answers_like_the_first() {
        Result backup = Command.run("backup", store, at("backup"), "--json");
        assertThat(backup.err()).isEmpty();
        assertThat(backup.code()).isZero();
        JsonNode report = backup.json();
        assertThat(report.fieldNames())
                .toIterable()
                .containsExactly(
                        "ok",
                        "store",
                        "backup",
                        "timestamp",
                        "linked",
                        "copied",
                        "written",
                        "bytes",
                        "leftOut");
        assertThat(report.path("linked").asInt()).isPositive();
        assertThat(report.path("copied").asInt()).isZero();
        Result restored = Command.run("restore", at("backup"), at("restored"), "--json");
        assertThat(restored.err()).isEmpty();
        assertThat(restored.json().path("ok").asBoolean()).isTrue();
        assertThat(restored.json().path("timestamp")).isEqualTo(report.path("timestamp"));
        assertThat(records(at("restored")))
                .containsExactlyElementsOf(records(store))
                .hasSize(4);
        assertThat(Command.run("verify", at("backup")).code()).isZero();
        assertThat(records(at("backup"))).containsExactlyElementsOf(records(store));
    }

    /** A change of schema leaves no log: it is the mark that tells. */
    @Test
    void a_backup_that_was_opened_to_be_changed_is_not_restored_and_one_that_was_read_is() {
        Command.run("backup", store, at("backup"));
        for (String reading : List.of("inspect", "verify")) {
            assertThat(Command.run(reading, at("backup")).code()).isZero();
        }
        assertThat(Command.run("query", at("backup"), "Trips").code()).isZero();
        assertThat(Command.run("restore", at("backup"), at("first")).code()).isZero();
        // a restored store that was not opened since is as good
        assertThat(Command.run("restore", at("first"), at("second")).code()).isZero();
        assertThat(Command.run("index", "create", at("backup"), "Trips", "by_note", "--on", "note")
                        .code())
                .isZero();
        Result refused = Command.run("restore", at("backup"), at("third"));
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err())
                .contains(at("backup").toString(), "opened as a store", "back it up");
        assertThat(at("third")).doesNotExist();
        assertThat(Command.run("drop", at("second"), "Trips", "--yes").code()).isZero();
        assertThat(Command.run("restore", at("second"), at("third")).err())
                .contains("opened as a store");
        assertThat(Command.run("backup", at("backup"), at("again")).code()).isZero();
        assertThat(Command.run("restore", at("again"), at("third")).code()).isZero();
        assertThat(Command.run("inspect", at("third")).out()).contains("by_note");
    }

    @Test
    void the_reports_read_well() {
        Result backup = Command.run("backup", store, at("backup"), "--copy");
        assertThat(backup.outLines()).hasSize(1);
        assertThat(backup.out()).startsWith("backed up to ").contains("0 components linked");
        Result restored = Command.run("restore", at("backup"), at("restored"));
        assertThat(restored.outLines()).hasSize(1);
        assertThat(restored.out()).startsWith("restored ").contains("every index is right");
    }

    @Test
    void a_target_that_is_taken_or_in_the_store_is_refused_and_nothing_changes()
            throws IOException {
        Files.createDirectory(at("taken"));
        Files.writeString(at("taken").resolve("mine"), "x");
        Files.writeString(at("file"), "x");
        List<Path> before = tree();
        for (Path target :
                List.of(at("taken"), at("file"), store, store.resolve("backup"), at("store/a/b"))) {
            for (String mode : List.of("--link", "--copy")) {
                Result result = Command.run("backup", store, target, mode);
                assertThat(result.code()).as("%s", target).isEqualTo(2);
                assertThat(result.errLines()).hasSize(1);
            }
        }
        assertThat(tree()).isEqualTo(before);
        assertThat(Command.run("backup", store, at("x"), "--link", "--copy").err())
                .startsWith("turbidite: --link and --copy don't go together; give only one\n");
        assertThat(Command.run("backup", store, at("x"), "--link", "--copy").code())
                .isEqualTo(2);
        assertThat(Command.run("backup", at("nowhere"), at("x")).code()).isEqualTo(2);
        assertThat(at("x")).doesNotExist();
    }

    @Test
    void what_is_no_shipment_is_told_in_one_sentence() throws IOException {
        Files.writeString(
                at("letter"), "Dear reader, this is a letter and no shipment at all. Yours, W.\n");
        Files.writeString(at("short"), "Dear");
        Files.write(at("empty"), new byte[0]);
        List<Path> given =
                List.of(at("letter"), at("short"), at("empty"), store.resolve("MANIFEST"));
        for (Path file : given) {
            Result result = Command.run("receive", file, at("x"));
            assertThat(result.errLines())
                    .as(file.toString())
                    .containsExactly("turbidite: %s is no shipment; ./turbidite ship writes one"
                            .formatted(file));
            assertThat(result.code()).isEqualTo(2);
        }
        assertThat(Command.runPiped("letters\n", "receive", "-", at("x")).errLines())
                .containsExactly(
                        "turbidite: standard input is no shipment; ./turbidite ship writes one");
        assertThat(Command.run("receive", store, at("x")).errLines())
                .containsExactly("turbidite: %s is a directory, and no shipment".formatted(store));
        assertThat(at("x")).doesNotExist();
    }

    private List<Path> tree() throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            return paths.filter(path -> !path.startsWith(store.resolve("log")))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void what_is_no_whole_backup_is_not_restored() throws IOException {
        assertThat(Command.run("restore", store, at("x")).err())
                .contains("is no backup, or one that has been opened as a store since");
        assertThat(Command.run("restore", at("nowhere"), at("x")).code()).isEqualTo(2);
        Path backup = at("backup");
        assertThat(Command.run("backup", store, backup).code()).isZero();
        Files.move(backup.resolve("MANIFEST"), at("MANIFEST"));
        Files.createFile(backup.resolve("INCOMPLETE"));
        Result interrupted = Command.run("restore", backup, at("x"));
        assertThat(interrupted.code()).isEqualTo(2);
        assertThat(interrupted.err()).contains("interrupted");
        assertThat(Command.run("query", backup, "Trips").err()).contains("interrupted");
        assertThat(at("x")).doesNotExist();
    }

    @Test
    void quick_verification_reads_no_leaves() throws IOException {
        Result quick = Command.run("verify", store, "--quick", "--json");
        assertThat(quick.code()).isZero();
        assertThat(quick.json().path("components").asInt()).isPositive();
        assertThat(quick.json().path("ok").asBoolean()).isTrue();
        assertThat(Command.run("verify", store, "--quick").out()).contains("file sizes");
    }

    @Test
    void a_shipment_becomes_a_store_that_answers_like_the_first() throws IOException {
        Result shipped = Command.run("ship", store, at("shipment"), "--json");
        assertThat(shipped.err()).isEmpty();
        assertThat(shipped.code()).isZero();
        assertThat(shipped.json().path("components").asInt()).isPositive();
        Result received = Command.run("receive", at("shipment"), at("received"), "--json");
        assertThat(received.err()).isEmpty();
        assertThat(received.code()).isZero();
        assertThat(received.json().path("ok").asBoolean()).isTrue();
        assertThat(received.json().path("timestamp")).isEqualTo(shipped.json().path("timestamp"));
        assertThat(records(at("received"))).containsExactlyElementsOf(records(store));
        assertThat(Command.run("ship", store, at("shipment")).err()).contains("new file");
        assertThat(Command.run("receive", at("shipment"), at("received")).code())
                .isEqualTo(2);
        Result nowhere = Command.run("receive", at("nowhere"), at("x"));
        assertThat(nowhere.code()).isEqualTo(2);
        assertThat(nowhere.errLines())
                .containsExactly("turbidite: %s does not exist".formatted(at("nowhere")));
        assertThat(at("x")).doesNotExist();
    }

    @Test
    void a_shipment_that_breaks_off_goes_on_when_it_is_given_again() throws IOException {
        assertThat(Command.run("ship", store, at("shipment")).out()).startsWith("shipped ");
        byte[] whole = Files.readAllBytes(at("shipment"));
        Files.write(at("cut"), Arrays.copyOf(whole, whole.length - 70));
        Result cut = Command.run("receive", at("cut"), at("received"));
        assertThat(cut.code()).isEqualTo(1);
        assertThat(cut.err()).contains("at its end").contains("give the same shipment again");
        assertThat(Command.run("query", at("received"), "Trips").err()).contains("interrupted");
        Result again = Command.run("receive", at("shipment"), at("received"));
        assertThat(again.out()).contains("0 components").contains("every index is right");
        assertThat(records(at("received"))).containsExactlyElementsOf(records(store));
    }
}
