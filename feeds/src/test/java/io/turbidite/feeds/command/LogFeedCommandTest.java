package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

/** {@code run} of feeds whose target is a log. */
class LogFeedCommandTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void write() throws IOException {
        var _ = LogCalls.in(directory);
    }

    @Test
    void a_feed_writes_to_a_log_and_goes_on_where_it_ended() throws IOException {
        Path feed = directory.resolve("events.yaml");
        Files.writeString(feed, """
                feed: events
                log:
                  name: Events
                  psfs:
                    type: field(type)
                    big: where(size > 5)
                  retain: 30d
                  directIo: true
                source: { kind: file, path: events.json }
                """);
        Path store = directory.resolve("store");
        Result first = Command.run("run", feed, "--store", store, "--json");
        assertThat(first.code()).as(first.err()).isZero();
        assertThat(first.json().path("records").asLong()).isEqualTo(4);
        assertThat(first.json().path("rejected").asLong()).isEqualTo(1);
        assertThat(first.err()).contains("dead-letters");
        Result again = Command.run("run", feed, "--store", store);
        assertThat(again.out()).contains("nothing new", "log Events in store");
        Files.writeString(
                directory.resolve("events.json"),
                LogCalls.EVENTS + "{\"id\":6,\"type\":\"push\"}\n");
        assertThat(Command.run("run", feed, "--store", store, "--json")
                        .json()
                        .path("records")
                        .asLong())
                .isEqualTo(1);
        Path events = store.resolve("logs").resolve("Events");
        assertThat(Command.run("log", "query", events, "--psf", "type=push", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
    }

    @Test
    void a_store_and_the_logs_of_feeds_share_a_directory_whichever_comes_first()
            throws IOException {
        Path log = Files.writeString(directory.resolve("events.yaml"), """
                feed: events
                log: { name: Events }
                source: { kind: file, path: events.json }
                """);
        Path rows = Files.writeString(directory.resolve("rows.yaml"), """
                feed: rows
                dataset: { name: Rows, type: { id: int64 }, primaryKey: id }
                source: { kind: file, path: rows.json }
                parser: { kind: json }
                """);
        Files.writeString(directory.resolve("rows.json"), "{\"id\":1}\n");
        for (Path[] order : new Path[][] {{log, rows}, {rows, log}}) {
            Path store = directory.resolve("store-" + order[0].getFileName());
            for (Path feed : order) {
                Result run = Command.run("run", feed, "--store", store);
                assertThat(run.code()).as(run.err()).isZero();
            }
            assertThat(Command.run("get", store, "Rows", "1").code()).isZero();
            assertThat(Command.run("log", "inspect", store.resolve("logs/Events"))
                            .code())
                    .isZero();
        }
        Path others = directory.resolve("others");
        Files.createDirectories(others.resolve("logs"));
        Files.writeString(others.resolve("logs/app.log"), "a line of somebody\n");
        assertThat(Command.run("run", rows, "--store", others).err())
                .contains("is not a store: it has no MANIFEST but a file 'logs'");
    }

    @Test
    void a_feed_of_rows_into_a_log_ends_no_row_within_quotes() throws IOException {
        Path feed = directory.resolve("rows.yaml");
        Files.writeString(feed, """
                feed: rows
                log:
                  name: Rows
                  parser: csv(";", id:number, text)
                  psfs: { id: field(id) }
                source: { kind: file, path: rows.csv }
                """);
        Files.writeString(directory.resolve("rows.csv"), "1;\"a\nb\"\n2;\"c;\nd\"\n");
        Path store = directory.resolve("store");
        Result done = Command.run("run", feed, "--store", store, "--json");
        assertThat(done.json().path("records").asLong()).as(done.err()).isEqualTo(2);
        Path rows = store.resolve("logs").resolve("Rows");
        assertThat(Command.run("log", "query", rows, "--psf", "id=2").out())
                .isEqualTo("2;\"c;\nd\"\n");
    }

    @Test
    void a_feed_of_rows_into_a_log_waits_for_what_closes_a_quote() throws IOException {
        Path feed = directory.resolve("rows.yaml");
        Files.writeString(feed, """
                feed: rows
                log:
                  name: Rows
                  parser: csv(";", id:number, text)
                  psfs: { id: field(id) }
                source: { kind: file, path: rows.csv }
                """);
        Path file = directory.resolve("rows.csv");
        Path store = directory.resolve("store");
        Path rows = store.resolve("logs").resolve("Rows");
        FileTime old = FileTime.fromMillis(1_000_000_000_000L);
        // a row and text that only looks like some
        Files.writeString(file, "1;x\n2;\"a\nb;b\nc;c\n");
        Files.setLastModifiedTime(file, old);
        Result first = Command.run("run", feed, "--store", store);
        assertThat(first.out())
                .contains(
                        ", 1 record unfinished (of Avro: a block of records): a file is being written, is cut, or ends within quotes, run it again for the rest");
        assertThat(Command.run("log", "query", rows).out()).isEqualTo("1;x\n");
        Files.writeString(file, "1;x\n2;\"a\nb;b\nc;c\n\"\n");
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        assertThat(Command.run("log", "query", rows).out()).isEqualTo("2;\"a\nb;b\nc;c\n\"\n1;x\n");
        // and one that nobody will close
        Files.writeString(file, "1;x\n2;\"a\nb;b\nc;c\n\"\n3;\"y\n4;z\n5;-1.5e3\n");
        Files.setLastModifiedTime(file, old);
        Result broken = Command.run("run", feed, "--store", store, "--json");
        assertThat(broken.json().path("records").asLong()).isEqualTo(2);
        assertThat(broken.json().path("rejected").asLong()).isEqualTo(1);
    }

    @Test
    void nothing_of_a_damaged_member_is_in_the_log_and_the_mended_file_is_there_once()
            throws IOException {
        Path feed = directory.resolve("lines.yaml");
        Files.writeString(feed, """
                feed: lines
                log: { name: Lines }
                source: { kind: file, path: lines.gz }
                """);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            text.append("{\"id\":").append(i).append("}\n");
        }
        byte[] first = gzip("{\"first\":1}\n{\"first\"");
        byte[] second = gzip(":2}\n" + text);
        byte[] flipped = second.clone();
        flipped[flipped.length / 2] ^= 1;
        Path file = directory.resolve("lines.gz");
        Path store = directory.resolve("store");
        Path lines = store.resolve("logs").resolve("Lines");
        Files.write(file, join(first, flipped));
        Result damaged = Command.run("run", feed, "--store", store);
        assertThat(damaged.code()).as(damaged.err()).isEqualTo(1);
        assertThat(damaged.err()).contains("lines.gz", "is damaged", "run the command again");
        assertThat(Command.run("log", "query", lines).out()).isEqualTo("{\"first\":1}\n");
        Files.write(file, join(first, second));
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        assertThat(Command.run("log", "query", lines, "--count").out())
                .isEqualTo("{\"count\":5002}\n");
        assertThat(Command.run("log", "query", lines).out())
                .endsWith("{\"id\":0}\n{\"first\":2}\n{\"first\":1}\n");
    }

    @Test
    void a_feed_into_a_log_that_refused_every_record_has_failed() throws IOException {
        Path feed = directory.resolve("lines.yaml");
        Files.writeString(feed, """
                feed: lines
                log: { name: Lines, psfs: { id: field(id) } }
                source: { kind: file, path: lines.json }
                """);
        Path file = directory.resolve("lines.json");
        Files.writeString(file, "no json\n");
        Object[] args = {"run", feed, "--store", directory.resolve("store")};
        Result refused = Command.run(args);
        assertThat(refused.code()).as(refused.err()).isEqualTo(1);
        assertThat(refused.err())
                .contains("dead-letters", "no record was taken: the only one was rejected");
        Files.writeString(file, "no json\n{\"id\":1}\n{\"id\":\n");
        assertThat(Command.run(args).code()).isZero();
    }

    @Test
    void a_feed_into_a_log_without_psfs_takes_whole_objects_only() throws IOException {
        Path feed = directory.resolve("lines.yaml");
        Files.writeString(feed, """
                feed: lines
                log: { name: Lines }
                source: { kind: file, path: lines.json }
                """);
        Files.writeString(directory.resolve("lines.json"), "some text\n{\"id\":1}\n{\"id\":2\n");
        Path store = directory.resolve("store");
        Result done = Command.run("run", feed, "--store", store, "--json");
        assertThat(done.json().path("records").asLong()).as(done.err()).isEqualTo(1);
        assertThat(done.json().path("rejected").asLong()).isEqualTo(2);
        assertThat(Files.readAllLines(store.resolve("logs/Lines/dead-letters/lines.jsonl")))
                .hasSize(2)
                .first()
                .asString()
                .contains("\"reason\":\"the record is not an object at byte 0\"");
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return compressed.toByteArray();
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @Test
    void a_feed_of_rows_into_a_log_takes_no_header_for_a_record() throws IOException {
        Path feed = directory.resolve("rows.yaml");
        Files.writeString(feed, """
                feed: rows
                log:
                  name: Rows
                  parser: csv(",", id, text)
                  psfs: { id: field(id) }
                source: { kind: file, path: rows.csv }
                """);
        Files.writeString(directory.resolve("rows.csv"), "id,\"text\",more\n1,a,x\nid,text,y\n");
        Path store = directory.resolve("store");
        Result done = Command.run("run", feed, "--store", store, "--json");
        assertThat(done.json().path("records").asLong()).as(done.err()).isEqualTo(2);
        Path rows = store.resolve("logs").resolve("Rows");
        assertThat(Command.run("log", "query", rows).out()).isEqualTo("id,text,y\n1,a,x\n");
        // nor when it goes on, and a header is none of its first rows
        Files.writeString(
                directory.resolve("rows.csv"), "id,\"text\",more\n1,a,x\nid,text,y\n2,b,z\n");
        Result more = Command.run("run", feed, "--store", store, "--json");
        assertThat(more.json().path("records").asLong()).as(more.err()).isEqualTo(1);
        assertThat(Command.run("log", "query", rows).outLines()).hasSize(3);
    }

    @Test
    void every_mistake_in_the_definition_of_a_log_feed_is_named_with_its_line() throws IOException {
        Path feed = directory.resolve("events.yaml");
        Files.writeString(feed, """
                feed: events
                log:
                  name: Events
                  parser: xml
                  psfs:
                    type: fild(type)
                  retain: soon
                source: { kind: file, path: events.json }
                mode: upsert
                """);
        Result result = Command.run("run", feed, "--store", directory.resolve("store"));
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSize(4);
        assertThat(result.err())
                .contains("yaml:4: log.parser", "yaml:6: ", "yaml:7: ", "yaml:9: ")
                .doesNotContain("\tat ");
        assertThat(directory.resolve("store")).doesNotExist();
    }
}
