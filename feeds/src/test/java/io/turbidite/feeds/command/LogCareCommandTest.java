package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Verify, backup and restore of hash logs by the command. */
class LogCareCommandTest {
    @TempDir
    private Path directory;

    private Path log() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            lines.append("{\"id\":%d,\"type\":\"t%d\"}\n".formatted(i, i % 5));
        }
        Path input = Files.writeString(directory.resolve("in.json"), lines);
        Path log = directory.resolve("events");
        Result made = Command.run("log", "ingest", log, input, "--psf", "type=field(type)");
        assertThat(made.code()).as(made.err()).isZero();
        return log;
    }

    @Test
    void a_log_is_verified_backed_up_and_restored() throws IOException {
        Path log = log();
        Result verified = Command.run("log", "verify", log);
        assertThat(verified.out()).contains("is sound: 500 records").contains("500 key pointers");
        assertThat(verified.code()).isZero();
        Path backup = directory.resolve("backup");
        Result backedUp = Command.run("log", "backup", log, backup, "--json");
        assertThat(backedUp.code()).as(backedUp.err()).isZero();
        assertThat(backedUp.out()).contains("\"ok\":true").contains("\"records\":500");
        Path restored = directory.resolve("restored");
        Result back = Command.run("log", "restore", backup, restored);
        assertThat(back.code()).as(back.err()).isZero();
        assertThat(back.out()).startsWith("restored to ").contains("is sound: 500 records");
        assertThat(Command.run("log", "query", restored, "--psf", "type=t3", "--count")
                        .out())
                .contains("100");
        Result again = Command.run("log", "backup", log, backup);
        assertThat(again.code()).isEqualTo(2);
        assertThat(again.err()).contains("has files already");
    }

    @Test
    void damage_is_told_with_its_place() throws IOException {
        Path log = log();
        try (FileChannel pages =
                FileChannel.open(log.resolve("log/00000000.pages"), StandardOpenOption.WRITE)) {
            pages.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 12_000);
        }
        Result verified = Command.run("log", "verify", log);
        assertThat(verified.code()).isEqualTo(1);
        assertThat(verified.out()).contains("00000000.pages: addresses ").contains("error");
        Result json = Command.run("log", "verify", log, "--json");
        assertThat(json.code()).isEqualTo(1);
        assertThat(json.out()).contains("\"ok\":false");
        Result backup = Command.run("log", "backup", log, directory.resolve("b"));
        assertThat(backup.code()).isEqualTo(1);
        assertThat(backup.err()).contains("the copy has errors");
    }

    @Test
    void what_is_no_log_is_refused() {
        Path missing = directory.resolve("nowhere");
        for (String command : new String[] {"verify", "backup"}) {
            Result result = command.equals("verify")
                    ? Command.run("log", command, missing)
                    : Command.run("log", command, missing, directory.resolve("to"));
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err()).contains("nowhere");
            assertThat(missing).doesNotExist();
        }
    }
}
