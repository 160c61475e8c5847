package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/**
 * Two applications that are built as a stranger builds his: by Maven, offline, from what was
 * deployed and a repository, one on the class path and one as a named module.
 *
 * <p>{@code mvn -Pstaged verify} deploys to {@code target/staged} before it comes to this module,
 * as {@code .ci/run} does. The tests are skipped where what lies there is not of this build.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(240)
class ConsumerTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    /**
     * Bytes of all jars that a store and queries need. The aim was 3,200,000, before there were SQL
     * and jobs; decision 0180 says what is in it.
     */
    private static final long JAR_BYTES_MAX = 5_600_000;

    private static final String MAIN = """
            package app;

            public final class Main {
                private Main() {}

                public static void main(String[] arguments) {
                    int found = FirstStore.run(java.nio.file.Path.of(arguments[0]));
                    System.out.println("found " + found + ", named: " + Main.class.getModule().isNamed());
                }
            }
            """;

    @TempDir
    private Path directory;

    @BeforeEach
    void is_staged_by_this_build() throws IOException {
        assumeThat(StagedRepository.isOfThisBuild())
                .as("deployed by this build: run with -Pstaged")
                .isTrue();
    }

    @Test
    void an_application_on_the_class_path_and_a_named_module_are_built_and_run() throws Exception {
        Path plain = application("plain", "");
        Path named = application(
                "named",
                "module app { requires io.turbidite.storage.lsm; requires io.turbidite.query.ops; }");
        Files.writeString(directory.resolve("pom.xml"), """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>stranger</groupId>
                  <artifactId>both</artifactId>
                  <version>1</version>
                  <packaging>pom</packaging>
                  <modules>
                    <module>plain</module>
                    <module>named</module>
                  </modules>
                </project>
                """);
        maven();

        List<Path> jars = jars(plain);
        assertThat(jars)
                .extracting(jar -> jar.getFileName().toString())
                .noneMatch(name -> name.matches(
                        ".*(lz4|zstd|micrometer|netty|kafka|avro|lucene|calcite|test).*"));
        assertThat(bytes(jars)).as("bytes of %s", jars).isLessThan(JAR_BYTES_MAX);
        String path = plain.resolve("target/classes") + File.pathSeparator + joined(jars);
        assertThat(java("-cp", path, "app.Main", directory.resolve("store").toString()))
                .endsWith("hello\nfound 1, named: false\n");

        String modules = named.resolve("target/classes") + File.pathSeparator + joined(jars(named));
        Path store = directory.resolve("named-store");
        assertThat(java("-p", modules, "-m", "app/app.Main", store.toString()))
                .endsWith("hello\nfound 1, named: true\n");
    }

    @Test
    void nothing_is_deployed_that_is_empty_or_internal() throws IOException {
        List<String> deployed = new ArrayList<>();
        for (Path file : StagedRepository.jars()) {
            String name = file.getFileName().toString();
            try (ZipFile jar = new ZipFile(file.toFile())) {
                assertThat(jar.stream().filter(entry -> entry.getName().endsWith(".class")))
                        .as("classes of %s", name)
                        .hasSizeGreaterThan(10);
            }
            deployed.add(name.replaceFirst("-[0-9].*", ""));
        }
        assertThat(deployed)
                .containsExactlyInAnyOrder(
                        "turbidite-feeds",
                        "turbidite-query-ops",
                        "turbidite-storage-core",
                        "turbidite-storage-hashlog",
                        "turbidite-storage-lsm",
                        "turbidite-storage-pm");
        try (Stream<Path> groups = Files.list(StagedRepository.STAGED.resolve("io/turbidite"))) {
            assertThat(groups.map(path -> path.getFileName().toString()).toList())
                    .contains("turbidite", "turbidite-bom")
                    .hasSize(deployed.size() + 2);
        }
    }

    /** Writes the README's sample with a build of its own. */
    private Path application(String name, String descriptor) throws IOException {
        Path home = Files.createDirectory(directory.resolve(name));
        Path sources = Files.createDirectories(home.resolve("src/main/java"));
        Path app = Files.createDirectory(sources.resolve("app"));
        String sample =
                Files.readString(Path.of("src/main/java/io/turbidite/it/samples/FirstStore.java"));
        Files.writeString(
                app.resolve("FirstStore.java"),
                sample.replace("package io.turbidite.it.samples;", "package app;"));
        Files.writeString(app.resolve("Main.java"), MAIN);
        if (!descriptor.isEmpty()) {
            Files.writeString(sources.resolve("module-info.java"), descriptor);
        }
        String root = Files.readString(ROOT.resolve("pom.xml"));
        Files.writeString(home.resolve("pom.xml"), """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>stranger</groupId>
                  <artifactId>%s</artifactId>
                  <version>1</version>
                  <properties>
                    <maven.compiler.release>25</maven.compiler.release>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                  </properties>
                  <dependencyManagement>
                    <dependencies>
                      <dependency>
                        <groupId>io.turbidite</groupId>
                        <artifactId>turbidite-bom</artifactId>
                        <version>%s</version>
                        <type>pom</type>
                        <scope>import</scope>
                      </dependency>
                    </dependencies>
                  </dependencyManagement>
                  <dependencies>
                    <dependency>
                      <groupId>io.turbidite</groupId>
                      <artifactId>turbidite-storage-lsm</artifactId>
                    </dependency>
                    <dependency>
                      <groupId>io.turbidite</groupId>
                      <artifactId>turbidite-query-ops</artifactId>
                    </dependency>
                  </dependencies>
                  <build>
                    <plugins>
                      %s
                      %s
                      <plugin>
                        <artifactId>maven-dependency-plugin</artifactId>
                        <version>%s</version>
                        <executions>
                          <execution>
                            <phase>compile</phase>
                            <goals><goal>build-classpath</goal></goals>
                            <configuration>
                              <outputFile>target/class-path</outputFile>
                            </configuration>
                          </execution>
                        </executions>
                      </plugin>
                    </plugins>
                  </build>
                </project>
                """.formatted(
                        name,
                        between(root, "<artifactId>turbidite</artifactId>", "version"),
                        plugin(root, "maven-resources-plugin"),
                        plugin(root, "maven-compiler-plugin"),
                        version(root, "maven-dependency-plugin")));
        return home;
    }

    /** The version of our own build: the repository has it. */
    private static String plugin(String root, String name) {
        return "<plugin><artifactId>%s</artifactId><version>%s</version></plugin>"
                .formatted(name, version(root, name));
    }

    private static String version(String root, String name) {
        return between(root, "<artifactId>" + name + "</artifactId>", "version");
    }

    /** What the next element of that name holds behind a text. */
    private static String between(String text, String behind, String element) {
        int at = text.indexOf("<" + element + ">", text.indexOf(behind));
        int from = at + element.length() + 2;
        return text.substring(from, text.indexOf('<', from));
    }

    private void maven() throws Exception {
        List<String> command = new ArrayList<>(List.of("mvn", "-q"));
        command.addAll(StagedRepository.offline(directory));
        command.add("compile");
        String said =
                run(Map.of("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"), command);
        assertThat(said).doesNotContain("ERROR");
    }

    private String java(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(javaHome(), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx512m", "-Dstdout.encoding=UTF-8"));
        command.addAll(List.of(arguments));
        return run(Map.of(), command);
    }

    /** What a process prints, after it ended well. */
    private String run(Map<String, String> environment, List<String> command) throws Exception {
        Path printed = Files.createTempFile(directory, "printed", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile());
        builder.environment().put("JAVA_HOME", javaHome());
        builder.environment().putAll(environment);
        Process process = builder.start();
        boolean ended = process.waitFor(200, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(printed);
        assertThat(ended).as("ended: %s", text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    private static String javaHome() {
        return Objects.requireNonNull(System.getProperty("java.home"));
    }

    private static List<Path> jars(Path application) throws IOException {
        String path = Files.readString(application.resolve("target/class-path")).strip();
        return Arrays.stream(path.split(File.pathSeparator, -1)).map(Path::of).toList();
    }

    private static long bytes(List<Path> files) throws IOException {
        long sum = 0;
        for (Path file : files) {
            sum += Files.size(file);
        }
        return sum;
    }

    private static String joined(List<Path> files) {
        return String.join(
                File.pathSeparator, files.stream().map(Path::toString).toList());
    }
}
