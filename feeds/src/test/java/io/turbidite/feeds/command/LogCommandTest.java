package io.turbidite.feeds.command;

import static io.turbidite.feeds.command.LogCalls.assertRefused;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What all {@code log} commands have in common, {@code log inspect} and {@code log salvage}. */
class LogCommandTest {
    @TempDir
    private Path directory;

    private Path log;
    private LogCalls calls;

    @BeforeEach
    void write() throws IOException {
        calls = LogCalls.in(directory);
        log = calls.log();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ingest", "query", "psf", "inspect", "migrate", "join", "salvage"})
    void each_command_has_help(String name) {
        Result result = Command.run("log", name, "--help");
        assertThat(result.code()).isZero();
        assertThat(result.out())
                .startsWith("Usage: ./turbidite log " + name)
                .contains("--json", "--debug");
    }

    @Test
    void no_command_and_an_unknown_one_name_those_there_are() {
        assertRefused(Command.run("log"), "no command given", "ingest");
        assertRefused(Command.run("log", "frobnicate"), "unknown command 'frobnicate'", "ingest");
    }

    @Test
    void a_log_is_described() {
        calls.ingest("--psf", "type=field(type)");
        JsonNode whole = calls.log("inspect", "--json").json();
        assertThat(whole.path("parser").asText()).isEqualTo("json");
        assertThat(whole.path("durable").asLong()).isEqualTo(whole.path("tail").asLong());
        assertThat(whole.path("psfs")).hasSize(1);
        // verify counts the records alone
        assertThat(calls.log("inspect").out())
                .contains(
                        " from begin to tail (records with headers and key pointers), read as json",
                        "addresses: begin",
                        "psf 0 type = field(type)");
    }

    @Test
    void the_directory_within_a_log_is_told_from_the_log() {
        calls.ingest("--psf", "type=field(type)");
        Path inner = log.resolve("log");
        for (String command : List.of("inspect", "query")) {
            assertRefused(
                    Command.run("log", command, inner),
                    "turbidite: %s lies in a hash log; the log is one directory up: %s\n"
                            .formatted(inner, log));
        }
        assertRefused(
                Command.run("log", "salvage", inner, log.resolveSibling("fresh")),
                "the log is one directory up");
    }

    @Test
    void what_is_not_there_is_named_and_nothing_is_made() {
        for (String command : List.of("query", "inspect")) {
            assertRefused(calls.log(command), "turbidite: %s does not exist\n".formatted(log));
        }
        assertThat(log).doesNotExist();
        Path file = directory.resolve("events.json");
        for (String command : List.of("query", "inspect")) {
            assertRefused(
                    Command.run("log", command, file),
                    "turbidite: %s is not a directory\n".formatted(file));
        }
        assertRefused(Command.run("log", "psf", "add", log, "a=field(a)"), log + " does not exist");
        calls.ingest("--psf", "type=field(type)");
        assertRefused(calls.log("query", "--psf", "kind=x"), "no PSF 'kind'", "type");
        assertRefused(calls.log("query", "--psf", "type"), "name=value");
        assertRefused(calls.log("query", "--where", "size >"), "size");
        assertRefused(calls.log("query", "--from", "yesterday"), "--from 'yesterday'");
    }

    @Test
    void a_lost_mark_is_told_by_inspect_until_the_log_is_written_again() throws IOException {
        calls.ingest("--psf", "type=field(type)");
        Path tail = log.resolve("log/TAIL");
        byte[] bytes = Files.readAllBytes(tail);
        bytes[4_096] ^= 1;
        bytes[4_096 + 2_048] ^= 1;
        Files.write(tail, bytes);
        assertThat(calls.log("inspect", "--json").json().path("marksLost").asInt())
                .isEqualTo(1);
        assertThat(calls.log("inspect").out()).contains("damaged: one of two marks in TAIL");
        calls.ingest();
        assertThat(calls.log("inspect").out()).doesNotContain("damaged");
    }

    @Test
    void files_that_cannot_be_read_are_left_out_and_said_by_the_exit_code() throws IOException {
        calls.ingest("--psf", "type=field(type)");
        Path registry = log.resolve("log/HASHLOG");
        Files.move(registry, log.resolve("log/kept"));
        Files.createDirectory(registry);
        Files.createDirectory(log.resolve("log/00000001.pages"));
        Result salvaged = Command.run("log", "salvage", log, log.resolveSibling("fresh"), "--json");
        assertThat(salvaged.code()).as(salvaged.err()).isEqualTo(ExitCode.FAILED);
        assertThat(salvaged.json().path("records").asInt()).isEqualTo(4);
        assertThat(salvaged.json().path("unreadFiles"))
                .extracting(JsonNode::asText)
                .containsExactly("log/00000001.pages", "log/HASHLOG");
        assertThat(salvaged.err()).contains("could not be read: log/00000001.pages, log/HASHLOG");
    }

    @Test
    void what_is_sound_of_a_damaged_log_is_salvaged() throws IOException {
        calls.ingest("--psf", "type=field(type)");
        int count =
                Command.run("log", "query", log, "--count").json().get("count").asInt();
        byte[] registry = Files.readAllBytes(log.resolve("log/HASHLOG"));
        byte[] damaged = registry.clone();
        damaged[100] ^= 4;
        Files.write(log.resolve("log/HASHLOG"), damaged);
        Result refused = Command.run("log", "query", log, "--count");
        assertThat(refused.code()).isEqualTo(ExitCode.FAILED);
        assertThat(refused.err()).contains("HASHLOG").contains("./turbidite log salvage");

        Path fresh = log.resolveSibling("fresh");
        Result salvaged = Command.run("log", "salvage", log, fresh);
        assertThat(salvaged.code()).as(salvaged.err()).isEqualTo(ExitCode.OK);
        assertThat(salvaged.err()).contains("the registry is lost");
        assertThat(salvaged.out())
                .contains("%d records".formatted(count))
                .contains("0 B of the log");
        assertThat(Command.run("log", "query", fresh, "--count")
                        .json()
                        .get("count")
                        .asInt())
                .isEqualTo(count);
        assertThat(Command.run("log", "query", fresh).out()).isNotEmpty();

        Files.write(log.resolve("log/HASHLOG"), registry);
        Result again = Command.run("log", "salvage", log, log.resolveSibling("again"), "--json");
        assertThat(again.json().get("records").asInt()).isEqualTo(count);
        assertThat(again.json().get("losses").asInt()).isZero();
        assertThat(Command.run("log", "query", log.resolveSibling("again")).out())
                .isEqualTo(Command.run("log", "query", log).out());
        assertRefused(Command.run("log", "salvage", log, log), "another directory");
        assertRefused(Command.run("log", "salvage", log, fresh), "there is a hash log");
        assertRefused(
                Command.run("log", "salvage", log.resolveSibling("none"), fresh),
                "none does not exist");
    }

    @Test
    void commands_that_read_change_no_byte() throws IOException {
        calls.ingest("--psf", "type=field(type)");
        // as after a crash: the tail's mark is of before, and drafts lie about
        Path crashed = directory.resolve("crashed");
        try (OpenLog open = OpenLog.openExisting(log, OpenLog.defaults())) {
            open.log().register("id", PsfDefinition.parse("field(id)"));
            try (IngestSession session = open.log().openSession("more")) {
                byte[] line = LogCalls.EVENTS.lines().findFirst().orElseThrow().getBytes(UTF_8);
                for (int i = 0; i < 10_000; i++) {
                    session.append(MemorySegment.ofArray(line), 0, line.length);
                }
                session.awaitDurable();
                copy(log, crashed);
            }
        }
        Files.write(crashed.resolve("log/0000002a.run"), new byte[100]);
        Files.write(crashed.resolve("log/index.new"), new byte[100]);
        Path store = calls.repositories();
        Map<String, String> before = hashes(crashed);
        calls = new LogCalls(directory, crashed);
        for (Result result : List.of(
                calls.log("query", "--psf", "type=push", "--explain"),
                calls.log("query", "--where", "repo.id > 10", "--count"),
                calls.log("inspect"),
                Command.run("log", "psf", "list", crashed),
                calls.log(
                        "join",
                        store,
                        "Repos",
                        "--on",
                        "repo.id",
                        "--psf",
                        "type=push",
                        "--count"))) {
            assertThat(result.code()).as(result.err()).isZero();
            assertThat(hashes(crashed)).isEqualTo(before);
        }
        calls.log("migrate", store, "Repos", "--psf", "type=issue");
        assertThat(hashes(crashed)).isEqualTo(before);
        assertThat(Command.run("log", "psf", "add", crashed, "size=field(size)").code())
                .isZero();
        assertThat(hashes(crashed)).isNotEqualTo(before);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.sorted().toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    private static Map<String, String> hashes(Path directory) throws IOException {
        Map<String, String> hashes = new TreeMap<>();
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.filter(Files::isRegularFile).toList()) {
                if (!path.endsWith("LOCK")) {
                    byte[] sum =
                            MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(path));
                    hashes.put(path.toString(), HexFormat.of().formatHex(sum));
                }
            }
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
        return hashes;
    }
}
