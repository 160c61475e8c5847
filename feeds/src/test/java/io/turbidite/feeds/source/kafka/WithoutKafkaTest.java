package io.turbidite.feeds.source.kafka;

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

/** The library of Kafka is optional: a JVM that has none feeds from all else. */
class WithoutKafkaTest {
    @TempDir
    Path directory;

    @Test
    void other_kinds_work_and_this_one_says_which_artifact_is_missing() throws Exception {
        Path file = Files.writeString(
                directory.resolve("some.json"), "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n");
        String classPath = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(part -> !Path.of(part).getFileName().toString().startsWith("kafka"))
                .collect(Collectors.joining(File.pathSeparator));
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--add-modules=jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        classPath,
                        WithoutKafka.class.getName(),
                        directory.resolve("store").toString(),
                        file.toString()))
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said.lines())
                .contains("no library", "file 2", "tcp starts", "http starts", "tail starts")
                .anySatisfy(line -> assertThat(line)
                        .startsWith("check: ")
                        .contains("kafka", "org.apache.kafka:kafka-clients"))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("start: ")
                        .contains("kafka", "org.apache.kafka:kafka-clients"));
    }
}
