package io.turbidite.feeds.command;

import static io.turbidite.feeds.command.LogCalls.assertRefused;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Logs and datasets together: {@code log join} and {@code log migrate}. */
class LogJoinAndMigrateTest {
    @TempDir
    private Path directory;

    private LogCalls calls;

    @BeforeEach
    void write() throws IOException {
        calls = LogCalls.in(directory);
    }

    @Test
    void a_log_and_a_dataset_are_joined() throws IOException {
        calls.ingest("--psf", "type=field(type)");
        Path store = calls.repositories();
        Result pushes = calls.log("join", store, "Repos", "--on", "repo.id", "--psf", "type=push");
        assertThat(pushes.code()).as(pushes.err()).isZero();
        assertThat(pushes.outLines())
                .containsExactly(
                        "{\"log\":{\"id\":3,\"type\":\"push\",\"repo\":{\"id\":11,\"name\":\"c/d\"},\"size\":7},"
                                + "\"record\":{\"id\":11,\"stars\":7,\"language\":\"Java\"}}",
                        "{\"log\":{\"id\":1,\"type\":\"push\",\"repo\":{\"id\":10,\"name\":\"a/b\"},\"size\":3},"
                                + "\"record\":{\"id\":10,\"stars\":5,\"language\":\"C\"}}");
        assertThat(calls.log(
                                "join",
                                store,
                                "Repos",
                                "--on",
                                "repo.id",
                                "--all",
                                "--select",
                                "id",
                                "--fields",
                                "language",
                                "--range",
                                "stars=6..")
                        .outLines())
                .containsExactly(
                        "{\"log\":{\"id\":5},\"record\":null}",
                        "{\"log\":{\"id\":3},\"record\":{\"language\":\"Java\"}}",
                        "{\"log\":{\"id\":2},\"record\":{\"language\":\"Java\"}}",
                        "{\"log\":{\"id\":1},\"record\":null}");
        assertThat(calls.log("join", store, "Repos", "--on", "repo.id", "--limit", "1", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(1);
        // text of JSON is no key of numbers
        assertThat(calls.log("join", store, "Repos", "--on", "repo.name").out()).isEmpty();
    }

    @Test
    void rows_of_text_join_by_the_type_of_the_key() throws IOException {
        Path rows = directory.resolve("rows.csv");
        Files.writeString(rows, "a,10\nb,11\nc,\nd,x\n");
        assertThat(calls.log("ingest", rows, "--parser", "csv(\",\", who, repo)")
                        .code())
                .isZero();
        Path store = calls.repositories();
        assertThat(calls.log(
                                "join",
                                store,
                                "Repos",
                                "--on",
                                "repo",
                                "--select",
                                "who",
                                "--fields",
                                "id")
                        .outLines())
                .containsExactly(
                        "{\"log\":{\"who\":\"b\"},\"record\":{\"id\":11}}",
                        "{\"log\":{\"who\":\"a\"},\"record\":{\"id\":10}}");
        assertRefused(calls.log("join", store, "Repos", "--on", "repo"), "--select");
    }

    @Test
    void a_join_that_names_what_is_not_there_is_refused() throws IOException {
        calls.ingest();
        Path store = calls.repositories();
        assertRefused(
                calls.log("join", store, "Repos", "--on", "id,repo.id"), "primary key is [id]");
        assertRefused(calls.log("join", store, "Repos", "--on", "repo.id", "--eq", "x=1"), "x");
        assertRefused(calls.log("join", store, "Repos", "--on", "repo.id", "--fields", "x"), "x");
        assertRefused(
                calls.log("join", store, "Repos", "--on", "repo.id", "--psf", "no=1"), "no PSF");
        assertRefused(calls.log("join", store, "Nothing", "--on", "repo.id"), "Nothing");
    }

    @Test
    void a_join_and_a_migration_hint_at_a_value_of_the_other_type() throws IOException {
        calls.ingest("--psf", "size=field(size)", "--psf", "type=field(type)");
        Path store = calls.repositories();
        Result join = calls.log("join", store, "Repos", "--on", "repo.id", "--psf", "size=\"7\"");
        assertThat(join.out()).isEmpty();
        assertThat(join.err()).contains("--psf 'size=7'").contains("number");
        Result count = calls.log(
                "join", store, "Repos", "--on", "repo.id", "--psf", "size=\"7\"", "--count");
        assertThat(count.err()).contains("--psf 'size=7'");
        Result moved = calls.log("migrate", store, "Repos", "--psf", "size=\"7\"");
        assertThat(moved.out()).startsWith("0 records, 0 rejected");
        assertThat(moved.err()).contains("--psf 'size=7'").contains("number");
        // found in the log, and nothing of the dataset goes with it: the type was right
        assertThat(calls.log("join", store, "Repos", "--on", "repo.name", "--psf", "size=7")
                        .err())
                .isEmpty();
    }

    @Test
    void a_subset_moves_into_a_dataset_and_the_newest_record_of_a_key_stays() throws IOException {
        Files.writeString(
                directory.resolve("more.json"),
                LogCalls.EVENTS.replace("\"size\":9", "\"size\":10"));
        calls.ingest("--psf", "type=field(type)");
        calls.log("ingest", directory.resolve("more.json"));
        Path feed = directory.resolve("pushes.yaml");
        Files.writeString(feed, """
                feed: pushes
                dataset:
                  name: Pushes
                  type: { id: int64, size: int32 }
                  primaryKey: id
                source: { kind: file, path: none.json }
                parser: { kind: json }
                """);
        Files.writeString(directory.resolve("none.json"), "{\"id\":0,\"size\":0}\n");
        Path store = directory.resolve("store");
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        Result moved = calls.log("migrate", store, "Pushes", "--psf", "type=push", "--json");
        assertThat(moved.code()).as(moved.err()).isZero();
        assertThat(moved.json().path("records").asLong()).isEqualTo(6);
        assertThat(Command.run("get", store, "Pushes", "5").json().path("size").asInt())
                .isEqualTo(10);
        assertThat(Command.run("query", store, "Pushes", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        Result issues = calls.log("migrate", store, "Pushes", "--psf", "type=issue");
        assertThat(issues.out()).startsWith("0 records, 2 rejected");
        assertThat(issues.code()).isEqualTo(ExitCode.FAILED);
        assertThat(issues.err()).contains("refused: the record at address", "size");
        assertRefused(calls.log("migrate", store, "Nothing", "--psf", "type=push"), "Nothing");
    }
}
