package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.it.command.StagedCommand.Running;
import io.turbidite.it.command.StagedCommand.Said;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A distribution, and its cache of classes: faster or not there, never a word about it. */
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class DistributionTest {
    private static final Map<String, String> WAIT = Map.of("TURBIDITE_CACHE", "wait");
    private static final Map<String, String> OFF = Map.of("TURBIDITE_CACHE", "off");

    @TempDir
    private Path directory;

    private StagedCommand command;

    @BeforeEach
    void unpack() throws Exception {
        // the JVM splits no path at these
        command = StagedCommand.in(Files.createDirectory(directory.resolve("Größe & Maß 1.0")));
    }

    @Test
    void the_quickstart_runs_in_another_directory_without_sources() throws Exception {
        Said said = command.run(OFF, "quickstart", "--store", "störe");
        assertThat(said.code()).as(said.err()).isZero();
        assertThat(said.out()).contains("336,776");
        assertThat(command.run(OFF, "get", "störe", "Flights", "2").out()).contains("N24211");
        assertThat(command.files("turbidite-")).isEmpty();
    }

    /**
     * With an image made as a distribution's is, and no Java to be found elsewhere: what commands
     * reach that {@code java.base} has not is SQL, vectors, TLS, pictures and management.
     */
    @Test
    void commands_run_on_the_image_alone() throws Exception {
        Path image = command.home().resolve("runtime");
        Path options = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent())
                .resolve("feeds/src/assembly/runtime.options");
        Path jdk = Path.of(System.getProperty("java.home"));
        Process jlink = new ProcessBuilder(
                        jdk.resolve("bin/jlink").toString(),
                        "@" + options,
                        "--output",
                        image.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(jlink.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jlink.waitFor()).as(said).isZero();

        Path tools = Files.createDirectory(directory.resolve("tools without java"));
        for (String tool : List.of("bash", "readlink", "dirname", "grep")) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool));
        }
        Map<String, String> alone = Map.of(
                "TURBIDITE_CACHE",
                "off",
                "PATH",
                tools.toString(),
                "JAVA_HOME",
                directory.resolve("no java").toString());
        Path rows = Files.writeString(directory.resolve("rows.ndjson"), """
                {"id": 1, "name": "ann", "at": [1.0, 2.0]}
                {"id": 2, "name": "bob", "at": [3.0, 4.0]}
                """);
        assertThat(ran(alone, "--version").out()).contains("on Java ");
        ran(
                alone,
                "dataset",
                "create",
                "s",
                "People",
                "--field",
                "id=int64",
                "--field",
                "name=string",
                "--field",
                "at=point",
                "--key",
                "id");
        ran(alone, "import", "s", "People", rows.toString());
        assertThat(ran(alone, "get", "s", "People", "2").out()).contains("bob");
        assertThat(ran(alone, "sql", "s", "select count(*) as n from People", "--csv")
                        .out())
                .contains("2");
        ran(alone, "query", "s", "People", "--group-cell", "at=1,1", "--plot", "cells.png");
        assertThat(ran(alone, "verify", "s").out()).isNotEmpty();
        ran(alone, "log", "ingest", "raw", rows.toString(), "--psf", "n=field(name)");
        assertThat(ran(alone, "log", "query", "raw", "--psf", "n=ann").out()).contains("ann");
        new ImageClients(directory, command, image).areServed(alone);
    }

    private Said ran(Map<String, String> environment, String... arguments) throws Exception {
        Said said = command.run(environment, arguments);
        assertThat(said.code()).as("%s: %s", arguments[0], said.err()).isZero();
        return said;
    }

    @Test
    void what_only_a_checkout_can_do_is_refused() throws Exception {
        Said said = command.run(OFF, "bench", "engine");
        assertThat(said.code()).isEqualTo(2);
        assertThat(said.err())
                .isEqualTo(
                        "turbidite: a distribution has no bench: it runs in a checkout of the sources.\n");
        Files.delete(command.home().resolve("lib/turbidite-feeds.jar"));
        said = command.run(OFF, "--version");
        assertThat(said.code()).isEqualTo(2);
        assertThat(said.err()).contains("turbidite-feeds.jar is missing: unpack");
    }

    @Test
    void classes_come_from_the_cache_until_a_jar_or_the_cache_is_another() throws Exception {
        Said without = command.run(OFF, "--version");
        quietAs(without, command.run(WAIT, "--version"));
        List<Path> made = command.files("turbidite-");
        assertThat(made).hasSize(1);
        assertThat(sharedClasses()).isGreaterThan(100);
        quietAs(without, command.run(WAIT, "--version"));
        assertThat(command.files("turbidite-")).isEqualTo(made);

        // the same bytes, written again: one cache takes the other's place
        Path jar = command.home().resolve("lib/turbidite-feeds.jar");
        Files.write(jar, Files.readAllBytes(jar));
        quietAs(without, command.run(WAIT, "--version"));
        List<Path> again = command.files("turbidite-");
        assertThat(again).hasSize(1).doesNotContainAnyElementsOf(made);

        // what the JVM refuses: no cache at all, half of one, one of other objects' addresses
        Path cache = again.getFirst();
        byte[] whole = Files.readAllBytes(cache);
        Files.writeString(cache, "no cache");
        quietAs(without, command.run(WAIT, "--version"));
        Files.write(cache, java.util.Arrays.copyOf(whole, whole.length / 2));
        quietAs(without, command.run(WAIT, "--version"));
        byte[] other = whole.clone();
        java.util.Arrays.fill(other, 0, 4096, (byte) 7);
        Files.write(cache, other);
        quietAs(without, command.run(WAIT, "--version"));
        Files.write(cache, whole);
        quietAs(
                without,
                command.run(Map.of("TURBIDITE_JAVA_OPTS", "-XX:-UseCompressedOops"), "--version"));
    }

    @Test
    void two_processes_at_once_make_one() throws Exception {
        List<Running> started = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            started.add(command.start(WAIT, "--version"));
        }
        for (Running running : started) {
            Said said = running.ended();
            assertThat(said.code()).isZero();
            assertThat(said.err()).isEmpty();
        }
        assertThat(command.files("turbidite-")).hasSize(1);
    }

    @Test
    void one_that_can_not_be_made_is_tried_once() throws Exception {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        Path nice = tools.resolve("nice");
        Path tried = directory.resolve("tried");
        Files.writeString(
                nice, "#!/bin/sh\necho failed | tee -a '%s' >&2\nexit 1\n".formatted(tried));
        assertThat(nice.toFile().setExecutable(true)).isTrue();
        Map<String, String> failing =
                Map.of("TURBIDITE_CACHE", "wait", "PATH", tools + ":" + System.getenv("PATH"));
        Said without = command.run(OFF, "--version");
        quietAs(without, command.run(failing, "--version"));
        quietAs(without, command.run(failing, "--version"));
        assertThat(tried).hasContent("failed");
        assertThat(command.files("turbidite-"))
                .singleElement()
                .satisfies(mark -> assertThat(mark.toString()).endsWith(".aot.failed"));
    }

    /** How many of our classes a command takes from a cache. */
    private long sharedClasses() throws Exception {
        Said said = command.run(
                Map.of("TURBIDITE_JAVA_OPTS", "-Xlog:class+load"), "get", "nowhere", "People", "1");
        return said.out()
                .lines()
                .filter(line ->
                        line.contains(" io.turbidite.") && line.endsWith("shared objects file"))
                .count();
    }

    private static void quietAs(Said expected, Said said) {
        assertThat(said).isEqualTo(expected);
        assertThat(said.err()).isEmpty();
    }
}
