package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.record.RecordWriter;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Two processes: one holds the store, the other asks it. */
@EnabledOnOs(OS.LINUX)
@Timeout(180)
class SocketTest {
    private static final int RECORDS = 60_000;

    @TempDir
    private Path directory;

    @Test
    void another_process_reads_backs_up_and_may_be_killed_at_any_moment() throws Exception {
        Path path = directory.resolve("store");
        try (Store store = Store.open(path, StoreOptions.defaults());
                StoreServer server = StoreServer.start(store)) {
            assertThat(server.problem()).isEmpty();
            load(store);

            Process counting = start("query", path, "Numbers", "--count");
            assertThat(text(counting.getInputStream()))
                    .isEqualTo("{\"count\":%d}\n".formatted(RECORDS));
            assertThat(counting.waitFor()).isZero();

            Path backup = directory.resolve("backup");
            Process backingUp = start("backup", path, backup, "--json");
            assertThat(text(backingUp.getInputStream())).contains("\"ok\":true");
            assertThat(backingUp.waitFor()).isZero();

            // more than the pipe and the buffers hold, and nobody reads it: the query waits for us
            for (boolean interrupt : new boolean[] {true, false}) {
                Process reading = start("query", path, "Numbers");
                assertThat(reading.getInputStream().read()).isEqualTo('{');
                assertThat(server.runningCount()).isEqualTo(1);
                if (interrupt) {
                    reading.destroy(); // as Ctrl-C does, by another signal
                } else {
                    reading.destroyForcibly();
                }
                assertThat(reading.waitFor(30, TimeUnit.SECONDS)).isTrue();
                while (server.runningCount() > 0) {
                    Thread.onSpinWait();
                }
            }

            assertThat(store.verify().errors()).isEmpty();
            try (Store copy = Store.openExisting(backup, StoreOptions.defaults())) {
                assertThat(copy.verify().records()).isEqualTo(RECORDS);
            }
        }
        assertThat(path.resolve("SOCKET")).doesNotExist();
    }

    private static void load(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("Numbers")
                .field("id", "int64")
                .field("text", "string")
                .primaryKey("id"));
        RecordWriter writer = dataset.newRecordWriter();
        WriteBatch batch = store.newBatch();
        String text = "x".repeat(200);
        for (long id = 0; id < RECORDS; ) {
            batch.clear();
            for (int i = 0; i < 100; i++, id++) {
                batch.upsert(dataset, writer.write(Map.of("id", id, "text", text)));
            }
            store.write(batch);
        }
    }

    private static Process start(Object... command) throws IOException {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        for (Object word : command) {
            line.add(word.toString());
        }
        return new ProcessBuilder(line)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String text(InputStream stream) throws IOException {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
}
