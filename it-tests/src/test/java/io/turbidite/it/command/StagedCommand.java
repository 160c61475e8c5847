package io.turbidite.it.command;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The command as a distribution lays it out, from the class path of the tests: launcher, jars,
 * samples, and no sources. Each run is a process of its own.
 */
final class StagedCommand {
    /** What only tests need; to copy it would take longer than the tests. */
    private static final Pattern OF_TESTS = Pattern.compile(
            ".*(-testing\\.jar|junit|opentest4j|assertj|byte-buddy|archunit|jazzer|lucene|selenium|surefire"
                    + "|console|HikariCP).*");

    private final Path home;

    /** What a process said. */
    record Said(int code, String out, String err) {}

    private StagedCommand(Path home) {
        this.home = home;
    }

    static StagedCommand in(Path home) throws IOException {
        Path project = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
        Path lib = Files.createDirectories(home.resolve("lib"));
        Files.copy(project.resolve("turbidite"), home.resolve("turbidite"));
        Path samples = Files.createDirectories(home.resolve("feeds/samples"));
        for (String sample : List.of("flights.yaml", "flights-2013.csv.gz")) {
            Files.copy(project.resolve("feeds/samples").resolve(sample), samples.resolve(sample));
        }
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            String name = path.getFileName().toString();
            if (name.equals("classes")) {
                pour(path, lib.resolve("turbidite-" + moduleOf(path) + ".jar"));
            } else if (name.endsWith(".jar") && !OF_TESTS.matcher(name).matches()) {
                boolean isMain = name.startsWith("turbidite-feeds");
                Files.copy(path, lib.resolve(isMain ? "turbidite-feeds.jar" : name));
            }
        }
        if (!Files.exists(lib.resolve("turbidite-feeds.jar"))) {
            throw new AssertionError("no feeds on the class path");
        }
        return new StagedCommand(home);
    }

    /** The room of {@code MODULE/target/classes} or {@code MODULE/classes}. */
    private static Path moduleOf(Path classes) {
        Path above = Objects.requireNonNull(classes.getParent());
        return above.endsWith("target")
                ? Objects.requireNonNull(above.getParent()).getFileName()
                : above.getFileName();
    }

    /** A class path with directories is none that the JVM keeps classes of. */
    private static void pour(Path classes, Path jar) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(file).toString().replace(File.separatorChar, '/');
                out.putNextEntry(new JarEntry(name));
                out.write(Files.readAllBytes(file));
            }
        }
    }

    Path home() {
        return home;
    }

    /** A process that was started. */
    record Running(Process process, Path out, Path err) {
        Said ended() throws Exception {
            int code = process.waitFor();
            return new Said(code, Files.readString(out), Files.readString(err));
        }
    }

    /** Starts the command, from another directory than its own. */
    Running start(Map<String, String> environment, String... arguments) throws IOException {
        Path here = Objects.requireNonNull(home.getParent());
        List<String> command =
                new ArrayList<>(List.of("bash", home.resolve("turbidite").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(here.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().putAll(environment);
        Path out = Files.createTempFile(here, "out", "");
        Path err = Files.createTempFile(here, "err", "");
        builder.redirectOutput(out.toFile()).redirectError(err.toFile());
        return new Running(builder.start(), out, err);
    }

    Said run(Map<String, String> environment, String... arguments) throws Exception {
        return start(environment, arguments).ended();
    }

    /** Files beside the launcher whose names begin so. */
    List<Path> files(String prefix) throws IOException {
        try (Stream<Path> all = Files.list(home)) {
            return all.filter(path -> path.getFileName().toString().startsWith(prefix))
                    .sorted()
                    .toList();
        }
    }
}
