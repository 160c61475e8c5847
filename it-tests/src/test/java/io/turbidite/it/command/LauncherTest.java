package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** What the launcher says of a build, with a Maven that only talks. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class LauncherTest {
    @TempDir
    private Path directory;

    private Path home = Path.of("");

    @BeforeEach
    void write() throws IOException {
        home = Files.createDirectory(directory.resolve("home"));
        Path project = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
        Files.copy(project.resolve("turbidite"), home.resolve("turbidite"));
        Files.writeString(home.resolve("pom.xml"), "");
    }

    /** Lines of standard error when Maven says this and fails. */
    private List<String> saidWhenFailing(List<String> maven) throws Exception {
        Path tools = Files.createDirectories(directory.resolve("tools"));
        Files.write(directory.resolve("said"), maven);
        Path mvn = tools.resolve("mvn");
        Files.writeString(
                mvn, "#!/bin/sh\ncat '%s'\nexit 1\n".formatted(directory.resolve("said")));
        assertThat(mvn.toFile().setExecutable(true)).isTrue();
        ProcessBuilder builder =
                new ProcessBuilder("bash", home.resolve("turbidite").toString(), "quickstart");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().merge("PATH", tools.toString(), (path, first) -> first + ":" + path);
        builder.redirectErrorStream(true);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(1);
        return said.lines().toList();
    }

    private String log() {
        return home.resolve("feeds/target/turbidite-build.log").toString();
    }

    @Test
    void a_build_that_fails_shows_its_errors_and_where_all_of_it_is() throws Exception {
        List<String> maven = List.of(
                "[INFO] Scanning for projects...",
                "[INFO] Compiling 300 source files",
                "[ERROR] COMPILATION ERROR : ",
                "  symbol: class Gone",
                "[ERROR] Failed to execute goal");
        assertThat(saidWhenFailing(maven))
                .containsExactly(
                        "turbidite: building, which takes some minutes ...",
                        "[ERROR] COMPILATION ERROR : ",
                        "  symbol: class Gone",
                        "[ERROR] Failed to execute goal",
                        "turbidite could not be built; all that Maven said is in " + log());
        assertThat(Files.readAllLines(Path.of(log()))).isEqualTo(maven);
    }

    @Test
    void a_build_that_names_no_error_shows_its_end() throws Exception {
        List<String> maven =
                IntStream.range(0, 100).mapToObj(i -> "[INFO] step " + i).toList();
        List<String> said = saidWhenFailing(maven);
        assertThat(said.subList(1, said.size() - 1)).isEqualTo(maven.subList(60, 100));
        assertThat(said.getLast()).endsWith(log());
    }

    @Test
    void many_errors_are_cut_at_forty_lines() throws Exception {
        List<String> maven =
                IntStream.range(0, 100).mapToObj(i -> "[ERROR] number " + i).toList();
        List<String> said = saidWhenFailing(maven);
        assertThat(said.subList(1, said.size() - 1)).isEqualTo(maven.subList(0, 40));
    }

    @Test
    void the_help_of_the_experiments_takes_no_build() throws Exception {
        Files.writeString(
                Files.createDirectory(home.resolve("benchmarks")).resolve("help.txt"),
                "Usage: all experiments\n");
        for (List<String> arguments : List.of(List.of("bench"), List.of("bench", "--help"))) {
            ProcessBuilder builder =
                    new ProcessBuilder("bash", home.resolve("turbidite").toString());
            builder.command().addAll(arguments);
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            Process process = builder.redirectErrorStream(true).start();
            assertThat(process.getInputStream())
                    .as("%s", arguments)
                    .hasContent("Usage: all experiments\n");
            assertThat(process.waitFor()).isZero();
        }
        assertThat(home.resolve("benchmarks/target")).doesNotExist();
    }

    /** In a checkout, and where a distribution has no Java of its own. */
    @Test
    void an_older_java_is_told_in_one_line_that_names_what_is_needed() throws Exception {
        Path old = directory.resolve("java 17");
        Path tools = Files.createDirectories(directory.resolve("few tools"));
        for (String tool : List.of("bash", "readlink", "dirname", "grep")) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool));
        }
        for (String tool : List.of("java", "javac")) {
            Path made = Files.createDirectories(old.resolve("bin")).resolve(tool);
            Files.writeString(made, "#!/bin/sh\nexit 1\n");
            assertThat(made.toFile().setExecutable(true)).isTrue();
        }
        Files.writeString(
                old.resolve("release"), "IMPLEMENTOR=\"one\"\nJAVA_VERSION=\"17.0.19\"\n");
        String launcher = Files.readString(home.resolve("turbidite"));
        // whatever this machine has in the usual places
        String elsewhere =
                launcher.replaceAll("/(usr/lib/jvm|usr/java|opt/java|Library|opt)/", "/no$1/");
        assertThat(elsewhere).isNotEqualTo(launcher).doesNotContain("/usr/lib/jvm");
        Files.writeString(home.resolve("turbidite"), elsewhere);

        String found = "Java 17.0.19 (" + old + ")";
        assertThat(saidWith(tools, old)).containsExactly(needed(found));
        Files.delete(home.resolve("pom.xml"));
        assertThat(saidWith(tools, old)).containsExactly(needed(found));
        Files.delete(old.resolve("release"));
        assertThat(saidWith(tools, old)).containsExactly(needed("none"));
    }

    private static String needed(String found) {
        return "turbidite needs a JDK 25 or newer and found " + found
                + ": install one (for example Eclipse Temurin 25) or set JAVA_HOME to it.";
    }

    private List<String> saidWith(Path tools, Path java) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                tools.resolve("bash").toString(),
                home.resolve("turbidite").toString(),
                "--version");
        builder.environment().clear();
        builder.environment().put("PATH", tools.toString());
        builder.environment().put("JAVA_HOME", java.toString());
        builder.environment().put("HOME", directory.toString());
        builder.redirectErrorStream(true);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(2);
        return said.lines().toList();
    }
}
