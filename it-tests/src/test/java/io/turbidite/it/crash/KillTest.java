package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.KilledChild;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * R6: a child process writes and is killed after a random number of acknowledgements; the parent
 * opens the store and finds at least the newest acknowledged version of each key, at most the one
 * that each thread had in flight, and indexes that agree. In every mode that promises to survive
 * the process.
 */
class KillTest {
    private static final int CYCLES = Tier.count(4, 35, 1_700);

    @ParameterizedTest
    @CsvSource({"SYNC, 1", "INTERVAL, 4", "PROCESS, 4"})
    void what_was_acknowledged_survives_a_kill(
            Durability durability, int threadCount, @TempDir Path directory) throws IOException {
        long seed = Seeds.of("KillTest");
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Long> acknowledged = new HashMap<>();
        long version = 0;
        for (int cycle = 0; cycle < CYCLES; cycle++) {
            long[] newest = new long[threadCount];
            Arrays.fill(newest, version);
            int kill = random.nextInt(400);
            try (KilledChild child = KilledChild.start(
                    directory.resolve("errors"),
                    KilledWriter.class,
                    directory.resolve("store"),
                    version,
                    durability,
                    threadCount)) {
                assertThat(child.line()).isEqualTo("open");
                for (int i = 0; i < kill; i++) {
                    note(acknowledged, newest, child.line());
                }
                child.kill();
                for (String line = child.lineOrEnd(); line != null; line = child.lineOrEnd()) {
                    if (line.indexOf(' ') > 0) {
                        note(acknowledged, newest, line);
                    }
                }
            }
            version = check(directory.resolve("store"), acknowledged, newest, seed);
        }
    }

    private static void note(Map<Long, Long> acknowledged, long[] newest, String line) {
        int space = line.indexOf(' ');
        long id = Long.parseLong(line.substring(0, space));
        long version = Long.parseLong(line.substring(space + 1));
        acknowledged.put(id, version);
        newest[(int) (id % newest.length)] = version;
    }

    /** The highest version there is: the child goes on above it. */
    private static long check(
            Path directory, Map<Long, Long> acknowledged, long[] newest, long seed) {
        long highest = Arrays.stream(newest).max().orElseThrow();
        try (Store store =
                Store.open(directory, StoreOptions.defaults().withIndexKinds(new PmKind()))) {
            Dataset dataset = store.dataset("T");
            for (long id = 0; id < KilledWriter.KEY_COUNT; id++) {
                Map<String, ?> record = dataset.get(id);
                long found =
                        record == null ? 0 : Objects.requireNonNull((Long) record.get("version"));
                assertThat(found)
                        .as("key %d; %s", id, Seeds.replay("KillTest", seed))
                        .isGreaterThanOrEqualTo(acknowledged.getOrDefault(id, 0L));
                if (found > acknowledged.getOrDefault(id, 0L)) {
                    // in flight when the child died: one a thread, after all it acknowledged
                    int thread = (int) (id % newest.length);
                    assertThat(found).isEqualTo(newest[thread] + 1);
                    newest[thread] = found;
                    acknowledged.put(id, found);
                }
                highest = Math.max(highest, found);
            }
            checkRegion(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        return highest;
    }

    /** A region that was not as the manifest says is being built anew: then there is no index. */
    private static void checkRegion(Dataset dataset) {
        while (dataset.indexes().size() < 5) {
            Thread.onSpinWait();
        }
        for (int group = 0; group < 10; group++) {
            Query byGroup =
                    Query.on(dataset).where(Predicates.eq("group", group)).select("id");
            List<Map<String, @Nullable Object>> found =
                    new ArrayList<>(byGroup.usingIndex("by_region").run().toList());
            assertThat(found)
                    .containsExactlyInAnyOrderElementsOf(Query.on(dataset)
                            .where(Predicates.eq("group", group))
                            .select("id")
                            .usingScan()
                            .run()
                            .toList());
        }
    }
}
