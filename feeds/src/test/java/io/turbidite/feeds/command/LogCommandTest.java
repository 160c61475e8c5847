package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

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
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
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
            result = log("ingest", file, "--parser", "csv(\",\", id:number, type)", "--json");
        } finally {
            done.set(true);
            writer.join();
        }
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.json().path("records").asLong()).isEqualTo(1);
        assertThat(result.json().path("waiting").asLong()).isEqualTo(1);
        assertThat(result.err()).contains("left out", "events.csv");
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
        assertThat(log("ingest", file, "--json").json().path("records").asLong())
                .isEqualTo(2);
    }

    @Test
    void json_without_a_last_line_end_is_whole_at_its_bracket() throws IOException {
        Files.writeString(directory.resolve("events.json"), "{\"id\":1}\n{\"id\":2}");
        assertThat(ingest("--json").json().path("records").asLong()).isEqualTo(2);
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
        assertThat(result.code()).isEqualTo(ExitCode.INTERRUPTED);
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
    void what_is_sound_of_a_damaged_log_is_salvaged() throws IOException {
        ingest("--psf", "type=field(type)");
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
    void threads_are_bounded() {
        assertRefused(ingest("--threads", 0), "0 threads", "1 to 64");
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
    void a_log_that_was_closed_is_asked_by_chain_and_by_scan() {
        ingest("--psf", "type=field(type)");
        Result byChain = log("query", "--psf", "type=push", "--explain");
        assertThat(byChain.code()).as(byChain.err()).isZero();
        assertThat(byChain.outLines()).hasSize(3);
        assertThat(byChain.json(0).path("id").asInt()).isEqualTo(5);
        assertThat(byChain.err()).contains("chain of PSF 0", "3 key pointers");
        Result byScan = log("query", "--psf", "type=push", "--scan", "--explain");
        assertThat(byScan.out()).isEqualTo(byChain.out());
        assertThat(byScan.err()).contains("scan of addresses", "4 records", "0 key pointers");
    }

    @Test
    void expressions_ranges_limits_and_fields_go_together() {
        ingest("--psf", "type=field(type)");
        assertThat(log("query", "--where", "repo.id == 11", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(2);
        Result rows = log(
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
        assertThat(log("query", "--to", "2000-01-01T00:00:00Z", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isZero();
        assertThat(log("query", "--from", "2000-01-01T00:00:00Z", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        assertThat(log("query", "--from", "0", "--to", "64", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isZero();
    }

    @Test
    void commands_that_read_change_no_byte() throws IOException {
        ingest("--psf", "type=field(type)");
        // as after a crash: the tail's mark is of before, and drafts lie about
        Path crashed = directory.resolve("crashed");
        try (OpenLog open = OpenLog.openExisting(log, OpenLog.defaults())) {
            open.log().register("id", PsfDefinition.parse("field(id)"));
            try (IngestSession session = open.log().openSession("more")) {
                byte[] line = EVENTS.lines().findFirst().orElseThrow().getBytes(UTF_8);
                for (int i = 0; i < 10_000; i++) {
                    session.append(MemorySegment.ofArray(line), 0, line.length);
                }
                session.awaitDurable();
                copy(log, crashed);
            }
        }
        Files.write(crashed.resolve("log/0000002a.run"), new byte[100]);
        Files.write(crashed.resolve("log/index.new"), new byte[100]);
        Path store = repositories();
        Map<String, String> before = hashes(crashed);
        log = crashed;
        for (Result result : List.of(
                log("query", "--psf", "type=push", "--explain"),
                log("query", "--where", "repo.id > 10", "--count"),
                log("inspect"),
                Command.run("log", "psf", "list", log),
                log("join", store, "Repos", "--on", "repo.id", "--psf", "type=push", "--count"))) {
            assertThat(result.code()).as(result.err()).isZero();
            assertThat(hashes(crashed)).isEqualTo(before);
        }
        log("migrate", store, "Repos", "--psf", "type=issue");
        assertThat(hashes(crashed)).isEqualTo(before);
        assertThat(Command.run("log", "psf", "add", log, "size=field(size)").code())
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

    @Test
    void ingesting_again_appends() {
        ingest("--psf", "type=field(type)");
        ingest();
        assertThat(log("query", "--psf", "type=issue", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(2);
        assertRefused(ingest("--psf", "type=field(id)"), "'type' is registered as field(type)");
        assertRefused(ingest("--parser", "csv(\",\", a)"), "read as json");
    }

    @Test
    void csv_rows_are_a_log_too() throws IOException {
        Path csv = directory.resolve("rows.csv");
        Files.writeString(csv, "1,push,\"a,b\"\n2,pull,c\n");
        String parser = "csv(\",\", id:number, type, name)";
        assertThat(log("ingest", csv, "--parser", parser, "--psf", "t=field(type)")
                        .code())
                .isZero();
        assertThat(log("query", "--psf", "t=push", "--select", "name,id").out())
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
        assertThat(log("query", "--psf", "id=1").out()).isEqualTo("1,\"one, two\nthree\",x\n");
        assertThat(log("query", "--psf", "id=2", "--select", "text")
                        .json()
                        .get("text")
                        .asText())
                .isEqualTo("say \"hi\"\n");
        assertThat(log("query", "--psf", "id=5", "--count").json().get("count").asInt())
                .isEqualTo(1);
    }

    @Test
    void a_value_of_the_other_type_gets_a_hint() throws IOException {
        Files.writeString(
                directory.resolve("events.json"),
                "{\"id\":\"8200000897\",\"n\":5}\n{\"id\":\"x\",\"n\":6}\n");
        ingest("--psf", "id=field(id)", "--psf", "n=field(n)");
        Result number = log("query", "--psf", "id=8200000897");
        assertThat(number.out()).isEmpty();
        assertThat(number.err()).contains("--psf 'id=\"8200000897\"'").contains("text");
        Result text = log("query", "--psf", "n=\"5\"", "--count");
        assertThat(text.err()).contains("--psf 'n=5'").contains("number");
        assertThat(log("query", "--psf", "n=7").err()).isEmpty();
        assertThat(log("query", "--psf", "id=\"8200000897\"").err()).isEmpty();
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

    @Test
    void psfs_come_and_go() {
        ingest();
        Result added = log("psf", "add");
        assertThat(added.code()).isEqualTo(ExitCode.USAGE);
        Object[] add = {"log", "psf", "add", log, "type=field(type)", "big=where(size > 5)"};
        assertThat(Command.run(add).code()).isZero();
        ingest();
        // the first half by scan, the second by chain
        assertThat(log("query", "--psf", "big=true", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        assertThat(Command.run("log", "psf", "remove", log, "big").code()).isZero();
        Result list = Command.run("log", "psf", "list", log, "--json");
        assertThat(list.json(0).path("active").asBoolean()).isTrue();
        assertThat(list.json(1).path("active").asBoolean()).isFalse();
        assertThat(list.json(1).path("intervals").get(0)).hasSize(2);
        assertRefused(Command.run("log", "psf", "remove", log, "big"), "no PSF 'big'");
        assertRefused(Command.run("log", "psf", "change", log, "big"), "list, add, remove, index");
    }

    @Test
    void a_psf_with_hot_values_has_several_chains() {
        ingest();
        assertThat(Command.run("log", "psf", "add", log, "--chains", "4", "type=field(type)")
                        .out())
                .contains("registered, 4 chains a value");
        ingest();
        assertThat(log("query", "--psf", "type=push", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(6);
        assertRefused(
                Command.run("log", "psf", "add", log, "--chains", "3", "x=field(id)"), "3 chains");
    }

    @Test
    void what_came_before_a_psf_is_indexed_by_request() {
        ingest();
        assertThat(Command.run("log", "psf", "add", log, "type=field(type)").code())
                .isZero();
        Result scan = log("query", "--psf", "type=push", "--explain");
        assertThat(scan.err()).contains("scan of addresses", "looked at 5 records");
        Result index = Command.run("log", "psf", "index", log, "type");
        assertThat(index.code()).as(index.err()).isZero();
        assertThat(index.out()).contains("; by runs ");
        Result run = log("query", "--psf", "type=push", "--explain");
        assertThat(run.out()).isEqualTo(scan.out());
        assertThat(run.err()).contains("run of PSF 0", "looked at 0 records and 3 key pointers");
        assertThat(log("inspect", "--json").json().path("psfs").get(0).path("runs"))
                .hasSize(1);
        assertRefused(Command.run("log", "psf", "index", log, "big"), "no PSF 'big'");
    }

    @Test
    void a_log_is_described() {
        ingest("--psf", "type=field(type)");
        JsonNode whole = log("inspect", "--json").json();
        assertThat(whole.path("parser").asText()).isEqualTo("json");
        assertThat(whole.path("durable").asLong()).isEqualTo(whole.path("tail").asLong());
        assertThat(whole.path("psfs")).hasSize(1);
        assertThat(log("inspect").out()).contains("addresses: begin", "psf 0 type = field(type)");
    }

    @Test
    void what_is_not_there_is_named_and_nothing_is_made() {
        for (String command : List.of("query", "inspect")) {
            assertRefused(log(command), "turbidite: %s does not exist\n".formatted(log));
        }
        assertThat(log).doesNotExist();
        Path file = directory.resolve("events.json");
        for (String command : List.of("query", "inspect")) {
            assertRefused(
                    Command.run("log", command, file),
                    "turbidite: %s is not a directory\n".formatted(file));
        }
        assertRefused(Command.run("log", "psf", "add", log, "a=field(a)"), log + " does not exist");
        ingest("--psf", "type=field(type)");
        assertRefused(log("query", "--psf", "kind=x"), "no PSF 'kind'", "type");
        assertRefused(log("query", "--psf", "type"), "name=value");
        assertRefused(log("query", "--where", "size >"), "size");
        assertRefused(log("query", "--from", "yesterday"), "--from 'yesterday'");
    }

    @Test
    void a_subset_moves_into_a_dataset_and_the_newest_record_of_a_key_stays() throws IOException {
        Files.writeString(
                directory.resolve("more.json"), EVENTS.replace("\"size\":9", "\"size\":10"));
        ingest("--psf", "type=field(type)");
        log("ingest", directory.resolve("more.json"));
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
        Result moved = log("migrate", store, "Pushes", "--psf", "type=push", "--json");
        assertThat(moved.code()).as(moved.err()).isZero();
        assertThat(moved.json().path("records").asLong()).isEqualTo(6);
        assertThat(Command.run("get", store, "Pushes", "5").json().path("size").asInt())
                .isEqualTo(10);
        assertThat(Command.run("query", store, "Pushes", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        Result issues = log("migrate", store, "Pushes", "--psf", "type=issue");
        assertThat(issues.out()).startsWith("0 records, 2 rejected");
        assertThat(issues.err()).contains("refused: the record at address", "size");
        assertRefused(log("migrate", store, "Nothing", "--psf", "type=push"), "Nothing");
    }

    /** A dataset of repositories, by id. */
    private Path repositories() throws IOException {
        Path feed = directory.resolve("repos.yaml");
        Files.writeString(feed, """
                feed: repos
                dataset:
                  name: Repos
                  type: { id: int64, stars: int32, language: string }
                  primaryKey: id
                source: { kind: file, path: repos.json }
                parser: { kind: json }
                """);
        Files.writeString(directory.resolve("repos.json"), """
                {"id":10,"stars":5,"language":"C"}
                {"id":11,"stars":7,"language":"Java"}
                """);
        Path store = directory.resolve("store");
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        return store;
    }

    @Test
    void a_log_and_a_dataset_are_joined() throws IOException {
        ingest("--psf", "type=field(type)");
        Path store = repositories();
        Result pushes = log("join", store, "Repos", "--on", "repo.id", "--psf", "type=push");
        assertThat(pushes.code()).as(pushes.err()).isZero();
        assertThat(pushes.outLines())
                .containsExactly(
                        "{\"log\":{\"id\":3,\"type\":\"push\",\"repo\":{\"id\":11,\"name\":\"c/d\"},\"size\":7},"
                                + "\"record\":{\"id\":11,\"stars\":7,\"language\":\"Java\"}}",
                        "{\"log\":{\"id\":1,\"type\":\"push\",\"repo\":{\"id\":10,\"name\":\"a/b\"},\"size\":3},"
                                + "\"record\":{\"id\":10,\"stars\":5,\"language\":\"C\"}}");
        assertThat(log(
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
        assertThat(log("join", store, "Repos", "--on", "repo.id", "--limit", "1", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(1);
        // text of JSON is no key of numbers
        assertThat(log("join", store, "Repos", "--on", "repo.name").out()).isEmpty();
    }

    @Test
    void rows_of_text_join_by_the_type_of_the_key() throws IOException {
        Path rows = directory.resolve("rows.csv");
        Files.writeString(rows, "a,10\nb,11\nc,\nd,x\n");
        assertThat(log("ingest", rows, "--parser", "csv(\",\", who, repo)").code())
                .isZero();
        Path store = repositories();
        assertThat(log("join", store, "Repos", "--on", "repo", "--select", "who", "--fields", "id")
                        .outLines())
                .containsExactly(
                        "{\"log\":{\"who\":\"b\"},\"record\":{\"id\":11}}",
                        "{\"log\":{\"who\":\"a\"},\"record\":{\"id\":10}}");
        assertRefused(log("join", store, "Repos", "--on", "repo"), "--select");
    }

    @Test
    void a_join_that_names_what_is_not_there_is_refused() throws IOException {
        ingest();
        Path store = repositories();
        assertRefused(log("join", store, "Repos", "--on", "id,repo.id"), "primary key is [id]");
        assertRefused(log("join", store, "Repos", "--on", "repo.id", "--eq", "x=1"), "x");
        assertRefused(log("join", store, "Repos", "--on", "repo.id", "--fields", "x"), "x");
        assertRefused(log("join", store, "Repos", "--on", "repo.id", "--psf", "no=1"), "no PSF");
        assertRefused(log("join", store, "Nothing", "--on", "repo.id"), "Nothing");
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
                directory.resolve("events.json"), EVENTS + "{\"id\":6,\"type\":\"push\"}\n");
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
                        ", 1 record unfinished: a file is being written or ends within quotes, run it again for the rest");
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
    void a_join_and_a_migration_hint_at_a_value_of_the_other_type() throws IOException {
        ingest("--psf", "size=field(size)", "--psf", "type=field(type)");
        Path store = repositories();
        Result join = log("join", store, "Repos", "--on", "repo.id", "--psf", "size=\"7\"");
        assertThat(join.out()).isEmpty();
        assertThat(join.err()).contains("--psf 'size=7'").contains("number");
        Result count =
                log("join", store, "Repos", "--on", "repo.id", "--psf", "size=\"7\"", "--count");
        assertThat(count.err()).contains("--psf 'size=7'");
        Result moved = log("migrate", store, "Repos", "--psf", "size=\"7\"");
        assertThat(moved.out()).startsWith("0 records, 0 rejected");
        assertThat(moved.err()).contains("--psf 'size=7'").contains("number");
        // found in the log, and nothing of the dataset goes with it: the type was right
        assertThat(log("join", store, "Repos", "--on", "repo.name", "--psf", "size=7")
                        .err())
                .isEmpty();
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
