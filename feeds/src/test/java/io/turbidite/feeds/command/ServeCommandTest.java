package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** How a server is started and ended by the command. */
class ServeCommandTest {
    @TempDir
    private Path directory;

    /** Asks to stop as soon as the command watches for it. */
    private static Interrupts atOnce(AtomicInteger code) {
        return stop -> {
            stop.run();
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return true;
                }

                @Override
                public void endWith(int newCode) {
                    code.set(newCode);
                }

                @Override
                public void close() {
                    // nothing is held
                }
            };
        };
    }

    private Path numbers(String name) throws Exception {
        Path at = Files.createDirectory(directory.resolve(name));
        Files.writeString(at.resolve("numbers.json"), Command.NUMBERS);
        Files.writeString(at.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        Path store = at.resolve("store");
        assertThat(Command.run("run", at.resolve("numbers.yaml"), "--store", store)
                        .code())
                .isZero();
        return store;
    }

    @Test
    void serves_until_it_is_asked_to_stop_and_ends_well() throws Exception {
        Path one = numbers("a");
        Path two = numbers("b");
        AtomicInteger code = new AtomicInteger(-1);
        Command.Result result = Command.runIn(
                Path.of(""),
                false,
                atOnce(code),
                "serve",
                one,
                "second=" + two,
                "--listen",
                "127.0.0.1:0",
                "--json");
        assertThat(result.err()).isEqualTo("ended\n");
        assertThat(result.code()).isZero();
        assertThat(code).hasValue(0);
        assertThat(result.json().at("/stores").toString()).isEqualTo("[\"store\",\"second\"]");
        assertThat(result.json().at("/listening/0").asText()).startsWith("127.0.0.1:");
        assertThat(Command.run("get", one, "Numbers", "7").code()).isZero();
    }

    /** A client by TCP, with a token, beside a server that its command started. */
    @Test
    void takes_lines_where_the_command_says() throws Exception {
        Path store = numbers("a");
        Path tokens = directory.resolve("tokens");
        String token = Command.run("token", tokens, "me", "--rights", "read,write")
                .out()
                .strip();
        Path definition = Files.writeString(directory.resolve("lines.yaml"), """
                feed: lines
                dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                source: { kind: tcp }
                parser: { kind: json }
                """);
        int port = freePort();
        FutureTask<List<String>> client = new FutureTask<>(() -> talk(port, token));
        Command.Result served = Command.runIn(
                Path.of(""),
                false,
                untilDone(client),
                "serve",
                store,
                definition,
                "--listen",
                "127.0.0.1:0",
                "--tcp",
                "lines=127.0.0.1:" + port,
                "--tokens",
                tokens);
        assertThat(client.get()).containsExactly("{\"acked\":2}");
        assertThat(served.code()).as(served.err()).isZero();
        assertThat(served.out()).contains("taking lines at lines=127.0.0.1:" + port);
        assertThat(Command.run("query", store, "Lines", "--count").out()).contains("2");
    }

    /** The bug: 404 for the first moments, which a client takes for good. */
    @Test
    void a_feed_that_the_store_keeps_is_there_as_soon_as_somebody_listens() throws Exception {
        Path store = numbers("a");
        Path tokens = directory.resolve("tokens");
        String token = Command.run("token", tokens, "me", "--rights", "read,write")
                .out()
                .strip();
        Path definition = Files.writeString(directory.resolve("sent.yaml"), """
                feed: sent
                dataset: { name: Sent, type: { id: int64 }, primaryKey: id }
                source: { kind: http }
                parser: { kind: json }
                """);
        serveOnce(store, definition);
        for (int round = 0; round < 5; round++) {
            int port = freePort();
            FutureTask<String> client = new FutureTask<>(() -> post(port, token));
            Command.Result served = Command.runIn(
                    Path.of(""),
                    false,
                    untilDone(client),
                    "serve",
                    store,
                    "--listen",
                    "127.0.0.1:" + port,
                    "--tokens",
                    tokens);
            assertThat(served.code()).as(served.err()).isZero();
            assertThat(client.get()).isEqualTo("HTTP/1.1 200 OK");
        }
    }

    @Test
    void a_feed_that_is_paused_stays_so_and_that_is_told() throws Exception {
        Path store = numbers("a");
        Path definition = directory.resolve("b.yaml");
        Files.writeString(directory.resolve("few.json"), "{\"id\":1}\n");
        Files.writeString(definition, """
                feed: few
                dataset: { name: Few, type: { id: int64 }, primaryKey: id }
                source: { kind: file, path: few.json }
                parser: { kind: json }
                """);
        serveOnce(store, definition);
        try (Store opened = Store.open(store, StoreOptions.defaults());
                FeedManager feeds = FeedManager.open(opened)) {
            feeds.startKept();
            feeds.pause("few");
        }
        Command.Result again = Command.runIn(
                Path.of(""),
                false,
                atOnce(new AtomicInteger()),
                "serve",
                store,
                definition,
                "--listen",
                "127.0.0.1:0");
        assertThat(again.code()).as(again.err()).isZero();
        assertThat(again.err())
                .contains("feed few of ", "stays paused: ./turbidite feed resume STORE few");
    }

    /** The bug: it was changed without a word. */
    @Test
    void a_kept_definition_that_a_file_changes_is_told() throws Exception {
        Path store = numbers("a");
        Files.writeString(directory.resolve("few.json"), "{\"id\":1}\n");
        Path file = directory.resolve("few.yaml");
        String text = """
                feed: few
                dataset: { name: Few, type: { id: int64 }, primaryKey: id }
                source: { kind: tail, path: few.json }
                parser: { kind: json }
                """;
        Files.writeString(file, text);
        assertThat(serveOnce(store, file).err()).isEqualTo("ended\n");
        assertThat(serveOnce(store, file).err()).isEqualTo("ended\n");
        Files.writeString(file, text + "transform: { id: id + 1 }\nworkers: 2\n");
        assertThat(serveOnce(store, file).errLines())
                .containsExactly(
                        "feed few: the definition that the store keeps is now that of %s, which differs in transform.id, workers"
                                .formatted(file),
                        "ended");
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        Path moved = Files.copy(file, elsewhere.resolve("few.yaml"));
        Files.copy(directory.resolve("few.json"), elsewhere.resolve("few.json"));
        assertThat(serveOnce(store, moved).err())
                .contains("differs in the directory of relative paths, which was " + directory);
        Files.writeString(moved, text.replace("few.json", "more.json"));
        refused(
                moved + ":3: source.path can't change",
                "serve",
                store,
                moved,
                "--listen",
                "127.0.0.1:0");
    }

    /** The bug: the store was opened, and the first file's feed kept, before the other was read. */
    @Test
    void a_definition_that_is_wrong_changes_nothing_in_the_store() throws Exception {
        Path store = numbers("a");
        Path right = Files.writeString(directory.resolve("right.yaml"), """
                feed: right
                dataset: { name: Right, type: { id: int64 }, primaryKey: id }
                source: { kind: http }
                parser: { kind: json }
                """);
        Path wrong = Files.writeString(directory.resolve("wrong.yaml"), "feed: a\nsauce: b\n");
        Path piped = Files.writeString(
                directory.resolve("piped.yaml"),
                Files.readString(right).replace("kind: http", "kind: stdin"));
        Map<String, FileTime> before = written(store);
        refused("wrong.yaml:2: sauce", "serve", store, right, wrong);
        refused("stdin is read by ./turbidite run alone", "serve", store, right, piped);
        refused("there is no file none.yaml", "serve", store, right, "none.yaml");
        assertThat(written(store)).isEqualTo(before);
        Path none = directory.resolve("none");
        refused("wrong.yaml:2: sauce", "serve", none, wrong);
        refused("none does not exist", "serve", none, right);
        assertThat(none).doesNotExist();
    }

    /** The bugs: the later file's feed took the former's place; the first was kept all the same. */
    @Test
    void feeds_that_can_not_all_be_started_leave_none_in_the_store() throws Exception {
        Path store = numbers("a");
        Path one = Files.writeString(directory.resolve("one.yaml"), """
                feed: x
                dataset: { name: X, type: { id: int64 }, primaryKey: id }
                source: { kind: http }
                parser: { kind: json }
                """);
        Path two = Files.writeString(
                directory.resolve("two.yaml"), Files.readString(one).replace("X", "Y"));
        Path unfit = Files.writeString(
                directory.resolve("unfit.yaml"),
                Files.readString(one)
                        .replace("feed: x", "feed: y")
                        .replace("X, type: { id: int64", "Numbers, type: { id: string"));
        Map<String, FileTime> before = written(store);
        refused("one.yaml and " + two + " both define feed x", "serve", store, one, two);
        assertThat(written(store)).isEqualTo(before);
        refused("unfit.yaml:2", "serve", store, one, unfit, "--listen", "127.0.0.1:0");
        try (Store opened = Store.open(store, StoreOptions.defaults());
                FeedManager feeds = FeedManager.open(opened)) {
            assertThat(opened.findDataset("X")).isNull();
            assertThat(feeds.startKept()).isEmpty();
        }
    }

    @Test
    void files_that_are_not_there_are_told_so() throws Exception {
        Path store = numbers("a");
        refused(
                "none.txt: no such file; ./turbidite token ",
                "serve",
                store,
                "--tokens",
                "none.txt");
        refused(
                "no.pem: no such file",
                "serve",
                store,
                "--tls-cert",
                "no.pem",
                "--tls-key",
                "no.key");
    }

    /** All that a directory has, and when each was written last. */
    private static Map<String, FileTime> written(Path store) throws IOException {
        Map<String, FileTime> all = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(store)) {
            for (Path one : walk.toList()) {
                all.put(store.relativize(one).toString(), Files.getLastModifiedTime(one));
            }
        }
        return all;
    }

    /** The bug: it waited for clients that had no place to come to. */
    @Test
    void a_feed_of_lines_without_a_place_to_listen_is_told() throws Exception {
        Path store = numbers("a");
        Path definition = Files.writeString(directory.resolve("lines.yaml"), """
                feed: lines
                dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                source: { kind: tcp }
                parser: { kind: json }
                """);
        for (Object[] more : new Object[][] {{store, definition}, {store}}) {
            Command.Result served = serveOnce(more);
            assertThat(served.errLines())
                    .containsExactly(
                            "feed lines takes no lines: no --tcp lines=HOST:PORT says where it listens",
                            "ended");
        }
        assertThat(serveOnce(store, "--tcp", "lines=127.0.0.1:0", "--tcp-anybody")
                        .err())
                .isEqualTo("ended\n");
    }

    /** The bug: both listened, and only one was told. */
    @Test
    void a_feed_takes_lines_at_one_place() throws Exception {
        refused(
                "--tcp lines=127.0.0.1:1: feed lines has a place already",
                "serve",
                numbers("a"),
                "--tcp",
                "lines=127.0.0.1:0",
                "--tcp",
                "lines=127.0.0.1:1",
                "--tcp-anybody");
    }

    @Test
    void insecure_drops_tls_and_not_the_tokens() throws Exception {
        Path tokens = directory.resolve("tokens");
        assertThat(Command.run("token", tokens, "me").code()).isZero();
        Command.Result served =
                serveOnce(numbers("a"), "--listen", "0.0.0.0:0", "--tokens", tokens, "--insecure");
        assertThat(served.out()).contains("http://0.0.0.0:");
    }

    /** Else its producers would be those of clients without a token. */
    @Test
    void no_token_has_the_name_of_those_who_have_none() throws Exception {
        Path tokens = directory.resolve("tokens");
        Command.Result made = Command.run("token", tokens, "anybody");
        assertThat(made.code()).isEqualTo(2);
        assertThat(made.err()).contains("'anybody' is who has no token");
        assertThat(tokens).doesNotExist();
        assertThat(Command.run("token", tokens, "me").code()).isZero();
        Files.writeString(tokens, Files.readString(tokens).replace("\"me\"", "\"anybody\""));
        Command.Result served =
                Command.run("serve", numbers("a"), "--listen", "127.0.0.1:0", "--tokens", tokens);
        assertThat(served.code()).isEqualTo(2);
        assertThat(served.err()).contains("tokens, line 1: 'anybody' is who has no token");
    }

    @Test
    void who_has_no_token_reads_unless_one_is_required() throws Exception {
        Path store = numbers("a");
        Path tokens = directory.resolve("tokens");
        assertThat(Command.run("token", tokens, "me").code()).isZero();
        for (boolean isRequired : new boolean[] {false, true}) {
            int port = freePort();
            String request =
                    "GET /v1/stores/store HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n"
                            .formatted(port);
            FutureTask<List<String>> client = new FutureTask<>(() -> answers(port, request, false));
            Command.Result served = Command.runIn(
                    Path.of(""),
                    false,
                    untilDone(client),
                    "serve",
                    store,
                    "--listen",
                    "127.0.0.1:" + port,
                    "--tokens",
                    tokens,
                    isRequired ? "--token-required" : "--json");
            assertThat(served.code()).as(served.err()).isZero();
            assertThat(client.get().getFirst())
                    .isEqualTo(isRequired ? "HTTP/1.1 401 Unauthorized" : "HTTP/1.1 200 OK");
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    /** Asks to stop when a client of the server is done. */
    private static Interrupts untilDone(FutureTask<?> client) {
        return stop -> {
            Thread.ofPlatform().daemon().start(() -> {
                client.run();
                stop.run();
            });
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return client.isDone();
                }

                @Override
                public void close() {
                    // nothing is held
                }
            };
        };
    }

    /** The first line of the answer to a client that sends a record as soon as it can. */
    private static String post(int port, String token) throws Exception {
        String body = "{\"id\":1}\n";
        String request =
                "POST /v1/feeds/sent HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                        .formatted(port, token, body.length(), body);
        return answers(port, request, false).getFirst();
    }

    private static Command.Result serveOnce(Object... arguments) {
        Stream<Object> line = Stream.concat(
                Stream.concat(Stream.of("serve"), Stream.of(arguments)),
                Stream.of("--listen", "127.0.0.1:0"));
        Command.Result served =
                Command.runIn(Path.of(""), false, atOnce(new AtomicInteger()), line.toArray());
        assertThat(served.code()).as(served.err()).isZero();
        return served;
    }

    /** What a client hears that sends two records. */
    private static List<String> talk(int port, String token) throws Exception {
        return answers(port, "{\"token\":\"%s\"}\n{\"id\":1}\n{\"id\":2}\n".formatted(token), true);
    }

    /**
     * What a client hears; it comes again until somebody listens.
     *
     * @param hasEnd whether it closes its half behind what it sends
     */
    private static List<String> answers(int port, String sent, boolean hasEnd) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(30_000);
                socket.getOutputStream().write(sent.getBytes(StandardCharsets.UTF_8));
                if (hasEnd) {
                    socket.shutdownOutput();
                }
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList();
            } catch (ConnectException notYet) {
                assertThat(System.nanoTime()).as("nobody listens").isLessThan(end);
                Thread.sleep(1);
            }
        }
    }

    @Test
    void refuses_what_would_let_anybody_in_and_what_makes_no_sense() throws Exception {
        Path one = numbers("a");
        Path two = numbers("b");
        refused("two stores are called store", "serve", one, two);
        refused("is not HOST:PORT", "serve", one, "--listen", "8470");
        refused("is not HOST:PORT", "serve", one, "--listen", "localhost:70000");
        refused("needs --tokens", "serve", one, "--listen", "0.0.0.0:0");
        refused("needs --tokens", "serve", one, "--listen", "0.0.0.0:0", "--insecure");
        refused("there is no token", "serve", one, "--token-required");
        refused("go together", "serve", one, "--tls-key", "key.pem");
        refused("is not between", "serve", one, "--requests", "0");
        Path wrong = Files.writeString(directory.resolve("wrong.yaml"), "feed: a\nsauce: b\n");
        refused("wrong.yaml:2: sauce", "serve", one, wrong, "--listen", "127.0.0.1:0");
        refused("no store is named", "serve", "some.yaml", "--listen", "127.0.0.1:0");
        refused("there is no file none.yaml", "serve", one, "none.yaml", "--listen", "127.0.0.1:0");
        Path tokens = directory.resolve("tokens");
        Command.Result made = Command.run("token", tokens, "me", "--rights", "read,write");
        assertThat(made.code()).as(made.err()).isZero();
        assertThat(Files.readString(tokens)).doesNotContain(made.out().strip());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(tokens)))
                .isEqualTo("rw-------");
        refused("has a token of me", "token", tokens, "me");
        refused("'own' is no right", "token", tokens, "you", "--rights", "own");
        refused("needs --tls", "serve", one, "--listen", "0.0.0.0:0", "--tokens", tokens);
        Files.writeString(tokens, "{}\n");
        refused("line 1", "serve", one, "--tokens", tokens);
    }

    @Test
    void a_port_in_use_is_named() throws Exception {
        Path store = numbers("a");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String at = "127.0.0.1:" + taken.getLocalPort();
            AtomicInteger code = new AtomicInteger();
            Command.Result result =
                    Command.runIn(Path.of(""), false, atOnce(code), "serve", store, "--listen", at);
            assertThat(result.code()).as(result.out()).isNotZero();
            assertThat(result.err()).contains(at);
            assertThat(result.errLines()).hasSizeLessThanOrEqualTo(2);
        }
        try (Store free = Store.open(store, StoreOptions.defaults())) {
            assertThat(free.datasets()).isNotEmpty();
        }
    }

    private static void refused(String why, Object... arguments) {
        AtomicInteger code = new AtomicInteger();
        Command.Result result = Command.runIn(Path.of(""), false, atOnce(code), arguments);
        assertThat(result.code()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains(why);
    }

    @Test
    void a_path_with_spaces_is_told_to_stand_in_quotes() throws IOException {
        Path spaced = Files.createDirectory(directory.resolve("my store"));
        Command.load(spaced);
        Path store = spaced.resolve("store");
        String half = directory.resolve("my").toString();
        Result unquoted = Command.run("serve", "a=" + half, "store/store");
        assertThat(unquoted.code()).isEqualTo(2);
        assertThat(unquoted.errLines())
                .containsExactly(
                        "turbidite: %s does not exist; a path with spaces stands in quotes: NAME='%s'"
                                .formatted(half, store));
        assertThat(Command.run("serve", "my data=" + store).err())
                .contains("write NAME='" + store + "'");
        assertThat(Command.run("serve", spaced).err()).contains("write NAME='" + spaced + "'");
        assertThat(Command.run("serve", half).err()).doesNotContain("quotes");
    }

    @Test
    void a_store_that_is_not_there_is_told_with_how_to_make_one() {
        Path none = directory.resolve("none");
        Result result = Command.run("serve", none);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.errLines())
                .containsExactly(
                        "turbidite: %s does not exist; ./turbidite dataset create and run make a store"
                                .formatted(none));
        assertThat(none).doesNotExist();
    }
}
