package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.file.StandardOpenOption.APPEND;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;

class RunCommandTest {
    @TempDir
    private Path directory;

    private Path store() {
        return directory.resolve("store");
    }

    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("trips.yaml"), Command.FEED);
        Files.writeString(directory.resolve("trips.csv"), Command.ROWS);
    }

    private Result run(Object... more) {
        Object[] args = new Object[more.length + 4];
        args[0] = "run";
        args[1] = directory.resolve("trips.yaml");
        args[2] = "--store";
        args[3] = store();
        System.arraycopy(more, 0, args, 4, more.length);
        return Command.run(args);
    }

    private void assertRefused(Result result, int code, String... says) {
        assertThat(result.code()).as(result.err()).isEqualTo(code);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(says).doesNotContain("\tat ");
    }

    @Test
    void a_feed_is_summed_up_in_one_line_and_its_rejects_are_shown() {
        Result result = run();
        assertThat(result.code()).isZero();
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.out())
                .contains("trips: 4 records in ", "1 rejected", "Trips", store().toString());
        assertThat(result.errLines()).hasSize(1);
        assertThat(result.err()).contains("dead-letters");
    }

    @Test
    void the_summary_for_machines_is_exactly_that_of_the_design() {
        Result result = run("--json");
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.json().fieldNames())
                .toIterable()
                .containsExactly(
                        "step", "feed", "dataset", "records", "rejected", "seconds", "store");
        assertThat(result.json().path("step").asText()).isEqualTo("summary");
        assertThat(result.json().path("feed").asText()).isEqualTo("trips");
        assertThat(result.json().path("dataset").asText()).isEqualTo("Trips");
        assertThat(result.json().path("records").asLong()).isEqualTo(4);
        assertThat(result.json().path("rejected").asLong()).isEqualTo(1);
        assertThat(result.json().path("seconds").isNumber()).isTrue();
        assertThat(result.json().path("store").asText()).isEqualTo(store().toString());
    }

    @Test
    void the_unfinished_line_of_a_file_that_is_written_is_counted_and_left_for_later()
            throws Exception {
        Path csv = directory.resolve("trips.csv");
        String cut = Command.ROWS.substring(0, Command.ROWS.indexOf("AA,1") + 40);
        Files.writeString(csv, cut);
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            for (long i = 1; !done.get(); i++) {
                try {
                    Files.setLastModifiedTime(csv, FileTime.fromMillis(4_000_000_000_000L + i));
                    Thread.sleep(5);
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
        Result result;
        try {
            result = run("--json");
        } finally {
            done.set(true);
            writer.join();
        }
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.json().path("records").asLong()).isEqualTo(3);
        assertThat(result.json().path("rejected").asLong()).isZero();
        assertThat(result.json().path("waiting").asLong()).isEqualTo(1);
        Files.writeString(csv, Command.ROWS);
        Result rest = run();
        assertThat(rest.out()).contains("1 more record in ", "1 rejected");
        assertThat(rest.err()).doesNotContain("went on");
    }

    @Test
    void a_source_that_goes_on_in_a_taken_record_is_told_with_both_texts() throws IOException {
        Path csv = directory.resolve("trips.csv");
        String first = Command.ROWS.substring(0, Command.ROWS.indexOf("UA,2") - 1);
        Files.writeString(csv, first);
        Files.setLastModifiedTime(csv, FileTime.fromMillis(0));
        assertThat(run().code()).isZero();
        Files.writeString(csv, first + "234\n");
        Result second = run();
        assertThat(second.code()).isZero();
        assertThat(second.err())
                .contains("note: trips.csv, line 2", "Early bird,1,1'", "Early bird,1,1234'")
                .contains("old one's place");
    }

    @Test
    void a_run_that_took_no_record_since_all_were_rejected_has_failed() throws IOException {
        Path csv = directory.resolve("trips.csv");
        String header = Command.ROWS.substring(0, Command.ROWS.indexOf('\n') + 1);
        Files.writeString(csv, header);
        assertThat(run().code()).as("nothing to reject").isZero();
        Files.writeString(csv, header + "no,record\nnor,this\n");
        Files.setLastModifiedTime(csv, FileTime.fromMillis(0));
        Result result = run();
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.FAILED);
        assertThat(result.out()).contains("0 more records", "2 rejected");
        assertThat(result.errLines()).hasSize(2);
        assertThat(result.errLines().getFirst()).contains("dead-letters");
        assertThat(result.errLines().getLast())
                .isEqualTo("turbidite: no record was taken: all 2 were rejected");
        assertThat(run().code()).as("nothing new").isZero();
        Files.writeString(csv, header + "no,record\nnor,this\nnor that\n");
        assertThat(run().err()).contains("no record was taken: the only one was rejected");
        Files.writeString(csv, Command.ROWS.substring(header.length()), APPEND);
        assertThat(run().code()).as("some were taken").isZero();
    }

    @Test
    void running_twice_adds_nothing() {
        run();
        Result again = run();
        assertThat(again.code()).isZero();
        assertThat(again.out()).contains("nothing new");
        assertThat(run("--json").json().path("records").asLong()).isZero();
        assertThat(Command.run("query", store(), "Trips", "--count").out())
                .isEqualTo("{\"count\":4}\n");
    }

    @Test
    void what_was_loaded_is_in_components_so_that_the_next_command_opens_at_once() {
        run();
        Command.run("inspect", store(), "--json")
                .json()
                .path("datasets")
                .forEach(dataset -> dataset.path("partitions")
                        .forEach(partition -> assertThat(
                                        partition.path("memoryEntries").asInt())
                                .isZero()));
    }

    @Test
    void a_bad_definition_names_file_line_and_key_and_creates_nothing() throws IOException {
        Files.writeString(
                directory.resolve("trips.yaml"), Command.FEED.replace("filter: at", "fliter: at"));
        Result result = run();
        assertRefused(result, 2, directory.resolve("trips.yaml") + ":16:", "fliter");
        assertThat(store()).doesNotExist();
    }

    @Test
    void several_problems_take_a_line_each_with_place_and_reason() throws IOException {
        Files.writeString(
                directory.resolve("trips.yaml"),
                Command.FEED
                        .replace("number: int32", "number: int33")
                        .replace("kind: btree", "kind: heap")
                        .replace("kind: csv", "kind: xml"));
        Result result = run();
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSize(3);
        assertThat(result.errLines().get(0)).contains(":6:", "int33");
        assertThat(result.errLines().get(1)).contains(":19:", "dataset.indexes[0].kind", "heap");
        assertThat(result.errLines().get(2)).contains(":21:", "parser.kind", "xml");
        assertThat(store()).doesNotExist();
    }

    @Test
    void what_the_store_would_refuse_is_refused_with_line_and_key_before_it_is_made()
            throws IOException {
        Files.writeString(
                directory.resolve("trips.yaml"),
                Command.FEED.replace("on: tail }", "on: tail, maintenance: deferred }"));
        Result result = run();
        assertRefused(
                result,
                2,
                "trips.yaml:19:",
                "dataset.indexes[0].maintenance",
                "correlated-tiering");
        assertThat(store()).doesNotExist();
    }

    @Test
    void a_pipe_as_a_source_is_refused_and_does_not_hang() throws Exception {
        Files.delete(directory.resolve("trips.csv"));
        Process made =
                new ProcessBuilder("mkfifo", directory.resolve("trips.csv").toString()).start();
        assertThat(made.waitFor()).isZero();
        assertRefused(run(), 2, "trips.yaml:20:", "source.path", "no ordinary file but a pipe");
        assertThat(store()).doesNotExist();
        Result asFeed = Command.run("run", directory.resolve("trips.csv"), "--store", store());
        assertRefused(asFeed, 2, "no ordinary file");
        Result ingest = Command.run(
                "log", "ingest", directory.resolve("log"), directory.resolve("trips.csv"));
        assertRefused(ingest, 2, "no ordinary file", "- for standard input");
    }

    @Test
    void damage_of_a_source_is_not_taken_for_damage_of_the_store() throws IOException {
        Files.write(directory.resolve("trips.csv"), new byte[] {0x1f, (byte) 0x8b, 8, 0});
        Result result = run();
        assertRefused(result, 1, "trips.csv", "put a sound copy of the source file in its place");
        assertThat(result.err()).doesNotContain("backup");
    }

    @Test
    void a_missing_source_or_definition_creates_nothing() throws IOException {
        Files.delete(directory.resolve("trips.csv"));
        assertRefused(run(), 2, "trips.yaml:20:", "source.path");
        Files.delete(directory.resolve("trips.yaml"));
        assertRefused(run(), 2, "trips.yaml");
        assertThat(store()).doesNotExist();
    }

    @Test
    void a_definition_that_differs_from_the_dataset_names_what_differs() throws IOException {
        run();
        Files.writeString(
                directory.resolve("trips.yaml"),
                Command.FEED.replace("partitions: 2", "partitions: 3"));
        assertRefused(run(), 2, "trips.yaml:17:", "dataset.partitions is 3", "has 2");
    }

    @Test
    void a_store_in_use_is_a_failure_that_says_so() {
        run();
        try (Store held = Store.open(store())) {
            assertThat(held.datasets()).isNotEmpty();
            for (Result result : new Result[] {
                run(),
                Command.run("query", store(), "Trips"),
                Command.run("get", store(), "Trips", "[\"UA\",1]"),
                Command.run("inspect", store()),
                Command.run("verify", store())
            }) {
                assertRefused(result, 1, "in use by this process", "wait until");
            }
        }
    }

    @Test
    void a_directory_that_is_something_else_is_refused_and_left_alone() throws IOException {
        Files.createDirectories(store());
        Files.writeString(store().resolve("letter.txt"), "dear");
        assertRefused(run(), 2, "is not a store", "letter.txt");
        assertThat(store().toFile().list()).containsExactly("letter.txt");
        assertThat(Command.run("run", directory.resolve("trips.yaml"), "--store", "")
                        .code())
                .isEqualTo(2);
    }

    @Test
    void a_read_only_directory_is_a_failure_that_says_so() throws IOException {
        boolean root = "root".equals(System.getProperty("user.name"));
        if (root) {
            System.err.println(
                    "SKIPPED: RunCommandTest.a_read_only_directory...: root may write anywhere");
        }
        assumeTrue(!root, "root may write anywhere");
        Path locked = Files.createDirectory(
                directory.resolve("locked"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
        Result result = Command.run(
                "run", directory.resolve("trips.yaml"), "--store", locked.resolve("store"));
        assertRefused(result, 1, "permission denied");
    }

    @Test
    void a_stopped_run_commits_what_was_accepted_and_goes_on_later() throws IOException {
        StringBuilder rows = new StringBuilder("{\"id\":0}\n");
        for (int i = 1; i < 50_000; i++) {
            rows.append("{\"id\":").append(i).append("}\n");
        }
        Files.writeString(directory.resolve("numbers.json"), rows);
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        AtomicBoolean asked = new AtomicBoolean();
        // asked before the feed is open: it stops at its first record
        Interrupts early = stop -> {
            stop.run();
            asked.set(true);
            return Interrupts.none().watch(stop);
        };
        Object[] args = {"run", directory.resolve("numbers.yaml"), "--store", store(), "--json"};
        Result stopped = Command.runIn(Path.of(""), false, early, args);
        assertThat(asked).isTrue();
        assertThat(stopped.code()).isEqualTo(130);
        assertThat(stopped.err()).isEmpty();
        long accepted = stopped.json().path("records").asLong();
        assertThat(accepted).isLessThan(50_000);
        assertThat(Command.run("query", store(), "Numbers", "--count").out())
                .isEqualTo("{\"count\":%d}\n".formatted(accepted));

        Result text = Command.runIn(
                Path.of(""),
                false,
                early,
                "run",
                directory.resolve("numbers.yaml"),
                "--store",
                store());
        assertThat(text.code()).isEqualTo(130);
        assertThat(text.out()).contains("before it was stopped", "run it again to go on");

        assertThat(Command.run(args).code()).isZero();
        assertThat(Command.run("query", store(), "Numbers", "--count").out())
                .isEqualTo("{\"count\":50000}\n");
    }

    @Test
    void on_a_terminal_a_bar_is_drawn_on_standard_error_only() {
        Result result = Command.runIn(
                Path.of(""),
                true,
                Interrupts.none(),
                "run",
                directory.resolve("trips.yaml"),
                "--store",
                store(),
                "--json");
        assertThat(result.code()).isZero();
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.err()).contains("trips", "MiB");
    }
}
