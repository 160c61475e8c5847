package io.turbidite.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** The whole suite, small: every way fills a store with the same records, or it throws. */
@Timeout(120)
class FeedSuiteTest {
    @TempDir
    private Path directory;

    @Test
    void all_ways_give_the_same_records_and_each_has_figures() throws Exception {
        List<Report> reports = new FeedSuite(3_000, 1, directory).run();
        assertThat(reports).hasSize(4);
        String cpu = reports.get(1).table();
        assertThat(cpu).contains("| 1 secondary |", "| 2 secondaries |");
        // two workers are set against one with two secondaries alone
        assertThat(cpu.lines().filter(line -> line.startsWith("| 2 secondaries")))
                .singleElement()
                .satisfies(line -> assertThat(line).doesNotContain("| |"));
        for (String way : List.of(
                "batches of ready records",
                "file",
                "TCP",
                "Kafka, 3 partitions",
                "Kafka's client alone")) {
            assertThat(reports.get(1).figure("2 secondaries", way)).as(way).isPositive();
        }
    }
}
