package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** How many series a scrape has at most. */
class ScrapeTest {
    @TempDir
    private Path directory;

    private static List<String> samples(ServedStore served) throws Exception {
        return served.get("/metrics")
                .body()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void there_are_no_more_than_2000_series_and_room_that_gets_free_is_used() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            int before = samples(served).size();
            assertThat(before).isLessThan(1_000);
            Meters meters = served.store("one").meters();
            for (int i = 0; i < 2_500; i++) {
                meters.scope("feed", "f" + i).counter("feed.some").increment();
            }
            List<String> full = samples(served);
            assertThat(full).hasSizeBetween(1_990, 2_000);
            assertThat(full)
                    .filteredOn(line -> line.startsWith("turbidite_http_series_refused"))
                    .singleElement()
                    .satisfies(line -> assertThat(
                                    Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                            .isBetween(500.0, 2_000.0));
            for (int i = 0; i < 2_500; i++) {
                meters.remove("feed", "f" + i);
            }
            assertThat(samples(served)).hasSizeLessThan(1_000);
            meters.scope("feed", "late").counter("feed.some").increment();
            assertThat(samples(served)).anyMatch(line -> line.contains("feed=\"late\""));
        }
    }

    /** The least of some, since other tests run beside. */
    @Test
    void a_full_scrape_takes_at_most_10_ms_of_a_processor() {
        Meters meters = new Meters();
        for (int i = 0; i < 320; i++) {
            Latency latency = meters.scope("route", "r" + i).latency("http.time");
            for (int k = 0; k < 500; k++) {
                latency.record(1_000L * k * k + i);
            }
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (Scrape scrape = new Scrape(Map.of(), meters)) {
            long least = Long.MAX_VALUE;
            String text = "";
            for (int round = 0; round < 200 && least > 5_000_000; round++) {
                long start = threads.getCurrentThreadCpuTime();
                text = scrape.text("application/openmetrics-text; version=1.0.0", true);
                least = Math.min(least, threads.getCurrentThreadCpuTime() - start);
            }
            assertThat(text.lines().filter(line -> !line.startsWith("#")).count())
                    .isBetween(1_920L, 2_000L);
            assertThat(text).contains("# UNIT turbidite_http_time_seconds seconds\n");
            assertThat(least).as("nanoseconds").isLessThan(10_000_000);
        }
    }
}
