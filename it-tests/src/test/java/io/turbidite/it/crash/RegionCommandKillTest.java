package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Commands that fill or build a region in a {@code path} are killed at any moment: the index has
 * the answers of a scan, and its directory has the files of the regions that there are.
 */
@Timeout(1_200)
class RegionCommandKillTest {
    private static final int KILLS = Tier.count(2, 6, 24);
    private static final int RECORDS = 120_000;
    private static final int USERS = 20;
    private static final int PARTITIONS = 2;

    @TempDir
    Path directory;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("RegionCommandKillTest"));

    private Store open() {
        return Store.open(
                directory.resolve("store"), StoreOptions.defaults().withIndexKinds(new PmKind()));
    }

    private void create(Path pm) {
        try (Store store = open()) {
            var _ = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(PARTITIONS)
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")
                            .withParameter("mode", "file")
                            .withParameter("path", pm.toString())
                            .withParameter("bytes", "128MiB")));
        }
    }

    private Path rows(int round) throws IOException {
        StringBuilder text = new StringBuilder("id,user\n");
        for (int i = 0; i < RECORDS; i++) {
            text.append(random.nextInt(RECORDS * 2))
                    .append(",user ")
                    .append(random.nextInt(USERS))
                    .append('\n');
        }
        return Files.writeString(directory.resolve("rows%d.csv".formatted(round)), text);
    }

    /** Whether the command had come to its end before. */
    private boolean kill(long millis, List<String> command)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        all.addAll(command);
        Process child = new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        boolean isOver = child.waitFor(millis, TimeUnit.MILLISECONDS);
        if (!isOver) {
            var _ = child.destroyForcibly().waitFor();
        }
        return isOver;
    }

    @Test
    void what_a_killed_command_leaves_is_searched_and_nothing_else_is_left()
            throws IOException, InterruptedException {
        Path pm = Files.createDirectory(directory.resolve("pm"));
        create(pm);
        String store = directory.resolve("store").toString();
        int killed = 0;
        int left = 0;
        long longestMillis = 4_000;
        for (int round = 0; killed < KILLS; round++) {
            boolean isImport = round % 2 == 0;
            List<String> command = isImport
                    ? List.of("import", store, "Visits", rows(round).toString())
                    : List.of("index", "rebuild", store, "Visits", "by_user");
            long millis =
                    isImport ? random.nextLong(900, longestMillis) : random.nextLong(900, 2_200);
            if (kill(millis, command)) {
                longestMillis = isImport ? Math.max(1_200, millis) : longestMillis;
            } else {
                killed++;
            }
            left += files(pm).size() > PARTITIONS ? 1 : 0;
            try (Store opened = open()) {
                check(opened.dataset("Visits"), opened.environment().tasks());
                assertThat(opened.verify().errors()).isEmpty();
                assertThat(files(pm)).as("round %d", round).hasSize(PARTITIONS);
            }
            assertThat(files(directory.resolve("store").resolve("regions")))
                    .as("round %d", round)
                    .hasSize(PARTITIONS)
                    .allMatch(name -> name.endsWith(".outside"));
        }
        System.out.printf("RegionCommandKillTest: %d kills, %d of them left files%n", killed, left);
    }

    private static List<String> files(Path place) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            return files.map(Path::toString).sorted().toList();
        }
    }

    private static void check(Dataset dataset, Tasks tasks) {
        // a rebuilding that was killed is begun anew by the opening
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        tasks.await(() -> !dataset.indexes().isEmpty() || System.nanoTime() > end);
        long count = 0;
        for (int user = 0; user < USERS; user++) {
            Query query = Query.on(dataset)
                    .where(Predicates.eq("user", "user " + user))
                    .select("id");
            List<Map<String, @Nullable Object>> wanted = query.usingScan().run().toList();
            assertThat(query.usingIndex("by_user").run().toList())
                    .containsExactlyInAnyOrderElementsOf(wanted);
            count += wanted.size();
        }
        assertThat(count)
                .isEqualTo(Query.on(dataset)
                        .select("id")
                        .usingScan()
                        .run()
                        .toList()
                        .size());
    }
}
