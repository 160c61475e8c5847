package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StoreInUseException;
import io.turbidite.feeds.command.Main;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A program that embeds a store with a region in a {@code path}, beside commands in processes of
 * their own: one of them has the store, the other is told who, and no region is touched.
 */
@Timeout(300)
class EmbedderBesideCommandsTest {
    @TempDir
    Path directory;

    private Path path = Path.of("");
    private Path pm = Path.of("");

    @BeforeEach
    void makePlace() throws IOException {
        path = directory.resolve("store");
        pm = Files.createDirectory(directory.resolve("pm"));
    }

    private Store open() {
        return Store.open(path, StoreOptions.defaults().withIndexKinds(new PmKind()));
    }

    private Dataset create(Store store) {
        return store.createDataset(DatasetSpec.named("Visits")
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .partitions(1)
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.pm("by_user", "user")
                        .withParameter("mode", "file")
                        .withParameter("path", pm.toString())
                        .withParameter("bytes", "64MiB")));
    }

    private Process command(Path out, Object... words) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        for (Object word : words) {
            all.add(word.toString());
        }
        return new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
    }

    private List<String> regions() throws IOException {
        try (Stream<Path> files = Files.list(pm)) {
            return files.map(Path::toString).sorted().toList();
        }
    }

    private static void check(Dataset dataset, int count) {
        assertThat(Query.on(dataset)
                        .where(Predicates.eq("user", "user 1"))
                        .usingIndex("by_user")
                        .run()
                        .toList())
                .hasSize(count);
    }

    @Test
    void commands_are_refused_while_a_program_has_the_store() throws Exception {
        Path rows = Files.writeString(directory.resolve("rows.csv"), "id,user\n999,user 1\n");
        Path out = directory.resolve("out");
        try (Store store = open()) {
            Dataset dataset = create(store);
            for (long id = 0; id < 90; id++) {
                dataset.upsert(Map.of("id", id, "user", "user " + id % 3));
            }
            dataset.flush();
            List<String> before = regions();
            List<List<Object>> commands = List.of(
                    List.of("query", path, "Visits", "--eq", "user=user 1"),
                    List.of("import", path, "Visits", rows),
                    List.of("index", "rebuild", path, "Visits", "by_user"),
                    List.of("index", "drop", path, "Visits", "by_user"),
                    List.of("verify", path));
            for (List<Object> words : commands) {
                int code = command(out, words.toArray()).waitFor();
                String text = Files.readString(out, StandardCharsets.UTF_8);
                assertThat(code).as(text).isNotZero();
                assertThat(text)
                        .as(words.toString())
                        .contains("in use by another process", path.toString());
                check(dataset, 30);
                assertThat(regions()).isEqualTo(before);
            }
            dataset.upsert(Map.of("id", 500L, "user", "user 1"));
            dataset.flush();
            check(dataset, 31);
            assertThat(store.verify().errors()).isEmpty();
        }
        assertThat(command(out, "import", path, "Visits", rows).waitFor()).isZero();
        try (Store store = open()) {
            check(store.dataset("Visits"), 32);
        }
    }

    @Test
    void a_program_is_refused_while_a_command_has_the_store() throws Exception {
        try (Store store = open()) {
            var _ = create(store);
        }
        StringBuilder text = new StringBuilder("id,user\n");
        int count = 300_000;
        for (int id = 0; id < count; id++) {
            text.append(id).append(",user ").append(id % 3).append('\n');
        }
        Path rows = Files.writeString(directory.resolve("rows.csv"), text);
        Path out = directory.resolve("out");
        List<String> before = log();
        Process importing = command(out, "import", path, "Visits", rows);
        // who tried before the command has it would be the one that refuses
        while (importing.isAlive() && log().equals(before)) {
            Thread.onSpinWait(); // the class has a bound
        }
        int refusedCount = 0;
        while (importing.isAlive()) {
            try (Store store = open()) {
                assertThat(importing.waitFor()).as("it has ended").isZero();
                check(store.dataset("Visits"), count / 3);
            } catch (StoreInUseException refused) {
                assertThat(refused.holder()).isEqualTo(StoreInUseException.Holder.ANOTHER_PROCESS);
                assertThat(refused).hasMessageContaining(path.toString());
                refusedCount++;
            }
        }
        assertThat(importing.waitFor()).as(Files.readString(out)).isZero();
        assertThat(refusedCount).isPositive();
        try (Store store = open()) {
            check(store.dataset("Visits"), count / 3);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /** What the store's log looks like: an opening changes it. */
    private List<String> log() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(path.resolve("log"))) {
            for (Path file : files.sorted().toList()) {
                found.add(String.valueOf(file.getFileName()));
            }
        }
        return found;
    }
}
