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
                        "turbidite: building, a minute or two ...",
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
}
