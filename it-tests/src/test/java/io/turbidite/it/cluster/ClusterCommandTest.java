package io.turbidite.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.command.ClusterCommand;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.it.samples.Transcript;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** The commands of a cluster, over processes of its own. */
@LeaksOnPurpose("the engine of a controller that does not start keeps a thread for a while")
class ClusterCommandTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final String NAME = "my-cluster";
    private static final String FIRST = "first-flights.csv";
    private static final long PAUSE_NANOS = 200_000_000;

    @TempDir
    private Path directory;

    private int code;

    @AfterEach
    void nothing_is_left() {
        Path cluster = directory.resolve(NAME);
        if (Files.exists(cluster.resolve("CLUSTER")) && !running().isEmpty()) {
            var _ = run("stop");
        }
        assertThat(running()).isEmpty();
    }

    /**
     * Processes whose command line has the directory. From the system: what the JVM says of
     * others leaves out a command line of more than a page, as a long class path makes it.
     */
    private List<Long> running() {
        try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
            return all.map(ProcessHandle::pid)
                    .filter(id -> commandLine(id).contains(directory.toString()))
                    .toList();
        }
    }

    private static String commandLine(long id) {
        try {
            return Files.readString(
                    Path.of("/proc", String.valueOf(id), "cmdline"), StandardCharsets.ISO_8859_1);
        } catch (IOException _) {
            // it has ended meanwhile
            return "";
        }
    }

    private String run(String... words) {
        List<String> all = new ArrayList<>(List.of("cluster"));
        all.addAll(List.of(words));
        all.addAll(List.of("--dir", directory.resolve(NAME).toString()));
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        code = Main.run(all.toArray(String[]::new), out, out);
        return said.toString(StandardCharsets.UTF_8).replace(directory + "/", "");
    }

    @Test
    void the_page_shows_what_happens_from_an_empty_directory_on() throws IOException {
        List<Transcript.Step> steps =
                Transcript.steps(Files.readString(ROOT.resolve("docs/cluster.md")));
        assertThat(steps).hasSize(11);
        for (Transcript.Step step : steps) {
            if (step.isOurs()) {
                assertThat(Transcript.run(step, directory, Set.of(NAME, FIRST), ROOT))
                        .as(step.line())
                        .matches(step.pattern());
            } else {
                assertThat(step.line())
                        .isEqualTo("gzip -dc feeds/samples/flights-2013.csv.gz | head -n 20001 > "
                                + FIRST);
                writeFirst();
            }
        }
        assertThat(running()).isEmpty();
    }

    /** As the page's line of a shell does. */
    private void writeFirst() throws IOException {
        try (BufferedReader all = new BufferedReader(new InputStreamReader(
                new GZIPInputStream(
                        Files.newInputStream(ROOT.resolve("feeds/samples/flights-2013.csv.gz"))),
                StandardCharsets.UTF_8))) {
            Files.write(directory.resolve(FIRST), all.lines().limit(20_001).toList());
        }
    }

    @Test
    void what_can_t_be_is_told_in_a_line() throws IOException {
        assertThat(run("status"))
                .isEqualTo("turbidite: my-cluster is no directory of a cluster; ./turbidite"
                        + " cluster start --dir DIR makes one\n");
        assertThat(code).isEqualTo(2);
        assertThat(run("start", "--nodes", "0"))
                .isEqualTo("turbidite: --nodes 0 must be 1 to 64\n");
        Files.createDirectories(directory.resolve(NAME).resolve("mine"));
        assertThat(run("start"))
                .isEqualTo("turbidite: my-cluster is not empty, and no directory of a cluster\n");
        Files.delete(directory.resolve(NAME).resolve("mine"));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(run("start", "--nodes", "2", "--port", String.valueOf(taken.getLocalPort())))
                    .isEqualTo(
                            "turbidite: 'controller' did not start: can't start the controller: port %d is in use\n"
                                    .formatted(taken.getLocalPort()));
            assertThat(code).isEqualTo(1);
            assertThat(running()).isEmpty();
        }
        assertThat(run("node", "n9"))
                .isEqualTo("turbidite: the cluster in my-cluster has no node 'n9'; there are n1,"
                        + " n2\n");
        assertThat(run("sql", "select 1"))
                .isEqualTo("turbidite: no controller runs in my-cluster; ./turbidite cluster start"
                        + " --dir my-cluster starts it\n");
        assertThat(run("stop"))
                .isEqualTo("turbidite: no process of the cluster in my-cluster runs\n");
        Path cluster = directory.resolve(NAME);
        // the second of two processes does not come up
        Files.writeString(Files.createDirectories(cluster.resolve("n1")).resolve("store"), "mine");
        var taken = RealDisk.open(cluster).tryLock("LOCK").orRefuse(NAME);
        assertThat(run("start"))
                .isEqualTo("turbidite: another start of the cluster in my-cluster is under way\n");
        taken.close();
        assertThat(run("start")).startsWith("turbidite: 'n1' did not start: ");
        assertThat(running()).isEmpty();
    }

    @Test
    void stop_ends_no_process_that_has_the_id_of_one_of_the_cluster() throws IOException {
        made(directory.resolve(NAME));
        Process other = new ProcessBuilder("sleep", "600").start();
        try {
            long begun = other.info().startInstant().orElseThrow().toEpochMilli();
            Path node = Files.createDirectories(directory.resolve(NAME).resolve("n1"));
            Files.writeString(node.resolve("PROCESS"), "%d %d%n".formatted(other.pid(), begun - 1));
            assertThat(run("stop"))
                    .isEqualTo("turbidite: no process of the cluster in my-cluster runs\n");
            assertThat(other.isAlive()).isTrue();
            Files.writeString(node.resolve("PROCESS"), "%d %d%n".formatted(other.pid(), begun));
            assertThat(run("stop")).isEqualTo("ended n1\n");
            assertThat(other.isAlive()).isFalse();
        } finally {
            other.destroyForcibly();
        }
    }

    private static void made(Path cluster) throws IOException {
        Files.createDirectories(cluster);
        Files.writeString(cluster.resolve("CLUSTER"), """
                version=1
                id=1
                nodes=1
                port=1
                idlePort=2
                memory=256m
                """);
    }

    /** The user stops the start once two processes run. */
    @Test
    void a_start_that_is_stopped_leaves_no_process() {
        AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});
        Console console = new Console(
                InputStream.nullInputStream(),
                System.out,
                System.err,
                false,
                directory,
                ROOT,
                given -> {
                    stop.set(given);
                    return new Interrupts.Watch() {
                        @Override
                        public boolean interrupted() {
                            return false;
                        }

                        @Override
                        public void close() {
                            // nothing is held
                        }
                    };
                },
                Clock.system());
        AtomicInteger ended = new AtomicInteger(-1);
        Thread.ofPlatform()
                .name("start")
                .start(() -> ended.set(ClusterCommand.of(console)
                        .execute(
                                "start",
                                "--nodes",
                                "2",
                                "--dir",
                                directory.resolve(NAME).toString())));
        await(() -> running().size() >= 2);
        stop.get().run();
        await(() -> ended.get() >= 0);
        assertThat(ended.get()).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(running()).isEmpty();
    }

    @Test
    void a_second_controller_is_refused_and_a_node_that_died_is_named_and_comes_back()
            throws IOException {
        assertThat(run("start", "--nodes", "2"))
                .isEqualTo("2 nodes of the cluster in my-cluster serve\n");
        assertThat(run("start")).contains("'n1' of the cluster in my-cluster runs, as process ");
        assertThat(run("controller")).contains("in use");
        assertThat(code).isEqualTo(1);
        assertThat(run("sql", "create dataset T (id bigint primary key, word string)"))
                .isEqualTo("done\n");
        assertThat(run("sql", "create unique index one on T (word)"))
                .contains("can't be unique on a cluster");
        assertThat(run("sql", "update T set word = 'b'")).contains("no UPDATE or DELETE yet");
        Path file = directory.resolve("some.ndjson");
        StringBuilder lines = new StringBuilder();
        for (int id = 0; id < 1_000; id++) {
            lines.append("{\"id\": %d, \"word\": \"w%d\"}%n".formatted(id, id % 10));
        }
        Files.writeString(file, lines.append("{\"id\": \"none\"}\n"));
        assertThat(run("load", "T", file.toString()))
                .contains("1,000 records loaded into T, 1 rejected\n", "line 1001");
        assertThat(run("sql", "insert into T (id, word) values (7, 'again')"))
                .contains("already has a record with primary key [7]");
        kill("n2");
        awaitState("node n2 away");
        assertThat(code).isEqualTo(1);
        assertThat(run("load", "T", file.toString()))
                .contains("not all nodes have written: node 'n1': ", " applied; node 'n2': ")
                .contains("not applied (it is away)");
        assertThat(run("sql", "select count(*) from T")).contains("node 'n2' is not there");
        assertThat(run("stop")).isEqualTo("ended n1, controller\n");
        assertThat(run("start")).isEqualTo("2 nodes of the cluster in my-cluster serve\n");
        assertThat(run("sql", "--json", "select count(*) as n, count(distinct word) as w from T"))
                .isEqualTo("{\"n\":1000,\"w\":10}\n");
        assertThat(run("stop")).isEqualTo("ended n1, n2, controller\n");
    }

    private void kill(String node) throws IOException {
        String told = Files.readString(directory.resolve(NAME).resolve(node).resolve("PROCESS"));
        ProcessHandle process =
                ProcessHandle.of(Long.parseLong(told.split(" ", -1)[0])).orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Asks again after a pause: each look is a command, or goes over all processes. */
    private static void await(BooleanSupplier isThere) {
        long end = Clock.system().monotonicNanos() + TimeUnit.SECONDS.toNanos(120);
        while (!isThere.getAsBoolean()) {
            assertThat(Clock.system().monotonicNanos()).isLessThan(end);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void awaitState(String line) {
        await(() -> run("status").contains(line));
    }
}
