package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** A JVM of its own, on whose class path some libraries are missing. Static, without state. */
public final class ChildWithout {
    private ChildWithout() {}

    /**
     * Runs it, which must end well.
     *
     * @param leftOut what the names of the libraries' files match
     * @return what it said
     */
    public static String run(String leftOut, Class<?> main, Path... arguments)
            throws IOException, InterruptedException {
        String classPath = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(part -> !Path.of(part).getFileName().toString().matches(leftOut))
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                classPath,
                main.getName()));
        for (Path argument : arguments) {
            command.add(argument.toString());
        }
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        return said;
    }
}
