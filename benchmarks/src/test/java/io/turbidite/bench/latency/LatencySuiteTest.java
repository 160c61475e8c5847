package io.turbidite.bench.latency;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** That the experiment runs to its end and counts what it should; no figure is judged here. */
class LatencySuiteTest {
    private static final int TWEETS = 3_000;

    @Test
    void every_loop_is_run_under_every_durability_and_written_down(@TempDir Path directory)
            throws Exception {
        LatencySuite.Setting setting = new LatencySuite.Setting(
                TWEETS,
                1,
                2,
                0.5,
                StoreOptions.defaults(),
                List.of(Durability.SYNC, Durability.INTERVAL));
        LatencyReport report = new LatencySuite(setting).run(directory.resolve("stores"));
        assertThat(report.loops())
                .containsOnlyKeys(
                        "closed, sync", "open, sync", "closed, interval", "open, interval");
        report.loops().forEach((name, loop) -> {
            assertThat(loop.upserts().getTotalCount()).as(name).isPositive();
            assertThat(loop.machine().getTotalCount()).as(name).isPositive();
            assertThat(loop.rate()).as(name).isPositive();
            assertThat(report.table()).contains("| %s |".formatted(name));
        });
        Path out = directory.resolve("out");
        report.write(out, "latency");
        assertThat(out)
                .isDirectoryContaining("glob:**latency.md")
                .isDirectoryContaining("glob:**latency.json")
                .isDirectoryContaining("glob:**latency.svg");
    }
}
