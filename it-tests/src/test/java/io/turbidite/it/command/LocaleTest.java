package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.feeds.command.Main;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

/**
 * The launcher and the command as processes of other locales: characters beyond ASCII come through
 * or are refused.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(180)
class LocaleTest {
    private static final String FEED = """
        feed: cities
        dataset:
          name: Cities
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: file, path: städte.csv }
        parser: { kind: csv }
        """;

    @TempDir
    private Path directory;

    /** What a process said, as bytes in UTF-8. */
    private record Said(int code, String out, String err) {}

    @BeforeEach
    void write() throws IOException {
        Files.createDirectory(directory.resolve("home"));
        shell(
                "UTF-8 names",
                "C.UTF-8",
                StandardCharsets.UTF_8,
                "printf 'id,name\\n1,Zürich\\n2,Z??rich\\n' > städte.csv");
        Files.writeString(directory.resolve("feed.yaml"), FEED);
    }

    /**
     * Runs a line of shell in a locale; the line itself goes to the shell's input in
     * {@code encoding}.
     */
    private Said shell(String what, String locale, Charset encoding, String line)
            throws IOException {
        Path err = directory.resolve("err");
        ProcessBuilder builder = new ProcessBuilder("bash", "-s");
        builder.directory(directory.toFile()).redirectError(err.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
        if (!locale.isEmpty()) {
            builder.environment().put("LC_ALL", locale);
        }
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("HOME", directory.toString());
        // it would be made beside the test, of a class path that has directories
        builder.environment().put("TURBIDITE_CACHE", "off");
        Process process = builder.start();
        try (OutputStream in = process.getOutputStream()) {
            in.write((line + "\n").getBytes(encoding));
        }
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return new Said(process.waitFor(), out, Files.readString(err));
        } catch (InterruptedException e) {
            throw new AssertionError(what, e);
        }
    }

    /** A home in which everything is built: its jar leads to this test's class path. */
    private String launcher() throws IOException {
        Path home = directory.resolve("home");
        Path project = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
        Files.copy(project.resolve("turbidite"), home.resolve("turbidite"));
        Files.writeString(home.resolve("pom.xml"), "");
        for (String module : List.of(
                "storage-core",
                "storage-lsm",
                "storage-hashlog",
                "storage-pm",
                "query-ops",
                "feeds")) {
            Files.createDirectories(home.resolve(module).resolve("src/main"));
            Files.writeString(home.resolve(module).resolve("pom.xml"), "");
        }
        Path target = home.resolve("feeds/target");
        Files.createDirectories(target.resolve("lib"));
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .put(
                        Attributes.Name.CLASS_PATH,
                        Arrays.stream(System.getProperty("java.class.path")
                                        .split(File.pathSeparator))
                                .map(entry -> Path.of(entry).toUri().toString())
                                .collect(Collectors.joining(" ")));
        new JarOutputStream(Files.newOutputStream(target.resolve("turbidite-feeds.jar")), manifest)
                .close();
        return "bash home/turbidite";
    }

    private static String withoutLauncher() {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        return line.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"C", "POSIX", "", "C.UTF-8", "xx_XX.UTF-8"})
    void arguments_and_names_of_files_are_right_whatever_the_locale(String locale)
            throws IOException {
        String command = launcher();
        Said ran = shell(
                "run", locale, StandardCharsets.UTF_8, command + " run feed.yaml --store störe");
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("2 records", "störe");
        Said asked = shell(
                "query",
                locale,
                StandardCharsets.UTF_8,
                command + " query störe Cities --eq name=Zürich");
        assertThat(asked.code()).as(asked.err()).isZero();
        assertThat(asked.out()).isEqualTo("{\"id\":1,\"name\":\"Zürich\"}\n");
        Said wrong = shell(
                "query", locale, StandardCharsets.UTF_8, command + " query störe Städte --count");
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains("Städte");
    }

    @Test
    void an_encoding_of_another_kind_is_the_users() throws IOException {
        Said names = shell("names", "C.UTF-8", StandardCharsets.UTF_8, "locale -a");
        String latin = names.out()
                .lines()
                .filter(name -> name.toLowerCase(java.util.Locale.ROOT).endsWith(".iso88591"))
                .findFirst()
                .orElse("");
        if (latin.isEmpty()) {
            System.err.println(
                    "SKIPPED: LocaleTest.an_encoding_of_another_kind...: no locale of ISO 8859-1"
                            + " here");
        }
        assumeTrue(!latin.isEmpty(), "no locale of ISO 8859-1 here");
        String command = launcher();
        assertThat(shell(
                                "run",
                                "C.UTF-8",
                                StandardCharsets.UTF_8,
                                command + " run feed.yaml --store store")
                        .code())
                .isZero();
        Said asked = shell(
                "query",
                latin,
                StandardCharsets.ISO_8859_1,
                command + " query store Cities --eq name=Zürich");
        assertThat(asked.out()).isEqualTo("{\"id\":1,\"name\":\"Zürich\"}\n");
    }

    @Test
    void without_the_launcher_what_was_lost_is_refused() throws IOException {
        String command = withoutLauncher();
        assertThat(shell(
                                "run",
                                "C.UTF-8",
                                StandardCharsets.UTF_8,
                                command + " run feed.yaml --store store")
                        .code())
                .isZero();
        Said asked = shell(
                "query",
                "C",
                StandardCharsets.UTF_8,
                command + " query store Cities --eq name=Zürich");
        assertThat(asked.code()).isEqualTo(2);
        assertThat(asked.out()).isEmpty();
        assertThat(asked.err()).contains("name=Z", "lost characters", "LC_ALL=C.UTF-8");
        Said malformed = shell(
                "query",
                "C.UTF-8",
                StandardCharsets.ISO_8859_1,
                command + " query store Cities --eq name=Zürich");
        assertThat(malformed.code()).isEqualTo(2);
        Said plain = shell(
                "query",
                "C",
                StandardCharsets.UTF_8,
                command + " query store Cities --eq 'name=Z??rich'");
        assertThat(plain.out()).isEqualTo("{\"id\":2,\"name\":\"Z??rich\"}\n");
    }
}
