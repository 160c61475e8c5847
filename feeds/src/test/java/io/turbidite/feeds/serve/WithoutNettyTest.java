package io.turbidite.feeds.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.ChildWithout;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

/** The libraries of Netty are optional: a JVM without them feeds all that is not sent to it. */
class WithoutNettyTest {
    @TempDir
    Path directory;

    private String run(String leftOut) throws Exception {
        Path file = Files.writeString(directory.resolve("some.json"), "{\"id\":1}\n{\"id\":2}\n");
        return ChildWithout.run(leftOut, WithoutNetty.class, directory.resolve("store"), file);
    }

    @Test
    void files_are_fed_and_who_serves_is_told_which_artifact_is_missing() throws Exception {
        assertThat(run("netty-.*").lines())
                .contains(
                        "no library",
                        "file 2",
                        "managed 2",
                        "sent starts",
                        "socket: other processes can't reach the store meanwhile: a socket for other processes needs the library io.netty:netty-handler")
                .anySatisfy(line -> assertThat(line)
                        .contains("a server", "needs the library io.netty:netty-handler"))
                .contains("serve 2", "run 0");
    }

    @Test
    void each_artifact_that_a_server_needs_is_named() throws Exception {
        assertThat(run("netty-codec-compression-.*"))
                .contains("needs the library io.netty:netty-codec-compression");
    }
}
