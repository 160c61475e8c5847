package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class LogCommandTest {
    private static final String EVENTS = """
            {"id":1,"type":"push","repo":{"id":10,"name":"a/b"},"size":3}
            {"id":2,"type":"issue","repo":{"id":11,"name":"c/d"},"action":"opened"}
            {"id":3,"type":"push","repo":{"id":11,"name":"c/d"},"size":7}
            {"id":4,"type":tru}
            {"id":5,"type":"push","repo":{"id":12,"name":"e/\\"f"},"size":9}
            """;

    @TempDir
    private Path directory;

    private Path log;

    @BeforeEach
    void write() throws IOException {
        log = directory.resolve("log");
        Files.writeString(directory.resolve("events.json"), EVENTS);
    }

    private Result log(String command, Object... more) {
        List<Object> args = new ArrayList<>(List.of("log", command, log));
        args.addAll(List.of(more));
        return Command.run(args.toArray());
    }

    private Result ingest(Object... more) {
        List<Object> args = new ArrayList<>(List.of(directory.resolve("events.json")));
        args.addAll(List.of(more));
        return log("ingest", args.toArray());
    }

    private static void assertRefused(Result result, String... says) {
        assertThat(result.code()).as(result.err()).isEqualTo(Main.EXIT_USAGE);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(says).doesNotContain("\tat ");
    }

    @Test
    void a_file_is_ingested_and_summed_up_and_its_rejects_are_shown() {
        Result result = ingest("--psf", "type=field(type)");
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.out()).contains("4 records (", "1 rejected", log.toString());
        assertThat(result.errLines()).hasSize(1);
        assertThat(result.err())
                .contains(
                        "refused: events.json, byte %d: ".formatted(EVENTS.indexOf("{\"id\":4")),
                        "literal");
    }

    @Test
    void the_summary_for_machines_is_one_object() {
        JsonNode summary =
                ingest("--json", "--psf", "t=field(type)", "--threads", 3).json();
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
        Result result = Command.runPiped(EVENTS, "log", "ingest", log, "-", "--json");
        assertThat(result.code()).as(result.err()).isZero();
        // nothing is parsed where no PSF is registered
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
        assertThat(result.code()).isEqualTo(Main.EXIT_INTERRUPTED);
        assertThat(result.json().path("records").asLong()).isEqualTo(1);
    }

    @Test
    void mistakes_are_named_and_make_no_log() {
        assertRefused(ingest("--psf", "type"), "'type'", "name=definition");
        assertRefused(ingest("--psf", "type=fild(type)"), "PSF 'type'", "fild");
        assertRefused(ingest("--psf", "x=where(a >)"), "PSF 'x'");
        assertRefused(ingest("--parser", "xml"), "xml");
        assertRefused(ingest("--parser", "binary(id:i64@0)"), "binary");
        assertRefused(log("ingest", directory.resolve("nothing.json")), "nothing.json");
        assertThat(log).doesNotExist();
    }

    @Test
    void threads_are_bounded() {
        assertRefused(ingest("--threads", 0), "0 threads", "1 to 64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ingest"})
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
}
