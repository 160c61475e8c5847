package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * R6: a child process writes and is killed after a random number of acknowledgements; the parent opens
 * the store and finds at least the newest acknowledged version of each key, at most the one in flight,
 * and indexes that agree.
 */
class KillTest {
    private static final int CYCLES = Tier.count(12, 100, 5_000);

    @Test
    void what_was_acknowledged_survives_a_kill(@TempDir Path directory)
            throws IOException, InterruptedException {
        long seed = Seeds.of("KillTest");
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Long> acknowledged = new HashMap<>();
        long lastVersion = 0;
        for (int cycle = 0; cycle < CYCLES; cycle++) {
            Process child = start(directory.resolve("store"), lastVersion);
            int kill = random.nextInt(400);
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(lines.readLine()).isEqualTo("open");
                for (int i = 0; i < kill; i++) {
                    lastVersion = note(acknowledged, Objects.requireNonNull(lines.readLine()));
                }
                // through the handle: Process.destroyForcibly would close the pipe and lose lines
                assertThat(child.toHandle().destroyForcibly()).isTrue();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.indexOf(' ') > 0) {
                        lastVersion = note(acknowledged, line);
                    }
                }
            }
            child.waitFor();
            lastVersion = check(directory.resolve("store"), acknowledged, lastVersion, seed);
        }
    }

    private static long note(Map<Long, Long> acknowledged, String line) {
        int space = line.indexOf(' ');
        long version = Long.parseLong(line.substring(space + 1));
        acknowledged.put(Long.parseLong(line.substring(0, space)), version);
        return version;
    }

    /** The highest version there is: the child goes on above it. */
    private static long check(
            Path directory, Map<Long, Long> acknowledged, long lastVersion, long seed) {
        long highest = lastVersion;
        try (Store store = Store.open(directory)) {
            Dataset dataset = store.dataset("T");
            for (long id = 0; id < KilledWriter.KEY_COUNT; id++) {
                Map<String, ?> record = dataset.get(id);
                long found =
                        record == null ? 0 : Objects.requireNonNull((Long) record.get("version"));
                assertThat(found)
                        .as("key %d; %s", id, Seeds.replay("KillTest", seed))
                        .isGreaterThanOrEqualTo(acknowledged.getOrDefault(id, 0L));
                if (found > acknowledged.getOrDefault(id, 0L)) {
                    // the write in flight when the child died: one at most, after all acknowledged
                    assertThat(found).isEqualTo(lastVersion + 1);
                    acknowledged.put(id, found);
                }
                highest = Math.max(highest, found);
            }
            assertThat(store.verify().errors()).isEmpty();
        }
        return highest;
    }

    private static Process start(Path directory, long version) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledWriter.class.getName(),
                        directory.toString(),
                        Long.toString(version)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
