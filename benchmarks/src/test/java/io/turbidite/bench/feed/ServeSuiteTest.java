package io.turbidite.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** The whole suite, small: each figure is there, and a second of ingestion costs something. */
@Timeout(120)
class ServeSuiteTest {
    @TempDir
    private Path directory;

    @Test
    void each_figure_is_there() throws Exception {
        List<Report> reports = new ServeSuite(3_000, 1, directory).run();
        Report aims = reports.getFirst();
        assertThat(aims.works())
                .containsExactly(
                        "CPU at rest, % of a processor",
                        "CPU of an open console at rest, % of a processor",
                        "CPU of a scrape each second, % of ingestion's",
                        "memory of 1,000 idle connections, MiB",
                        "CPU of 1,000 idle connections, % of a processor",
                        "from the socket to visible, p99, ms");
        assertThat(aims.figure("from the socket to visible, p99, ms", "seen")).isPositive();
        assertThat(aims.figure("CPU of a scrape each second, % of ingestion's", "seen"))
                .isFinite();
    }
}
