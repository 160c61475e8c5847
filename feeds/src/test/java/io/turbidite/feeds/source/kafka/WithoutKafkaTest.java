package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.ChildWithout;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

/** The library of Kafka is optional: a JVM that has none feeds from all else. */
class WithoutKafkaTest {
    @TempDir
    Path directory;

    @Test
    void other_kinds_work_and_this_one_says_which_artifact_is_missing() throws Exception {
        Path file = Files.writeString(
                directory.resolve("some.json"), "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n");
        String said =
                ChildWithout.run("kafka.*", WithoutKafka.class, directory.resolve("store"), file);
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
