package io.turbidite.feeds.avro;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.ChildWithout;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

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
        String said =
                ChildWithout.run(LEFT_OUT, WithoutAvro.class, directory.resolve("store"), file);
        assertThat(said.lines())
                .contains("no org.apache.avro.Schema", "json 2")
                .anySatisfy(line -> assertThat(line)
                        .startsWith("file: ")
                        .contains("avro", "org.apache.avro:avro"))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("kafka: ")
                        .contains("avro", "org.apache.avro:avro"));
    }

    @Test
    void what_unpacks_blocks_is_not_needed_for_files_that_are_not_packed_so() throws Exception {
        assertThat(ChildWithout.run("(commons-compress|snappy|xz)-.*", WithoutCodecs.class)
                        .lines())
                .contains("null 30", "deflate 30");
    }
}
