package io.turbidite.feeds.cluster.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.ops.cluster.ClusterIdentity;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A directory is one of a cluster as a whole, or not yet. */
class ClusterDirectoryTest {
    @TempDir
    Path home;

    private Path path;

    @BeforeEach
    void name() {
        path = home.resolve("made");
    }

    private ClusterDirectory made() {
        try (Disk.Lock _ = ClusterDirectory.lock(path)) {
            return ClusterDirectory.make(path, 2, 0, "256m");
        }
    }

    @Test
    void what_was_made_is_read() {
        ClusterDirectory made = made();
        assertThat(ClusterDirectory.read(path)).isEqualTo(made);
        assertThat(made.processes()).containsExactly("n1", "n2", ClusterIdentity.CONTROLLER);
        assertThat(made.port()).isNotEqualTo(made.idlePort());
        for (String process : made.processes()) {
            assertThat(made.identity(process).name()).isEqualTo(process);
        }
    }

    /** All that may be there where a start was killed before the file was. */
    @Test
    void a_start_that_ended_in_the_midst_is_begun_anew() throws IOException {
        made();
        Files.move(path.resolve("CLUSTER"), path.resolve("CLUSTER.new"));
        assertThat(path.resolve("LOCK")).exists();
        ClusterDirectory anew = made();
        assertThat(ClusterDirectory.read(path)).isEqualTo(anew);
        assertThat(anew.identity("n2").name()).isEqualTo("n2");
    }

    @Test
    void what_others_have_there_stays() throws IOException {
        Path mine = Files.createDirectories(path.resolve("keys")).resolve("mine");
        Files.writeString(mine, "secret");
        assertThatThrownBy(this::made)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(path + " is not empty, and no directory of a cluster");
        assertThat(mine).hasContent("secret");
        assertThat(path.resolve("LOCK")).doesNotExist();
        Files.createFile(path.resolve("LOCK"));
        Files.createFile(path.resolve("000001.log"));
        assertThatThrownBy(this::made).isInstanceOf(InvalidRequestException.class);
        assertThat(mine).hasContent("secret");
    }

    @Test
    void one_that_is_made_is_not_made_again() {
        ClusterDirectory made = made();
        assertThatThrownBy(this::made).isInstanceOf(InvalidRequestException.class);
        assertThat(ClusterDirectory.read(path)).isEqualTo(made);
    }

    @Test
    void of_two_starts_one_is_refused() {
        Disk.Lock held = ClusterDirectory.lock(path);
        assertThatThrownBy(() -> ClusterDirectory.lock(path))
                .hasMessage("another start of the cluster in %s is under way", path);
        held.close();
        ClusterDirectory.lock(path).close();
    }

    @Test
    void what_is_damaged_or_of_another_release_is_named() throws IOException {
        Path file = Files.createDirectories(path).resolve("CLUSTER");
        for (String text : List.of(
                "version=1\nid=1\nnodes=two\nport=1\nidlePort=2\n",
                "version=1\nid=1\nnodes=2\nport=1\n")) {
            Files.writeString(file, text);
            assertThatThrownBy(() -> ClusterDirectory.read(path))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith(file + " is damaged: ");
        }
        Files.writeString(file, "version=2\n");
        assertThatThrownBy(() -> ClusterDirectory.read(path))
                .hasMessage(file + " is of version 2; this release reads 1");
    }
}
