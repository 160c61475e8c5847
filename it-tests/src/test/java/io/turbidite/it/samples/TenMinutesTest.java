package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.it.samples.Transcript.Step;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/**
 * A stranger who has {@code docs/ten-minutes.md} and nothing else: the page's files are written,
 * its commands typed in a shell, and what they print is compared.
 *
 * <p>Where {@code mvn -Pstaged} has deployed this build, Maven builds from the page's
 * {@code pom.xml} against that; else javac does, on the class path of the tests, and the page's
 * build is not tried.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(240)
class TenMinutesTest {
    private static final Pattern FILE = Pattern.compile(
            "^`([\\w/.]+)`:.*?^```\\w+\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Set<String> MADE = Set.of("people-store", "saved", "people-again");
    private static final String BUILD = "mvn -q compile";

    @TempDir
    private Path directory;

    @Test
    void the_transcript_is_what_happens() throws Exception {
        String page = Files.readString(StagedRepository.ROOT.resolve("docs/ten-minutes.md"));
        Files.createDirectory(project());
        writeFiles(page);
        boolean byMaven = StagedRepository.isOfThisBuild();
        List<Step> steps = Transcript.steps(page);
        assertThat(steps).hasSizeGreaterThan(12);
        for (Step step : steps) {
            String said = step.isOurs()
                    ? Transcript.run(step, project(), MADE, StagedRepository.ROOT)
                    : step.line().equals(BUILD) && !byMaven ? compile() : shell(step.line());
            assertThat(said).as(step.line()).matches(step.pattern());
        }
    }

    private Path project() {
        return directory.resolve("project");
    }

    /** The page names each file before the block that holds it. */
    private void writeFiles(String page) throws IOException {
        int count = 0;
        Matcher files = FILE.matcher(page);
        while (files.find()) {
            Path file = project().resolve(files.group(1));
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            Files.writeString(file, files.group(2));
            count++;
        }
        assertThat(count).isEqualTo(2);
        Path options = Files.createDirectory(project().resolve(".mvn")).resolve("maven.config");
        if (StagedRepository.isOfThisBuild()) {
            Files.write(options, StagedRepository.offline(directory));
        }
    }

    /** What the build does, without Maven. */
    private String compile() throws IOException {
        Path target = Files.createDirectories(project().resolve("target/classes"));
        String path = String.join(File.pathSeparator, StagedRepository.classPath());
        Files.writeString(target.resolveSibling("class-path"), path);
        StringWriter said = new StringWriter();
        try (PrintWriter out = new PrintWriter(said)) {
            int code = ToolProvider.findFirst("javac")
                    .orElseThrow()
                    .run(
                            out,
                            out,
                            "-proc:none",
                            "-d",
                            target.toString(),
                            "-cp",
                            path,
                            project().resolve("src/main/java/app/People.java").toString());
            assertThat(code).as(said.toString()).isZero();
        }
        return "";
    }

    /** What a line prints in a shell that finds this Java first. */
    private String shell(String line) throws Exception {
        Path printed = Files.createTempFile(directory, "printed", "");
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", line)
                .directory(project().toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile());
        String home = Objects.requireNonNull(System.getProperty("java.home"));
        builder.environment().put("JAVA_HOME", home);
        builder.environment().merge("PATH", home + "/bin", (path, bin) -> bin + ":" + path);
        Process process = builder.start();
        boolean ended = process.waitFor(200, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(printed);
        assertThat(ended).as("%s ended: %s", line, text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        // Maven ends with colours, and without a line end
        return text.isEmpty() || text.endsWith("\n") ? text : text + "\n";
    }
}
