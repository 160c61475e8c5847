package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.serve.SocketClient;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/**
 * The read commands while another opening holds the store: over its socket, with the same answers.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class StoreServerTest {
    private static final List<List<String>> READS = List.of(
            List.of("query", "STORE", "Trips"),
            List.of("query", "STORE", "Trips", "--eq", "carrier=UA", "--count"),
            List.of("query", "STORE", "Trips", "--group", "carrier", "--order", "count:desc"),
            List.of("query", "STORE", "Trips", "--eq", "nothing=1"),
            List.of("query", "STORE", "Nothing"),
            List.of("get", "STORE", "Trips", "[\"UA\",1]"),
            List.of("get", "STORE", "Numbers", "-5"),
            List.of("get", "STORE", "Numbers", "6"),
            List.of("verify", "STORE", "--json"),
            List.of("verify", "STORE", "--quick"),
            List.of("query", "STORE", "--frobnicate"));

    @TempDir
    private Path directory;

    private Path path = Path.of("");

    @BeforeEach
    void load() throws IOException {
        path = Command.load(directory);
    }

    private Result run(List<String> command) {
        return Command.run(command.stream()
                .map(word -> word.equals("STORE") ? path.toString() : word)
                .toArray());
    }

    @Test
    void what_is_read_over_the_socket_is_what_is_read_from_the_store() {
        List<Result> direct = new ArrayList<>();
        READS.forEach(command -> direct.add(run(command)));
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            for (int i = 0; i < READS.size(); i++) {
                assertThat(run(READS.get(i))).as("%s", READS.get(i)).isEqualTo(direct.get(i));
            }
            Result inspected = run(List.of("inspect", "STORE", "--json"));
            assertThat(inspected.code()).isZero();
            assertThat(inspected.json().path("store").asText()).isEqualTo(path.toString());
        }
        assertThat(path.resolve("SOCKET")).doesNotExist();
    }

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void what_the_holder_does_is_told_as_it_happens() throws Exception {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            store.dataset("Numbers").upsert(Map.of("id", 100L));
            assertThat(run(List.of("flush", "STORE", "Numbers")).out())
                    .startsWith("Numbers: ")
                    .endsWith(" flushed\n");
            String recent = run(List.of("tail", "STORE", "--recent")).out();
            assertThat(recent).contains("Flushed dataset=Numbers partition=0 cause=request");

            BlockingQueue<String> lines = new LinkedBlockingQueue<>();
            OutputStream out = new ByteArrayOutputStream() {
                @Override
                public synchronized void flush() {
                    toString(StandardCharsets.UTF_8).lines().forEach(lines::add);
                    reset();
                }
            };
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            SocketClient.Request request = new SocketClient.Request(
                    "/", false, List.of("tail", path.toString(), "--json"));
            CompletableFuture<OptionalInt> tail =
                    CompletableFuture.supplyAsync(() -> SocketClient.run(path, request, out, err));
            int seen = 0;
            while (seen < 2) {
                String line = lines.take();
                if (line.contains("\"event\":\"Flushed\"") && line.contains("\"Numbers\"")) {
                    seen++;
                    if (seen == 1) { // it was told before: now it follows
                        store.dataset("Numbers").upsert(Map.of("id", 101L));
                        store.dataset("Numbers").flush();
                    }
                }
            }

            Result stats = run(List.of("stats", "STORE", "flush", "write", "--json"));
            assertThat(stats.err()).isEmpty();
            assertThat(stats.out()).contains("{\"name\":\"flush.bytes\"").doesNotContain("cache.");
            assertThat(run(List.of("stats", "STORE", "flush")).out())
                    .containsPattern("flush.time 2 times, half within [\\d.]+ ms");
            assertThat(run(List.of("stats", "STORE", "frobs")).err())
                    .contains("no figure's name begins with 'frobs'", "cache, ");
            server.close();
            assertThat(tail)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableThat()
                    .withMessageContaining("lets go of it");
        }
        assertThat(run(List.of("tail", "STORE")).err()).contains("no other process holds");
        assertThat(run(List.of("stats", "STORE")).err()).contains("of this command's opening");
    }

    @Test
    void writes_of_the_holder_are_seen_at_once() {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            for (long id = 100; id < 120; id++) {
                store.dataset("Numbers").upsert(Map.of("id", id));
                assertThat(run(List.of("get", "STORE", "Numbers", Long.toString(id)))
                                .code())
                        .isZero();
            }
        }
    }

    @Test
    void a_backup_goes_where_the_client_says() {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            Path backup = directory.resolve("backup");
            assertThat(Command.run("backup", path, backup).code()).isZero();
            assertThat(Command.run("query", backup, "Trips", "--count").out())
                    .isEqualTo("{\"count\":4}\n");
            Result inside = Command.run("backup", path, path.resolve("b"));
            assertThat(inside.code()).isEqualTo(2);
            assertThat(inside.err()).contains("inside the store");
        }
    }

    @Test
    void trash_that_the_holder_found_stays_while_it_runs() throws IOException {
        String stray = "0000000000fd.component";
        try (Stream<Path> components = Files.list(path.resolve("data"))) {
            Files.copy(
                    components.findFirst().orElseThrow(), path.resolve("data").resolve(stray));
        }
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            Result emptied = run(List.of("trash", "STORE", "--empty"));
            assertThat(emptied.code()).as(emptied.err()).isZero();
            assertThat(emptied.out())
                    .contains(
                            stray,
                            "kept: the process that holds the store found them in data",
                            "run this command again when that process has ended to delete them");
        }
        assertThat(run(List.of("trash", "STORE", "--empty")).out())
                .contains(stray, "1 file, ", " deleted");
    }

    /** A holder that is killed while it makes a backup, as far as its client can see. */
    @Test
    void a_backup_whose_maker_ended_is_told_to_be_deleted() throws Exception {
        Path backup = directory.resolve("backup");
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                ServerSocketChannel server =
                        ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            assertThat(store.datasets()).isNotEmpty();
            server.bind(UnixDomainSocketAddress.of(path.resolve("SOCKET")));
            Thread holder = Thread.ofPlatform().start(() -> {
                try (SocketChannel client = server.accept()) {
                    DataInputStream from = new DataInputStream(Channels.newInputStream(client));
                    for (int frame = 0; frame < 2; frame++) {
                        from.readFully(new byte[from.readInt()]);
                    }
                    Files.createDirectory(backup);
                    Files.createFile(backup.resolve("INCOMPLETE"));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            Result ended = Command.run("backup", path, backup);
            holder.join();
            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.errLines())
                    .containsExactly(
                            "turbidite: the process that holds the store in %s ended before it had answered"
                                    .formatted(path),
                            "  %s is no whole backup: delete it, then run the command again"
                                    .formatted(backup));
        }
    }

    @Test
    void a_store_whose_holder_serves_nobody_is_in_use() {
        try (Store store = Store.openExisting(path, StoreOptions.defaults())) {
            Result result = Command.run("inspect", path);
            assertThat(result.code()).isEqualTo(1);
            assertThat(result.err())
                    .contains("in use by this process", "runs no commands for others");
            assertThat(store.datasets()).isNotEmpty();
        }
    }

    @Test
    void a_command_that_the_holder_does_not_run_is_told_which_ones_it_runs() throws IOException {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            List<List<Object>> commands = List.of(
                    List.of("index", "drop", path, "Trips", "by_tail"),
                    List.of("drop", path, "Trips", "--yes"),
                    List.of("repair", path),
                    List.of("quarantine", path),
                    List.of("restore", path, directory.resolve("restored")),
                    List.of("run", directory.resolve("trips.yaml"), "--store", path));
            for (List<Object> command : commands) {
                Result result = Command.run(command.toArray());
                assertThat(result.code()).as("%s", command).isEqualTo(1);
                assertThat(result.err())
                        .as("%s", command)
                        .contains(
                                "in use by this process",
                                "that process runs query, sql, get, export, inspect, stats,"
                                        + " doctor, tail, dataset list, verify, advise, trash, flush,"
                                        + " upgrade, backup, ship, job meanwhile, and feeds if it"
                                        + " is ./turbidite serve: ./turbidite feed start "
                                        + path
                                        + " FEED.yaml; for all else wait until it has ended");
            }
            Path job = Files.writeString(directory.resolve("job.json"), JobCommandTest.JOB);
            for (String command : StoreAccess.SERVED) {
                Object[] more = switch (command) {
                    case "query" -> new Object[] {path, "Trips"};
                    case "sql" -> new Object[] {path, "select count(*) from Trips"};
                    case "export" -> new Object[] {path, "Trips", directory.resolve("t.csv")};
                    case "tail" -> new Object[] {path, "--recent"};
                    case "get" -> new Object[] {path, "Numbers", "7"};
                    case "backup" -> new Object[] {path, directory.resolve("b")};
                    case "job" -> new Object[] {path, job};
                    case "ship" -> new Object[] {path, directory.resolve("s")};
                    default -> new Object[] {path};
                };
                List<Object> line = new ArrayList<>(List.of(command.split(" ", -1)));
                line.addAll(List.of(more));
                // a busy machine is something that the doctor may worry about
                assertThat(Command.run(line.toArray()).code())
                        .as("%s", line)
                        .isBetween(0, command.equals("doctor") ? 1 : 0);
            }
        }
    }

    @Test
    void what_does_not_only_read_is_not_run_for_others() {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            for (String command : List.of("run", "quickstart", "restore", "", "--help")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ByteArrayOutputStream err = new ByteArrayOutputStream();
                assertThat(SocketClient.run(
                                path,
                                new SocketClient.Request("/", false, List.of(command, "x", "y")),
                                out,
                                err))
                        .hasValue(2);
                assertThat(err.toString(StandardCharsets.UTF_8))
                        .contains("no such command", "runs query, sql, get");
                assertThat(out.size()).isZero();
            }
        }
    }

    @Test
    void what_is_no_path_is_refused_and_the_next_client_is_served() {
        try (Store store = Store.openExisting(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            List<SocketClient.Request> requests = List.of(
                    new SocketClient.Request("/\0", false, List.of("inspect", path.toString())),
                    new SocketClient.Request("", false, List.of("inspect", path.toString())),
                    new SocketClient.Request("/", false, List.of("backup", path.toString(), "\0")));
            for (SocketClient.Request request : requests) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ByteArrayOutputStream err = new ByteArrayOutputStream();
                assertThat(SocketClient.run(path, request, out, err)).hasValue(2);
                assertThat(err.toString(StandardCharsets.UTF_8)).containsAnyOf("path", "empty");
                assertThat(out.size()).isZero();
            }
            assertThat(run(List.of("get", "STORE", "Numbers", "-5")).code()).isZero();
        }
    }

    @Test
    void a_query_ends_early_when_its_reader_asks() {
        Interrupts atOnce = stop -> {
            stop.run();
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return true;
                }

                @Override
                public void close() {
                    // nothing is held
                }
            };
        };
        for (String option : List.of("--count", "--explain", "--group=carrier")) {
            Result result =
                    Command.runIn(Path.of(""), false, atOnce, "query", path, "Trips", option);
            assertThat(result.code()).isEqualTo(130);
            assertThat(result.out()).isEmpty();
            assertThat(result.err()).isEmpty();
        }
    }

    @AfterEach
    void verify() {
        assertThat(Command.run("verify", path).code()).isZero();
    }
}
