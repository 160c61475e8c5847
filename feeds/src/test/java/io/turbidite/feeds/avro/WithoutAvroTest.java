package io.turbidite.feeds.avro;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The library of Avro, and what unpacks its blocks, is optional: a JVM without reads all else. */
class WithoutAvroTest {
    private static final String LEFT_OUT = "(avro|commons-compress|snappy|xz)-.*";

    @TempDir
    Path directory;

    @Test
    void other_formats_work_and_this_one_says_which_artifact_is_missing() throws Exception {
        Path file = Files.writeString(
                directory.resolve("some.json"),
                "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n");
        String classPath = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(part -> !Path.of(part).getFileName().toString().matches(LEFT_OUT))
                .collect(Collectors.joining(File.pathSeparator));
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--add-modules=jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        classPath,
                        WithoutAvro.class.getName(),
                        directory.resolve("store").toString(),
                        file.toString()))
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said.lines())
                .contains("no org.apache.avro.Schema", "json 2")
                .anySatisfy(line -> assertThat(line)
                        .startsWith("file: ")
                        .contains("avro", "org.apache.avro:avro"))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("kafka: ")
                        .contains("avro", "org.apache.avro:avro"));
    }
}
