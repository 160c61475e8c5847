package io.turbidite.feeds.command;

import static io.turbidite.feeds.command.LogCalls.assertRefused;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.atomic.AtomicBoolean;

/** What {@code log ingest} takes, refuses and tells. */
class LogIngestCommandTest {
    @TempDir
    private Path directory;

    private Path log;
    private LogCalls calls;

    @BeforeEach
    void write() throws IOException {
        calls = LogCalls.in(directory);
        log = calls.log();
    }

    @Test
    void a_file_is_ingested_and_summed_up_and_its_rejects_are_shown() {
        Result result = calls.ingest("--psf", "type=field(type)");
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.out()).contains("4 records (", "1 rejected", log.toString());
        assertThat(result.errLines()).hasSize(1);
        assertThat(result.err())
                .contains(
                        "refused: events.json, byte %d: "
                                .formatted(LogCalls.EVENTS.indexOf("{\"id\":4")),
                        "literal");
    }

    @Test
    void an_ingestion_that_took_no_record_since_all_were_refused_has_failed() throws IOException {
        Path file = directory.resolve("no.json");
        Files.writeString(file, "{\"id\":\nno json\n");
        Result result = Command.run("log", "ingest", log, file, "--psf", "type=field(type)");
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.FAILED);
        assertThat(result.out()).contains("0 records", "2 rejected");
        assertThat(result.errLines().getLast())
                .isEqualTo("turbidite: no record was taken: all 2 were rejected");
        Files.writeString(file, "");
        assertThat(Command.run("log", "ingest", log, file).code()).isZero();
    }

    @Test
    void what_is_no_whole_object_is_refused_though_no_psf_wants_a_field() throws IOException {
        Path file = directory.resolve("mixed.json");
        Files.writeString(
                file,
                "{\"id\":1}\nsome text\n\n{\"id\":2,\"text\":\"}\n{\"id\":3} {}\n[4]\n  \n{\"a\":[{\"\\\"\":\"{\"}]} \r\n 5\n");
        Result result = Command.run("log", "ingest", log, file);
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.out()).contains("2 records ", "6 rejected");
        assertThat(result.errLines())
                .contains(
                        "refused: mixed.json, byte 9: the record is not an object at byte 0",
                        "refused: mixed.json, byte 20: the record ends too early at byte 17",
                        "refused: mixed.json, byte 38: the record goes on after its end at byte 9",
                        "refused: mixed.json, byte 50: the record is not an object at byte 0",
                        "refused: mixed.json, byte 54: the record is not an object at byte 2");
        assertThat(calls.log("query").out()).isEqualTo("{\"a\":[{\"\\\"\":\"{\"}]} \n{\"id\":1}\n");
        Files.writeString(file, "Dear reader,\nthis is no JSON.\n");
        Result text = Command.run("log", "ingest", log, file, "--threads", 2);
        assertThat(text.code()).as(text.err()).isEqualTo(ExitCode.FAILED);
        assertThat(text.errLines().getLast())
                .isEqualTo("turbidite: no record was taken: all 2 were rejected");
        Result piped = Command.runPiped("no JSON\n{\"id\":6", "log", "ingest", log, "-");
        assertThat(piped.code()).as(piped.err()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void an_unfinished_line_of_a_file_that_is_written_is_left_out_and_told() throws Exception {
        Path file = directory.resolve("events.csv");
        Files.writeString(file, "1,push\n2,iss");
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            for (long i = 1; !done.get(); i++) {
                try {
                    Files.setLastModifiedTime(file, FileTime.fromMillis(4_000_000_000_000L + i));
                    Thread.sleep(5);
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
        Result result;
        try {
            result = calls.log("ingest", file, "--parser", "csv(\",\", id:number, type)", "--json");
        } finally {
            done.set(true);
            writer.join();
        }
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.json().path("records").asLong()).isEqualTo(1);
        assertThat(result.json().path("waiting").asLong()).isEqualTo(1);
        assertThat(result.err()).contains("left out", "events.csv");
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
        assertThat(calls.log("ingest", file, "--json").json().path("records").asLong())
                .isEqualTo(2);
    }

    @Test
    void json_without_a_last_line_end_is_whole_at_its_bracket() throws IOException {
        Files.writeString(directory.resolve("events.json"), "{\"id\":1}\n{\"id\":2}");
        assertThat(calls.ingest("--json").json().path("records").asLong()).isEqualTo(2);
    }

    @Test
    void the_summary_for_machines_is_one_object() {
        JsonNode summary =
                calls.ingest("--json", "--psf", "t=field(type)", "--threads", 3).json();
        assertThat(summary.fieldNames())
                .toIterable()
                .containsExactly(
                        "step", "log", "records", "rejected", "bytes", "logBytes", "seconds");
        assertThat(summary.path("records").asLong()).isEqualTo(4);
        assertThat(summary.path("rejected").asLong()).isEqualTo(1);
        assertThat(summary.path("logBytes").asLong())
                .isGreaterThan(summary.path("bytes").asLong());
    }

    @Test
    void standard_input_is_ingested() {
        Result result = Command.runPiped(LogCalls.EVENTS, "log", "ingest", log, "-", "--json");
        assertThat(result.code()).as(result.err()).isZero();
        // no PSF wants the field of the bad literal
        assertThat(result.json().path("records").asLong()).isEqualTo(5);
    }

    @Test
    void an_interrupt_keeps_the_lines_that_came_and_exits_130() {
        Runnable[] stop = {() -> {}};
        InputStream endless = new InputStream() {
            private int given;

            @Override
            public int read() {
                throw new AssertionError("reads arrays only");
            }

            @Override
            public int read(byte[] into, int offset, int count) throws IOException {
                byte[] line = "{\"type\":\"push\"}\n{\"ty".getBytes(StandardCharsets.UTF_8);
                if (given++ > 0) {
                    stop[0].run();
                    throw new IOException("closed by the interrupt");
                }
                System.arraycopy(line, 0, into, offset, line.length);
                return line.length;
            }
        };
        Interrupts interrupts = action -> {
            stop[0] = action;
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return true;
                }

                @Override
                public void close() {
                    stop[0] = () -> {};
                }
            };
        };
        Object[] args = {"log", "ingest", log, "-", "--json"};
        Result result = Command.run(endless, Path.of(""), false, interrupts, args);
        assertThat(result.code()).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(result.json().path("records").asLong()).isEqualTo(1);
    }

    @Test
    void mistakes_are_named_and_make_no_log() {
        assertRefused(calls.ingest("--psf", "type"), "'type'", "name=definition");
        assertRefused(calls.ingest("--psf", "type=fild(type)"), "PSF 'type'", "fild");
        assertRefused(calls.ingest("--psf", "x=where(a >)"), "PSF 'x'");
        assertRefused(calls.ingest("--parser", "xml"), "xml");
        assertRefused(calls.ingest("--parser", "binary(id:i64@0)"), "binary");
        assertRefused(calls.log("ingest", directory.resolve("nothing.json")), "nothing.json");
        assertThat(log).doesNotExist();
    }

    @Test
    void threads_are_bounded() {
        assertRefused(calls.ingest("--threads", 0), "0 threads", "1 to 64");
    }

    @Test
    void ingesting_again_appends() {
        calls.ingest("--psf", "type=field(type)");
        calls.ingest();
        assertThat(calls.log("query", "--psf", "type=issue", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(2);
        assertRefused(
                calls.ingest("--psf", "type=field(id)"), "'type' is registered as field(type)");
        assertRefused(calls.ingest("--parser", "csv(\",\", a)"), "read as json");
    }

    @Test
    void csv_rows_are_a_log_too() throws IOException {
        Path csv = directory.resolve("rows.csv");
        Files.writeString(csv, "1,push,\"a,b\"\n2,pull,c\n");
        String parser = "csv(\",\", id:number, type, name)";
        assertThat(calls.log("ingest", csv, "--parser", parser, "--psf", "t=field(type)")
                        .code())
                .isZero();
        assertThat(calls.log("query", "--psf", "t=push", "--select", "name,id").out())
                .isEqualTo("{\"name\":\"a,b\",\"id\":1}\n");
    }

    @Test
    void a_header_is_no_record_and_a_line_end_in_quotes_ends_no_row() throws IOException {
        Path file = directory.resolve("rows.csv");
        Files.writeString(file, """
                id,"text",more
                1,"one, two
                three",x
                2,"say ""hi""
                ",y
                3,plain "quote",z
                4,"never closed,w
                5,five,v
                """);
        Result done = Command.run(
                "log",
                "ingest",
                log,
                file,
                "--parser",
                "csv(\",\", id:number, text)",
                "--psf",
                "id=field(id)",
                "--psf",
                "text=field(text)");
        assertThat(done.code()).as(done.err()).isZero();
        assertThat(done.out()).contains("4 records").contains("1 rejected");
        assertThat(done.err()).contains("1 first row that names the columns");
        assertThat(calls.log("query", "--psf", "id=1").out())
                .isEqualTo("1,\"one, two\nthree\",x\n");
        assertThat(calls.log("query", "--psf", "id=2", "--select", "text")
                        .json()
                        .get("text")
                        .asText())
                .isEqualTo("say \"hi\"\n");
        assertThat(calls.log("query", "--psf", "id=5", "--count")
                        .json()
                        .get("count")
                        .asInt())
                .isEqualTo(1);
    }

    @Test
    void what_was_refused_is_told_on_a_terminal_too() {
        Result done = Command.runIn(
                Path.of(""),
                true,
                Interrupts.none(),
                "log",
                "ingest",
                log,
                directory.resolve("events.json"),
                "--psf",
                "type=field(type)");
        assertThat(done.code()).as(done.err()).isZero();
        assertThat(done.err()).contains("refused: ").contains("malformed literal");
    }
}
