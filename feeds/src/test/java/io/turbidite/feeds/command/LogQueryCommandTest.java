package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What {@code log query} finds, and how. */
class LogQueryCommandTest {
    @TempDir
    private Path directory;

    private LogCalls calls;

    @BeforeEach
    void write() throws IOException {
        calls = LogCalls.in(directory);
    }

    @Test
    void a_log_that_was_closed_is_asked_by_chain_and_by_scan() {
        calls.ingest("--psf", "type=field(type)");
        Result byChain = calls.log("query", "--psf", "type=push", "--explain");
        assertThat(byChain.code()).as(byChain.err()).isZero();
        assertThat(byChain.outLines()).hasSize(3);
        assertThat(byChain.json(0).path("id").asInt()).isEqualTo(5);
        assertThat(byChain.err()).contains("chain of PSF 0", "3 key pointers");
        Result byScan = calls.log("query", "--psf", "type=push", "--scan", "--explain");
        assertThat(byScan.out()).isEqualTo(byChain.out());
        assertThat(byScan.err()).contains("scan of addresses", "4 records", "0 key pointers");
    }

    @Test
    void expressions_ranges_limits_and_fields_go_together() {
        calls.ingest("--psf", "type=field(type)");
        assertThat(calls.log("query", "--where", "repo.id == 11", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(2);
        Result rows = calls.log(
                "query",
                "--psf",
                "type=push",
                "--where",
                "size > 3",
                "--limit",
                1,
                "--select",
                "id,repo.name,action");
        assertThat(rows.outLines())
                .containsExactly("{\"id\":5,\"repo.name\":\"e/\\\"f\",\"action\":null}");
        assertThat(calls.log("query", "--to", "2000-01-01T00:00:00Z", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isZero();
        assertThat(calls.log("query", "--from", "2000-01-01T00:00:00Z", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        assertThat(calls.log("query", "--from", "0", "--to", "64", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isZero();
    }

    @Test
    void a_row_with_a_number_that_is_none_keeps_its_sound_fields() throws IOException {
        Path rows = directory.resolve("rows.csv");
        Files.writeString(rows, "1,5,a\n2,n/a,b\n3,7,c\n");
        Path log = directory.resolve("rows-log");
        String parser = "csv(\",\", id:number, stars:number, name)";
        Result ingested = Command.run("log", "ingest", log, rows, "--parser", parser);
        assertThat(ingested.code()).as(ingested.err()).isZero();
        Result some = Command.run(
                "log",
                "query",
                log,
                "--where",
                "stars > 6 || id == 2",
                "--select",
                "id,stars,name");
        assertThat(some.outLines())
                .containsExactly(
                        "{\"id\":3,\"stars\":7,\"name\":\"c\"}",
                        "{\"id\":2,\"stars\":null,\"name\":\"b\"}");
        // what a PSF reads is checked as rows come
        Path strict = directory.resolve("strict-log");
        Result refusing = Command.run(
                "log", "ingest", strict, rows, "--parser", parser, "--psf", "stars=field(stars)");
        assertThat(refusing.err())
                .contains("rows.csv, byte 6: the record has a malformed number at byte 2");
        assertThat(Command.run("log", "query", strict, "--count").out()).contains("2");
    }

    @Test
    void a_value_of_the_other_type_gets_a_hint() throws IOException {
        Files.writeString(
                directory.resolve("events.json"),
                "{\"id\":\"8200000897\",\"n\":5}\n{\"id\":\"x\",\"n\":6}\n");
        calls.ingest("--psf", "id=field(id)", "--psf", "n=field(n)");
        Result number = calls.log("query", "--psf", "id=8200000897");
        assertThat(number.out()).isEmpty();
        assertThat(number.err()).contains("--psf 'id=\"8200000897\"'").contains("text");
        Result text = calls.log("query", "--psf", "n=\"5\"", "--count");
        assertThat(text.err()).contains("--psf 'n=5'").contains("number");
        assertThat(calls.log("query", "--psf", "n=7").err()).isEmpty();
        assertThat(calls.log("query", "--psf", "id=\"8200000897\"").err()).isEmpty();
    }
}
