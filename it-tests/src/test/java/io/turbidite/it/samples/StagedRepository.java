package io.turbidite.it.samples;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What {@code mvn -Pstaged} has deployed to {@code target/staged}, and how Maven builds against it
 * without a network. Static, without state.
 */
final class StagedRepository {
    static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
    static final Path STAGED = ROOT.resolve("target/staged");

    private StagedRepository() {}

    /** Whether what lies there is of this build. */
    static boolean isOfThisBuild() throws IOException {
        List<Path> staged = jars().stream()
                .filter(jar -> jar.getFileName().toString().startsWith("turbidite-storage-lsm-"))
                .toList();
        List<Path> built = classPath().stream()
                .filter(path -> path.endsWith("turbidite-storage-lsm.jar"))
                .map(Path::of)
                .toList();
        return staged.size() == 1
                && built.size() == 1
                && Files.mismatch(staged.getFirst(), built.getFirst()) == -1;
    }

    /** All jars that were deployed. */
    static List<Path> jars() throws IOException {
        if (!Files.exists(STAGED)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(STAGED)) {
            return all.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
        }
    }

    /** The class path of the tests. */
    static List<String> classPath() {
        return Arrays.asList(Objects.requireNonNull(System.getProperty("java.class.path"))
                .split(File.pathSeparator, -1));
    }

    /** Options of Maven that have it build there from the staged artifacts, offline. */
    static List<String> offline(Path directory) throws IOException {
        Path local = Path.of(Objects.requireNonNull(
                System.getProperty("localRepository"), "the repository of the build"));
        Path settings = Files.writeString(directory.resolve("settings.xml"), """
                <settings>
                  <localRepository>%s</localRepository>
                  <mirrors>
                    <mirror>
                      <id>local</id>
                      <mirrorOf>central</mirrorOf>
                      <url>%s</url>
                    </mirror>
                  </mirrors>
                  <profiles>
                    <profile>
                      <id>staged</id>
                      <repositories>
                        <repository>
                          <id>staged</id>
                          <url>%s</url>
                          <snapshots><enabled>true</enabled></snapshots>
                        </repository>
                      </repositories>
                    </profile>
                  </profiles>
                  <activeProfiles>
                    <activeProfile>staged</activeProfile>
                  </activeProfiles>
                </settings>
                """.formatted(
                        directory.resolve("fetched"), local.toUri(), STAGED.toUri()));
        return List.of(
                "-o",
                "-B",
                "-s",
                settings.toString(),
                "-gs",
                settings.toString(),
                // files are there without a network
                "-Daether.offline.protocols=file");
    }
}
